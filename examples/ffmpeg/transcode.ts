/**
 * The handler of `ffmpeg.transcode`: looks into the inputs, refuses what cannot end well before the first output costs
 * hours, and has the outputs made. How a child is ended is in `child-process.ts`.
 */
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import { threadsFor } from '../media/fields.ts';
import { PIXELS_MAX } from '../media/input-guard.ts';
import type { Media } from '../media/media.ts';
import { planPicture } from '../media/picture.ts';
import { probe } from '../media/probe.ts';
import { assertToneMapping } from '../media/tone-mapping.ts';
import { identityOf, removeLeftovers } from './outputs.ts';
import { parseParams } from './params.ts';
import {
  type FfmpegSettings,
  type Rendition,
  RenditionMaker,
  type Renditions,
  childLimits,
} from './renditions.ts';

export function transcodeHandler(settings: FfmpegSettings) {
  return async (task: Task, ctx: TaskContext): Promise<Renditions> => {
    const params = parseParams(task.params);
    const renditions = await plan(params, [settings, task, ctx]);
    const threads = threadsFor(params.threads, settings.threads);
    const maker = new RenditionMaker([settings, task, ctx], renditions, {
      threads,
      preparation: null,
    });
    return maker.makeAll();
  };
}

async function plan(
  { outputs }: ReturnType<typeof parseParams>,
  [settings, task, ctx]: readonly [FfmpegSettings, Task, TaskContext],
): Promise<readonly Rendition[]> {
  const { mediaRoot } = settings;
  const limits = childLimits(settings, ctx);
  const names = [...new Set(outputs.map(({ input }) => input))];
  const inputs = await Promise.all(names.map((name) => mediaRoot.input(name)));
  const targets = await Promise.all(outputs.map(({ path }) => mediaRoot.output(path)));
  assertDifferentFiles(inputs, targets);
  await removeLeftovers(targets, task);
  const sources = new Map<string, { media: Media; source: Rendition['source'] }>();
  for (const [index, name] of names.entries()) {
    const path = inputs[index] as string;
    const media = await probe(settings, path, `input ${name}`, limits);
    assertTakeable(media, name);
    sources.set(name, { media, source: { path, identity: await identityOf(path) } });
  }
  const renditions = outputs.map((output, index): Rendition => {
    const { media, source } = sources.get(output.input) as {
      media: Media;
      source: Rendition['source'];
    };
    const picture = media.video && output.video && planPicture(media.video, output.video);
    return { source, media, output, target: targets[index] as string, picture };
  });
  for (const rendition of renditions) assertSomethingToKeep(rendition);
  if (renditions.some(({ picture }) => picture?.toneMapped)) {
    await assertToneMapping(settings.ffmpeg, limits);
  }
  return renditions;
}

/** @throws {NonRetryableError} an output would be written twice, or over an input. */
export function assertDifferentFiles(inputs: readonly string[], targets: readonly string[]): void {
  const sources = new Set(inputs);
  if (new Set([...sources, ...targets]).size === sources.size + targets.length) return;
  throw new NonRetryableError('the inputs and the outputs must be different files');
}

/** @throws {NonRetryableError} its picture does not say its size, or is beyond the guard. */
export function assertTakeable({ video }: Media, input: string): void {
  if (video === null || (video.width > 0 && video.height > 0)) return;
  // The guard makes ffprobe and ffmpeg forget the size of a picture that is beyond it.
  throw new NonRetryableError(
    `input ${input}: its picture is too large, or does not say its size: ` +
      `up to ${PIXELS_MAX} pixels (8192x4320) are taken`,
  );
}

/** @throws {NonRetryableError} nothing would be in the output. */
export function assertSomethingToKeep({ media, output, picture }: Rendition): void {
  if (picture || (output.audio && media.audio)) return;
  throw new NonRetryableError(`output ${output.path}: the input has nothing of what it keeps`);
}
