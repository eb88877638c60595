/** What an HTTP answer says: a master's, or that of whatever else is at the address. */
import type { AxiosResponse } from 'axios';
import type { Problem } from '@soda-scheduler/protocol';
import { SodaError } from './soda-error.ts';

/** Of what stands between a client and a master, while it does not reach it or has too much to do. */
const OF_PROXIES: readonly number[] = [429, 502, 503, 504];
const LISTS: readonly string[] = [
  'executors',
  'limits',
  'namespaces',
  'operations',
  'results',
  'tasks',
  'types',
];
const TEXT_LENGTH_MAX = 200;

/**
 * The value of a 2xx answer that has `field`, as every answer of a master to this call has.
 * @param url where it came from.
 * @throws {SodaError} in the words of the master, or saying that it does not look like one.
 */
export function valueOf(answer: AxiosResponse<string>, field: string, url: string): object {
  const { status, statusText, data } = answer;
  const said = parsed(data);
  if (status >= 200 && status < 300 && has(said, field)) return said;
  const told = wordsOf(said, status);
  const details = { status, problem: told?.problem ?? null, retryAfterMs: retryAfterOf(answer) };
  if (told !== null) throw new SodaError(told.words, details);
  const what = `HTTP ${status} ${statusText}`.trim();
  if (OF_PROXIES.includes(status)) throw new SodaError(what, details);
  const message = `${url} does not look like a Soda Scheduler master: it answers ${what}`;
  throw new SodaError(message + looks(answer, said), details);
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function has(said: unknown, field: string): said is object {
  const value = isObject(said) ? said[field] : undefined;
  return LISTS.includes(field) ? Array.isArray(value) : value !== undefined && value !== null;
}

function isObject(said: unknown): said is Record<string, unknown> {
  return typeof said === 'object' && said !== null;
}

interface Words {
  readonly problem: Problem;
  readonly words: string;
}

/** Of a refusal; null where it is not a master's: others have JSON with a `detail` or a `message` too. */
function wordsOf(said: unknown, status: number): Words | null {
  if (!isObject(said) || said['code'] !== status) return null;
  const { errors, detail, message } = said as Partial<Problem> & { readonly message?: string };
  const wrong = errors?.map((error) => `${error.field}: ${error.message}`).join('; ');
  const words = wrong || detail || message;
  return words === undefined ? null : { problem: said as Problem, words };
}

/** What came instead, as far as it helps to find out who answers there. */
function looks({ status, headers, data }: AxiosResponse<string>, said: unknown): string {
  const { location } = headers;
  if (status >= 300 && status < 400 && typeof location === 'string') {
    return `, which leads to ${location.slice(0, TEXT_LENGTH_MAX)}`;
  }
  if (data.trim() === '') return ' with nothing in it';
  if (said !== undefined) return ' with JSON that means something else';
  return /^\s*<(?:!doctype|html)/i.test(data) ? ' with a page for browsers' : ' with other text';
}

function retryAfterOf({ headers }: AxiosResponse<string>): number | null {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
