/** The client of a Soda Scheduler master. Holds no state but the submits under way. */
import {
  type AttemptView,
  type CopyRequest,
  expectCertificates,
  expectKnown,
  expectNoPassword,
  jsonObject,
  jsonText,
  type ListQuery,
  namespaceOf,
  type PatchRequest,
  type SubmitResponse,
  type TaskCommandResponse,
  type TaskInfo,
  type TaskList,
  type TaskSummary,
  type TaskView,
  type UserInfo,
  type WhyView,
  withoutApiBase,
  RenewedCertificates,
} from '@soda-scheduler/protocol';
import { ApiCaller, type Call, type CallOptions, signalOf } from './api-call.ts';
import { exactJson, rememberEach } from './exact-json.ts';
import { type ExecutorCalls, executorCalls } from './executors/executors.ts';
import { type AlertCalls, alertCalls } from './calls/alerts.ts';
import { type BookingCalls, bookingCalls } from './executors/bookings.ts';
import { type EventCalls, eventCalls } from './calls/events.ts';
import { type FindCalls, findCalls } from './calls/find.ts';
import { type HealthCalls, healthCalls } from './calls/health.ts';
import { type JobCalls, jobCalls } from './calls/jobs.ts';
import { type LimitCalls, limitCalls } from './calls/limits.ts';
import { type LogCalls, logCalls } from './calls/logs.ts';
import { type PauseCalls, pauseCalls } from './calls/pauses.ts';
import { type ReportCalls, reportCalls } from './calls/reports.ts';
import { type NamespaceCalls, namespaceCalls } from './calls/namespaces.ts';
import { type OperationCalls, operationCalls } from './calls/operations.ts';
import { eachOf } from './pages.ts';
import type { SodaError } from './soda-error.ts';
import { copyTask, SubmitQueue } from './submit-queue.ts';
import { caFileOfEnvironment, readCa } from './trust.ts';
import { type AuditCalls, auditCalls } from './calls/audit.ts';
import { type TokenCalls, tokenCalls } from './calls/tokens.ts';
import { type AtVersion, matching, type TypeCalls, typeCalls } from './calls/types.ts';
import { waitForTask, type WaitOptions } from './waiting.ts';

const RETRY_COUNT = 8;
const TIMER_MS_MAX = 2_147_483_647;

export interface ClientOptions {
  /** Where the master is, such as `http://127.0.0.1:18890`; with or without the base of the API. */
  readonly url: string;
  /** Whose tasks and executors it sees. Default: that of the url, or `default`. */
  readonly namespace?: string | undefined;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  /**
   * PEM: who may have signed the certificate of the master, in place of those that Node trusts. Default: what is in
   * the file that `SODA_CA_FILE` names, whenever a connection is made.
   */
  readonly ca?: string | undefined;
  /**
   * How often a call is repeated after no answer, 429 or 5xx, with waits from 0.2 to 10 s and as
   * long as `Retry-After` asks, up to a minute. Default 8, which is about a minute in all.
   */
  readonly retryCount?: number;
  /**
   * How long a call may take, its repetitions included: then it rejects with the failure of its last try, and what
   * was sent may take effect. Default: as long as these take, each up to 15 s without an answer. `wait` and
   * `waitForDrain` take any time, but each of their questions so long at most.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Called before a call is repeated, with what it failed with and how long the master asks to wait, in
   * milliseconds; 0 where it asks for nothing. Calls that wait by themselves have `onAway`.
   */
  readonly onRetry?: ((error: SodaError, waitMs: number) => void) | undefined;
}

/**
 * All methods reject with `SodaError`, and with a TypeError for an option that there is not. Commands (`cancel`, `retry`, ...) are repeated after a lost
 * answer like everything else; if the first one took effect, the repetition may say 409.
 */
