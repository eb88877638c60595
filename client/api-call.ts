/**
 * One HTTP call to a master, repeated while that makes sense: no answer, 429 and 5xx are tried
 * again with growing waits, at least as long as `Retry-After` says. Knows no route.
 */
import { Agent } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { AxiosInstance, AxiosResponse, CreateAxiosDefaults } from 'axios';
import pRetry from 'p-retry';
import {
  apiBaseOf,
  certificateTrouble,
  expectKnown,
  type RenewedCertificates,
} from '@soda-scheduler/protocol';
import { valueOf } from './answer.ts';
import { remember } from './exact-json.ts';
import { SodaError } from './soda-error.ts';

/** For one try, its answer included: more than any that a master needs. */
const TRY_TIMEOUT_MS = 15_000;
const RETRY_AFTER_MS_MAX = 60_000;
const BACKOFF = { minTimeout: 200, factor: 2, maxTimeout: 10_000, randomize: true };
/** Whoever waits wants to know soon that the master is back. */
const PATIENT_BACKOFF = { minTimeout: 100, factor: 1.5, maxTimeout: 5_000, randomize: true };
/** So many tries in a row that fail are an absence; fewer are a hiccup that nobody needs to hear of. */
const AWAY_TRY_COUNT = 4;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** From the root of the master. */
  readonly path: string;
  /** One that every answer to it has: what has it not does not come from a master. */
  readonly field: string;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value, or its text: JSON, unless the headers say otherwise. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** For one try, where it takes longer than others. */
  readonly tryTimeoutMs?: number;
}

export interface CallOptions {
  /** Ends the call, which rejects with the reason or an AbortError. What was sent may take effect. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws {TypeError} naming an option that there is not, beside the signal and those of this call. */
export function signalOf(options: CallOptions, ...others: string[]): AbortSignal | undefined {
  expectKnown(options, ['signal', ...others]);
  return options.signal;
}

/** What whoever waits hears of a master that is away. */
export interface AbsenceOptions {
  /**
   * Called once an absence, when some tries in a row had no answer, or 429 or 5xx, with the newest
   * failure. A URL at which there never was a master looks the same.
   */
  readonly onAway?: ((error: SodaError) => void) | undefined;
  /** Called with the first answer after that. */
  readonly onBack?: (() => void) | undefined;
}

interface Backoff {
  readonly minTimeout: number;
  readonly factor: number;
  readonly maxTimeout: number;
  readonly randomize: boolean;
  readonly retries: number;
  readonly onTransient?: (error: SodaError, tryCount: number) => void;
}

export class ApiCaller {
  /** Of what belongs to the namespace of this caller, from the root of the master. */
  readonly base: string;
  readonly namespace: string;
  readonly #defaults: CreateAxiosDefaults;
  #axios: Promise<AxiosInstance> | null = null;
  readonly #url: string;
  readonly #retryCount: number;
  readonly #timeoutMs: number | undefined;
  readonly #onRetry: ((error: SodaError, waitMs: number) => void) | undefined;

