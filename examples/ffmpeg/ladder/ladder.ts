/**
 * The handler of `ffmpeg.ladder`: a folder with one video in several sizes, for HLS and DASH, and what goes with it. Each
 * part is made once: an attempt after a crash goes on with the rungs that are whole. How it appears is up to its place.
 */
import { copyFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import { type LocalInput, localInput } from '../../media/attempt/local-input.ts';
import { threadsFor } from '../../media/fields.ts';
import type { Media } from '../../media/media.ts';
import { isInside } from '../../media/media-root.ts';
import { probe } from '../../media/probe.ts';
import { assertToneMapping } from '../../media/tone-mapping.ts';
import { WorkFolder } from '../../media/attempt/work-folder.ts';
import { fingerprint } from '../outputs.ts';
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
import { type Place, placeFor } from './place.ts';
import type { LadderResult } from './result.ts';

export interface LadderSettings extends FfmpegSettings {
  readonly ffprobe: string;
  readonly profiles: ReadonlyMap<string, Profile>;
  /** With the keys for AES-128; null: nothing can be encrypted. */
  readonly keys: string | null;
}

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
    const { encrypt, output, input: location } = this.#params;
    const attempt = [this.#task, this.#ctx] as const;
    const place = await placeFor(output, this.#settings, attempt, this.#folder);
    const { keys } = this.#settings;
    const key = encrypt && (await readKey(keys, encrypt.key));
    const input = await localInput(location, this.#settings, this.#ctx, this.#folder);
    if (place.folder !== null && isInside(place.folder, input.path)) {
      throw new NonRetryableError(`input ${input.name} is in the folder of the output`);
    }
    // Another key under the same name locks another ladder. What is hashed of a secret of 16 bytes tells nobody which one it is.
    const wished = encrypt && key ? { ...encrypt, is: fingerprint([key.toString('hex')]) } : null;
    const mark = fingerprint([RECIPE, 'ladder', input.identity, this.#profile, wished]);
    const encryption = encrypt && key ? { key, uri: encrypt.uri, mark } : null;
    const before = await place.find(mark);
    if (before !== null) return { ...before, skipped: true };
    const last: Plan['last'] = place.folder === null ? 'upload' : 'package';
    // An attempt that goes on with a whole package has no other parts to tell of.
    let tell = (share: number) =>
      this.#ctx.progress({ percent: 100 * share, state: { part: last } });
    const write = async (folder: string) => {
      const plan = { ...(await this.#plan(input)), last };
      const parts = new PartMaker([this.#settings, this.#profile, this.#ctx], this.#folder, plan);
      tell = (share) => parts.report(last, share);
      const files = await parts.makeAll();
      const packed = await this.#pack([plan, files], parts, folder, encryption);
      return this.#describe({ plan, files, packed, folder, mark, place });
    };
    const result = await place.make(mark, write, (share) => tell(share));
    tell(1);
    return { ...result, skipped: false };
  }

  /** Refuses whatever cannot end well before the first rung costs hours. */
  async #plan({ path: input, name, identity }: LocalInput): Promise<Omit<Plan, 'last'>> {
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
    [plan, made]: readonly [Plan, Made],
    parts: PartMaker,
    folder: string,
    encryption: Encryption | null,
  ): Promise<readonly Packed[]> {
    await made.run('package', packageArguments(contentsOf(plan, made), folder), made.seconds);
    for (const file of made.extras) await copyFile(this.#folder.file(file), join(folder, file));
    return finishPackage(contentsOf(plan, made), folder, encryption, {
      signal: this.#ctx.signal,
      onSegment: () => parts.report('package', 0.999),
    });
  }

  async #describe(of: {
    readonly plan: Plan;
    readonly files: Made;
    readonly packed: readonly Packed[];
    readonly folder: string;
    readonly mark: string;
    readonly place: Place;
  }): Promise<LadderResult> {
    const { plan, files, packed, folder, mark, place } = of;
    const { encrypt } = this.#params;
    const names = await readdir(folder);
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(join(folder, name))).size),
    );
    const at = (name: string) => place.at(name);
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
      captions: files.captions.map(({ language }, n) => ({
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

function contentsOf({ rungs, grid }: Plan, made: Made): Contents {
  return {
    rungs: rungs.map((rung, n) => ({ rung, file: made.rungs[n]?.file ?? '' })),
    ...{ audio: made.audio, captions: made.captions, grid, seconds: made.seconds },
  };
}
