/**
 * `http.request`: one request to a host of a list, and, where the answer only begins something, questions until it is
 * done. Where to ask is a checkpoint, so that whoever goes on after a crash asks on and does not begin it again.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Handler,
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { parseParams } from '../params.ts';
import {
  connectionProblem,
  type GuardedRequests,
  readBounded,
  retryAfterMs,
} from '../requests/guarded-requests.ts';
import { type Credential, credentialsFor, secretsIn } from './credentials.ts';
import { valueAt } from './json-pointer.ts';
import {
  type Condition,
  type Poll,
  type RequestParams,
  type RequestSettings,
  requestParams,
} from './params.ts';

/** Without a byte for so long an answer is given up. */
const SILENCE_MS = 30_000;
/** Questions that may fail one after another before the attempt does; the next one asks on. */
const POLL_FAILURES_MAX = 5;
/** A server may say any time; a question later than this is of no use to who waits for it. */
const RETRY_AFTER_MS_MAX = 600_000;
/** Statuses of what was begun, and is there no more. */
const GONE = [404, 410];
const RESULT_BYTES_MAX = 192 * 1024;
const EXCERPT_LENGTH_MAX = 500;

const checkpoint = z.object({
  /** Where to ask; absent: what was begun last has failed or is gone, and another attempt begins it anew. */
  poll: z.string().optional(),
  /** How often it was begun before. */
  run: z.int().min(0).default(0),
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, if it is that. */
  readonly body: unknown;
}

export function requestHandler(
  settings: RequestSettings,
  requests: GuardedRequests,
  credentials: readonly Credential[],
): Handler {
  return (task, ctx) =>
    new Exchange(parseParams(requestParams, task.params), {
      task,
      ctx,
      requests,
      credentials,
      bytesMax: settings.response_bytes_max,
    }).run();
}

interface Surroundings {
  readonly task: Task;
  readonly ctx: TaskContext;
  readonly requests: GuardedRequests;
  readonly credentials: readonly Credential[];
  readonly bytesMax: number;
}

/** One attempt. */
class Exchange {
  readonly #params: RequestParams;
  readonly #around: Surroundings;
  #run = 0;

  constructor(params: RequestParams, around: Surroundings) {
    this.#params = params;
    this.#around = around;
  }

  async run(): Promise<unknown> {
    const { poll, url } = this.#params;
    const { ctx, requests } = this.#around;
    requests.check(url);
    if (poll === undefined) return this.#resultOf(await this.#begin());
    const { data: before } = checkpoint.safeParse(ctx.lastCheckpoint);
    this.#run = before?.run ?? 0;
    let where = before?.poll;
    ctx.log.info(where === undefined ? 'beginning it' : `asking on at ${shown(where)}`);
    if (where === undefined) {
      where = pollUrl(poll, await this.#begin(), url);
      requests.check(where);
      ctx.checkpoint({ poll: where, run: this.#run });
      ctx.log.info(`asking at ${shown(where)}`);
    }
    return this.#resultOf(await this.#ask(where, poll));
  }

  async #begin(): Promise<Answer> {
    const { method, headers, json, text, url } = this.#params;
    const { task } = this.#around;
    const body = json === undefined ? text : JSON.stringify(json);
    const sent = {
      ...(json !== undefined && { 'content-type': 'application/json' }),
      // The same for all attempts, until what was begun has failed: who knows the header does not begin the same thing twice.
      ...(method !== 'GET' &&
        method !== 'HEAD' && { 'idempotency-key': idempotencyKey(task, this.#run) }),
      ...lowerCased(headers),
    };
    const answer = await this.#send(url, method, sent, body);
    this.#expectSuccess(answer);
    return answer;
  }

  async #ask(where: string, poll: Poll): Promise<Answer> {
    const { ctx } = this.#around;
    let failureCount = 0;
    for (;;) {
      let pauseMs = poll.interval_seconds * 1000;
      try {
        const answer = await this.#send(where, 'GET', lowerCased(this.#params.headers));
        // Whoever tries again wants another one: asked for this one, the answer would be the same for ever.
        const another = { run: this.#run + 1 };
        if (GONE.includes(answer.status)) ctx.checkpoint(another);
        // Before the body is believed: a gateway that is in the way has one, too.
        expectStatus(answer, undefined);
        failureCount = 0;
        if (poll.failed !== undefined && holds(poll.failed, answer.body)) {
          ctx.checkpoint(another);
          throw new NonRetryableError(`it has failed: ${excerptOf(answer.body)}`);
        }
        if (holds(poll.done, answer.body)) return answer;
        reportPercent(ctx, poll, answer.body);
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error;
        if (++failureCount >= POLL_FAILURES_MAX) throw error;
        const wantedMs = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
        pauseMs = Math.max(pauseMs, wantedMs);
        ctx.log.warn(`${error.message}; asking again in ${pauseMs / 1000} s`);
      }
      await wait(pauseMs, undefined, { signal: ctx.signal });
    }
  }

  /** @throws {RetryableError} there was no whole answer. */
  async #send(
    url: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<Answer> {
    const { ctx, requests, credentials, bytesMax } = this.#around;
    const { timeout_seconds: timeoutSeconds } = this.#params;
    const own = credentialsFor(credentials, requests.check(url));
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = AbortSignal.any([ctx.signal, timeout]);
    try {
      const answer = await requests.send(url, {
        method,
        headers: { accept: 'application/json, */*;q=0.5', ...headers, ...own },
        ...(body !== undefined && { body }),
        signal,
        silenceMs: SILENCE_MS,
      });
      const bytes = await readBounded(answer.body, bytesMax);
      if (bytes === null) {
        throw new NonRetryableError(
          `${method} ${shown(url)}: the answer has more than ${bytesMax} bytes`,
        );
      }
      return { ...answer, body: bodyOf(bytes, secretsIn(own)) };
    } catch (error) {
      ctx.signal.throwIfAborted();
      if (error instanceof NonRetryableError) throw error;
      const why = timeout.aborted
        ? `no whole answer within ${timeoutSeconds} s`
        : connectionProblem(error);
      throw new RetryableError(`${method} ${shown(url)}: ${why}`);
    }
  }

  #expectSuccess(answer: Answer): void {
    const { status, body } = this.#params.success;
    expectStatus(answer, status);
    if (body === undefined || holds(body, answer.body)) return;
    throw new NonRetryableError(
      `the answer has not ${JSON.stringify(body.equals)} at ${body.at || 'its top'}: ${excerptOf(answer.body)}`,
    );
  }

  #resultOf({ status, headers, body }: Answer): unknown {
    const { result_at: at } = this.#params;
    const value = valueAt(body, at);
    if (at !== '' && value === undefined) {
      throw new NonRetryableError(`result_at: the answer has nothing at ${at}`);
    }
    const text = JSON.stringify(value) ?? 'null';
    const isWhole = Buffer.byteLength(text) <= RESULT_BYTES_MAX;
    return {
      status,
      content_type: headers['content-type'] ?? null,
      body: isWhole ? value : text.slice(0, RESULT_BYTES_MAX / 4),
      truncated: !isWhole,
    };
  }
}

/** @throws what the status says of trying again. */
function expectStatus({ status, headers, body }: Answer, wanted: readonly number[] | undefined) {
  if (wanted?.includes(status) ?? (status >= 200 && status < 300)) return;
  const message = `answered ${status}: ${excerptOf(body)}`;
  if (status >= 300 && status < 400) {
    throw new NonRetryableError(`answered ${status}, and redirects are not followed`);
  }
  if (status < 500 && ![408, 425, 429].includes(status)) throw new NonRetryableError(message);
  const afterMs = retryAfterMs(headers, Date.now());
  throw new RetryableError(message, afterMs === null ? {} : { retryAfterMs: afterMs });
}

/** @throws {NonRetryableError} the answer does not say where. */
function pollUrl({ url, id_at: idAt, url_at: urlAt }: Poll, { body }: Answer, base: string) {
  if (urlAt !== undefined) {
    const found = valueAt(body, urlAt);
    if (typeof found !== 'string' || !URL.canParse(found, base)) {
      throw new NonRetryableError(`poll.url_at: the answer has no URL at ${urlAt}`);
    }
    return new URL(found, base).href;
  }
  if (url === undefined || idAt === undefined) return url ?? base;
  const id = valueAt(body, idAt);
  if ((typeof id !== 'string' && typeof id !== 'number') || !/^.{1,256}$/.test(String(id))) {
    throw new NonRetryableError(`poll.id_at: the answer has no id at ${idAt}`);
  }
  // A path of dots would climb.
  if (/^\.+$/.test(String(id))) throw new NonRetryableError(`poll.id_at: ${id} is no id`);
  return url.replaceAll('{id}', () => encodeURIComponent(String(id)));
}

function holds({ at, equals }: Condition, body: unknown): boolean {
  const value = valueAt(body, at);
  return equals.some((one) => one === value);
}

function reportPercent(ctx: TaskContext, { percent_at: at }: Poll, body: unknown): void {
  const percent = at === undefined ? undefined : valueAt(body, at);
  // Without one it still says that it lives: a stall timeout goes by that.
  if (typeof percent !== 'number') ctx.progress({ state: 'polling' });
  else ctx.progress({ percent: Math.min(100, Math.max(0, percent)), state: 'polling' });
}

function idempotencyKey({ namespace, id }: Task, run: number): string {
  return run === 0 ? `${namespace}/${id}` : `${namespace}/${id}/${run}`;
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** There are servers that say what they were sent: secrets of the executor go no further. */
function bodyOf(bytes: Buffer, secrets: readonly string[]): unknown {
  const hidden = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '(secret)'), text);
  const text = hidden(bytes.toString('utf8'));
  try {
    // JSON may write any of its characters as an escape.
    return withTexts(JSON.parse(text), hidden);
  } catch {
    return text;
  }
}

/** JSON with `change` made to each text in it, keys included. @throws {RangeError} it is nested too deeply. */
function withTexts(json: unknown, change: (text: string) => string): unknown {
  if (typeof json === 'string') return change(json);
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map((one) => withTexts(one, change));
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [change(key), withTexts(value, change)]),
  );
}

function excerptOf(body: unknown): string {
  return (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, EXCERPT_LENGTH_MAX);
}

/** What follows a `?` may be a signature. */
function shown(url: string): string {
  return url.replace(/\?.*$/s, '?…');
}
