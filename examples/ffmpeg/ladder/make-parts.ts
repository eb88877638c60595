/**
 * Makes the parts of a ladder in the folder of the task, one after another: loudness, sound, each rung, pictures, captions. What
 * an earlier attempt has finished is found by its fingerprint.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { NonRetryableError, RetryableError, type TaskContext } from '@soda-scheduler/executor-sdk';
import { secondsOf } from '../../media/frame-rate.ts';
import { assertNotCutOff } from '../../media/input-guard.ts';
import { longestIn, type Media, type VideoStream } from '../../media/media.ts';
import { Parts } from '../../media/attempt/parts.ts';
import { probe } from '../../media/probe.ts';
import { type ChildLimits, type Headway, runFfmpeg } from '../../media/attempt/run-ffmpeg.ts';
import { diskFull } from '../../media/failures.ts';
import type { WorkFolder } from '../../media/attempt/work-folder.ts';
import { fingerprint } from '../outputs.ts';
import { childLimits, type FfmpegSettings, probeIfReadable } from '../renditions.ts';
import { type Caption, captionArguments, writeCaptions } from './captions.ts';
import { type Loudness, loudnessFilter, measureLoudness } from './loudness.ts';
import {
  gridDefect,
  mayBeCopied,
  type Packets,
  PACKETS_MAX,
  packetsOf,
  peakKbps,
} from './packets.ts';
import {
  audioArguments,
  copyArguments,
  type Grid,
  lengthOf,
  type Making,
  type Rung,
  rungArguments,
} from './plan.ts';
import type { Sound } from './package.ts';
import type { Profile } from './profile.ts';
import {
  planSprites,
  posterArguments,
  type SpriteSheets,
  spriteArguments,
  spriteTrack,
} from './stills.ts';

/** With less room a file that came out as none was cut off by the disk. */
const FULL_BYTES = 1024 * 1024;

export interface Plan {
  readonly input: string;
  /** As the params name it. */
  readonly name: string;
  readonly media: Media;
  readonly video: VideoStream;
  readonly rungs: readonly Rung[];
  readonly captions: readonly Caption[];
  readonly grid: Grid;
  readonly threads: number | null;
  readonly identity: readonly unknown[];
  /** The part of the progress that ends all. */
  readonly last: 'package' | 'upload';
}

export interface Made {
  readonly rungs: readonly { readonly file: string; readonly copied: boolean }[];
  readonly audio: Sound | null;
  readonly loudness: { readonly before: Loudness; readonly after: Loudness } | null;
  /** Of each rung. */
  readonly seconds: number;
  readonly sprites: SpriteSheets | null;
  /** Those in which anything is said; of number n is `captions-n.vtt`. */
  readonly captions: readonly Caption[];
  /** Files of the folder that belong into the package as they are. */
  readonly extras: readonly string[];
  /** Runs an ffmpeg as a part of the progress. */
  readonly run: (part: string, args: readonly string[], seconds: number | null) => Promise<void>;
}

export type PartSettings = FfmpegSettings & { readonly ffprobe: string };

export class PartMaker {
  readonly #settings: PartSettings;
  readonly #profile: Profile;
  readonly #ctx: TaskContext;
  readonly #folder: WorkFolder;
  readonly #plan: Plan;
  readonly #names: readonly string[];
  readonly #parts: Parts;
  readonly #limits: ChildLimits;
  readonly #done: string[] = [];

