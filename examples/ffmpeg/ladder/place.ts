/**
 * Where a ladder goes: a folder of the media root, or the keys of a storage that begin alike. A folder appears whole or not at
 * all, and replaces an older ladder. Objects appear one after another, those that name others last, and are never overwritten.
 */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { NonRetryableError, type Task, type TaskContext } from '@soda-scheduler/executor-sdk';
import type { InputSettings } from '../../media/attempt/local-input.ts';
import { removeOrTell } from '../../media/attempt/remove.ts';
import type { WorkFolder } from '../../media/attempt/work-folder.ts';
import { describeFsError, isFsError } from '../../media/failures.ts';
import { makeDirectoryOf } from '../../media/media-root.ts';
import { again, failureOf, readShort } from '../../storage/answers.ts';
import { notConfigured } from '../../storage/fetch.ts';
import { type ObjectLocation, parseS3 } from '../../storage/locations.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { findObject, type FoundObject, publishObject } from '../../storage/publish.ts';
import { bringBackFolder, publishFolder, removeLeftovers, temporaryFor } from '../outputs.ts';
import { noteTargets } from '../sweep.ts';
import { isBeginning, MASTER } from './package.ts';
import type { LadderResult } from './result.ts';

/** Whose presence says that a ladder is there, whole, and which one. */
const LADDER_FILE = 'ladder.json';
/** Of a folder: the names of all that belongs to its ladder. What is not among them was put there by others. */
const FILES_FILE = 'files.json';

export interface Place {
  /** Of a file of it, for whoever reads the result. */
  at(name: string): string;
  /** Null: it is no folder of the media root. */
  readonly folder: string | null;
  /** A ladder of that mark that is there. @throws {NonRetryableError} something else is there, and must stay. */
  find(mark: string): Promise<LadderResult | null>;
  /**
   * Has the files written into a new folder, and puts them where they belong. `write` resolves to what they are.
   * `onPlaced` is called while that takes its time, with a share of 0 to 1.
   */
  make(
    mark: string,
    write: (folder: string) => Promise<LadderResult>,
    onPlaced: (share: number) => void,
  ): Promise<LadderResult>;
}

/** @throws {NonRetryableError} nothing may be written there. */
export async function placeFor(
  output: string,
  { mediaRoot, storage }: InputSettings,
  [task, ctx]: readonly [Task, TaskContext],
  work: WorkFolder,
): Promise<Place> {
  const location = parseS3(output);
  if (location === null) {
    return new FolderPlace(output, await mediaRoot.outputFolder(output), [task, ctx], work);
  }
  const store = storage?.store ?? null;
  if (store === null) throw notConfigured(output, 'S3_ENDPOINT');
  store.check(location);
  return new StoragePlace(location, store, ctx.signal, work);
}

class FolderPlace implements Place {
  readonly folder: string;
  readonly #output: string;
  readonly #task: Task;
  readonly #ctx: TaskContext;
  readonly #work: WorkFolder;

  constructor(
    output: string,
    folder: string,
    [task, ctx]: readonly [Task, TaskContext],
    work: WorkFolder,
  ) {
    this.#output = output;
    this.folder = folder;
    this.#task = task;
    this.#ctx = ctx;
    this.#work = work;
  }

