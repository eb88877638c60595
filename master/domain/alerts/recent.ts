/**
 * What went wrong lately in one namespace, beside how attempts ended (`health/outcomes.ts`): counted as it happens, in
 * minutes, so that nobody ever asks the store for it. In memory only: a master that begins knows of nothing.
 */
import { RECENT_KEYS_MAX, RECENT_MINUTES_MAX } from './bounds.ts';
import type { Observation } from '../effects.ts';
import { Lately } from '../lately.ts';
import type { Readiness } from '../model/executor.ts';
import type { Notification, Task } from '../model/task.ts';

const MINUTE_MS = 60_000;
const COMING_BACK_MS = MINUTE_MS;
/** A process that has run for longer was ended for a reason of its own, such as another version. */
export const SHORT_LIFE_MS = 2 * MINUTE_MS;

type Joined = Extract<Observation, { event: 'executor_joined' }>;

/** How often something happened, by minute. */
class Minutes {
  readonly #counts = new Uint32Array(RECENT_MINUTES_MAX);
  #newest = 0;

  add(now: number): void {
    this.#moveTo(now);
    const slot = this.#newest % RECENT_MINUTES_MAX;
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1;
  }

  /** In the minute of `now` and so many before it that `windowMs` is covered. */
  count(now: number, windowMs: number): number {
    this.#moveTo(now);
    const minutes = Math.min(Math.ceil(windowMs / MINUTE_MS) + 1, RECENT_MINUTES_MAX);
    let sum = 0;
    for (let back = 0; back < minutes; back++) {
      sum += this.#counts[(this.#newest - back) % RECENT_MINUTES_MAX] ?? 0;
    }
    return sum;
  }

  #moveTo(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute < this.#newest) this.#setBack(minute);
    if (minute - this.#newest >= RECENT_MINUTES_MAX) this.#counts.fill(0);
    else {
      for (let at = this.#newest + 1; at <= minute; at++) this.#counts[at % RECENT_MINUTES_MAX] = 0;
    }
    this.#newest = minute;
  }

  /** The clock was ahead: what was counted stays as long ago as it was. */
  #setBack(minute: number): void {
    const before = this.#counts.slice();
    for (let back = 0; back < RECENT_MINUTES_MAX; back++) {
      const count = before[(this.#newest - back) % RECENT_MINUTES_MAX] ?? 0;
      this.#counts[(minute - back) % RECENT_MINUTES_MAX] = count;
    }
    this.#newest = minute;
  }
}

/** Of something that happens again and again. */
interface Happened {
  readonly count: Minutes;
  /** Of the newest: what tells a person where to look. */
  taskId: string | null;
  error: string | null;
}

/** A task whose attempts fail. */
interface Failing {
  readonly type: string;
  readonly group: string;
  failedCount: number;
  error: string | null;
  at: number;
}

/** A process with an id of its own. */
interface Begun {
  readonly host: string;
  readonly at: number;
}

interface Unready {
  readonly since: number;
  reason: string | null;
}

const happened = (): Happened => ({ count: new Minutes(), taskId: null, error: null });

export class Recent {
  readonly #now: () => number;
  /** What was before is not known. */
  readonly since: number;
  /** Tasks that were not started in time, by type. */
  readonly late = new Lately<Happened>(RECENT_KEYS_MAX);
  /** Callbacks that were given up, by the origin of their receiver. */
  readonly gaveUp = new Lately<Happened>(RECENT_KEYS_MAX);
  /** By executor. */
  readonly joins = new Lately<Happened>(RECENT_KEYS_MAX);
  /** Processes with an id of their own that have gone within `SHORT_LIFE_MS`, by host: such an id joins once. */
  readonly shortLived = new Lately<Happened>(RECENT_KEYS_MAX);
  /** Such processes, by executor. */
  readonly #begun = new Lately<Begun>(RECENT_KEYS_MAX);
  /** Executors that are not ready, and since when, by id. */
  readonly unready = new Lately<Unready>(RECENT_KEYS_MAX);
  /** By task. */
  readonly failing = new Lately<Failing>(RECENT_KEYS_MAX);

  constructor(now: () => number) {
    this.#now = now;
    this.since = now();
  }

  observe(seen: Observation): void {
    switch (seen.event) {
      case 'task_finished':
        this.failing.delete(seen.task.id);
        break;
      case 'attempt_ended':
        if (FAILURES.has(seen.attempt.outcome))
          this.#failed(seen.task, seen.attempt.error?.message);
        break;
      case 'start_overdue':
        this.#happened(this.late, seen.task.type, seen.task.id, null);
        break;
      case 'executor_joined':
        this.#joined(seen);
        break;
      case 'executor_readiness':
        this.#readiness(seen.executorId, seen.readiness);
        break;
      case 'executor_left':
        this.#gone(seen.executorId, this.#now());
        break;
      case 'executor_lost':
        this.#gone(seen.executorId, seen.lastSeenAt);
        break;
      case 'notification_ended':
        if (seen.notification.state === 'gave_up') this.#gaveUp(seen.notification);
        break;
      default:
    }
  }

  #joined({ executorId, host, lasting }: Joined): void {
    this.#happened(this.joins, executorId, null, null);
    const at = this.#now();
    // Soon after this master all come back, however long they have been there.
    if (lasting || host === '' || at - this.since < COMING_BACK_MS) return;
    this.#begun.of(executorId, () => ({ host, at }));
  }

  #gone(executorId: string, at: number): void {
    this.unready.delete(executorId);
    const begun = this.#begun.get(executorId);
    this.#begun.delete(executorId);
    if (begun === undefined || at - begun.at > SHORT_LIFE_MS) return;
    this.#happened(this.shortLived, begun.host, null, null);
  }

  #failed(task: Task, error: string | undefined): void {
    const { type, user } = task;
    const none = { type, group: user.group, failedCount: 0, error: null, at: 0 };
    const one = this.failing.of(task.id, () => none);
    one.failedCount += 1;
    one.error = error ?? null;
    one.at = this.#now();
  }

  #readiness(executorId: string, { ok, reason }: Readiness): void {
    if (ok) {
      this.unready.delete(executorId);
      return;
    }
    const one = this.unready.of(executorId, () => ({ since: this.#now(), reason }));
    one.reason = reason;
  }

  #gaveUp({ url, taskId, lastError }: Notification): void {
    const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? 'a receiver';
    this.#happened(this.gaveUp, origin, taskId, lastError);
  }

  #happened(where: Lately<Happened>, key: string, taskId: string | null, error: string | null) {
    const one = where.of(key, happened);
    one.count.add(this.#now());
    one.taskId = taskId;
    one.error = error;
  }
}

/** Ends of attempts that say that something is wrong with the task or its executor. */
const FAILURES: ReadonlySet<string> = new Set(['failed', 'timed_out', 'lost']);
