/**
 * The handler of `ffmpeg.ladder`: a folder with one video in several sizes, for HLS and DASH, and what goes with it. Each
 * part is made once: an attempt after a crash goes on with the rungs that are whole. The folder appears whole or not at all.
 */
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import { describeFsError } from '../../media/failures.ts';
import { type LocalInput, localInput } from '../../media/attempt/local-input.ts';
import { threadsFor } from '../../media/fields.ts';
import type { Media } from '../../media/media.ts';
import { probe } from '../../media/probe.ts';
import { assertToneMapping } from '../../media/tone-mapping.ts';
import { WorkFolder } from '../../media/attempt/work-folder.ts';
import {
  bringBackFolder,
  fingerprint,
  publishFolder,
  removeLeftovers,
  temporaryFor,
} from '../outputs.ts';
import { noteTargets } from '../sweep.ts';
import { childLimits, type FfmpegSettings } from '../renditions.ts';
import { assertBounded, assertTakeable } from '../transcode.ts';
import { captionsOf } from './captions.ts';
import { readKey } from './keys.ts';
import { type Made, PartMaker, type Plan } from './make-parts.ts';
import {
  type Contents,
  type Encryption,
  finishPackage,
  MANIFEST,
  MASTER,
  packageArguments,
  type Packed,
} from './package.ts';
import { type LadderParams, parseParams } from './params.ts';
import { planGrid, planRungs } from './plan.ts';
import type { Profile } from './profile.ts';
import type { Loudness } from './loudness.ts';

export interface LadderSettings extends FfmpegSettings {
  readonly ffprobe: string;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** With the keys for AES-128; null: nothing can be encrypted. */
  readonly keys: string | null;
}

/** Also what `ladder.json` in the folder has. */
export interface LadderResult {
  readonly fingerprint: string;
  readonly seconds: number;
  readonly hls: string;
  /** Null: it is encrypted. */
  readonly dash: string | null;
  readonly rungs: readonly {
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly average_kbps: number;
    readonly peak_kbps: number;
    /** Not encoded again. */
    readonly copied: boolean;
  }[];
  readonly audio: {
    /** Where it was brought to a target: before and after. */
    readonly loudness: { readonly before: Loudness; readonly after: Loudness } | null;
  } | null;
  readonly captions: readonly { readonly language: string; readonly file: string }[];
  readonly poster: string | null;
  readonly sprites: { readonly track: string; readonly pictures: number } | null;
  readonly encrypted: boolean;
  readonly files: number;
  readonly bytes: number;
}

/** Whose presence says that a folder is a ladder, and which one. */
const LADDER_FILE = 'ladder.json';
/** Raised when equal wishes are met in another way. */
const RECIPE = 1;

export function ladderHandler(settings: LadderSettings) {
  return async (task: Task, ctx: TaskContext) => {
    const params = parseParams(task.params);
    const profile =
      typeof params.profile === 'string'
        ? profileNamed(params.profile, settings.profiles)
        : params.profile;
    return WorkFolder.within(settings.mediaRoot, task, ctx, (folder) =>
      new Ladder([settings, task, ctx], folder, params, profile).run(),
    );
  };
}

function profileNamed(name: string, profiles: LadderSettings['profiles']): Profile {
  const found = profiles.get(name);
  if (found !== undefined) return found;
  const known = [...profiles.keys()].join(', ');
  throw new NonRetryableError(`profile: there is no ${name}, but ${known}`);
}

/** One attempt. */
class Ladder {
  readonly #settings: LadderSettings;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #folder: WorkFolder;
  readonly #params: LadderParams;
  readonly #profile: Profile;

  constructor(
    [settings, task, ctx]: readonly [LadderSettings, Task, TaskContext],
    folder: WorkFolder,
    params: LadderParams,
    profile: Profile,
  ) {
    this.#settings = settings;
    this.#task = task;
    this.#ctx = ctx;
    this.#folder = folder;
    this.#params = params;
    this.#profile = profile;
  }