  constructor(options: {
    readonly url: string;
    readonly namespace: string;
    readonly token: string | undefined;
    readonly ca?: string | RenewedCertificates | undefined;
    readonly retryCount: number;
    /** For a call, its repetitions included. */
    readonly timeoutMs?: number | undefined;
    readonly onRetry?: ((error: SodaError, waitMs: number) => void) | undefined;
  }) {
    const { url, namespace, token, ca, retryCount } = options;
    this.#onRetry = options.onRetry;
    this.#timeoutMs = options.timeoutMs;
    this.base = apiBaseOf(namespace);
    this.namespace = namespace;
    this.#url = url.replace(/\/+$/, '');
    this.#retryCount = retryCount;
    this.#defaults = {
      baseURL: this.#url,
      timeout: TRY_TIMEOUT_MS,
      // A redirect would carry the token elsewhere.
      maxRedirects: 0,
      httpsAgent: agentOf(ca),
      validateStatus: null,
      // Bodies come as text, and go as text: axios would parse it again to see whether it is JSON.
      transformRequest: [],
      responseType: 'text',
      transformResponse: [],
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        'user-agent': 'soda-client/2',
      },
    };
  }

  /** The body of a 2xx answer. @throws {SodaError} */
  call(call: Call): Promise<unknown> {
    return this.repeat((signal) => this.tryOnce({ ...call, signal }), call.signal);
  }

  /** The same, but without an end of its own while failures are transient. @throws {SodaError} */
  async callPatiently(call: Call, { onAway, onBack }: AbsenceOptions): Promise<unknown> {
    let isAway = false;
    const answer = await this.#retry((signal) => this.tryOnce({ ...call, signal }), call.signal, {
      ...PATIENT_BACKOFF,
      retries: Number.POSITIVE_INFINITY,
      onTransient(error, tryCount) {
        if (tryCount !== AWAY_TRY_COUNT) return;
        isAway = true;
        onAway?.(error);
      },
    });
    if (isAway) onBack?.();
    return answer;
  }

  /** The same, and never again: what it does is not to be done twice. @throws {SodaError} */
  callOnce(call: Call): Promise<unknown> {
    const backoff = { ...BACKOFF, retries: 0 };
    return this.#retry((signal) => this.tryOnce({ ...call, signal }), call.signal, backoff);
  }

  /** Calls `once` again as long as it fails with a transient `SodaError` and retries are left. */
  repeat<T>(
    once: (signal: AbortSignal | undefined) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.#retry(once, signal, {
      ...BACKOFF,
      retries: this.#retryCount,
      onTransient: (error) => this.#onRetry?.(error, waitOf(error)),
    });
  }

  async #retry<T>(
    once: (signal: AbortSignal | undefined) => Promise<T>,
    wanted: AbortSignal | undefined,
    { onTransient, ...backoff }: Backoff,
  ): Promise<T> {
    const limit = this.#timeoutMs === undefined ? null : AbortSignal.timeout(this.#timeoutMs);
    const signals = [wanted ?? null, limit].filter((signal) => signal !== null);
    const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
    let last: SodaError | null = null;
    try {
      return await pRetry(() => once(signal), {
        ...backoff,
        ...(signal && { signal }),
        shouldRetry: ({ error }) => error instanceof SodaError && error.isTransient,
        onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
          if (!(error instanceof SodaError) || !error.isTransient || retriesLeft === 0) return;
          last = error;
          onTransient?.(error, attemptNumber);
          const waitMs = waitOf(error);
          if (waitMs > 0) await delay(waitMs, undefined, signal && { signal });
        },
      });
    } catch (error) {
      if (limit?.aborted !== true || wanted?.aborted === true || error instanceof SodaError) {
        throw error;
      }
      throw this.#givenUp(last);
    }
  }

  /** @param last why the call was to be repeated; null: its first try is open still. */
  #givenUp(last: SodaError | null): SodaError {
    const withinS = (this.#timeoutMs ?? 0) / 1000;
    if (last === null) {
      return new SodaError(`no answer from ${this.#url} within ${withinS} s`, { status: 0 });
    }
    const { status, code, problem } = last;
    const words = `${last.message.replace(/\.$/, '')}; given up after ${withinS} s`;
    return new SodaError(words, { status, code, problem, cause: last });
  }

  async tryOnce(call: Call): Promise<unknown> {
    const { method, path, field, query, headers, body, signal, tryTimeoutMs } = call;
    // Whatever sends it takes these out: another thing would be meant then.
    if (/\/\.{1,2}(\/|$)/.test(path)) throw new TypeError(`no name may be . or ..: ${path}`);
    let answer: AxiosResponse<string>;
    try {
      this.#axios ??= connection(this.#defaults);
      answer = await (await this.#axios).request({
        method,
        url: path,
        ...(query && { params: query }),
        ...(signal && { signal }),
        ...(tryTimeoutMs !== undefined && { timeout: tryTimeoutMs }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && {
          data: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      const { message: text, code } = error as NodeJS.ErrnoException;
      const reason =
        code === 'EPROTO' ? 'it speaks no https there: is it http?' : certificateTrouble(code);
      const advice = code === 'ECONNREFUSED' ? '; is the master running there?' : '';
      const message = `no answer from ${this.#url}: ${(reason ?? text) || code || 'unknown'}${advice}`;
      throw new SodaError(message, { status: 0, cause: withoutRequest(text, code) });
    }
    return remember(valueOf(answer, field, this.#url), answer.data);
  }
}

/** What axios throws holds the request, its token as well, and whoever logs an error logs its causes. */
function withoutRequest(text: string, code: string | undefined): NodeJS.ErrnoException {
  return Object.assign(new Error(text), code !== undefined && { code });
}

/** As long as it asks for. */
function waitOf({ retryAfterMs }: SodaError): number {
  return Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
}

/**
 * A file is read as late as it can be: it may have been replaced. That certificates are checked is said, so that no
 * NODE_TLS_REJECT_UNAUTHORIZED of the surroundings hands the token to anybody.
 */
function agentOf(ca: string | RenewedCertificates | undefined): Agent {
  const options = { rejectUnauthorized: true, keepAlive: true };
  if (ca === undefined) return new Agent(options);
  if (typeof ca === 'string') return new Agent({ ...options, ca });
  const agent = new Agent(options);
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (given, callback) => create({ ...given, ca: ca.pem }, callback);
  return agent;
}

/** axios takes longer to load than all the rest together: whoever calls nobody need not wait for it. */
async function connection(defaults: CreateAxiosDefaults): Promise<AxiosInstance> {
  const { create } = await import('axios');
  return create(defaults);
}
