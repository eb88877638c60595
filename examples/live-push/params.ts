/** What a task of type `ffmpeg.push` may ask for. */
import { extname } from 'node:path';
import { z } from 'zod';
import { mediaPath, outputPath, parseWith, resolution } from '../media/fields.ts';
import { FRAME_RATES } from './raw-format.ts';
import { FILE_MUXERS, problemOfUrl } from './sink.ts';

/** 1920x1088: the frames of larger ones would not fit into what this process may hold. */
const PIXELS_MAX = 1920 * 1088;
const KBPS = { least: 64, most: 50_000 };
/** Of the encoder, where the bitrate is not given. */
const BITS_PER_PIXEL = 0.08;

/** An instant, as epoch milliseconds. */
const instant = z.union(
  [
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
    z.int().min(0).max(8.64e15),
  ],
  {
    error:
      'expected ISO 8601 with a zone, such as 2027-01-31T19:00:00+08:00, or epoch milliseconds',
  },
);

const fileOut = outputPath.refine((path) => extname(path).toLowerCase() in FILE_MUXERS, {
  error: `expected a name ending in ${Object.keys(FILE_MUXERS).join(', ')}`,
});

const url = z
  .string()
  .max(2048)
  .superRefine((text, context) => {
    const problem = problemOfUrl(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  });

const pushParams = z
  .strictObject({
    url: url.optional(),
    path: fileOut.optional(),
    starts_at: instant,
    ends_at: instant.optional(),
    main: mediaPath,
    warmup: mediaPath.optional(),
    fallback: mediaPath.optional(),
    video: z
      .strictObject({
        resolution: resolution
          .refine((text) => area(text) <= PIXELS_MAX, { error: 'expected up to 1920x1088 pixels' })
          .default('1280x720'),
        frame_rate: z
          .union(
            FRAME_RATES.map((rate) => z.literal(rate)),
            { error: `expected one of ${FRAME_RATES.join(', ')}` },
          )
          .default(25),
        bitrate_kbps: z.int().min(KBPS.least).max(KBPS.most).optional(),
      })
      .prefault({}),
    audio: z.strictObject({ bitrate_kbps: z.int().min(16).max(320).default(128) }).prefault({}),
  })
  .superRefine((given, context) => {
    const refuse = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if ((given.url === undefined) === (given.path === undefined)) {
      refuse(['url'], 'expected either url or path');
    }
    if (given.ends_at !== undefined && given.ends_at <= given.starts_at) {
      refuse(['ends_at'], 'expected an instant later than starts_at');
    }
  })
  .transform(({ video, audio, ...rest }) => ({
    ...rest,
    resolution: video.resolution,
    frameRate: video.frame_rate,
    videoKbps: video.bitrate_kbps ?? usualKbps(video.resolution, video.frame_rate),
    audioKbps: audio.bitrate_kbps,
  }));

export type PushParams = z.output<typeof pushParams>;

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseParams(params: unknown): PushParams {
  return parseWith(pushParams, params);
}

function area(size: string): number {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return width * height;
}

function usualKbps(size: string, rate: number): number {
  const kbps = Math.round((area(size) * rate * BITS_PER_PIXEL) / 1000);
  return Math.min(KBPS.most, Math.max(KBPS.least, kbps));
}
