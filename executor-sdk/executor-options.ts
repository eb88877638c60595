/** What `createExecutor` takes, checked and completed. */
import { hostname } from 'node:os';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  DEFAULT_NAMESPACE,
  EXECUTOR_ID_PATTERN,
  EXECUTOR_VERSION_PATTERN,
  executorPathOf,
  LABEL_PATTERN,
  expectCertificates,
  expectKnown,
  expectNoPassword,
  namespaceOf,
  SESSION_LIMITS,
  TASK_TYPE_PATTERN,
  withoutApiBase,
} from '@soda-scheduler/protocol';
import type { ExecutorEvent } from './events.ts';
import type { Prepare } from './preparation.ts';
import { NOT_ASKED } from './readiness.ts';
import type { SessionSettings } from './thread-messages.ts';
import type { Handler, Task } from './task-context.ts';
import { caFileOfEnvironment, readCa } from './trust.ts';

export interface ExecutorOptions {
  /** Of the master, as `http`, `https`, `ws` or `wss`. What follows its port may be left out. */
  readonly url: string;
  /** Whose tasks it runs. Default: `SODA_NAMESPACE`, or that of the url, or `default`. */
  readonly namespace?: string | undefined;
  /** Not needed where the master listens on loopback only. */
  readonly token?: string | undefined;
  /**
   * PEM: who may have signed the certificate of the master, in place of those that Node trusts. Default: what is in
   * the file that `SODA_CA_FILE` names, whenever a connection is made.
   */
  readonly ca?: string | undefined;
  /**
   * Unique among running executors: another living process under the same id is refused. 1 to 64
   * characters of `A-Z a-z 0-9 _ . : -`. What is said about an executor and has to outlive its
   * process (drain, labels) needs an id of its own. Default: the host name and six random
   * characters, new for each process.
   */
  readonly id?: string;
  /**
   * Of your program, as people know it (`1.4.2`, a commit): shown in the list of executors, and what
   * `soda executor drain --selector version=1.4.2` goes by. 1 to 64 characters of
   * `A-Z a-z 0-9 _ . : + ~ / @ -`.
   */
  readonly version?: string;
  /** What this executor has (`gpu`, `zone:b`): tasks may require such labels. */
  readonly labels?: readonly string[];
  /** This executor takes only tasks that have all of these labels. */
  readonly reserve?: readonly string[];
  /**
   * Asked before each task is accepted: `true` takes it, text says why not. The task goes to
   * another executor, and is not offered to this one again for a while. Answer within seconds.
   */
  readonly canAccept?: (task: Task) => true | string | Promise<true | string>;
  /**
   * Whether this executor can work now: `true`, or text that says why not. While it is not ready it
   * is offered no task; what it runs goes on. Asked at the start, every 30 s (5 s while it is not
   * ready, or bound to a booking), after an attempt or `prepare` has failed, and by `checkReady`; never twice at once. What it throws is
   * a reason too, and so is no answer within 10 s.
   */
  readonly ready?: () => true | string | Promise<true | string>;
  /**
   * Where its tasks put files for a while: what is free there is told, so that tasks with
   * `needs.disk_bytes` find it. Where it cannot be looked at, the executor is not ready.
   */
  readonly scratchDir?: string;
  /**
   * Ask for a shorter lease than the master's, at least 6,000: the task of an executor that is gone
   * starts elsewhere sooner, and an absence of the master ends it sooner.
   */
  readonly leaseMs?: number;
  /** How long a running task may go on once the executor is stopping. Default 10,000. */
  readonly drainTimeoutMs?: number;
  /** Stop on SIGTERM and SIGINT, then exit, once all executors of this process have stopped. Default true. */
  readonly handleSignals?: boolean;
  /**
   * Called instead of printing. Default: lines on stderr, text about whatever does not go as it
   * should and about the executor itself; or JSON about everything, with `SODA_LOG=json` in the
   * environment.
   */
  readonly onEvent?: (event: ExecutorEvent) => void;
}

const SDK_NAME = 'soda-node/2.0.0';

/** A shorter lease would leave no time to end an attempt in. */
const LEASE_MS_MIN = 6_000;
/** Of `hello`. */
const TYPES_MAX = 64;
/** So that the last resort on a signal, which waits longer, is one that a timer can wait. */
const TIMER_MS_MAX = 2_147_000_000;

/** Each of them, so that the compiler notices one that is missing. */
const NAMES: Record<keyof ExecutorOptions, true> = {
  url: true,
  namespace: true,
  token: true,
  ca: true,
  id: true,
  version: true,
  labels: true,
  reserve: true,
  ready: true,
  scratchDir: true,
  leaseMs: true,
  canAccept: true,
  drainTimeoutMs: true,
  handleSignals: true,
  onEvent: true,
};