  at(name: string): string {
    return join(this.#output, name);
  }

  async find(mark: string): Promise<LadderResult | null> {
    await noteTargets(this.#work, { files: [], folder: this.folder });
    await bringBackFolder(this.folder, this.#task);
    // Also where there is nothing to make: the attempt that has put it there may have died before it had removed the older one.
    await removeLeftovers([this.folder], this.#task).catch((error: unknown) => {
      const why = (error as Error).message;
      this.#ctx.log.warn(`what is left beside output ${this.#output} cannot be removed: ${why}`);
    });
    const before = await ladderIn(this.folder);
    if (before?.fingerprint === mark) return before;
    const obstacle = await obstacleIn(this.folder);
    if (obstacle !== null) throw this.#isLeftAlone(obstacle);
    return null;
  }

  async make(
    _mark: string,
    write: (folder: string) => Promise<LadderResult>,
    onPlaced: (share: number) => void,
  ): Promise<LadderResult> {
    await makeDirectoryOf(this.folder, this.#output);
    const temporary = temporaryFor(this.folder, this.#task, 0, this.#ctx.token);
    try {
      await mkdir(temporary);
      const result = await write(temporary);
      await writeLadder(temporary, result);
      const names = [...(await readdir(temporary)), FILES_FILE];
      await writeFile(join(temporary, FILES_FILE), JSON.stringify(names));
      const onFile = () => {
        this.#ctx.signal.throwIfAborted();
        onPlaced(0.999);
      };
      onFile();
      // Others may have written into it while the ladder was made.
      const obstacle = await publishFolder(temporary, this.folder, obstacleIn, onFile);
      if (obstacle !== null) throw this.#isLeftAlone(obstacle);
      return result;
    } catch (error) {
      throw describeFsError(error, `output ${this.#output}`);
    } finally {
      await removeOrTell(temporary);
    }
  }

  #isLeftAlone(obstacle: string): Error {
    return new NonRetryableError(
      `output ${this.#output} exists, and ${obstacle}: it is left alone`,
    );
  }
}

/** Of the folder of the task: the ladder as it goes up. Another attempt sends the same bytes. */
const PACKAGE = 'package';
/** Goes up before all else and says whose it is: what was sent by a task that is no more can be completed by an equal one alone. */
const BEGUN_FILE = 'begun.json';
/** What an object carries beside its content. */
const FINGERPRINT = 'soda-fingerprint';
const LADDER_BYTES_MAX = 256 * 1024;
/** How many objects are on their way at once: a ladder has thousands of small ones. */
const AT_ONCE = 6;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.m4s': 'video/iso.segment',
  '.vtt': 'text/vtt',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
};

class StoragePlace implements Place {
  readonly folder = null;
  readonly #location: ObjectLocation;
  readonly #store: ObjectStore;
  readonly #signal: AbortSignal;
  readonly #work: WorkFolder;

  constructor(
    { bucket, key }: ObjectLocation,
    store: ObjectStore,
    signal: AbortSignal,
    work: WorkFolder,
  ) {
    this.#location = { bucket, key: key.replace(/\/+$/, '') };
    this.#store = store;
    this.#signal = signal;
    this.#work = work;
  }

  at(name: string): string {
    return `s3://${this.#location.bucket}/${this.#keyOf(name)}`;
  }

  async find(mark: string): Promise<LadderResult | null> {
    const there = await this.#found(LADDER_FILE);
    if (there?.metadata[FINGERPRINT] === mark) return this.#read();
    // Of a task that has not ended yet or never will.
    const begun = there ?? (await this.#found(MASTER)) ?? (await this.#found(BEGUN_FILE));
    if (begun === null || begun.metadata[FINGERPRINT] === mark) return null;
    throw new NonRetryableError(
      `output ${this.at('')} has a ladder already, or a part of one, of another input or with other wishes: it is not overwritten`,
    );
  }

  async make(
    mark: string,
    write: (folder: string) => Promise<LadderResult>,
    onPlaced: (share: number) => void,
  ): Promise<LadderResult> {
    const folder = this.#work.file(PACKAGE);
    const packed = await ladderIn(folder);
    if (packed?.fingerprint !== mark) {
      await this.#work.remove(PACKAGE);
      await this.#work.make(PACKAGE, async (draft) => {
        await mkdir(draft);
        await writeLadder(draft, await write(draft));
      });
    }
    await writeFile(this.#work.file(BEGUN_FILE), JSON.stringify({ fingerprint: mark }));
    await this.#publish(this.#work.file(BEGUN_FILE), BEGUN_FILE, mark);
    const names = await readdir(folder);
    const last = [MASTER, LADDER_FILE];
    const others = names.filter((name) => !last.includes(name) && !isBeginning(name));
    // A player that finds a playlist finds what it names.
    const playlists = others.filter((name) => /\.(?:m3u8|mpd)$/.test(name));
    const media = others.filter((name) => !playlists.includes(name));
    const groups = [names.filter(isBeginning), media, playlists];
    let placed = 0;
    for (const group of [...groups, ...last.map((name) => [name])]) {
      await eachOf(group, AT_ONCE, async (name) => {
        await this.#publish(join(folder, name), name, mark);
        onPlaced(++placed / names.length);
      });
    }
    return (await ladderIn(folder)) as LadderResult;
  }

  /**
   * What a task that is no more has sent is as good, though another number of threads makes other bytes: segments of the same
   * mark are cut at the same frames, locked with the same vectors, and begin with a key frame. What decoders need beside
   * them is in the beginnings; there another length says that another encoder was at work.
   */
  async #publish(path: string, name: string, mark: string): Promise<void> {
    const { size } = await stat(path);
    await publishObject(this.#store, this.#object(name), path, {
      signal: this.#signal,
      metadata: { [FINGERPRINT]: mark },
      isAsGood: ({ bytes, metadata }) =>
        metadata[FINGERPRINT] === mark && (bytes === size || !isBeginning(name)),
      contentType: CONTENT_TYPES[extname(name)] ?? 'application/octet-stream',
    });
  }

