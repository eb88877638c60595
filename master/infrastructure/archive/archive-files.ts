/**
 * Keeps ended tasks in files: one for each namespace, class of retention and day, with a line of JSON for each task,
 * compressed. A file that counts (`*.ndjson.gz`) is whole, and is never written, renamed or deleted again. What is
 * being written is called `*.part`, what has yet to count `*.ready`: of these the newest try replaces those before. Works
 * on a few tasks at a time, and compresses beside the event loop.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, constants, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type {
  Archive,
  EndedDay,
  EndedPage,
  EndedSegment,
  Prepared,
  ShownTask,
} from '../../application/ports.ts';

const SUFFIX = '.ndjson.gz';
const READY = `${SUFFIX}.ready`;
const PART = `${SUFFIX}.part`;
/** In JSON nothing but white space between values. */
const BREAKS = /[\r\n]/g;

export interface ArchiveOptions {
  readonly directory: string;
  /** The JSON of a task that has ended, as the API has it. */
  readonly textOf: (task: ShownTask, namespace: string) => string;
  /** Makes a file that is not there, and writes through to the disk before it closes. For tests of full disks. */
  readonly create?: (file: string) => Writable;
  /** Resolves once what files in it are called outlasts a power cut. For tests of failing disks. */
  readonly flush?: (directory: string) => Promise<void>;
}

export class ArchiveFiles implements Archive {
  readonly #directory: string;
  readonly #textOf: ArchiveOptions['textOf'];
  readonly #create: (file: string) => Writable;
  readonly #flush: (directory: string) => Promise<void>;

  constructor(options: ArchiveOptions) {
    const { directory, textOf, create = createThrough, flush = flushThrough } = options;
    this.#directory = path.resolve(directory);
    this.#flush = flush;
    this.#textOf = textOf;
    this.#create = create;
  }

