/**
 * Writes a finished file to an object that is not there yet, and never over one: what is there with the same content, or
 * of the same making, is done; what is there else is somebody else's.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import type { GuardedAnswer } from '@soda-scheduler/executors';
import { again, failureOf, readShort } from './answers.ts';
import type { ObjectLocation } from './locations.ts';
import type { ObjectStore } from './object-store.ts';

/** A larger file goes up in parts; of these there may be 10,000. */
const PART_BYTES = 64 * 1024 * 1024;
const PARTS_MAX = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** While it puts many parts together, a storage says spaces now and then: that may take minutes. */
const COMPLETED_MS_MAX = 600_000;

const META = 'x-amz-meta-';
/** Where the digest of the whole is kept, which no ETag of parts says. */
const DIGEST_HEADER = `${META}sha256`;
const ABSENT = { 'if-none-match': '*' };

/** An object as a storage describes it. */
export interface FoundObject {
  readonly bytes: number;
  /** Null where another program has written it. */
  readonly sha256: string | null;
  /** What `publishObject` was given with it. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Of what is there now. */
export interface Published extends FoundObject {
  /** It was there, and was left as it is. */
  readonly wasThere: boolean;
}

export interface PublishOptions {
  readonly signal: AbortSignal;
  readonly partBytes?: number;
  /** Kept with the object: names in small letters, values in ASCII, up to 1,500 bytes in all. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** What it is served as. Default: what the storage says of all that it does not know. */
  readonly contentType?: string;
  /** Whether an object with another content is as good: a repeated encode may differ in bytes. Default: none is. */
  readonly isAsGood?: (there: FoundObject) => boolean;
  /** Called after each part that is read or sent. */
  readonly onPart?: () => void;
}

/** Null: there is none, or the storage does not let it be seen. @throws as `publishObject` does. */
export function findObject(
  store: ObjectStore,
  location: ObjectLocation,
  signal: AbortSignal,
): Promise<FoundObject | null> {
  const what = nameOf(location);
  return again(what, signal, async () => {
    const answer = await store.send('HEAD', location, { signal });
    answer.body.resume();
    // Without the right to list, a storage says 403 of what is not there: a write will tell.
    if (answer.status === 404 || answer.status === 403) return null;
    if (answer.status !== 200) throw await failureOf(what, answer, store.shortAnswerMsMax);
    const metadata = Object.entries(answer.headers)
      .filter(([name]) => name.startsWith(META) && name !== DIGEST_HEADER)
      .map(([name, value]) => [name.slice(META.length), value] as const);
    return {
      bytes: Number(answer.headers['content-length']),
      sha256: answer.headers[DIGEST_HEADER] ?? null,
      metadata: Object.fromEntries(metadata),
    };
  });
}

/**
 * @throws {NonRetryableError} there is something else, or it may not be written.
 * @throws {RetryableError} it went wrong again and again.
 */
export async function publishObject(
  store: ObjectStore,
  location: ObjectLocation,
  path: string,
  options: PublishOptions,
): Promise<Published> {
  const { size: bytes } = await stat(path);
  const file = { path, bytes, sha256: await digestOf({ path, start: 0, bytes }, options) };
  const upload = new Upload(store, location, file, options);
  const partBytes = Math.max(options.partBytes ?? PART_BYTES, Math.ceil(bytes / PARTS_MAX));
  if (!(await upload.isThere())) {
    await (bytes <= partBytes ? upload.whole() : upload.inParts(partBytes));
  }
  const { there } = upload;
  if (there !== null) return { ...there, wasThere: true };
  return { bytes, sha256: file.sha256, metadata: options.metadata ?? {}, wasThere: false };
}

interface HashedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

class Upload {
  readonly #store: ObjectStore;
  readonly #location: ObjectLocation;
  readonly #file: HashedFile;
  readonly #options: PublishOptions;
  readonly #what: string;
  /** What was there, and is left as it is. */
  there: FoundObject | null = null;

  constructor(
    store: ObjectStore,
    location: ObjectLocation,
    file: HashedFile,
    options: PublishOptions,
  ) {
    this.#store = store;
    this.#location = location;
    this.#file = file;
    this.#options = options;
    this.#what = nameOf(location);
  }