export interface SodaClient
  extends AlertCalls,
    AuditCalls,
    BookingCalls,
    EventCalls,
    ExecutorCalls,
    FindCalls,
    HealthCalls,
    JobCalls,
    LimitCalls,
    LogCalls,
    PauseCalls,
    NamespaceCalls,
    OperationCalls,
    ReportCalls,
    TokenCalls,
    TypeCalls {
  /**
   * Resolves once the task is stored: from then on it runs until it has ended. `user` may stand
   * inside `task` instead. `params` may be what `rawJson` returns, which is sent as it is written. A task without an id gets one here, so that a repetition after a lost
   * answer cannot submit it twice. Concurrent calls share requests and are sent in their order.
   */
  submit(task: TaskInfo, user?: UserInfo, options?: CallOptions): Promise<SubmitResponse>;
  /** Params and result are parsed; `exactJson` has them as they were given. */
  get(taskId: string, options?: CallOptions): Promise<TaskView>;
  /** Why it is where it is: what keeps it, what comes first, and the least that would start it. */
  why(taskId: string, options?: CallOptions): Promise<WhyView>;
  /** One attempt with all the details of its error, which `get` leaves out where they are large. */
  attempt(taskId: string, attempt: number, options?: CallOptions): Promise<AttemptView>;
  /**
   * Newest first. Reads page by page while it is iterated; `limit` is the size of a page, and
   * tasks submitted meanwhile are not seen. What is rare among many tasks takes many pages, most
   * of them empty, before it comes: the signal ends the search.
   */
  list(query?: ListQuery, options?: CallOptions): AsyncIterableIterator<TaskSummary>;
  /**
   * One page. It may be short, or empty, before the end: there is more unless `next_cursor`, the
   * `cursor` of the next page, is null.
   */
  page(query?: ListQuery, options?: CallOptions): Promise<TaskList>;
  /**
   * Resolves with the task once it has ended, however it ended: look at `state`. Asks every
   * 100 ms at first, then ever less often, at least every 5 s. Waits on while the master is away,
   * whatever `retryCount` is: only its signal ends it, an answer such as 404, or `timeoutMs` without any.
   */
  wait(taskId: string, options?: WaitOptions): Promise<TaskView>;
  /** Resolves once the wish is stored; a running attempt ends some time later. */
  cancel(taskId: string, options?: CallOptions & { reason?: string }): Promise<void>;
  /**
   * Sets a task aside until it is resumed. A running attempt is told to end, and its last checkpoint stays; resolves
   * once the wish is stored.
   */
  suspend(taskId: string, options?: CallOptions & { reason?: string }): Promise<void>;
  /** Puts a suspended task back to its place. */
  resume(taskId: string, options?: CallOptions): Promise<void>;
  /**
   * Puts a waiting task before all of its type that are due. Where several are, the last that was put there comes first.
   */
  first(taskId: string, options?: CallOptions): Promise<void>;
  /** Puts a waiting task behind all of its type that are due. */
  last(taskId: string, options?: CallOptions): Promise<void>;
  /** Runs a task that has ended again, under its id, with fresh attempts. */
  retry(taskId: string, options?: CallOptions): Promise<void>;
  /**
   * Changes a task that waits: any field of a submit but its id and its type. Null: as of one that is submitted
   * without it. Resolves with the version that it has now.
   */
  change(
    taskId: string,
    change: PatchRequest,
    options?: CallOptions & AtVersion,
  ): Promise<TaskCommandResponse>;
  /**
   * Submits a task again under another id, as it was submitted and changed, but for what `task` says; due at
   * once, and without a checkpoint. Without an id the copy gets one here, as in `submit`.
   */
  copy(taskId: string, copy?: CopyRequest, options?: CallOptions): Promise<SubmitResponse>;
  /** Forgets a task that has ended, and all that is known of it. Its id is free then. */
  delete(taskId: string, options?: CallOptions): Promise<void>;
  /** Sends the callback of a task that has ended again. */
  redeliver(taskId: string, options?: CallOptions): Promise<void>;
}

/** Each of them, so that the compiler notices one that is missing. */
const OPTIONS: Record<keyof ClientOptions, true> = {
  url: true,
  namespace: true,
  token: true,
  ca: true,
  retryCount: true,
  timeoutMs: true,
  onRetry: true,
};

/** @throws {TypeError} naming the option that is wrong, or that there is not. */
export function createClient(options: ClientOptions): SodaClient {
  const api = apiOf(options);
  const queue = new SubmitQueue(api);

  const call: CallOnTask = async <T>(method: Call['method'], path: string, more = {}) =>
    (await api.call({ method, path: api.base + path, field: 'task_id', ...more })) as T;

  const page = async (query: ListQuery = {}, options: CallOptions = {}) => {
    const signal = signalOf(options);
    return withTexts(await call<TaskList>('GET', '/tasks', { field: 'tasks', query, signal }));
  };

  return {
    async submit(task, user, options = {}) {
      return queue.submit(task, user, signalOfSubmit(options));
    },
    async get(taskId, options = {}) {
      return call('GET', taskPath(taskId), { signal: signalOf(options) });
    },
    async why(taskId, options = {}) {
      return call('GET', taskPath(taskId, '/why'), { signal: signalOf(options) });
    },
    async attempt(taskId, attempt, options = {}) {
      const signal = signalOf(options);
      const path = taskPath(taskId, `/attempt/${attempt}`);
      return call('GET', path, { field: 'attempt', signal });
    },
    page,
    list: (query = {}, options = {}) =>
      eachOf(
        (cursor) => page({ ...query, cursor }, options),
        ({ tasks }) => tasks,
        query.cursor,
      ),
    async wait(taskId, options = {}) {
      signalOf(options, 'onProgress', 'onAway', 'onBack');
      return waitForTask(api, taskId, options);
    },

    ...taskCommands(api, call),
    ...findCalls(api),
    ...healthCalls(api),
    ...alertCalls(api),
    ...bookingCalls(api),
    ...auditCalls(api),
    ...bookingCalls(api),
    ...eventCalls(api),
    ...executorCalls(api),
    ...namespaceCalls(api),
    ...tokenCalls(api),
    ...typeCalls(api),
    ...jobCalls(api),
    ...limitCalls(api),
    ...logCalls(api),
    ...pauseCalls(api),
    ...reportCalls(api),
    ...operationCalls(api),
  };
}