  check(): Promise<void> {
    return this.#inWords(async () => {
      await this.#make();
      await access(this.#directory, constants.R_OK | constants.W_OK | constants.X_OK);
    });
  }

  prepare(segment: EndedSegment): Promise<Prepared> {
    return this.#inWords(async () => {
      await this.#make();
      await this.#sweep(segment);
      const all = new Tally();
      const names: string[] = [];
      try {
        for await (const { namespace, pages } of filesOf(segment.pages())) {
          const name = `${namespace}.${segment.retention}.${segment.day}`;
          names.push(name + READY);
          await this.#write(name, pages, all);
        }
      } catch (error) {
        // It may be the room that is lacking.
        await this.#sweep(segment).catch(() => undefined);
        throw error;
      }
      await this.#flush(this.#directory);
      return { ...all.digest(), names };
    });
  }

  async isStill(segment: EndedSegment, prepared: Prepared): Promise<boolean> {
    const all = new Tally();
    for await (const page of segment.pages()) {
      for (const line of this.#linesOf(page)) all.add(line);
    }
    const names = new Set(await readdir(this.#directory));
    return isSame(all.digest(), prepared) && prepared.names.every((name) => names.has(name));
  }

  holds(day: EndedDay, namespaces: readonly string[]): Promise<boolean> {
    return this.#inWords(async () => {
      const names = [...(await this.#namesOf(day, READY)), ...(await this.#namesOf(day, SUFFIX))];
      const held = new Set(names.map((name) => name.split('.', 1)[0]));
      return namespaces.every((namespace) => held.has(namespace));
    });
  }

  finish(day: EndedDay): Promise<readonly string[]> {
    return this.#inWords(async () => {
      const files: string[] = [];
      for (const name of await this.#namesOf(day, READY)) {
        const free = await this.#freeName(name.slice(0, -READY.length));
        await rename(this.#at(name), this.#at(free));
        files.push(free);
      }
      // Also where none was left to be renamed: whoever did it may have ended before they were flushed, and rows go now.
      await this.#flush(this.#directory);
      return files;
    });
  }

  /** A directory is a name in the one above it. */
  async #make(): Promise<void> {
    const first = await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = this.#directory; made.length >= first.length; made = path.dirname(made)) {
      await this.#flush(path.dirname(made));
    }
  }

  /** @param all counts what it writes, and what others have. */
  async #write(name: string, pages: AsyncIterable<EndedPage>, all: Tally): Promise<void> {
    const part = this.#at(`${name}.${randomUUID()}${PART}`);
    const written = new Tally();
    const lines = async function* (this: ArchiveFiles): AsyncGenerator<string> {
      for await (const page of pages) {
        for (const line of this.#linesOf(page)) {
          all.add(line);
          written.add(line);
          yield line;
        }
      }
    };
    await pipeline(lines.call(this), createGzip(), this.#create(part));
    const read = new Tally();
    await pipeline(createReadStream(part), createGunzip(), read.sink());
    if (!isSame(read.digest(), written.digest())) {
      throw new Error(`what was written to ${part} is not what is read from it`);
    }
    await rename(part, this.#at(name + READY));
  }

  *#linesOf({ namespace, tasks }: EndedPage): Generator<string> {
    for (const task of tasks) yield `${this.#textOf(task, namespace).replace(BREAKS, ' ')}\n`;
  }

  /** Where rows have come to a day that was archived before: beside what it has. */
  async #freeName(name: string): Promise<string> {
    const taken = new Set(await readdir(this.#directory));
    for (let number = 1; ; number++) {
      const free = `${name}${number === 1 ? '' : `.${number}`}${SUFFIX}`;
      if (!taken.has(free)) return free;
    }
  }

  /** What does not count. */
  async #sweep(day: EndedDay): Promise<void> {
    for (const suffix of [PART, READY]) {
      for (const name of await this.#namesOf(day, suffix)) await rm(this.#at(name));
    }
  }

  /** Of whatever namespace. */
  async #namesOf({ retention, day }: EndedDay, suffix: string): Promise<string[]> {
    const names = await readdir(this.#directory);
    // A namespace has no point in its name.
    const isOfDay = (name: string) =>
      name.split('.', 3).slice(1).join('.') === `${retention}.${day}`;
    return names.filter((name) => name.endsWith(suffix) && isOfDay(name)).sort();
  }

  #at(name: string): string {
    return path.join(this.#directory, name);
  }

  /** @throws {Error} for whoever looks after the master. */
  async #inWords<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const advice = ADVICE[code ?? ''] ?? '';
      const where = `the archive ${this.#directory} did not take ended tasks, so that none is dropped`;
      throw new Error(`${where}: ${message}${advice}`, { cause: error });
    }
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: '; make room, or give it another disk',
  EACCES: '; let the user of the master write there',
  EPERM: '; let the user of the master write there',
  EROFS: '; mount it for writing',
  ENOTDIR: '; SODA_ARCHIVE_DIR must be a directory',
  EEXIST: '; SODA_ARCHIVE_DIR must be a directory',
};

function createThrough(file: string): Writable {
  return createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
}

/** What the files are called is in the directory, which has a page of its own. */
async function flushThrough(name: string): Promise<void> {
  const directory = await open(name);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

interface OneFile {
  readonly namespace: string;
  readonly pages: AsyncIterable<EndedPage>;
}

/** What pages of one namespace follow one another are one file, which is to be read before the next is asked for. */
async function* filesOf(pages: AsyncIterable<EndedPage>): AsyncGenerator<OneFile> {
  const source = pages[Symbol.asyncIterator]();
  let next = await source.next();
  while (next.done !== true) {
    const { namespace } = next.value;
    yield {
      namespace,
      pages: (async function* () {
        for (; next.done !== true && next.value.namespace === namespace; next = await source.next())
          yield next.value;
      })(),
    };
  }
}

/** Counts lines, and what they say. */
class Tally {
  readonly #hash = createHash('sha256');
  #count = 0;

  add(line: string): void {
    this.#hash.update(line);
    this.#count += 1;
  }

  /** Takes them as they come, in pieces of any length. */
  sink(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#hash.update(chunk);
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) this.#count += 1;
        done();
      },
    });
  }

  /** Once only. */
  digest(): Digest {
    return { count: this.#count, sha256: this.#hash.digest('hex') };
  }
}

type Digest = Pick<Prepared, 'count' | 'sha256'>;

const isSame = (one: Digest, other: Digest): boolean =>
  one.count === other.count && one.sha256 === other.sha256;
