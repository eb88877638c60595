/**
 * A profile: which rungs a ladder has, and what goes with them. It comes from a file of the executor, by its name, or in
 * the params. Every value is a bounded number or comes from a list.
 */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { channels } from '../../media/sound.ts';

const RUNGS_MAX = 12;

const rung = z.strictObject({
  height: z
    .int()
    .min(64)
    .max(4320)
    .refine((side) => side % 2 === 0, { error: 'expected an even number' }),
  crf: z.number().min(10).max(45),
  max_kbps: z.int().min(32).max(100_000),
});

const loudness = z.strictObject({
  integrated: z.number().min(-36).max(-8).default(-23),
  range: z.number().min(1).max(20).default(11),
  peak: z.number().min(-9).max(0).default(-1),
});

const audio = z.strictObject({
  bitrate_kbps: z.int().min(16).max(512).default(128),
  sample_rate: z
    .union([16_000, 22_050, 24_000, 32_000, 44_100, 48_000].map((rate) => z.literal(rate)))
    .default(48_000),
  channels: channels.default(2),
  loudness: loudness.nullable().default(null),
});

const sprites = z.strictObject({
  every_seconds: z.number().min(1).max(600).default(10),
  width: z
    .int()
    .min(32)
    .max(640)
    .refine((side) => side % 2 === 0, { error: 'expected an even number' })
    .default(160),
  columns: z.int().min(1).max(10).default(5),
  rows: z.int().min(1).max(10).default(5),
});

export const profile = z
  .strictObject({
    codec: z.enum(['h264', 'h265']).default('h264'),
    preset: z.enum(['ultrafast', 'veryfast', 'faster', 'fast', 'medium', 'slow']).default('medium'),
    rungs: z.array(rung).min(1).max(RUNGS_MAX),
    gop_seconds: z.number().min(0.5).max(10).default(2),
    gops_per_segment: z.int().min(1).max(10).default(2),
    frame_rate_max: z.number().min(10).max(120).default(60),
    hdr: z.enum(['tone_map', 'keep']).default('tone_map'),
    copy: z.boolean().default(true),
    audio: audio.nullable().prefault({}),
    poster: z
      .strictObject({ at_seconds: z.number().min(0).max(86_400).optional() })
      .nullable()
      .prefault({}),
    sprites: sprites.nullable().prefault({}),
    captions: z.boolean().default(true),
  })
  .superRefine((given, context) => {
    if (given.hdr === 'keep' && given.codec !== 'h265') {
      context.addIssue({ code: 'custom', path: ['hdr'], message: 'only h265 keeps HDR' });
    }
    const heights = given.rungs.map(({ height }) => height);
    for (const [index, height] of heights.entries()) {
      if (heights.indexOf(height) === index) continue;
      const message = `there is another rung of ${height}`;
      context.addIssue({ code: 'custom', path: ['rungs', index, 'height'], message });
    }
  });

export type Profile = z.output<typeof profile>;

export const profileName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'expected a name of up to 64 letters, digits, ".", "_" and "-"');

const profiles = z.record(profileName, profile);

/** What there is without a file. */
const BUILT_IN: z.input<typeof profiles> = {
  default: {
    rungs: [
      { height: 1080, crf: 21, max_kbps: 5500 },
      { height: 720, crf: 22, max_kbps: 3000 },
      { height: 480, crf: 23, max_kbps: 1400 },
      { height: 360, crf: 24, max_kbps: 800 },
      { height: 240, crf: 25, max_kbps: 400 },
    ],
  },
};

/**
 * Those of a file of YAML or JSON, and `default`, which the file may replace.
 * @throws where the file cannot be read, or a profile is wrong: with its name and field, for a person to read.
 */
export async function readProfiles(
  path: string | undefined,
): Promise<ReadonlyMap<string, Profile>> {
  const given = path === undefined ? {} : (parse(await readFile(path, 'utf8')) as object | null);
  const parsed = profiles.safeParse({ ...BUILT_IN, ...given });
  if (parsed.success) return new Map(Object.entries(parsed.data));
  const problems = parsed.error.issues.map((one) => `${one.path.join('.')}: ${one.message}`);
  throw new Error(`PROFILES ${path} cannot be used: ${problems.join('; ')}`);
}
