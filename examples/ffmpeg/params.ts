/**
 * What a task of type `ffmpeg.transcode` may ask for. Every value is a bounded number or comes
 * from a list, so that nothing a client writes can reach ffmpeg as an option, a filter or a URL.
 */
import { z } from 'zod';
import { parseWith, resolution, threads } from '../media/fields.ts';
import type { AudioStream } from '../media/media.ts';
import { channels } from '../media/sound.ts';
import { inputLocation, outputLocation } from '../storage/locations.ts';

export const containers = {
  '.mp4': { muxer: 'mp4', video: ['h264', 'h265'], audio: ['aac', 'mp3'] },
  '.mov': { muxer: 'mov', video: ['h264', 'h265'], audio: ['aac', 'mp3'] },
  '.ts': { muxer: 'mpegts', video: ['h264', 'h265'], audio: ['aac', 'mp3'] },
  '.mkv': { muxer: 'matroska', video: ['h264', 'h265', 'vp9'], audio: ['aac', 'mp3', 'opus'] },
  '.webm': { muxer: 'webm', video: ['vp9'], audio: ['opus'] },
} as const;

const profiles = { h264: ['baseline', 'main', 'high'], h265: ['main'], vp9: [] } as const;
const opusSampleRates = [8000, 12000, 16000, 24000, 48000];

const video = z
  .strictObject({
    codec: z.enum(['h264', 'h265', 'vp9']).optional(),
    resolution: resolution.optional(),
    bitrate_kbps: z.int().min(16).max(200_000).optional(),
    frame_rate: z.number().min(1).max(240).optional(),
    profile: z.enum(['baseline', 'main', 'high']).optional(),
    gop: z.int().min(1).max(1000).optional(),
  })
  .describe('What is not given stays as in the input, or is up to the encoder; null: none.');

const audio = z
  .strictObject({
    codec: z.enum(['aac', 'mp3', 'opus']).optional(),
    bitrate_kbps: z.int().min(8).max(640).optional(),
    sample_rate: z
      .union([8000, 12000, 16000, 22050, 24000, 32000, 44100, 48000].map((rate) => z.literal(rate)))
      .optional(),
    channels: channels.optional(),
  })
  .describe('What is not given stays as in the input, or is up to the encoder; null: none.');

export const output = z
  .strictObject({
    path: outputLocation,
    input: inputLocation.optional(),
    video: video.nullable().default({}),
    audio: audio.nullable().default({}),
    pad_seconds: z.number().positive().max(600).optional(),
  })
  .transform((given, context) => {
    const extension = given.path.slice(given.path.lastIndexOf('.')).toLowerCase();
    const container = containers[extension as keyof typeof containers] as
      | (typeof containers)[keyof typeof containers]
      | undefined;
    const refuse = (path: string[], message: string) => {
      context.addIssue({ code: 'custom', path, message });
      return z.NEVER;
    };
    if (container === undefined) {
      return refuse(['path'], `expected a name ending in ${Object.keys(containers).join(', ')}`);
    }
    if (given.video === null && given.audio === null) {
      return refuse([], 'expected video, audio or both');
    }
    const video = given.video && { ...given.video, codec: given.video.codec ?? container.video[0] };
    const audio = given.audio && { ...given.audio, codec: given.audio.codec ?? container.audio[0] };
    if (video && !includes(container.video, video.codec)) {
      return refuse(['video', 'codec'], `${extension} takes ${container.video.join(', ')}`);
    }
    if (audio && !includes(container.audio, audio.codec)) {
      return refuse(['audio', 'codec'], `${extension} takes ${container.audio.join(', ')}`);
    }
    if (video && video.profile !== undefined && !includes(profiles[video.codec], video.profile)) {
      const known = profiles[video.codec].join(', ') || 'no profile';
      return refuse(['video', 'profile'], `${video.codec} takes ${known}`);
    }
    if (audio && audio.codec === 'opus' && !opusSampleRates.includes(audio.sample_rate ?? 48000)) {
      return refuse(['audio', 'sample_rate'], `opus takes ${opusSampleRates.join(', ')}`);
    }
    if (audio?.codec === 'mp3' && audio.channels === 6) {
      return refuse(['audio', 'channels'], 'mp3 takes 1, 2');
    }
    return {
      path: given.path,
      input: given.input,
      muxer: container.muxer,
      video,
      audio,
      padSeconds: given.pad_seconds,
    };
  });

const transcodeParams = z
  .strictObject({
    input: inputLocation.optional(),
    outputs: z.array(output).min(1).max(16),
    threads: threads.optional(),
  })
  .transform(({ input, outputs, threads: asked }, context) => ({
    threads: asked,
    outputs: outputs.map((one, index) => {
      const own = one.input ?? input;
      if (own !== undefined) return { ...one, input: own };
      const message = 'expected an input, here or for the whole task';
      context.addIssue({ code: 'custom', path: ['outputs', index, 'input'], message });
      return z.NEVER;
    }),
  }));

export type TranscodeParams = z.output<typeof transcodeParams>;
export type OutputSpec = z.output<typeof output>;

/** How many it will have; null: as many as the input, which does not say. */
export function channelsOf(
  { codec, channels: wished }: NonNullable<OutputSpec['audio']>,
  source: AudioStream,
): number | null {
  if (wished !== undefined || source.channels === null) return wished ?? null;
  return codec === 'mp3' ? Math.min(source.channels, 2) : source.channels;
}

/** @throws {NonRetryableError} that names each wrong field and what was expected. */
export function parseParams(params: unknown): TranscodeParams {
  return parseWith(transcodeParams, params);
}

function includes(list: readonly string[], item: string): boolean {
  return list.includes(item);
}
