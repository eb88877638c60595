/**
 * What is kept of the log of one attempt, in chunks: its first half and its newest, up to so many bytes. Lines have
 * numbers, so that whatever is missing shows. Knows what is written and what has yet to be; it writes nothing itself.
 */

/** A line with its number, as text in which no other line begins. */
export interface NumberedLine {
  readonly n: number;
  readonly text: string;
  /** Of its text, in UTF-8. */
  readonly bytes: number;
}

/** Which lines stand together. */
export interface LogHead {
  /** Number of its first line. */
  readonly n: number;
  /** Number of its last line. */
  readonly lastN: number;
  /** Of its text. */
  readonly bytes: number;
}

export interface LogChunk extends LogHead {
  readonly text: string;
}

/** How many lines an attempt has said, by its executor: known with its end. */
export interface LogEnd {
  readonly taskSeq: number;
  readonly attempt: number;
  readonly lineCount: number;
}

/** Beyond the number of any line. */
const END_N = 9_999_999_999;

/** Behind all chunks of the attempt, without a line. */
export function endChunk({ lineCount }: Pick<LogEnd, 'lineCount'>): LogChunk {
  return { n: END_N, lastN: lineCount, bytes: 0, text: '' };
}

export function isEnd({ n }: Pick<LogHead, 'n'>): boolean {
  return n === END_N;
}

/** What brings the rows up to date: each may be done again. */
export interface LogChange {
  /** In place of one with the same `n`. */
  readonly put: readonly LogChunk[];
  /** By `n`. */
  readonly remove: readonly number[];
}

/** It grows, and is written anew with each line, up to this. */
const CHUNK_BYTES = 8_192;
const CHUNK_BYTES_MIN = 1_024;
/** Of what is kept, so many chunks hold it at least. */
const CHUNK_COUNT_MIN = 16;

interface Kept {
  readonly n: number;
  lastN: number;
  bytes: number;
  /** Null once it is written, and full. */
  texts: string[] | null;
  isWritten: boolean;
}

export class AttemptLog {
  readonly #bytesMax: number;
  readonly #chunkBytes: number;
  readonly #kept: Kept[];
  readonly #dirty = new Set<Kept>();
  #removed: number[] = [];
  #bytes = 0;
  #lastN = 0;

  /** @param known What of it is written already, by `n`. */
  constructor(bytesMax: number, known: readonly LogHead[] = []) {
    this.#bytesMax = bytesMax;
    const share = Math.floor(bytesMax / CHUNK_COUNT_MIN);
    this.#chunkBytes = Math.min(CHUNK_BYTES, Math.max(CHUNK_BYTES_MIN, share));
    // Lines may come after the end of their attempt.
    const chunks = known.filter((head) => !isEnd(head));
    this.#kept = chunks.map((head) => ({ ...head, texts: null, isWritten: true }));
    for (const { lastN, bytes } of chunks) {
      this.#bytes += bytes;
      this.#lastN = Math.max(this.#lastN, lastN);
    }
  }

  /** Number of the newest line; 0: there is none. */
  get lastN(): number {
    return this.#lastN;
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0 || this.#removed.length > 0;
  }

  /** Of the text that it holds. */
  get heldBytes(): number {
    let held = 0;
    for (const { texts, bytes } of this.#kept) if (texts !== null) held += bytes;
    return held;
  }

  /** Takes what is newer than all that it has; the rest came twice. */
  add(lines: readonly NumberedLine[]): void {
    for (const { n, text, bytes } of lines) {
      if (n <= this.#lastN) continue;
      const chunk = this.#open(n);
      chunk.texts?.push(text);
      chunk.lastN = n;
      chunk.bytes += bytes + 1;
      this.#bytes += bytes + 1;
      this.#lastN = n;
      this.#dirty.add(chunk);
    }
    this.#drop();
  }

  /** What has yet to be written: at least something, where there is anything, up to about so many bytes. */
  takeChange(bytesMax: number): LogChange {
    const put: LogChunk[] = [];
    let taken = 0;
    for (const chunk of this.#dirty) {
      if (taken >= bytesMax) break;
      const { n, lastN, bytes, texts } = chunk;
      taken += bytes;
      put.push({ n, lastN, bytes, text: texts?.join('\n') ?? '' });
      this.#dirty.delete(chunk);
      chunk.isWritten = true;
      if (bytes >= this.#chunkBytes) chunk.texts = null;
    }
    const remove = this.#removed;
    this.#removed = [];
    return { put, remove };
  }

  #open(n: number): Kept {
    const last = this.#kept.at(-1);
    if (last !== undefined && last.texts !== null && last.bytes < this.#chunkBytes) return last;
    const chunk: Kept = { n, lastN: n, bytes: 0, texts: [], isWritten: false };
    this.#kept.push(chunk);
    return chunk;
  }

  /** The oldest chunk behind the first half goes, until the rest fits; the newest stays. */
  #drop(): void {
    while (this.#bytes > this.#bytesMax) {
      const place = this.#firstBehindHalf();
      if (place >= this.#kept.length - 1) return;
      const [gone] = this.#kept.splice(place, 1);
      if (gone === undefined) return;
      this.#bytes -= gone.bytes;
      this.#dirty.delete(gone);
      if (gone.isWritten) this.#removed.push(gone.n);
    }
  }

  #firstBehindHalf(): number {
    let bytes = 0;
    return this.#kept.findIndex((chunk) => (bytes += chunk.bytes) > this.#bytesMax / 2);
  }
}
