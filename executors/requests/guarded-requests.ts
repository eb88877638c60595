/**
 * Requests to hosts that an operator has listed, and of those only to addresses that the policy lets through,
 * whatever a name resolves to and when. Never follows a redirect, waits longer than it is told, or takes
 * credentials from a URL. What an answer means is up to the caller.
 */
import { lookup } from 'node:dns/promises';
import type { Readable } from 'node:stream';
import {
  AddressPolicy,
  AddressRefused,
  checkedLookup,
  plainHost,
  type Resolve,
} from '@soda-scheduler/address-policy';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { Agent, errors } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;

export interface GuardedRequestsOptions {
  /** `api.example.org`, `*.example.org`, each with `:port` if it is not the ordinary one. */
  readonly hosts: readonly string[];
  /** Beyond public ones: hosts, addresses, ranges, or `private`. See `AddressPolicy`. */
  readonly addresses: readonly string[];
  /** How the operator calls the two, for refusals. */
  readonly names: { readonly hosts: string; readonly addresses: string };
  /** Default: as the machine resolves names. */
  readonly resolve?: Resolve;
}

export interface GuardedRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  readonly signal: AbortSignal;
  /** Without the head of an answer, and later without any byte of it, for so long: it fails. */
  readonly silenceMs: number;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read or destroyed. */
  readonly body: Readable;
}

export class GuardedRequests {
  readonly #options: GuardedRequestsOptions;
  readonly #policy: AddressPolicy;
  readonly #agent: Agent;

  constructor(options: GuardedRequestsOptions) {
    this.#options = options;
    this.#policy = new AddressPolicy(options.addresses, options.names.addresses);
    const resolve = options.resolve ?? ((host: string) => lookup(host, { all: true }));
    this.#agent = new Agent({
      connect: { lookup: checkedLookup(this.#policy, resolve), timeout: CONNECT_TIMEOUT_MS },
      maxHeaderSize: 32 * 1024,
    });
  }

  /** @throws {NonRetryableError} nobody may ask there. */
  check(text: string): URL {
    if (!URL.canParse(text)) throw new NonRetryableError(`url: ${text.slice(0, 200)} is none`);
    if (/\p{Cc}/u.test(text)) {
      throw new NonRetryableError('url: expected one without control characters');
    }
    const url = new URL(text);
    const refusal = this.#policy.checkUrl(url);
    if (refusal !== null) throw new NonRetryableError(refusal.message);
    if (!this.#options.hosts.some((pattern) => isHost(url, pattern))) {
      throw new NonRetryableError(
        `url: ${url.host} is not among ${this.#options.names.hosts} of this executor`,
      );
    }
    return url;
  }

  /**
   * @throws {NonRetryableError} nobody may ask there, which for a name is known only now.
   * @throws what went wrong with the connection, or the reason of the signal.
   */
  async send(text: string, request: GuardedRequest): Promise<GuardedAnswer> {
    const url = this.check(text);
    const { method, headers, body, signal, silenceMs } = request;
    try {
      const answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { 'user-agent': 'soda-executors', ...headers },
        body: body ?? null,
        signal,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      });
      // Who leaves it unread destroys it, which undici calls an error; who reads it is told all the same.
      answer.body.on('error', () => undefined);
      return { status: answer.statusCode, headers: flat(answer.headers), body: answer.body };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AddressRefused) throw new NonRetryableError(error.message);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** What went wrong with a connection, for people. */
export function connectionProblem(error: unknown): string {
  if (error instanceof errors.HeadersTimeoutError) return 'no answer in time';
  if (error instanceof errors.BodyTimeoutError) return 'the answer went on no more';
  if (error instanceof AggregateError && error.message === '') {
    return connectionProblem(error.errors[0]);
  }
  return error instanceof Error ? error.message : String(error);
}

/** Seconds, or an instant, as `Retry-After` says it; null: it says none. */
export function retryAfterMs(headers: GuardedAnswer['headers'], now: number): number | null {
  const given = headers['retry-after'];
  if (given === undefined) return null;
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000;
  const at = Date.parse(given);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Up to so many bytes; null: there are more, and the rest is not read. */
export async function readBounded(body: Readable, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // To leave the loop destroys the body.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether the URL goes to a host of that pattern, at its port. */
export function isHost(url: URL, pattern: string): boolean {
  const [name, port] = splitPort(pattern);
  const actual = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (port === undefined ? url.port !== '' : port !== actual) return false;
  const host = plainHost(url.hostname);
  if (!name.startsWith('*.')) return host === plainHost(name);
  return host.endsWith(plainHost(name.slice(1))) && host.length >= name.length;
}

/** An IPv6 address has colons of its own, and stands in brackets. */
function splitPort(pattern: string): readonly [string, string | undefined] {
  const found = /^(.*[^:]|\[.*\]):(\d{1,5})$/.exec(pattern);
  return found === null || (found[1]?.includes(':') && !found[1].startsWith('['))
    ? [pattern, undefined]
    : [found[1] ?? '', found[2]];
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    [value ?? []].flat().join(', '),
  ]);
  return Object.fromEntries(entries);
}
