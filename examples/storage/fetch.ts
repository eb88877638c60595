/**
 * Fetches an input into a file: resumed where the connection was cut, never larger than it may be, and as unavailable
 * where it is not there. A URL that is resolved is resolved anew for each try, so that a signature never ages.
 */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import {
  InputUnavailableError,
  NonRetryableError,
  RetryableError,
} from '@soda-scheduler/executor-sdk';
import type { GuardedAnswer, GuardedRequests } from '@soda-scheduler/executors';
import {
  again,
  failureOf,
  readShort,
  SHORT_ANSWER_MS_MAX,
  SILENCE_MS,
  type Tries,
} from './answers.ts';
import { DiskFullError } from './disk.ts';
import { type InputLocation, parseS3, shownLocation } from './locations.ts';
import type { ObjectStore } from './object-store.ts';

const REDIRECTS_MAX = 3;
/** A try that was cut has brought something if it has brought so much. */
const HEADWAY_BYTES = 16 * 1024;
/** A server that brings less in so long is too slow: whoever sends a byte now and then would hold the executor for days. */
const PACE = { bytes: 1_000_000, ms: 60_000 };
/** So often it is looked whether the disk has room. */
const LOOK_BYTES = 64 * 1024 * 1024;
const RESOLVED_BYTES_MAX = 16 * 1024;

/** Whom an executor may ask. */
export interface Storage {
  /** For `http(s)://` and `resolve`. Null: nobody. */
  readonly requests: GuardedRequests | null;
  /** For `s3://`. Null: none. */
  readonly store: ObjectStore | null;
  /** Of one input. */
  readonly bytesMax: number;
  /** Of the disk: where an input would leave less, it is fetched no further. */
  readonly freeBytesMin: number;
}

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Called while it comes, with what is there; `of` is null where the server has not said. */
  readonly onBytes?: (bytes: number, of: number | null) => void;
  /** Called where it went wrong and is tried again: see `Tries`. */
  readonly onFailedTry?: Tries['onFailedTry'];
  /** In which whatever a server says but the input itself has come. Default: a minute. */
  readonly shortAnswerMsMax?: number;
  /** The least that has to come of an input in so long. Default: a megabyte in a minute. */
  readonly pace?: { readonly bytes: number; readonly ms: number };
}

type Asking = Required<Pick<FetchOptions, 'signal' | 'shortAnswerMsMax'>>;

export interface Fetched {
  readonly bytes: number;
  /** SHA-256 of the content, hexadecimal: what it is, wherever it came from. */
  readonly sha256: string;
}

/**
 * @throws {InputUnavailableError} 403, 404, 410: at once.
 * @throws {NonRetryableError} it may not be fetched, or is too large.
 * @throws {DiskFullError} the disk has too little room: at once.
 * @throws {RetryableError} it went wrong again and again.
 */
export async function fetchInput(
  location: InputLocation,
  path: string,
  storage: Storage,
  {
    signal,
    onBytes,
    onFailedTry,
    shortAnswerMsMax = SHORT_ANSWER_MS_MAX,
    pace = PACE,
  }: FetchOptions,
): Promise<Fetched> {
  const what = `input ${shownLocation(location)}`;
  const file = await open(path, 'w', 0o600);
  try {
    const expectRoom = async () => {
      const { bavail, bsize } = await statfs(path);
      if (bavail * bsize >= storage.freeBytesMin) return;
      const inMb = (bytes: number) => Math.floor(bytes / 1e6);
      throw new DiskFullError(
        `${what}: the disk has ${inMb(bavail * bsize)} MB left, and is to keep ${inMb(storage.freeBytesMin)}`,
      );
    };
    const { bytesMax } = storage;
    const bounds = { bytesMax, expectRoom, shortAnswerMsMax, pace };
    const download = new Download(file, what, { ...bounds, onBytes });
    const asking = { signal, shortAnswerMsMax };
    const work = async () => {
      const answer = await request(location, download.rangeHeaders(), storage, asking);
      await download.take(answer);
    };
    const hasHeadway = () => download.takeHeadway() >= HEADWAY_BYTES;
    await again(what, signal, work, { hasHeadway, onFailedTry });
    return download.fetched;
  } finally {
    await file.close();
  }
}