  async run(): Promise<LadderResult & { readonly skipped: boolean }> {
    const { mediaRoot, keys } = this.#settings;
    const { encrypt, output, input: location } = this.#params;
    const target = await mediaRoot.outputFolder(output);
    const encryption = encrypt ? { key: await readKey(keys, encrypt.key), uri: encrypt.uri } : null;
    const input = await localInput(location, this.#settings, this.#ctx, this.#folder);
    if (!relative(target, input.path).startsWith('..')) {
      throw new NonRetryableError(`input ${input.name} is in the folder of the output`);
    }
    const made = [RECIPE, 'ladder', input.identity, this.#profile, encrypt ?? null];
    const mark = fingerprint(made);
    await noteTargets(this.#folder, { files: [], folder: target });
    await bringBackFolder(target, this.#task);
    const before = await publishedIn(target, output);
    if (before?.fingerprint === mark) return { ...before, skipped: true };
    await removeLeftovers([target], this.#task);
    const plan = await this.#plan(input);
    const parts = new PartMaker([this.#settings, this.#profile, this.#ctx], this.#folder, plan);
    const files = await parts.makeAll();
    const temporary = temporaryFor(target, this.#task, 0, this.#ctx.token);
    try {
      await mkdir(temporary);
      const packed = await this.#pack(plan, files, temporary, encryption);
      const result = await this.#describe({ plan, files, packed, temporary, mark });
      await writeFile(join(temporary, LADDER_FILE), `${JSON.stringify(result, null, 2)}\n`);
      this.#ctx.signal.throwIfAborted();
      await publishFolder(temporary, target);
      parts.report('package', 1);
      return { ...result, skipped: false };
    } catch (error) {
      throw describeFsError(error, `output ${output}`);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Refuses whatever cannot end well before the first rung costs hours. */
  async #plan({ path: input, name, identity }: LocalInput): Promise<Plan> {
    const { ffmpeg, ffprobe, threads } = this.#settings;
    const limits = childLimits(this.#settings, this.#ctx);
    const media: Media = await probe(this.#settings, input, `input ${name}`, limits);
    assertTakeable(media, name);
    assertBounded(media, name);
    const { video } = media;
    if (video === null) throw new NonRetryableError(`input ${name} has no picture`);
    const rungs = planRungs(video, this.#profile);
    if (rungs.some(({ picture }) => picture.toneMapped)) await assertToneMapping(ffmpeg, limits);
    const captions = this.#profile.captions ? await captionsOf(ffprobe, input, limits) : [];
    return {
      ...{ input, name, media, video, rungs, captions, grid: planGrid(video, this.#profile) },
      ...{ threads: threadsFor(this.#params.threads, threads), identity },
    };
  }

  async #pack(
    plan: Plan,
    made: Made,
    folder: string,
    encryption: Encryption | null,
  ): Promise<readonly Packed[]> {
    await made.run('package', packageArguments(contentsOf(plan, made), folder), made.seconds);
    for (const file of made.extras) await copyFile(this.#folder.file(file), join(folder, file));
    return finishPackage(contentsOf(plan, made), folder, encryption);
  }

  async #describe(of: {
    readonly plan: Plan;
    readonly files: Made;
    readonly packed: readonly Packed[];
    readonly temporary: string;
    readonly mark: string;
  }): Promise<LadderResult> {
    const { plan, files, packed, temporary, mark } = of;
    const { output, encrypt } = this.#params;
    const names = await readdir(temporary);
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(temporary, name))).size),
    );
    const at = (name: string) => join(output, name);
    return {
      fingerprint: mark,
      seconds: files.seconds,
      hls: at(MASTER),
      dash: encrypt === undefined ? at(MANIFEST) : null,
      rungs: plan.rungs.map(({ name, picture }, n) => ({
        ...{ name, width: picture.width, height: picture.height },
        average_kbps: Math.round(packed[n]?.averageKbps ?? 0),
        peak_kbps: Math.round(packed[n]?.peakKbps ?? 0),
        copied: files.rungs[n]?.copied ?? false,
      })),
      audio: files.audio === null ? null : { loudness: files.loudness },
      captions: plan.captions.map(({ language }, n) => ({
        language,
        file: at(`captions-${n}.vtt`),
      })),
      poster: files.extras.includes('poster.jpg') ? at('poster.jpg') : null,
      sprites: files.sprites && { track: at('sprites.vtt'), pictures: files.sprites.count },
      encrypted: encrypt !== undefined,
      files: names.length,
      bytes: sizes.reduce((a, b) => a + b, 0),
    };
  }
}

function contentsOf({ rungs, captions, grid }: Plan, made: Made): Contents {
  return {
    rungs: rungs.map((rung, n) => ({ rung, file: made.rungs[n]?.file ?? '' })),
    ...{ audio: made.audio, captions, grid, seconds: made.seconds },
  };
}

/** What an earlier task has made there; null: nothing. @throws {NonRetryableError} it is something else. */
async function publishedIn(target: string, output: string): Promise<LadderResult | null> {
  const names = await readdir(target).catch(() => []);
  if (names.length === 0) return null;
  const text = await readFile(join(target, LADDER_FILE), 'utf8').catch(() => null);
  if (text === null) {
    throw new NonRetryableError(`output ${output} exists, and is no ladder: it is left alone`);
  }
  try {
    return JSON.parse(text) as LadderResult;
  } catch {
    return null;
  }
}
