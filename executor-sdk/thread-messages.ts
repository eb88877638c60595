/**
 * What the thread of the handlers and the thread of the session say to each other. Bodies of
 * frames are JSON texts already: each value is turned into text once, where it came from.
 */
import type { MessagePort } from 'node:worker_threads';
import {
  type AssignedTask,
  jsonAt,
  type MasterFrame,
  type Readiness,
  type WelcomeFrame,
} from '@soda-scheduler/protocol';
import type { AbortReason } from './errors.ts';
import type { EventDraft } from './events.ts';
import type { Booking } from './preparation.ts';

/** What a session is begun with. */
export interface SessionSettings {
  readonly url: string;
  readonly token: string | undefined;
  /** PEM; undefined: those that Node trusts. */
  readonly ca: string | undefined;
  /** Where that was read, and may be replaced. */
  readonly caFile?: string | undefined;
  readonly executorId: string;
  readonly incarnation: string;
  /** False: the id was made up for this process. */
  readonly isLastingId: boolean;
  /** The wish for a lease; undefined: the master's own. */
  readonly leaseMs: number | undefined;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
  readonly sdk: string;
  /** Of the program; undefined: it does not say. */
  readonly version: string | undefined;
  /** Until it is told otherwise; undefined: it is never asked whether it is ready. */
  readonly ready: Readiness | undefined;
  /** The master is to say which booking has it. */
  readonly hearsOfBookings: boolean;
}

/** What the thread of the sessions is told. */
export type ThreadOrder =
  /** Begins a session; all about it goes by the port. */
  | { readonly type: 'begin'; readonly settings: SessionSettings; readonly port: MessagePort }
  /** All are over, and no other comes. */
  | { readonly type: 'end' };

export interface AttemptKey {
  readonly taskId: string;
  readonly attempt: number;
}

export function keyOf({ taskId, attempt }: AttemptKey): AttemptKey {
  return { taskId, attempt };
}

/** As people read it. */
export function nameOf({ taskId, attempt }: AttemptKey): string {
  return `attempt ${attempt} of ${taskId}`;
}

export interface OfferedTask {
  readonly task: Omit<AssignedTask, 'params' | 'checkpoint'>;
  /** JSON as it came. */
  readonly paramsText: string;
  readonly checkpointText: string | undefined;
}

/** The task of an assign frame, and of its text what is handed on as it came. */
export function offeredTask(assigned: AssignedTask, frameText: string): OfferedTask {
  const { params: _params, checkpoint: _checkpoint, ...task } = assigned;
  const paramsText = jsonAt(frameText, ['task', 'params']) ?? 'null';
  return { task, paramsText, checkpointText: jsonAt(frameText, ['task', 'checkpoint']) };
}

type Announced = NonNullable<Extract<MasterFrame, { type: 'booking' }>['booking']>;

/** `frameText`: of the frame that it stands in, of which params are handed on as they were written. */
export function bookingOf(announced: Announced, frameText: string): Booking {
  const { id, type, from_at: fromAt, to_at: toAt, tasks } = announced;
  const booked = tasks.map((task, at) => {
    const paramsText = jsonAt(frameText, ['booking', 'tasks', at, 'params']) ?? 'null';
    return { id: task.id, type, params: task.params, paramsText };
  });
  return { id, type, fromAt, toAt, tasks: booked };
}

export type Limits = WelcomeFrame['limits'];

export type ToSession =
  /** A frame about the attempt. `progress` and `checkpoint` give way to newer ones of their kind; events and alerts do not. */
  | ({
      readonly type: 'accept' | 'reject' | 'progress' | 'checkpoint' | 'event' | 'alert' | 'result';
      readonly body: string;
    } & AttemptKey)
  /** Lines of the log of the attempt, as JSON. */
  | ({ readonly type: 'log'; readonly lines: readonly string[] } & AttemptKey)
  /** A handler has started a process that leads a group of its own; or that process has ended. */
  | { readonly type: 'group'; readonly pid: number; readonly isAlive: boolean }
  /** It has become ready, or is no more, or for another reason. */
  | { readonly type: 'ready'; readonly ready: Readiness }
  /** Answers `ping`. */
  | { readonly type: 'pong' }
  /** No new task; a running one goes on. */
  | { readonly type: 'drain' }
  /** No task is left: see the results acknowledged, then say goodbye. */
  | { readonly type: 'leave' };

export type FromSession =
  | ({
      readonly type: 'assigned';
      readonly limits: Limits;
      /** The master understands that an attempt timed out by this side's clock. */
      readonly reportsTimeouts: boolean;
      /** And parts of the work, its speed and the time left. */
      readonly reportsParts: boolean;
    } & OfferedTask)
  /** The master knows that the attempt was accepted: only now the handler may begin. */
  | ({ readonly type: 'begin' } & AttemptKey)
  | ({ readonly type: 'abort'; readonly reason: AbortReason } & AttemptKey)
  /** Asks how late this thread is. */
  | { readonly type: 'ping' }
  /** Which booking has it from now on, and what of it waits; null: none any more. */
  | { readonly type: 'booked'; readonly booking: Booking | null }
  | { readonly type: 'event'; readonly event: EventDraft }
  /** The session is over. Null: as asked for. */
  | { readonly type: 'ended'; readonly refusal: string | null };