async function request(
  location: InputLocation,
  headers: Record<string, string>,
  { requests, store }: Storage,
  asking: Asking,
): Promise<GuardedAnswer> {
  const { signal } = asking;
  const object = typeof location === 'string' ? parseS3(location) : null;
  if (object !== null) {
    if (store === null) throw notConfigured(location, 'S3_ENDPOINT');
    return store.send('GET', object, { headers, signal });
  }
  if (requests === null) throw notConfigured(location, 'INPUT_HOSTS');
  const asked = { method: 'GET', headers, signal, silenceMs: SILENCE_MS };
  let url =
    typeof location === 'string' ? location : await resolved(location.resolve, requests, asking);
  for (let hop = 0; ; hop++) {
    const answer = await requests.send(url, asked);
    const { location: next } = answer.headers;
    if (![301, 302, 303, 307, 308].includes(answer.status) || next === undefined) return answer;
    answer.body.destroy();
    if (hop >= REDIRECTS_MAX || !URL.canParse(next, url)) {
      throw new NonRetryableError(`${shownLocation(url)} redirects too often, or to no URL`);
    }
    // Checked as the first one was, by name and by address.
    url = new URL(next, url).href;
  }
}

/** What is refused, by the setting that would let it through. */
export function notConfigured(location: InputLocation, setting: string): NonRetryableError {
  return new NonRetryableError(
    `${shownLocation(location)}: ${setting} of this executor is not set`,
  );
}

