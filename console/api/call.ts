/**
 * Calls the API of the master that has served this page, as any client does, and knows whether it answers. Paths are
 * relative, so that the console works behind a proxy that serves it under a path of its own.
 */
import type { Problem } from '@soda-scheduler/protocol';
import { noteDate } from './clock.ts';

const API = 'scheduler/v2';
const DEFAULT_NAMESPACE = 'default';
const TIMEOUT_MS = 40_000;

/** The master has answered, and says no. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly problem: Partial<Problem>;
  /** After so many seconds it may be asked again; null: it has not said when. */
  readonly retryAfter: number | null;

  constructor(status: number, problem: Partial<Problem>, retryAfter: string | null = null) {
    super(problem.detail ?? `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter === null ? null : Number(retryAfter);
  }
}

/** Nobody has answered: the master, or what is between, is away. */
export class Away extends Error {
  override readonly name = 'Away';
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the namespace, or below the base where there is none: `/tasks`. */
  readonly path: string;
  /** Null: what is asked for belongs to none. */
  readonly namespace?: string | null;
  readonly query?: Query;
  readonly body?: unknown;
  /** In place of `body`: JSON as somebody has written it, to be sent as it is. */
  readonly bodyText?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** After which nobody has answered. Default: longer than the feed may wait. */
  readonly timeoutMs?: number;
}

/** What `x-soda-csrf` has to say; the page knows it from `GET /whoami`. */
let csrf: string | null = null;
export function setCsrf(value: string | null): void {
  csrf = value;
}

type Listener = () => void;
const listeners = new Set<Listener>();
/** Since when nobody answers; null: somebody has. */
let awaySince: number | null = null;
let answeredAt = 0;
let loggedOut: Listener = () => undefined;

export const reach = {
  awaySince: () => awaySince,
  /** When somebody has answered last. */
  answeredAt: () => answeredAt,
  onChange(listener: Listener): Listener {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  /** What is to be done once the master knows nobody by the cookie any more. */
  onLoggedOut(listener: Listener): void {
    loggedOut = listener;
  },
};

function noteReach(isAway: boolean): void {
  if (!isAway) answeredAt = Date.now();
  if (isAway === (awaySince !== null)) return;
  awaySince = isAway ? Date.now() : null;
  for (const listener of listeners) listener();
}

/** From the root of the origin, for people who copy it. */
function urlOf({ path, namespace = DEFAULT_NAMESPACE, query = {} }: Request): string {
  const twin = namespace === null || namespace === DEFAULT_NAMESPACE ? '' : `/ns/${namespace}`;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
  return `${API}${twin}${path}${search}`;
}

/** Of an answer that the browser itself is to fetch. */
export function hrefOfApi(request: Pick<Request, 'path' | 'namespace' | 'query'>): string {
  return urlOf(request);
}

/** The answer as it is written: some of what it holds is not to be read as numbers of a browser. @throws {Refused} @throws {Away} */
export async function callForText(request: Request): Promise<string> {
  const { method = 'GET', headers = {}, signal, timeoutMs = TIMEOUT_MS } = request;
  const body = bodyOf(request);
  const inTime = AbortSignal.timeout(timeoutMs);
  const askedAt = Date.now();
  const answer = await fetch(urlOf(request), {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && csrf !== null && { 'x-soda-csrf': csrf }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    signal: signal === undefined ? inTime : AbortSignal.any([signal, inTime]),
    credentials: 'same-origin',
    cache: 'no-store',
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    noteReach(true);
    throw new Away('The master does not answer.', { cause: error });
  });
  noteDate(answer.headers.get('date'), askedAt, Date.now());
  const text = await answer.text().catch((error: unknown) => {
    throw signal?.aborted === true ? error : new Away('The answer was cut off.', { cause: error });
  });
  const problem = answer.ok ? null : problemIn(text);
  // A proxy answers so in its place.
  const isAway = problem !== null && problem.status === undefined && answer.status >= 502;
  noteReach(isAway);
  if (isAway) throw new Away(`HTTP ${answer.status}`);
  if (problem === null) return text;
  if (answer.status === 401) loggedOut();
  throw new Refused(answer.status, problem, answer.headers.get('retry-after'));
}

/** @throws {Refused} @throws {Away} */
export async function call<T>(request: Request): Promise<T> {
  return JSON.parse(await callForText(request)) as T;
}

function bodyOf({ body, bodyText }: Request): string | undefined {
  return bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
}

function problemIn(text: string): Partial<Problem> {
  try {
    return JSON.parse(text) as Partial<Problem>;
  } catch {
    return {};
  }
}

/** The same request for a shell; whoever runs it puts his token in, where one is needed. */
export function curlOf(request: Request, needsToken: boolean): string {
  const { method = 'GET', headers = {} } = request;
  const body = bodyOf(request);
  const url = new URL(urlOf(request), document.baseURI).href.replace(/#.*$/, '');
  const parts = [
    'curl -sS',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    shellText(url),
    ...Object.entries(headers).map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...(needsToken ? ['-H "authorization: Bearer $SODA_TOKEN"'] : []),
    ...(body === undefined || 'content-type' in headers
      ? []
      : [`-H 'content-type: application/json'`]),
    ...(body === undefined ? [] : [`--data-binary ${shellText(body)}`]),
  ];
  return parts.join(' ');
}

function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
