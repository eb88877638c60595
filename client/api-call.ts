/**
 * One HTTP call to a master, repeated while that makes sense: no answer, 429 and 5xx are tried
 * again with growing waits, at least as long as `Retry-After` says. Knows no route.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type AxiosInstance, type AxiosResponse, create } from 'axios';
import pRetry from 'p-retry';
import type { Problem } from '@soda-scheduler/protocol';
import { remember } from './exact-json.ts';
import { SodaError } from './soda-error.ts';

/** For one try, its answer included. */
const TRY_TIMEOUT_MS = 30_000;
const RETRY_AFTER_MS_MAX = 60_000;
const BACKOFF = { minTimeout: 200, factor: 2, maxTimeout: 10_000, randomize: true };

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** From the root of the master. */
  readonly path: string;
  readonly query?: object;
  /** A value, or JSON text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export class ApiCaller {
  readonly #axios: AxiosInstance;
  readonly #url: string;
  readonly #retryCount: number;

  constructor(url: string, token: string | undefined, retryCount: number) {
    this.#url = url.replace(/\/+$/, '');
    this.#retryCount = retryCount;
    this.#axios = create({
      baseURL: this.#url,
      timeout: TRY_TIMEOUT_MS,
      // A redirect would carry the token elsewhere.
      maxRedirects: 0,
      validateStatus: null,
      // Bodies come as text, and go as text: axios would parse it again to see whether it is JSON.
      transformRequest: [],
      responseType: 'text',
      transformResponse: [],
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        'user-agent': 'soda-client/2',
      },
    });
  }

  /** The body of a 2xx answer. @throws {SodaError} */
  call(call: Call): Promise<unknown> {
    return this.repeat(() => this.tryOnce(call), call.signal);
  }

  /** Calls `once` again as long as it fails with a transient `SodaError` and retries are left. */
  async repeat<T>(once: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return pRetry(once, {
      ...BACKOFF,
      retries: this.#retryCount,
      ...(signal && { signal }),
      shouldRetry: ({ error }) => error instanceof SodaError && error.isTransient,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!(error instanceof SodaError) || !error.isTransient || retriesLeft === 0) return;
        const waitMs = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
        if (waitMs > 0) await delay(waitMs, undefined, signal && { signal });
      },
    });
  }

  async tryOnce({ method, path, query, body, signal }: Call): Promise<unknown> {
    let answer: AxiosResponse<string>;
    try {
      answer = await this.#axios.request({
        method,
        url: path,
        ...(query && { params: query }),
        ...(signal && { signal }),
        ...(body !== undefined && {
          data: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      const { message: text, code } = error as NodeJS.ErrnoException;
      const reason =
        code === 'EPROTO' ? 'it speaks no https there: is it http?' : text || code || 'unknown';
      const message = `no answer from ${this.#url}: ${reason}`;
      throw new SodaError(message, { status: 0, cause: error });
    }
    const { status, data } = answer;
    const said = valueOf(data);
    if (status >= 200 && status < 300 && typeof said === 'object') return remember(said, data);
    throw errorOf(answer, said);
  }
}

/** What is not JSON does not come from a master. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Also of a 200 that is none: a page of whatever else listens there. */
function errorOf({ status, statusText, headers }: AxiosResponse<string>, body: unknown): SodaError {
  const told = (typeof body === 'object' && body !== null ? body : {}) as Partial<Problem> & {
    message?: string;
  };
  const wrongFields = told.errors?.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const said = wrongFields || told.detail || told.message || `HTTP ${status} ${statusText}`;
  const seconds = Number(headers['retry-after']);
  return new SodaError(said, {
    status,
    problem: Object.keys(told).length > 0 ? (told as Problem) : null,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
}