/** Its answer is a URL as text, or JSON with it as `url`. */
async function resolved(
  url: string,
  requests: GuardedRequests,
  { signal, shortAnswerMsMax }: Asking,
): Promise<string> {
  const what = `resolve ${shownLocation(url)}`;
  const answer = await requests.send(url, { method: 'GET', signal, silenceMs: SILENCE_MS });
  if (isGone(answer.status)) throw await unavailable(what, answer, shortAnswerMsMax);
  if (answer.status !== 200) throw await failureOf(what, answer, shortAnswerMsMax);
  const said = await readShort(answer.body, RESOLVED_BYTES_MAX, shortAnswerMsMax);
  const text = said?.toString().trim() ?? '';
  const found = text.startsWith('{') ? urlIn(text) : text;
  if (!/^https?:\/\//i.test(found)) throw new NonRetryableError(`${what}: answered no URL`);
  return found;
}

function urlIn(json: string): string {
  try {
    const { url } = JSON.parse(json) as { url?: unknown };
    return typeof url === 'string' ? url : '';
  } catch {
    return '';
  }
}

const isGone = (status: number) => status === 403 || status === 404 || status === 410;

async function unavailable(what: string, answer: GuardedAnswer, msMax: number): Promise<Error> {
  const { message } = await failureOf(what, answer, msMax);
  return new InputUnavailableError(message, { details: { status: answer.status } });
}

interface DownloadOptions {
  readonly bytesMax: number;
  readonly shortAnswerMsMax: number;
  readonly pace: NonNullable<FetchOptions['pace']>;
  readonly onBytes: FetchOptions['onBytes'];
  /** @throws there is too little. Called before the first byte, and for each so many bytes. */
  readonly expectRoom: () => Promise<void>;
}

/** What of a file is there, over several answers. */
class Download {
  readonly #file: FileHandle;
  readonly #what: string;
  readonly #options: DownloadOptions;
  #bytes = 0;
  #total: number | null = null;
  /** How many of them were there when it was last asked. */
  #bytesBefore = 0;
  /** Says that it is still the same content; null: it has to begin anew. */
  #validator: string | null = null;
  #hash: Hash = createHash('sha256');

  constructor(file: FileHandle, what: string, options: DownloadOptions) {
    this.#file = file;
    this.#what = what;
    this.#options = options;
  }

  get fetched(): Fetched {
    return { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }

  /** How many bytes more there are than when it was last asked. */
  takeHeadway(): number {
    const headway = this.#bytes - this.#bytesBefore;
    this.#bytesBefore = this.#bytes;
    return headway;
  }

  rangeHeaders(): Record<string, string> {
    const whole = { 'accept-encoding': 'identity' };
    if (this.#bytes === 0 || this.#validator === null) return whole;
    return { ...whole, range: `bytes=${this.#bytes}-`, 'if-range': this.#validator };
  }

  /** @throws what is wrong with it. What was written before that stays, and is gone on from. */
  async take(answer: GuardedAnswer): Promise<void> {
    const { status, headers } = answer;
    const { bytesMax, shortAnswerMsMax } = this.#options;
    if (isGone(status)) throw await unavailable(this.#what, answer, shortAnswerMsMax);
    if (status === 416) {
      await this.#restart();
      throw new RetryableError(`${this.#what}: it has become shorter`);
    }
    if (status !== 200 && status !== 206) {
      throw await failureOf(this.#what, answer, shortAnswerMsMax);
    }
    if (status === 200) await this.#restart();
    else if (!this.#isNext(headers)) {
      answer.body.destroy();
      await this.#restart();
      throw new RetryableError(`${this.#what}: answered another part than the one asked for`);
    }
    this.#validator = validatorOf(headers);
    this.#total = status === 200 ? lengthOf(headers['content-length']) : totalOf(headers);
    if ((this.#total ?? 0) > bytesMax) {
      answer.body.destroy();
      throw this.#tooLarge();
    }
    await this.#write(answer);
    if (this.#total !== null && this.#bytes !== this.#total) {
      throw new RetryableError(`${this.#what}: ${this.#bytes} of ${this.#total} bytes came`);
    }
    if (this.#bytes === 0) throw new NonRetryableError(`${this.#what} is empty`);
  }

  /** Whether a part begins where the last one ended, and says that it is of the same whole. */
  #isNext(headers: GuardedAnswer['headers']): boolean {
    const total = totalOf(headers);
    if (startOf(headers) !== this.#bytes || total === null) return false;
    if (this.#bytes === 0) return true;
    const { etag = this.#validator } = headers;
    return etag === this.#validator && total === (this.#total ?? total);
  }

  async #write({ body }: GuardedAnswer): Promise<void> {
    const { bytesMax, onBytes, expectRoom, pace } = this.#options;
    let lookAt = this.#bytes;
    let mark = { bytes: this.#bytes, at: performance.now() };
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (this.#bytes + chunk.length > bytesMax) throw this.#tooLarge();
      if (this.#bytes >= lookAt) {
        await expectRoom();
        lookAt = this.#bytes + LOOK_BYTES;
      }
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await this.#file.write(chunk, at, undefined, this.#bytes + at);
        at += bytesWritten;
      }
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      onBytes?.(this.#bytes, this.#total);
      // Whoever sends nothing at all is given up by its silence.
      if (performance.now() - mark.at < pace.ms || this.#bytes === this.#total) continue;
      if (this.#bytes - mark.bytes < pace.bytes) throw this.#tooSlow(mark);
      mark = { bytes: this.#bytes, at: performance.now() };
    }
  }

  async #restart(): Promise<void> {
    if (this.#bytes > 0) await this.#file.truncate(0);
    this.#bytes = 0;
    this.#validator = null;
    this.#hash = createHash('sha256');
  }

  #tooSlow(since: { readonly bytes: number; readonly at: number }): Error {
    const seconds = ((performance.now() - since.at) / 1000).toFixed(1);
    const { pace } = this.#options;
    const came = `only ${this.#bytes - since.bytes} bytes came in ${seconds} s`;
    // What came so slowly is kept, and yet no headway.
    this.#bytesBefore = this.#bytes;
    return new RetryableError(
      `${this.#what}: ${came}, and at least ${pace.bytes} in ${pace.ms / 1000} s are expected`,
    );
  }

  #tooLarge(): Error {
    return new NonRetryableError(`${this.#what} has more than ${this.#options.bytesMax} bytes`);
  }
}

/** A weak one does not promise the same bytes. */
function validatorOf(headers: GuardedAnswer['headers']): string | null {
  const { etag } = headers;
  return etag !== undefined && !etag.startsWith('W/') ? etag : null;
}

function startOf(headers: GuardedAnswer['headers']): number | null {
  return lengthOf(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1]);
}

function totalOf(headers: GuardedAnswer['headers']): number | null {
  return lengthOf(/\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]);
}

function lengthOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
