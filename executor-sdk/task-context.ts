/** What a handler is given: its task, and the way to report while it runs. */
import type { ChildProcess } from 'node:child_process';
import { DEFAULT_NAMESPACE } from '@soda-scheduler/protocol';
import type { ChildOptions } from './children/child-groups.ts';
import type { TaskLog } from './log/task-log.ts';
import type { FromSession } from './thread-messages.ts';

export interface Task<Params = unknown> {
  /** Whose task it is: ids are unique within it. */
  readonly namespace: string;
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  /** The params as JSON, as they were submitted: with every digit, `1.0`, and the order of keys. */
  readonly paramsText: string;
  readonly labels: readonly string[];
  readonly user: {
    readonly group: string;
    readonly project?: string | undefined;
    readonly env?: string | undefined;
    readonly user?: string | undefined;
  };
  /** Epoch milliseconds. */
  readonly submittedAt: number;
  /** Epoch milliseconds; the end of the task over all its attempts. */
  readonly deadlineAt: number | null;
  readonly executionTimeoutMs: number | null;
  /**
   * The header of W3C Trace Context for requests that the handler makes: of its own span where OpenTelemetry is
   * registered in this process, else of the submit; null where that was part of no trace.
   */
  readonly traceparent: string | null;
}

/** How far the work is. Each report stands for itself: what it leaves out is not known any more, but for the state. */
export interface Progress {
  /** From 0 to 100. Without it that of the parts, on the average. */
  readonly percent?: number | undefined;
  readonly state?: unknown;
  /** What the work is made of, such as the files that it makes, in their order; with 100 a part is done. */
  readonly parts?: readonly { readonly name: string; readonly percent: number }[] | undefined;
  /** How fast it goes: of media, in multiples of real time. */
  readonly speed?: number | null | undefined;
  /** How long it still takes, where the handler knows that better than the percentage tells over time. */
  readonly etaSeconds?: number | null | undefined;
}

export interface TaskContext {
  /**
   * Aborts when the attempt has to end; `signal.reason` is a `TaskAborted` that says why. Stop
   * what was started (child processes, uploads) and return or throw, within seconds. A process
   * whose handler goes on without a lease is killed, since another executor may have the task.
   */
  readonly signal: AbortSignal;
  /** 1 for the first try of the task. */
  readonly attempt: number;
  /**
   * Differs for every attempt of a task, and for tasks of other namespaces; grows within a term of the master: put it into the
   * names of outputs, or into conditional writes, so that an attempt that was given up cannot
   * overwrite what a newer one wrote.
   */
  readonly token: string;
  /** What an earlier attempt saved with `checkpoint`; undefined where none did. */
  readonly lastCheckpoint: unknown;
  /** The same as JSON, as it was saved. */
  readonly lastCheckpointText: string | undefined;

  /**
   * Reports how far the work is: `percent` from 0 to 100, and any small JSON as `state`, which may be
   * what `rawJson` returns. Cheap to call often: about one report a second is sent, the newest, and always the last before the
   * result. A report may be lost with its connection.
   * @throws {RangeError} `state` is larger than 4 KiB as JSON.
   */
  progress(percent: number, state?: unknown): void;

  /**
   * The same, with what people like to see besides.
   * @throws {TypeError} `parts` are none.
   * @throws {RangeError} `state` is larger than 4 KiB as JSON, or `parts` are more than 100 or 8 KiB.
   */
  progress(progress: Progress): void;

  /**
   * Saves what the next attempt needs in order to go on from here: JSON, or what `rawJson` returns. Sent at once; replaces the
   * last one; survives a lost connection, not the death of this process before it was sent.
   * @throws {RangeError} larger than 64 KiB as JSON.
   */
  checkpoint(value: unknown): void;

  /** The log of this attempt: people follow it while it runs, and read it for as long as the task is kept. */
  readonly log: TaskLog;

  /**
   * Tells the event feed of something that has happened, as `user.<name>`: for people and programs that follow it
   * (`soda events`, `GET /events?kind=user`). Each is told once, in order, before the result, over lost connections
   * and restarts of the master; not over the end of this process. Beyond a hundred at once and ten a second the oldest
   * are left out, which the feed says; it is nothing for logs.
   * @param name 1 to 47 of a-z, 0-9 and _.
   * @param data An object of JSON, or what `rawJson` returns of one, of up to 4 KiB.
   * @throws {TypeError} the name or the data is not so.
   * @throws {RangeError} `data` is too large.
   */
  event(name: string, data?: object): void;

  /**
   * Raises an alert: the receivers of the master are told, by mail, chat or webhook. For what a person has to know of. In the same
   * words, but for numbers, and of tasks of the same type and group, it is one, and counted. Sent as events are; beyond ten at once
   * and one a second they are left out. A master of 2.0.0 knows none.
   * @param message Cut after 2,000 characters.
   * @param fields An object of JSON, of up to 4 KiB.
   * @throws {TypeError} one of them is not so.
   * @throws {RangeError} `fields` are too large.
   */
  alert(severity: AlertSeverity, message: string, fields?: object): void;

  /**
   * Starts a program, as `node:child_process` does, that ends with this attempt: it gets SIGTERM
   * when the attempt has to end, and SIGKILL when that takes more than 5 s or the lease is almost
   * over, even while this process stands still; whatever of it is left when the handler has ended
   * is killed, and it dies with this process, even by SIGKILL. All of that is for its process
   * group, what it starts included.
   * Children that were started in another way may run on when the task runs elsewhere already.
   * @throws {TaskAborted} the attempt has to end.
   */
  readonly spawn: (
    command: string,
    args?: readonly string[],
    options?: ChildOptions,
  ) => ChildProcess;
}

/** How grave an alert is. */
export type AlertSeverity = 'info' | 'warning' | 'critical';

/**
 * Does the work of one attempt; what it resolves to becomes the result of the task, as JSON, or as it
 * is written where `rawJson` has made it.
 */
export type Handler<Params = unknown> = (task: Task<Params>, context: TaskContext) => unknown;

type Assigned = Extract<FromSession, { type: 'assigned' }>;

export function taskOf({ task: assigned, paramsText }: Assigned, namespace: string): Task {
  return {
    namespace,
    id: assigned.id,
    type: assigned.type,
    params: JSON.parse(paramsText),
    paramsText,
    labels: assigned.labels,
    user: assigned.user,
    submittedAt: assigned.submitted_at,
    deadlineAt: assigned.deadline_at ?? null,
    executionTimeoutMs: assigned.execution_timeout_ms ?? null,
    traceparent: assigned.traceparent ?? null,
  };
}

/** The token of `TaskContext`: attempts are numbered within the task, terms and tasks within the namespace. */
export function fencingToken(namespace: string, term: number, attempt: number): string {
  const whose = namespace === DEFAULT_NAMESPACE ? '' : `${namespace}.`;
  return `${whose}${term}.${attempt}`;
}