  #found(name: string): Promise<FoundObject | null> {
    return findObject(this.#store, this.#object(name), this.#signal);
  }

  #read(): Promise<LadderResult> {
    const what = `output ${this.at(LADDER_FILE)}`;
    return again(what, this.#signal, async () => {
      const object = this.#object(LADDER_FILE);
      const answer = await this.#store.send('GET', object, { signal: this.#signal });
      const { shortAnswerMsMax: msMax } = this.#store;
      if (answer.status !== 200) throw await failureOf(what, answer, msMax);
      const text = (await readShort(answer.body, LADDER_BYTES_MAX, msMax))?.toString() ?? '';
      return JSON.parse(text) as LadderResult;
    });
  }

  #object(name: string): ObjectLocation {
    return { bucket: this.#location.bucket, key: this.#keyOf(name) };
  }

  #keyOf(name: string): string {
    return `${this.#location.key}/${name}`;
  }
}

async function writeLadder(folder: string, result: LadderResult): Promise<void> {
  await writeFile(join(folder, LADDER_FILE), `${JSON.stringify(result, null, 2)}\n`);
}

/** Why what is there may not be replaced; null: nothing is there, an empty folder, or a ladder and nothing else. */
async function obstacleIn(path: string): Promise<string | null> {
  try {
    const names = await readdir(path);
    if (names.length === 0) return null;
    const own = await filesOfLadder(path);
    if (own === null) return 'is no ladder';
    const foreign = names.find((name) => !own.has(name));
    return foreign === undefined ? null : `has ${foreign}, which is not of its ladder`;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return null;
    if (isFsError(error, 'ENOTDIR')) return 'is no ladder';
    throw error;
  }
}

/** Null: there is no ladder, or none that says what belongs to it. */
async function filesOfLadder(folder: string): Promise<ReadonlySet<string> | null> {
  try {
    const names: unknown = JSON.parse(await readFile(join(folder, FILES_FILE), 'utf8'));
    return Array.isArray(names) && names.includes(LADDER_FILE) ? new Set(names) : null;
  } catch (error) {
    if (isFsError(error, 'ENOENT') || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Null: there is none, or none that can be read. */
async function ladderIn(folder: string): Promise<LadderResult | null> {
  try {
    return JSON.parse(await readFile(join(folder, LADDER_FILE), 'utf8')) as LadderResult;
  } catch {
    return null;
  }
}

/** So many at once. The first failure ends it, once those that have begun have ended. */
async function eachOf(
  names: readonly string[],
  atOnce: number,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const rest = [...names];
  const lane = async (): Promise<void> => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      try {
        await work(name);
      } catch (error) {
        rest.length = 0;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, lane));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
