/**
 * The file of an export: `FILE.part` until it is whole, and beside it `FILE.resume`, which says how far it is. Whatever is cut off, it goes on
 * from there: what was written beyond it is written again.
 */
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { HistoryQuery } from '@soda-scheduler/client';
import { ExitCode, Failure } from '../exit-code.ts';

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

export class ExportFile {
  readonly #name: string;
  readonly #asked: string;
  readonly #part: FileHandle;
  #progress: Progress;

  private constructor(name: string, asked: string, part: FileHandle, progress: Progress) {
    this.#name = name;
    this.#asked = asked;
    this.#part = part;
    this.#progress = progress;
  }

  /**
   * Goes on with what was interrupted, or begins.
   * @throws {Failure} it is there already, or another export has begun to write it.
   */
  static async open(name: string, asked: string, begin: () => Progress): Promise<ExportFile> {
    if (await isThere(name)) {
      throw new Failure(`${name} is there already: move it, or name another`, ExitCode.usage);
    }
    const left = await leftOf(name);
    if (left !== null && left.asked !== asked) {
      const message = `${name}.part is of another export (${left.asked}): delete it and ${name}.resume, or name another file`;
      throw new Failure(message, ExitCode.usage);
    }
    const part = await open(`${name}.part`, left === null ? 'w' : 'r+');
    const file = new ExportFile(name, asked, part, left ?? begin());
    await part.truncate(file.#progress.bytes);
    if (left === null) await file.#note();
    return file;
  }

  get progress(): Progress {
    return this.#progress;
  }

  async write(text: string, progress: Omit<Progress, 'bytes'>): Promise<void> {
    const data = Buffer.from(text);
    const { bytes } = this.#progress;
    for (let at = 0; at < data.length; ) {
      const { bytesWritten } = await this.#part.write(data, at, data.length - at, bytes + at);
      at += bytesWritten;
    }
    this.#progress = { ...progress, bytes: bytes + data.length };
    // Of the last page there is nothing to go on with: cut off here, it is read once more.
    if (progress.cursor !== null) await this.#note();
  }

  /** It is whole. */
  async finish(): Promise<void> {
    await this.#part.sync();
    await this.#part.close();
    await rename(`${this.#name}.part`, this.#name);
    await rm(`${this.#name}.resume`, { force: true });
  }

  async close(): Promise<void> {
    await this.#part.close().catch(() => undefined);
  }

  async #note(): Promise<void> {
    const resume: Resume = { ...this.#progress, asked: this.#asked };
    const name = `${this.#name}.resume`;
    await writeFile(`${name}.new`, JSON.stringify(resume));
    await rename(`${name}.new`, name);
  }
}

/** Null: there is nothing to go on with. */
async function leftOf(name: string): Promise<Resume | null> {
  try {
    const resume = JSON.parse(await readFile(`${name}.resume`, 'utf8')) as Resume;
    const { size } = await stat(`${name}.part`);
    // A power cut may have taken the end of it.
    return size < resume.bytes ? null : resume;
  } catch {
    return null;
  }
}

async function isThere(name: string): Promise<boolean> {
  return stat(name).then(
    () => true,
    () => false,
  );
}
