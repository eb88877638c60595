/**
 * The handler of `ffmpeg.transcode`: looks into the inputs, refuses what cannot end well before the first output costs
 * hours, and has the outputs made. How a child is ended is in `child-process.ts`.
 */
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import { type LocalInput, localInput } from '../media/attempt/local-input.ts';
import { WorkFolder } from '../media/attempt/work-folder.ts';
import { threadsFor } from '../media/fields.ts';
import { isSteady, RATE_MAX, rateOf } from '../media/frame-rate.ts';
import { PIXELS_MAX, SECONDS_MAX } from '../media/input-guard.ts';
import { longestIn, type Media } from '../media/media.ts';
import { planPicture, shownSize } from '../media/picture.ts';
import { probe } from '../media/probe.ts';
import { assertToneMapping } from '../media/tone-mapping.ts';
import { type OutputSpec, parseParams } from './params.ts';
import {
  type FfmpegSettings,
  type Rendition,
  RenditionMaker,
  type Renditions,
  childLimits,
  inspectWith,
} from './renditions.ts';
import { type Target, targetsFor } from './targets.ts';

export function transcodeHandler(settings: FfmpegSettings) {
  return async (task: Task, ctx: TaskContext): Promise<Renditions> => {
    const params = parseParams(task.params);
    const threads = threadsFor(params.threads, settings.threads);
    return WorkFolder.within(settings.mediaRoot, task, ctx, async (folder) => {
      const renditions = await plan(params, [settings, task, ctx], folder);
      const options = { threads, preparation: null };
      return new RenditionMaker([settings, ctx], renditions, options).makeAll();
    });
  };
}

async function plan(
  { outputs }: ReturnType<typeof parseParams>,
  [settings, task, ctx]: readonly [FfmpegSettings, Task, TaskContext],
  folder: WorkFolder,
): Promise<readonly Rendition[]> {
  const limits = childLimits(settings, ctx);
  const inspect = inspectWith(settings, ctx);
  const targets = await targetsFor(outputs, settings, [task, ctx], folder, inspect);
  const inputs = new Map<string, LocalInput>();
  for (const { input } of outputs) {
    const key = JSON.stringify(input);
    if (!inputs.has(key)) inputs.set(key, await localInput(input, settings, ctx, folder));
  }
  assertDifferentFiles([...inputs.values()], targets);
  const sources = new Map<string, { media: Media; source: LocalInput }>();
  for (const [key, source] of inputs) {
    const media = await probe(settings, source.path, `input ${source.name}`, limits);
    assertTakeable(media, source.name);
    assertBounded(media, source.name);
    sources.set(key, { media, source });
  }
  const renditions = outputs.map((wished, index): Rendition => {
    const { media, source } = sources.get(JSON.stringify(wished.input)) as {
      media: Media;
      source: LocalInput;
    };
    const output = evenly(wished, media);
    const picture = media.video && output.video && planPicture(media.video, output.video);
    return { source, media, output, target: targets[index] as Target, picture };
  });
  for (const rendition of renditions) assertSomethingToKeep(rendition);
  if (renditions.some(({ picture }) => picture?.toneMapped)) {
    await assertToneMapping(settings.ffmpeg, limits);
  }
  return renditions;
}

/**
 * Frames that come when they like come evenly afterwards, unless something else is wished for. So do those that get more
 * behind them, at a rate that nobody has: it would be that of the padding.
 */
export function evenly<Wished extends OutputSpec>(output: Wished, { video }: Media): Wished {
  if (video === null || !output.video) return output;
  const isPaddedFast = output.padSeconds !== undefined && (video.frameRate ?? 0) > RATE_MAX;
  if (isSteady(video) && !isPaddedFast) return output;
  const { frames, perSeconds } = rateOf(video);
  const { frame_rate = frames / perSeconds } = output.video;
  return { ...output, video: { ...output.video, frame_rate } };
}

/** @throws {NonRetryableError} an output would be written twice, or over an input. */
export function assertDifferentFiles(
  inputs: readonly LocalInput[],
  targets: readonly Target[],
): void {
  const sources = new Set(inputs.map(({ path }) => path));
  if (
    new Set([...sources, ...targets.map(({ key }) => key)]).size ===
    sources.size + targets.length
  )
    return;
  throw new NonRetryableError('the inputs and the outputs must be different files');
}

/** Encoders take no side that is shorter. */
const SIDE_MIN = 16;

/** @throws {NonRetryableError} its picture does not say its size, or is beyond the guard, as stored or as shown. */
export function assertTakeable({ video }: Media, input: string): void {
  if (video === null) return;
  const taken = `up to ${PIXELS_MAX} pixels (8192x4320) are taken`;
  if (!(video.width > 0 && video.height > 0)) {
    // The guard makes ffprobe and ffmpeg forget the size of a picture that is beyond it.
    throw new NonRetryableError(
      `input ${input}: its picture is too large, or does not say its size: ${taken}`,
    );
  }
  const { width, height } = shownSize(video);
  if (Math.max(width, SIDE_MIN) * Math.max(height, SIDE_MIN) <= PIXELS_MAX) return;
  throw new NonRetryableError(
    `input ${input}: its picture is shown as ${width}x${height}: ${taken}`,
  );
}

/**
 * Two frames that are a year apart are a small file, and a year of frames in what is made of it.
 * @throws {NonRetryableError} it has a picture, and something of it says that it is longer than a day.
 */
export function assertBounded(media: Media, input: string): void {
  const length = longestIn(media) ?? 0;
  if (media.video === null || length <= SECONDS_MAX) return;
  throw new NonRetryableError(`input ${input} is ${length} s long: up to ${SECONDS_MAX} are taken`);
}

/** @throws {NonRetryableError} nothing would be in the output. */
export function assertSomethingToKeep({ media, output, picture }: Rendition): void {
  if (picture || (output.audio && media.audio)) return;
  throw new NonRetryableError(`output ${output.path}: the input has nothing of what it keeps`);
}
