/**
 * Signed requests to one S3-compatible storage, in buckets that the operator has listed. Its keys are the executor's: from
 * its environment, never from a task, and in no message.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { type GuardedAnswer, GuardedRequests } from '@soda-scheduler/executors';
import { AwsV4Signer } from 'aws4fetch';
import { SHORT_ANSWER_MS_MAX, SILENCE_MS } from './answers.ts';
import type { ObjectLocation } from './locations.ts';

export interface ObjectStoreSettings {
  /** `https://s3.example.org`, or with `{bucket}` where the bucket belongs into the name of the host. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** `bucket`, or `bucket/prefix` for keys that begin so. */
  readonly buckets: readonly string[];
  /** In which whatever the storage says but an object has come. Default: a minute. */
  readonly shortAnswerMsMax?: number;
}

export interface ObjectRequest {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** What follows `?`, by name; empty values too. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?:
    | { readonly text: string }
    | {
        readonly path: string;
        readonly start: number;
        readonly bytes: number;
        readonly sha256: string;
      };
}

export class ObjectStore {
  readonly #settings: ObjectStoreSettings;
  readonly #requests: GuardedRequests;

  constructor(settings: ObjectStoreSettings) {
    this.#settings = settings;
    const { host, hostname } = new URL(settings.endpoint.replace('{bucket}', 'bucket'));
    const isInHost = settings.endpoint.includes('{bucket}');
    this.#requests = new GuardedRequests({
      hosts: [isInHost ? host.replace(/^bucket/, '*') : host],
      // The operator has named it: it may be inside the network.
      addresses: isInHost ? ['private'] : [hostname],
      names: { hosts: 'S3_ENDPOINT', addresses: 'S3_ENDPOINT' },
    });
  }

  get shortAnswerMsMax(): number {
    return this.#settings.shortAnswerMsMax ?? SHORT_ANSWER_MS_MAX;
  }

  /** @throws {NonRetryableError} the bucket, or the beginning of the key, is not listed. */
  check({ bucket, key }: ObjectLocation): void {
    const isListed = this.#settings.buckets.some((entry) => {
      const [name, ...prefix] = entry.split('/');
      return name === bucket && key.startsWith(prefix.join('/'));
    });
    if (isListed) return;
    throw new NonRetryableError(`s3://${bucket}/… is not among S3_BUCKETS of this executor`);
  }

  /** @throws {NonRetryableError} it may not be asked for; and what went wrong with the connection. */
  async send(
    method: string,
    location: ObjectLocation,
    { signal, headers = {}, query = {}, body }: ObjectRequest,
  ): Promise<GuardedAnswer> {
    this.check(location);
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#settings;
    const url = this.#urlOf(location);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, accessKeyId, secretAccessKey, region, service: 's3' },
      ...(sessionToken !== undefined && { sessionToken }),
      headers: {
        ...headers,
        ...(body !== undefined && { 'x-amz-content-sha256': digestOf(body) }),
      },
      ...(body !== undefined && 'text' in body && { body: body.text }),
    });
    const signed = await signer.sign();
    const sent = Object.fromEntries(signed.headers.entries());
    delete sent['host'];
    return this.#requests.send(signed.url.href, {
      method,
      signal,
      silenceMs: SILENCE_MS,
      headers: {
        ...sent,
        ...(body !== undefined && 'sha256' in body && { 'content-length': String(body.bytes) }),
      },
      ...(body !== undefined && { body: 'text' in body ? body.text : streamOf(body) }),
    });
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  #urlOf({ bucket, key }: ObjectLocation): URL {
    const { endpoint } = this.#settings;
    const path = key.split('/').map(encoded).join('/');
    const base = endpoint.replace(/\/$/, '');
    return new URL(
      base.includes('{bucket}')
        ? `${base.replace('{bucket}', bucket)}/${path}`
        : `${base}/${bucket}/${path}`,
    );
  }
}

/** Signed with the rest: what arrives is what was sent. */
function digestOf(body: NonNullable<ObjectRequest['body']>): string {
  return 'text' in body ? createHash('sha256').update(body.text).digest('hex') : body.sha256;
}

function streamOf({ path, start, bytes }: { path: string; start: number; bytes: number }) {
  return bytes === 0 ? '' : createReadStream(path, { start, end: start + bytes - 1 });
}

function encoded(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
