/**
 * The handler of `ffmpeg.edit`: joins the pieces of a timeline into one file, once, and makes each output from it.
 *
 * The joined file loses nothing (H.264 without loss, PCM), so an output is as good as if it were made from the inputs, and
 * every frame and sample of it is where the timeline says. It is in the folder of the task until the task has ended: an
 * attempt after a crash goes on with it.
 */
import {
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { type LocalInput, localInput } from '../../media/attempt/local-input.ts';
import { threadsFor } from '../../media/fields.ts';
import { describeFsError } from '../../media/failures.ts';
import { secondsOf } from '../../media/frame-rate.ts';
import { planPicture } from '../../media/picture.ts';
import { probe } from '../../media/probe.ts';
import { type Headway, runFfmpeg } from '../../media/attempt/run-ffmpeg.ts';
import { assertToneMapping } from '../../media/tone-mapping.ts';
import { WorkFolder } from '../../media/attempt/work-folder.ts';
import { fingerprint } from '../outputs.ts';
import {
  type FfmpegSettings,
  type Rendition,
  RenditionMaker,
  type Renditions,
  childLimits,
  inspectWith,
} from '../renditions.ts';
import { type Target, targetsFor } from '../targets.ts';
import { assertDifferentFiles, assertSomethingToKeep, assertTakeable } from '../transcode.ts';
import { type EditParams, parseParams } from './params.ts';
import { type Input, type Timeline, joinArguments, mediaOf, planTimeline } from './timeline.ts';

const JOINED = 'joined.mov';
/** The part of the progress in which the timeline is joined. */
const TIMELINE = 'timeline';
/** Raised when an equal timeline is joined in another way. */
const RECIPE = 1;

export function editHandler(settings: FfmpegSettings) {
  return async (task: Task, ctx: TaskContext): Promise<Renditions> => {
    const params = parseParams(task.params);
    return WorkFolder.within(settings.mediaRoot, task, ctx, (folder) =>
      new Edit(settings, task, ctx, folder, params).run(),
    );
  };
}

/** One attempt. */
class Edit {
  readonly #settings: FfmpegSettings;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #folder: WorkFolder;
  readonly #params: EditParams;
  readonly #threads: number | null;

  constructor(
    settings: FfmpegSettings,
    task: Task,
    ctx: TaskContext,
    folder: WorkFolder,
    params: EditParams,
  ) {
    this.#settings = settings;
    this.#task = task;
    this.#ctx = ctx;
    this.#folder = folder;
    this.#params = params;
    this.#threads = threadsFor(params.threads, settings.threads);
  }

  async run(): Promise<Renditions> {
    const { outputs, timeline: pieces, canvas } = this.#params;
    const [settings, task, ctx, folder] = [this.#settings, this.#task, this.#ctx, this.#folder];
    const inspect = inspectWith(settings, ctx);
    const targets = await targetsFor(outputs, settings, [task, ctx], folder, inspect);
    const inputs = await this.#findInputs();
    assertDifferentFiles([...inputs.values()], targets);
    const timeline = planTimeline({ timeline: pieces, canvas }, inputs);
    await this.#assertToneMapping(timeline);
    const files: unknown[] = [];
    for (const [name, { identity }] of inputs) files.push(name, identity);
    const identity = ['edit', RECIPE, pieces, timeline.canvas, files];
    const media = mediaOf(timeline);
    const source = { path: this.#folder.file(JOINED), identity };
    const renditions = outputs.map((output, index): Rendition => {
      const picture = media.video && output.video && planPicture(media.video, output.video);
      return { source, media, output, target: targets[index] as Target, picture };
    });
    for (const rendition of renditions) assertSomethingToKeep(rendition);
    const maker = new RenditionMaker([settings, ctx], renditions, {
      threads: this.#threads,
      preparation: TIMELINE,
      prepare: (onHeadway) => this.#join(timeline, fingerprint(identity), onHeadway),
    });
    return maker.makeAll();
  }

  async #findInputs(): Promise<ReadonlyMap<string, Input & LocalInput>> {
    const inputs = new Map<string, Input & LocalInput>();
    for (const [name, location] of Object.entries(this.#params.inputs)) {
      const input = await localInput(location, this.#settings, this.#ctx, this.#folder);
      const media = await this.#probe(input.path, `input ${input.name}`);
      assertTakeable(media, input.name);
      inputs.set(name, { ...input, media });
    }
    return inputs;
  }

  async #assertToneMapping({ canvas, cuts }: Timeline): Promise<void> {
    const { resolution } = canvas;
    if (resolution === null) return;
    const wishes = { codec: 'h264', resolution };
    const isMapped = cuts.some(
      (cut) =>
        cut.kind === 'clip' && cut.media.video && planPicture(cut.media.video, wishes).toneMapped,
    );
    if (isMapped) await assertToneMapping(this.#settings.ffmpeg, this.#limits);
  }

  async #join(
    timeline: Timeline,
    comment: string,
    onHeadway: (headway: Headway) => void,
  ): Promise<void> {
    if (await this.#isJoined(comment)) return;
    const { ffmpeg } = this.#settings;
    const seconds = secondsOf(timeline.frameCount, timeline.canvas.rate);
    this.#ctx.log.info('joining the timeline', { pieces: timeline.cuts.length, seconds });
    try {
      await this.#folder.make(JOINED, async (temporary) => {
        const args = joinArguments(timeline, {
          ...{ temporary, fingerprint: comment, threads: this.#threads },
        });
        const { limits, ctx } = { limits: this.#limits, ctx: this.#ctx };
        await runFfmpeg({
          ...{ ffmpeg, args, what: TIMELINE, seconds, limits },
          log: ctx.log,
          onHeadway,
        });
        await this.#assertWhole(temporary, timeline);
      });
    } catch (error) {
      throw describeFsError(error, TIMELINE);
    }
  }

  async #isJoined(comment: string): Promise<boolean> {
    try {
      return (await this.#probe(this.#folder.file(JOINED), TIMELINE)).comment === comment;
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (error instanceof NonRetryableError || error instanceof RetryableError) return false;
      throw error;
    }
  }

  /** To the frame: an input that is shorter than it says would shift all that follows. */
  async #assertWhole(path: string, { canvas, frameCount }: Timeline): Promise<void> {
    const { video, audio } = await this.#probe(path, TIMELINE);
    const frame = secondsOf(1, canvas.rate);
    const expected = secondsOf(frameCount, canvas.rate);
    // What is read from ffmpeg's banner has hundredths only.
    const tolerance = Math.max(frame / 2, 0.011);
    for (const [name, stream] of Object.entries({ picture: video, sound: audio })) {
      const length = stream?.seconds ?? null;
      if (length === null || Math.abs(length - expected) < tolerance) continue;
      throw new NonRetryableError(
        `timeline: its ${name} is ${length} s long instead of ${expected} s: ` +
          'an input has less than its container says',
      );
    }
  }

  get #limits() {
    return childLimits(this.#settings, this.#ctx);
  }

  #probe(path: string, what: string) {
    return probe(this.#settings, path, what, this.#limits);
  }
}
