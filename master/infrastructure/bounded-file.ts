/**
 * A small file that others put there, read again and again: whatever stands under its name, a pipe or a mount that does
 * not answer, reading comes to an end. Keeps nothing of what it has read.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const BYTES_MAX = 1_048_576;
const LIMIT_MS = 5_000;

export interface Content {
  readonly bytes: Buffer;
  /** Of its rights. */
  readonly mode: number;
}

export class BoundedFile {
  readonly #read: () => Promise<Content>;
  readonly #limitMs: number;
  /** One at a time: each that hangs holds a thread, of which there are four for all files and names. */
  #pending: Promise<Content> | null = null;

  constructor(path: string, { read = () => readRegular(path), limitMs = LIMIT_MS } = {}) {
    this.#read = read;
    this.#limitMs = limitMs;
  }

  /** @throws in words or with a code: it is no file, too large, not to be read, or did not come in time. */
  async read(): Promise<Content> {
    const pending = (this.#pending ??= this.#read().finally(() => (this.#pending = null)));
    const over = new AbortController();
    const late = delay(this.#limitMs, undefined, { signal: over.signal }).then(() => {
      throw new Error(`no answer within ${this.#limitMs / 1000} s`);
    });
    late.catch(() => undefined);
    pending.catch(() => undefined);
    try {
      return await Promise.race([pending, late]);
    } finally {
      over.abort();
    }
  }
}

async function readRegular(path: string): Promise<Content> {
  // Else a pipe would wait for whoever writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is no regular file');
    if (stats.size > BYTES_MAX) throw new Error(`it has more than ${BYTES_MAX} bytes`);
    const bytes = Buffer.alloc(stats.size);
    // What is shorter by now is being written, and will be looked at again.
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { bytes: bytes.subarray(0, bytesRead), mode: stats.mode };
  } finally {
    await file.close();
  }
}