type CallOnTask = <T>(
  method: Call['method'],
  path: string,
  more?: Partial<Omit<Call, 'method' | 'path'>>,
) => Promise<T>;

const taskPath = (taskId: string, command = ''): string =>
  `/task/${encodeURIComponent(taskId)}${command}`;

/** What is asked of one task. */
function taskCommands(
  api: ApiCaller,
  call: CallOnTask,
): Pick<
  SodaClient,
  | 'cancel'
  | 'suspend'
  | 'resume'
  | 'first'
  | 'last'
  | 'retry'
  | 'change'
  | 'copy'
  | 'delete'
  | 'redeliver'
> {
  return {
    async cancel(taskId, options = {}) {
      const signal = signalOf(options, 'reason');
      const { reason } = options;
      await call('POST', taskPath(taskId, '/cancel'), { body: { reason }, signal });
    },
    async suspend(taskId, options = {}) {
      const signal = signalOf(options, 'reason');
      const { reason } = options;
      await call('POST', taskPath(taskId, '/suspend'), { body: { reason }, signal });
    },
    async resume(taskId, options = {}) {
      await call('POST', taskPath(taskId, '/resume'), { signal: signalOf(options) });
    },
    async first(taskId, options = {}) {
      await call('POST', taskPath(taskId, '/first'), { signal: signalOf(options) });
    },
    async last(taskId, options = {}) {
      await call('POST', taskPath(taskId, '/last'), { signal: signalOf(options) });
    },
    async retry(taskId, options = {}) {
      await call('POST', taskPath(taskId, '/retry'), { signal: signalOf(options) });
    },
    async change(taskId, { params, ...fields }, options = {}) {
      const signal = signalOf(options, 'version');
      const body = jsonObject(fields, { params: jsonText(params) });
      return call('PATCH', taskPath(taskId), { body, headers: matching(options), signal });
    },
    async copy(taskId, copy = {}, options = {}) {
      return copyTask(api, taskPath(taskId, '/copy'), copy, signalOf(options));
    },
    async delete(taskId, options = {}) {
      await call('DELETE', taskPath(taskId), { signal: signalOf(options) });
    },
    async redeliver(taskId, options = {}) {
      await call('POST', taskPath(taskId, '/redeliver'), { signal: signalOf(options) });
    },
  };
}

function apiOf(options: ClientOptions): ApiCaller {
  expectKnown(options, Object.keys(OPTIONS));
  const { url, token, timeoutMs, onRetry } = options;
  const { retryCount = RETRY_COUNT } = options;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new TypeError(`expected the http or https URL of a master, got "${url}"`);
  }
  expectNoPassword(new URL(url));
  // What a timer cannot hold would be over at once.
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= TIMER_MS_MAX)) {
    throw new TypeError(`timeoutMs: expected milliseconds above 0, up to ${TIMER_MS_MAX}`);
  }
  expectCertificates('ca', options.ca);
  const caFile = options.ca === undefined ? caFileOfEnvironment() : undefined;
  const warn = (why: string): void => process.emitWarning(why);
  const ca =
    caFile === undefined
      ? options.ca
      : new RenewedCertificates(() => readCa(caFile), readCa(caFile), warn);
  const namespace = namespaceOf(url, options.namespace);
  const limits = { retryCount, timeoutMs: timeoutMs && Math.ceil(timeoutMs) };
  return new ApiCaller({ url: withoutApiBase(url), namespace, token, ca, ...limits, onRetry });
}

/** Other APIs have such a key; here the id of a task does that. */
function signalOfSubmit(options: CallOptions): AbortSignal | undefined {
  if ('idempotencyKey' in options) {
    const instead = 'give the task an `id`: what has it is accepted once, however often it is sent';
    throw new TypeError(`idempotencyKey: there is no such option; ${instead}`);
  }
  return signalOf(options);
}

/** Each task of a page is a view of its own: in a list nobody sees the page. */
function withTexts(list: TaskList): TaskList {
  rememberEach(list.tasks, exactJson(list, 'tasks'));
  return list;
}