  constructor(
    [settings, profile, ctx]: readonly [PartSettings, Profile, TaskContext],
    folder: WorkFolder,
    plan: Plan,
  ) {
    this.#settings = settings;
    this.#profile = profile;
    this.#ctx = ctx;
    this.#folder = folder;
    this.#plan = plan;
    this.#limits = childLimits(settings, ctx);
    const hasSound = plan.media.audio !== null && profile.audio !== null;
    this.#names = [
      ...(hasSound && profile.audio?.loudness ? ['loudness'] : []),
      ...(hasSound ? ['audio'] : []),
      ...plan.rungs.map(({ name }) => name),
      ...(profile.poster || profile.sprites ? ['pictures'] : []),
      ...(plan.captions.length > 0 ? ['captions'] : []),
      'package',
      ...(plan.last === 'upload' ? ['upload'] : []),
    ];
    this.#parts = new Parts(ctx, this.#names);
  }

  async makeAll(): Promise<Made> {
    const sound = await this.#makeSound();
    const rungs: Made['rungs'][number][] = [];
    let frameCount: number | null = null;
    for (const rung of this.#plan.rungs) {
      const made = await this.#makeRung(rung);
      if (frameCount !== null && made.frameCount !== frameCount) {
        throw new RetryableError(
          `rung ${rung.name}: it has ${made.frameCount} frames, others have ${frameCount}`,
        );
      }
      frameCount = made.frameCount;
      rungs.push(made);
      this.#finish(rung.name);
    }
    const seconds = secondsOf(frameCount ?? 0, this.#plan.grid.rate);
    const pictures = await this.#makePictures(rungs, seconds);
    const captions = await this.#makeCaptions();
    return {
      ...{ rungs, seconds, ...sound, sprites: pictures.sprites, captions },
      extras: [...pictures.files, ...captions.map((_, n) => captionFile(n))],
      run: async (part, args, length) => void (await this.#run(part, args, length)),
    };
  }

  report(part: string, share: number, now: Partial<Headway> = {}): void {
    const index = this.#names.indexOf(part);
    const { speed, fps } = now;
    const state = { part, step: index + 1, of: this.#names.length, speed, fps };
    this.#parts.report(index, share, state, speed);
  }

  #finish(part: string): void {
    this.#done.push(part);
    this.#ctx.checkpoint({ done: this.#done });
    this.report(part, 1);
  }

  async #makeSound(): Promise<Pick<Made, 'audio' | 'loudness'>> {
    const { audio } = this.#profile;
    const { input, media } = this.#plan;
    if (audio === null || media.audio === null) return { audio: null, loudness: null };
    const target = audio.loudness;
    // As no rung is above the source: sound that is not 5.1 is not made so.
    const channels = audio.channels === 6 && media.audio.channels !== 6 ? 2 : audio.channels;
    const loudnessOf = (name: string, path: string) =>
      target && this.#loudnessOf(name, path, target, channels);
    const before = await loudnessOf('loudness', input);
    if (before) this.#finish('loudness');
    const filter = target && before && loudnessFilter(target, before);
    const wishes = ['audio', audio, filter, channels];
    const file = await this.#media('audio.mp4', wishes, async (making) => {
      const args = audioArguments(audio, filter, channels, making);
      const damageCount = await this.#run('audio', args, media.seconds);
      await this.#assertSound(making.temporary, channels, damageCount);
    });
    const after = await loudnessOf('loudness-after', file);
    this.#finish('audio');
    return { audio: { file, channels }, loudness: before && after && { before, after } };
  }

  /** @throws {RetryableError} it is not what it has to be; {NonRetryableError} the input is damaged. */
  async #assertSound(path: string, channels: number, damageCount: number): Promise<void> {
    const { audio } = await this.#readable('audio', path);
    const { media } = this.#plan;
    const expected = media.secondsAreGuessed ? null : (media.audio?.seconds ?? null);
    const least = expected === null ? 0 : expected - toleranceOf(expected);
    if (audio?.codec !== 'aac' || audio.channels !== channels) {
      const found = audio === null ? 'none' : `${audio.codec} of ${audio.channels} channels`;
      throw new RetryableError(`audio: its sound is ${found} instead of aac of ${channels}`);
    }
    const { seconds } = audio;
    // It may be longer: what begins late has silence before it.
    if (seconds !== null && seconds > 0 && seconds >= least) return;
    const short = `audio: it is ${seconds ?? 0} s long instead of ${expected ?? 'more'} s`;
    if (damageCount === 0) throw new RetryableError(short);
    throw new NonRetryableError(`${short}. The input is damaged.`);
  }

  /** Measured once. */
  async #loudnessOf(
    name: string,
    path: string,
    target: NonNullable<NonNullable<Profile['audio']>['loudness']>,
    channels: number,
  ): Promise<Loudness> {
    const file = `${name}.json`;
    const mark = this.#mark([name, this.#profile.audio]);
    const known = await readFile(this.#folder.file(file), 'utf8').then(
      (text) => JSON.parse(text) as { mark: string; measured: Loudness },
      () => null,
    );
    if (known?.mark === mark) return known.measured;
    const measured = await measureLoudness(path, target, channels, {
      ...{ ffmpeg: this.#settings.ffmpeg, limits: this.#limits, what: 'loudness' },
      seconds: this.#plan.media.seconds,
      onHeadway: (now) => name === 'loudness' && this.report(name, now.share, now),
    });
    await this.#folder.make(file, (draft) => writeFile(draft, JSON.stringify({ mark, measured })));
    return measured;
  }

  async #makeRung(rung: Rung): Promise<Made['rungs'][number] & { readonly frameCount: number }> {
    const { grid, media } = this.#plan;
    const profile = this.#profile;
    const copied = await this.#mayCopy(rung);
    const wishes = ['rung', rung, grid, profile.codec, profile.preset, copied];
    // Of one that is made now: they are read all through once only.
    let frameCount: number | null = null;
    const file = await this.#media(`${rung.name}.mp4`, wishes, async (making) => {
      const args = copied
        ? copyArguments(profile.codec, making)
        : rungArguments(rung, grid, profile, making);
      await this.#run(rung.name, args, lengthOf(media));
      frameCount = await this.#assertRung(rung, making.temporary);
    });
    frameCount ??= (await this.#packetsOf(rung, file)).length;
    return { file, copied, frameCount };
  }

  /** @throws {NonRetryableError} it has too many. */
  async #packetsOf({ name }: Rung, path: string): Promise<Packets> {
    const what = `rung ${name}`;
    const packets = await packetsOf(this.#settings.ffprobe, path, what, this.#limits);
    if (packets !== null) return packets;
    throw new NonRetryableError(`${what}: it has more than ${PACKETS_MAX} frames`);
  }

  async #mayCopy(rung: Rung): Promise<boolean> {
    const { video, input, name, grid } = this.#plan;
    if (!mayBeCopied(video, rung, this.#profile)) return false;
    const packets = await packetsOf(this.#settings.ffprobe, input, `input ${name}`, this.#limits);
    if (packets === null) return false;
    const peak = Math.round(peakKbps(packets, grid));
    const tooMuch = peak > rung.maxKbps ? `it has up to ${peak} kbit/s` : null;
    const defect = gridDefect(packets, grid) ?? tooMuch;
    if (defect !== null) this.#ctx.log.info(`${rung.name} is not copied: ${defect}`);
    return defect === null;
  }

  /**
   * How many frames it has.
   * @throws {RetryableError} it is not what a rung has to be.
   */
  async #assertRung(rung: Rung, path: string): Promise<number> {
    const what = `rung ${rung.name}`;
    const { video } = await this.#readable(what, path);
    const { width, height } = rung.picture;
    if (video?.width !== width || video.height !== height) {
      const size = `${video?.width}x${video?.height}`;
      throw new RetryableError(`${what}: its picture is ${size} instead of ${width}x${height}`);
    }
    const { grid, media } = this.#plan;
    const packets = await this.#packetsOf(rung, path);
    const defect = gridDefect(packets, grid);
    if (defect !== null) throw new RetryableError(`${what}: ${defect}`);
    const [length, expected] = [secondsOf(packets.length, grid.rate), lengthOf(media)];
    const isAsLong =
      expected === null ||
      media.secondsAreGuessed ||
      Math.abs(length - expected) <= toleranceOf(expected);
    if (isAsLong) return packets.length;
    throw new NonRetryableError(
      `${what}: it is ${length} s long instead of ${expected} s. The input is damaged.`,
    );
  }

  /** @throws {RetryableError} ffmpeg has said that it is well, and it is not: on a full disk, for one. */
  async #readable(what: string, path: string): Promise<Media> {
    const media = await probeIfReadable(this.#settings, path, what, this.#limits);
    if (media !== null) return media;
    if (await this.#settings.mediaRoot.isFull(FULL_BYTES)) throw diskFull(what);
    throw new RetryableError(`${what}: ffmpeg reported success, but left no readable file`);
  }

  /** @throws {RetryableError} one of these files of the folder is missing or empty. */
  async #assertFilled(what: string, files: readonly string[]): Promise<void> {
    for (const file of files) {
      const found = await stat(this.#folder.file(file)).catch(() => null);
      if (!found?.size) throw new RetryableError(`${what}: ${file} is missing or empty`);
    }
  }

  async #makePictures(
    rungs: Made['rungs'],
    seconds: number,
  ): Promise<{ files: readonly string[]; sprites: SpriteSheets | null }> {
    const { poster, sprites } = this.#profile;
    if (!this.#names.includes('pictures')) return { files: [], sprites: null };
    const [largest, smallest] = [rungs.at(0)?.file ?? '', rungs.at(-1)?.file ?? ''];
    const videoOf = async (file: string) =>
      (await probe(this.#settings, file, 'pictures', this.#limits)).video as VideoStream;
    const files: string[] = [];
    if (poster) {
      const at = Math.min(poster.at_seconds ?? seconds / 10, Math.max(0, seconds - 1));
      const target = this.#folder.file('poster.jpg');
      await this.#run('pictures', posterArguments(largest, await videoOf(largest), at, target), 1);
      files.push('poster.jpg');
    }
    let sheets: SpriteSheets | null = null;
    if (sprites) {
      const video = await videoOf(smallest);
      sheets = planSprites(sprites, video, seconds);
      const args = spriteArguments(smallest, video, sprites, sheets, this.#folder.path);
      await this.#run('pictures', args, seconds);
      const track = spriteTrack(sprites, sheets, seconds);
      await writeFile(this.#folder.file('sprites.vtt'), track);
      for (let n = 1; n <= sheets.sheetCount; n++) files.push(`sprites-${n}.jpg`);
      files.push('sprites.vtt');
    }
    await this.#assertFilled('pictures', files);
    this.#finish('pictures');
    return { files, sprites: sheets };
  }

  async #makeCaptions(): Promise<readonly Caption[]> {
    const { captions, input, media } = this.#plan;
    const said: Caption[] = [];
    for (const caption of captions) {
      const name = captionFile(said.length);
      const target = this.#folder.file(name);
      const made = { texts: `${target}.texts`, list: `${target}.list` };
      await this.#run('captions', captionArguments(input, caption, made), media.seconds);
      const isSaid = await writeCaptions(caption, made, target, this.#limits.signal);
      for (const kind of Object.keys(made)) await this.#folder.remove(`${name}.${kind}`);
      if (isSaid) said.push(caption);
    }
    await this.#assertFilled(
      'captions',
      said.map((_, n) => captionFile(n)),
    );
    if (captions.length > 0) this.#finish('captions');
    return said;
  }

  /** The file of that name; made, unless it is there and equal wishes have made it. */
  async #media(
    name: string,
    wishes: readonly unknown[],
    make: (making: Making) => Promise<void>,
  ): Promise<string> {
    const file = this.#folder.file(name);
    const mark = this.#mark(wishes);
    if ((await this.#commentOf(file)) === mark) return file;
    const { input, threads, media } = this.#plan;
    const seconds = media.secondsAreGuessed ? null : longestIn(media);
    const source = { seconds, hasPicture: true };
    await this.#folder.make(name, async (temporary) => {
      await make({ input, temporary, fingerprint: mark, threads, source });
      if (seconds !== null) return;
      const made = await probe(this.#settings, temporary, name, this.#limits);
      assertNotCutOff(source, made.seconds, name);
    });
    return file;
  }

  #mark(wishes: readonly unknown[]): string {
    return fingerprint([...this.#plan.identity, ...wishes]);
  }

  async #commentOf(path: string): Promise<string | null> {
    return (await probeIfReadable(this.#settings, path, path, this.#limits))?.comment ?? null;
  }

  /** Resolves to how often ffmpeg complained of the input. */
  async #run(part: string, args: readonly string[], seconds: number | null): Promise<number> {
    this.#ctx.log.info(`making ${part}`);
    const { damageCount } = await runFfmpeg({
      ...{ ffmpeg: this.#settings.ffmpeg, args, what: part, seconds, limits: this.#limits },
      log: this.#ctx.log,
      onHeadway: (now) => this.report(part, Math.min(now.share, 0.999), now),
    });
    return damageCount;
  }
}

function captionFile(n: number): string {
  return `captions-${n}.vtt`;
}

/** By how much a length may be another one: containers and encoders round. */
function toleranceOf(seconds: number): number {
  return Math.max(0.5, seconds / 1000);
}
