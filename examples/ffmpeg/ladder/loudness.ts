/** EBU R128 in two passes: the first measures, the second brings the sound to its target by one gain where that is possible. */
import { RetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { GUARDED_INPUT } from '../../media/input-guard.ts';
import { type ChildLimits, type Headway, runFfmpeg } from '../../media/attempt/run-ffmpeg.ts';
import { layoutOf } from '../../media/sound.ts';
import type { Profile } from './profile.ts';

type Target = NonNullable<NonNullable<Profile['audio']>['loudness']>;

/** LUFS, LU and dBTP, of the input. Null: it is silent. */
export interface Loudness {
  readonly integrated: number | null;
  readonly range: number;
  readonly peak: number | null;
  readonly threshold: number;
  readonly offset: number;
}

const level = z.coerce.number();

const measured = z
  .object({
    input_i: level,
    input_tp: level,
    input_lra: level,
    input_thresh: level,
    target_offset: level,
  })
  .transform((one): Loudness => {
    const heard = (value: number) => (Number.isFinite(value) && value > -99 ? value : null);
    return {
      integrated: heard(one.input_i),
      range: one.input_lra,
      peak: heard(one.input_tp),
      threshold: one.input_thresh,
      offset: one.target_offset,
    };
  });

/** A downmix is heard otherwise than its source: it is measured, and brought to its target, as it will be. */
export function channelsFilter(channels: number): string {
  return `aformat=channel_layouts=${layoutOf(channels) ?? 'stereo'}`;
}

/** As it is with so many channels. @throws as `runFfmpeg`. */
export async function measureLoudness(
  path: string,
  target: Target,
  channels: number,
  run: {
    readonly ffmpeg: string;
    readonly limits: ChildLimits;
    readonly seconds: number | null;
    readonly what: string;
    readonly onHeadway?: (headway: Headway) => void;
  },
): Promise<Loudness> {
  const args = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'info', '-nostats', '-progress', 'pipe:1'],
    ...[...GUARDED_INPUT, '-i', `file:${path}`, '-map', '0:a:0'],
    ...[
      '-af',
      `${channelsFilter(channels)},${targetOf(target)}:print_format=json`,
      '-f',
      'null',
      '-',
    ],
  ];
  const { log } = await runFfmpeg({ ...run, args });
  return parseLoudness(log) ?? raise(run.what);
}

/** From ffmpeg's log; null where it is not in it. */
export function parseLoudness(log: string): Loudness | null {
  const text = log.slice(log.lastIndexOf('{'), log.lastIndexOf('}') + 1);
  try {
    // Silence is `-inf`, which is no JSON number, but loudnorm quotes all of them.
    return measured.parse(
      JSON.parse(text.replaceAll('"-inf"', '"-99"').replaceAll('"inf"', '"99"')),
    );
  } catch {
    return null;
  }
}

/** Null where there is nothing to be louder. */
export function loudnessFilter(target: Target, of: Loudness): string | null {
  if (of.integrated === null || of.peak === null) return null;
  const known =
    `measured_I=${of.integrated}:measured_TP=${of.peak}:measured_LRA=${of.range}:` +
    `measured_thresh=${of.threshold}:offset=${of.offset}`;
  return `${targetOf(target)}:${known}:linear=true`;
}

function targetOf({ integrated, range, peak }: Target): string {
  return `loudnorm=I=${integrated}:LRA=${range}:TP=${peak}`;
}

function raise(what: string): never {
  throw new RetryableError(`${what}: ffmpeg did not say how loud it is`);
}
