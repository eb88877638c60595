/**
 * Where the log goes: lines that cannot be written are lost, and counted. Whoever reads them may go away
 * or fall behind, and their disk be full; what the store survives, the log must not end.
 */
import { Writable } from 'node:stream';
import { LOG_BYTES_MAX } from '../../domain/bounds.ts';

export interface Losses {
  /** The first line was lost since one was written; why, with the code that the system has for it. */
  readonly began: (why: string) => void;
  /** A line was written again. */
  readonly ended: (lostCount: number) => void;
}

/** Takes everything at once, and hands it on as far as `stream` takes it. */
export class LossyLines extends Writable {
  readonly #stream: NodeJS.WritableStream;
  readonly #losses: Losses;
  #lostCount = 0;
  #pendingBytes = 0;

  constructor(stream: NodeJS.WritableStream, losses: Losses) {
    super({ decodeStrings: false });
    this.#stream = stream;
    this.#losses = losses;
    // Every write is told of its own failure.
    stream.on('error', () => undefined);
  }

  /** Of lines that were handed on, and that nobody has taken yet. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  override _write(line: string, _encoding: string, done: () => void): void {
    const bytes = Buffer.byteLength(line);
    if (this.#pendingBytes + bytes > LOG_BYTES_MAX) this.#lose('nobody reads it');
    else {
      this.#pendingBytes += bytes;
      this.#stream.write(line, (error: NodeJS.ErrnoException | null | undefined) => {
        this.#pendingBytes -= bytes;
        if (error) this.#lose(error.code ?? error.message);
        else this.#wrote();
      });
    }
    done();
  }

  #lose(why: string): void {
    this.#lostCount += 1;
    if (this.#lostCount === 1) this.#losses.began(why);
  }

  /** Not with every line that a slow reader takes: each would be told of again. */
  #wrote(): void {
    if (this.#lostCount === 0 || this.#pendingBytes > LOG_BYTES_MAX / 2) return;
    const count = this.#lostCount;
    this.#lostCount = 0;
    this.#losses.ended(count);
  }
}