  /** @throws {NonRetryableError} something else is there. */
  async isThere(): Promise<boolean> {
    const there = await findObject(this.#store, this.#location, this.#options.signal);
    if (there === null) return false;
    const { bytes, sha256 } = this.#file;
    const isSame = there.sha256 === sha256 && there.bytes === bytes;
    if (!isSame && this.#options.isAsGood?.(there) !== true) {
      throw new NonRetryableError(
        `${this.#what} is there already, with another content: it is not overwritten. ` +
          `There: ${there.bytes} bytes, SHA-256 ${there.sha256 ?? 'unknown'}; here: ${bytes} bytes, ${sha256}`,
      );
    }
    this.there = there;
    return true;
  }

  /** Resolves to whether it was written by this; if not, the same was there. */
  whole(): Promise<boolean> {
    const { path, bytes, sha256 } = this.#file;
    return this.#again(async () => {
      const answer = await this.#send('PUT', {
        headers: { ...ABSENT, ...this.#described() },
        body: { path, start: 0, bytes, sha256 },
      });
      return this.#isWritten(answer);
    });
  }

  async inParts(partBytes: number): Promise<boolean> {
    const uploadId = await this.#again(() => this.#begin());
    try {
      const etags: string[] = [];
      for (let start = 0; start < this.#file.bytes; start += partBytes) {
        const bytes = Math.min(partBytes, this.#file.bytes - start);
        const part = { path: this.#file.path, start, bytes };
        const query = { partNumber: String(etags.length + 1), uploadId };
        const body = { ...part, sha256: await digestOf(part, this.#options) };
        etags.push(await this.#again(() => this.#part(query, body)));
        this.#options.onPart?.();
      }
      return await this.#again(() => this.#complete(uploadId, etags));
    } catch (error) {
      await this.#abandon(uploadId);
      throw error;
    }
  }

  #described(): Record<string, string> {
    const { metadata = {}, contentType } = this.#options;
    const given = Object.entries(metadata);
    return {
      ...(contentType !== undefined && { 'content-type': contentType }),
      ...Object.fromEntries(given.map(([name, value]) => [`${META}${name}`, value])),
      [DIGEST_HEADER]: this.#file.sha256,
    };
  }

  async #begin(): Promise<string> {
    const headers = this.#described();
    const answer = await this.#send('POST', { headers, query: { uploads: '' } });
    const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(await this.#textOf(answer))?.[1];
    if (uploadId === undefined) throw new RetryableError(`${this.#what}: answered no UploadId`);
    return uploadId.replaceAll('&amp;', '&');
  }

  async #part(
    query: Record<string, string>,
    body: HashedFile & { readonly start: number },
  ): Promise<string> {
    const answer = await this.#send('PUT', { query, body });
    await this.#textOf(answer);
    const { etag } = answer.headers;
    if (etag === undefined) throw new RetryableError(`${this.#what}: a part has no ETag`);
    return etag;
  }

  async #complete(uploadId: string, etags: readonly string[]): Promise<boolean> {
    const parts = etags.map(
      (etag, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
    );
    const text = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const query = { uploadId };
    const answer = await this.#send('POST', { headers: ABSENT, query, body: { text } });
    // An answer that was lost has made it, and forgotten the upload.
    if (answer.status === 404 && (await this.isThere())) {
      answer.body.destroy();
      return false;
    }
    if (!(await this.#isWritten(answer, true))) {
      await this.#abandon(uploadId);
      return false;
    }
    return true;
  }

  async #isWritten(answer: GuardedAnswer, saysErrorsLate = false): Promise<boolean> {
    if (answer.status === 412) {
      answer.body.destroy();
      if (await this.isThere()) return false;
      throw new RetryableError(`${this.#what}: was there, and is gone`);
    }
    if (answer.status === 501) {
      throw new NonRetryableError(`${this.#what}: this storage knows no If-None-Match`);
    }
    const text = await this.#textOf(answer, saysErrorsLate ? COMPLETED_MS_MAX : undefined);
    // This one answers 200 before it knows.
    if (saysErrorsLate && /<Error>/.test(text)) {
      throw new RetryableError(`${this.#what}: ${/<Code>(\w+)/.exec(text)?.[1] ?? 'failed'}`);
    }
    return true;
  }

  async #textOf(answer: GuardedAnswer, msMax = this.#store.shortAnswerMsMax): Promise<string> {
    if (answer.status < 200 || answer.status > 299) {
      throw await failureOf(this.#what, answer, msMax);
    }
    return (await readShort(answer.body, ANSWER_BYTES_MAX, msMax))?.toString() ?? '';
  }

  /** Parts of an upload that is never completed would be kept, and paid for. Also where the attempt has to end. */
  async #abandon(uploadId: string): Promise<void> {
    const signal = AbortSignal.timeout(5_000);
    await this.#store
      .send('DELETE', this.#location, { query: { uploadId }, signal })
      .then(({ body }) => body.destroy())
      .catch(() => undefined);
  }

  #send(method: string, more: Omit<Parameters<ObjectStore['send']>[2], 'signal'> = {}) {
    return this.#store.send(method, this.#location, { ...more, signal: this.#options.signal });
  }

  #again<Result>(work: () => Promise<Result>): Promise<Result> {
    return again(this.#what, this.#options.signal, work);
  }
}

function nameOf({ bucket, key }: ObjectLocation): string {
  return `output s3://${bucket}/${key}`;
}

/** A file of a few hundred gigabytes takes minutes. @throws the reason of the signal. */
async function digestOf(
  { path, start, bytes }: { readonly path: string; readonly start: number; readonly bytes: number },
  { signal, onPart }: PublishOptions,
): Promise<string> {
  const hash = createHash('sha256');
  if (bytes === 0) return hash.digest('hex');
  const stream = createReadStream(path, { start, end: start + bytes - 1, signal });
  let unsaid = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      unsaid += chunk.length;
      if (unsaid < PART_BYTES) continue;
      unsaid = 0;
      onPart?.();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
  return hash.digest('hex');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