/** @throws {TypeError} naming the option that is wrong. */
export function checkOptions(options: ExecutorOptions): void {
  // Plain JavaScript may pass nothing at all.
  if (typeof options !== 'object' || (options as unknown) === null) {
    throw new TypeError(
      "createExecutor: expected options, at least { url: 'http://127.0.0.1:18890' }",
    );
  }
  expectKnown(options, Object.keys(NAMES));
  const { url, namespace, id, labels = [], reserve = [], leaseMs, drainTimeoutMs = 0 } = options;
  sessionUrl(url, namespace);
  expectToken(options.token);
  expectCertificates('ca', options.ca);
  const caFile = caFileOf(options);
  if (caFile !== undefined) readCa(caFile);
  for (const name of ['canAccept', 'ready', 'onEvent'] as const) {
    const given = options[name];
    if (given !== undefined) expectFunction(name, given);
  }
  const { scratchDir } = options;
  if (scratchDir !== undefined && (typeof scratchDir !== 'string' || scratchDir === '')) {
    throw new TypeError('scratchDir: expected the path of a directory');
  }
  const { version } = options;
  if (version !== undefined) expectMatch('version', [version], EXECUTOR_VERSION_PATTERN);
  if (id !== undefined) expectMatch('id', [id], EXECUTOR_ID_PATTERN);
  expectLabels('labels', labels);
  expectLabels('reserve', reserve);
  if (leaseMs !== undefined && !(Number.isSafeInteger(leaseMs) && leaseMs >= LEASE_MS_MIN)) {
    throw new TypeError(`leaseMs: expected whole milliseconds from ${LEASE_MS_MIN} upwards`);
  }
  // What a timer cannot wait it does not wait at all.
  if (!(drainTimeoutMs >= 0 && drainTimeoutMs <= TIMER_MS_MAX)) {
    throw new TypeError(`drainTimeoutMs: expected milliseconds from 0 to ${TIMER_MS_MAX}`);
  }
}

/** @throws {TypeError} naming what is wrong. */
export function checkHandler(
  type: string,
  handler: Handler<never>,
  options: { readonly prepare?: Prepare<never> },
): void {
  expectMatch('type', [type], TASK_TYPE_PATTERN);
  expectFunction(`the handler of ${type}`, handler);
  expectKnown(options, ['prepare']);
  if (options.prepare !== undefined) expectFunction('prepare', options.prepare);
}

/** @throws {TypeError} there is no task type, or there are too many. */
export function sessionSettings(
  options: ExecutorOptions,
  types: readonly string[],
  prepares = false,
): SessionSettings {
  const { labels = [], reserve = [], id: executorId = defaultExecutorId() } = options;
  const caFile = caFileOf(options);
  if (types.length === 0) throw new TypeError('An executor needs at least one handler.');
  if (types.length > TYPES_MAX) {
    throw new TypeError(`An executor may have up to ${TYPES_MAX} handlers.`);
  }
  return {
    url: sessionUrl(options.url, options.namespace),
    token: options.token,
    ca: caFile === undefined ? options.ca : readCa(caFile),
    caFile,
    executorId,
    incarnation: randomUUID(),
    types,
    labels,
    reserve,
    leaseMs: options.leaseMs,
    ready: options.ready || options.scratchDir !== undefined ? NOT_ASKED : undefined,
    hearsOfBookings: prepares || options.ready !== undefined,
    isLastingId: options.id !== undefined,
    sdk: SDK_NAME,
    version: options.version,
  };
}

/** Where to dial. @throws {TypeError} naming the option that is wrong. */
export function sessionUrl(text: string, given = namespaceOfEnvironment()): string {
  const url = URL.canParse(text) ? new URL(withoutApiBase(text)) : null;
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) {
    throw new TypeError(`url: expected http://host:port or ws://host:port, not ${text}`);
  }
  expectNoPassword(url);
  url.protocol = url.protocol.replace('http', 'ws');
  const namespace = namespaceOf(text, given);
  if (url.pathname === '/' || withoutApiBase(text) !== text) {
    url.pathname = url.pathname.replace(/\/?$/, executorPathOf(namespace));
  } else if (namespace !== DEFAULT_NAMESPACE) {
    throw new TypeError(
      `namespace: ${text} has a path of its own, which must lead to "${namespace}": leave out either`,
    );
  }
  url.hash = '';
  return url.href;
}

/** The namespace whose tasks an executor with these options gets. @throws {TypeError} */
export function namespaceIn({
  url,
  namespace,
}: Pick<ExecutorOptions, 'url' | 'namespace'>): string {
  return namespaceOf(url, namespace ?? namespaceOfEnvironment());
}

function caFileOf({ ca }: ExecutorOptions): string | undefined {
  return ca === undefined ? caFileOfEnvironment() : undefined;
}

/** A variable without a value is none. */
function namespaceOfEnvironment(): string | undefined {
  return process.env['SODA_NAMESPACE'] || undefined;
}

function defaultExecutorId(): string {
  const suffix = `-${randomBytes(4).toString('hex').slice(0, 6)}`;
  const host = hostname().replaceAll(/[^A-Za-z0-9_.-]/g, '-') || 'executor';
  return host.slice(0, 64 - suffix.length) + suffix;
}

function expectToken(token: unknown): void {
  if (token === undefined) return;
  if (typeof token === 'string' && /^[\x21-\x7e]*$/.test(token)) return;
  throw new TypeError('token: expected visible characters only, without spaces or line breaks');
}

function expectFunction(what: string, given: unknown): void {
  if (typeof given !== 'function') throw new TypeError(`${what}: expected a function`);
}

function expectLabels(option: string, labels: unknown): void {
  const { labelCountMax } = SESSION_LIMITS;
  if (!Array.isArray(labels) || labels.length > labelCountMax) {
    throw new TypeError(`${option}: expected a list of up to ${labelCountMax} labels`);
  }
  expectMatch(option, labels, LABEL_PATTERN);
}

function expectMatch(option: string, values: readonly string[], pattern: RegExp): void {
  const wrong = values.find((value) => typeof value !== 'string' || !pattern.test(value));
  if (wrong !== undefined) throw new TypeError(`${option}: "${wrong}" does not match ${pattern}`);
}
