/**
 * The file of an export: `FILE.part` until it is whole, and beside it `FILE.resume`, which says how far it is on disk. Whatever is cut off,
 * the power too, it goes on from there: what was written beyond it is written again.
 */
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HistoryQuery } from '@soda-scheduler/client';
import { ExitCode, Failure } from '../exit-code.ts';
import { keepLock, lockFile, unlockFile } from './export-lock.ts';

/** So often it is noted how far it is: to wait for the disk after each page would take longer than the export. */
const NOTE_MS = 1_000;

export interface Progress {
  /** As it was understood at the beginning: times that count from then. */
  readonly query: HistoryQuery;
  /** Of the next page; null: of the first one, or there is none. */
  readonly cursor: string | null;
  /** Of the file. */
  readonly bytes: number;
  /** Of its lines. */
  readonly count: number;
}

interface Resume extends Progress {
  /** What the command line said: another one is another export. */
  readonly asked: string;
}

interface Opened {
  readonly name: string;
  readonly asked: string;
  /** What it says. */
  readonly lock: string;
}

export class ExportFile {
  readonly #name: string;
  readonly #asked: string;
  readonly #lock: string;
  readonly #part: FileHandle;
  #progress: Progress;
  #notedAt = performance.now();

  private constructor({ name, asked, lock }: Opened, part: FileHandle, progress: Progress) {
    this.#name = name;
    this.#asked = asked;
    this.#lock = lock;
    this.#part = part;
    this.#progress = progress;
  }

  /**
   * Goes on with what was interrupted, or begins.
   * @throws {Failure} it is there already, another export has begun to write it, or nobody knows how far it is.
   */
  static async open(name: string, asked: string, begin: () => Progress): Promise<ExportFile> {
    await expectNone(name);
    const lock = await lockFile(name);
    try {
      return await ExportFile.#openLocked({ name, asked, lock }, begin);
    } catch (error) {
      await unlockFile(name, lock);
      throw error;
    }
  }

  static async #openLocked(opened: Opened, begin: () => Progress): Promise<ExportFile> {
    const { name, asked } = opened;
    // Another may have ended it meanwhile.
    await expectNone(name);
    const left = await leftOf(name);
    if (left !== null && left.asked !== asked) {
      const message = `${name}.part is of another export (${left.asked}): delete it and ${name}.resume, or name another file`;
      throw new Failure(message, ExitCode.usage);
    }
    const part = await open(`${name}.part`, left === null ? 'w' : 'r+');
    const file = new ExportFile(opened, part, left ?? begin());
    await part.truncate(file.#progress.bytes);
    if (left === null) await file.#note();
    return file;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** @throws {Failure} another export writes it by now. */
  async write(text: string, progress: Omit<Progress, 'bytes'>): Promise<void> {
    const isDue = performance.now() - this.#notedAt >= NOTE_MS;
    // Before anything is written: if this has stood still, the file may be another's.
    if (isDue) await keepLock(this.#name, this.#lock);
    const data = Buffer.from(text);
    const { bytes } = this.#progress;
    for (let at = 0; at < data.length; ) {
      const { bytesWritten } = await this.#part.write(data, at, data.length - at, bytes + at);
      at += bytesWritten;
    }
    this.#progress = { ...progress, bytes: bytes + data.length };
    if (isDue) await this.#note();
  }

  /** It is whole. @throws {Failure} As `write`. */
  async finish(): Promise<void> {
    await keepLock(this.#name, this.#lock);
    await this.#part.sync();
    await this.#part.close();
    await rename(`${this.#name}.part`, this.#name);
    await rm(`${this.#name}.resume`, { force: true });
    const directory = await open(path.dirname(this.#name));
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
    await unlockFile(this.#name, this.#lock);
  }

  /** It is not whole, and is gone on with later. */
  async close(): Promise<void> {
    await this.#note().catch(() => undefined);
    await this.#part.close().catch(() => undefined);
    await unlockFile(this.#name, this.#lock).catch(() => undefined);
  }

  /** How far it is, once all up to there is on disk: beyond that a power cut leaves anything. */
  async #note(): Promise<void> {
    const { cursor, bytes } = this.#progress;
    // Of the last page there is nothing to go on with: cut off here, it is read once more.
    if (cursor === null && bytes > 0) return;
    await keepLock(this.#name, this.#lock);
    await this.#part.datasync();
    const resume: Resume = { ...this.#progress, asked: this.#asked };
    const name = `${this.#name}.resume`;
    await writeFile(`${name}.new`, JSON.stringify(resume), { flush: true });
    await rename(`${name}.new`, name);
    this.#notedAt = performance.now();
  }
}

async function expectNone(name: string): Promise<void> {
  if ((await sizeOf(name)) === null) return;
  throw new Failure(`${name} is there already: move it, or name another`, ExitCode.usage);
}

/** Null: there is nothing to go on with. @throws {Failure} what there is cannot be gone on with. */
async function leftOf(name: string): Promise<Resume | null> {
  const size = await sizeOf(`${name}.part`);
  if (size === null) return null;
  const resume = await resumeOf(name);
  if (resume !== null && resume.bytes <= size) return resume;
  if (size === 0) return null;
  const message = `how far ${name}.part is cannot be read in ${name}.resume: move or delete both, or name another file`;
  throw new Failure(message, ExitCode.usage);
}

/** Null: there is none that can be read. */
async function resumeOf(name: string): Promise<Resume | null> {
  try {
    return JSON.parse(await readFile(`${name}.resume`, 'utf8')) as Resume | null;
  } catch {
    return null;
  }
}

/** Null: it is not there. */
async function sizeOf(name: string): Promise<number | null> {
  return stat(name).then(
    ({ size }) => size,
    () => null,
  );
}
