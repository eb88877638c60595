/**
 * Drives the pure core in tests: holds a state and a clock that only moves when told, builds events with defaults, checks
 * the invariants after every step, and reads what it asked for. It decides nothing that the core decides.
 */
import type { Ended } from '../../master/domain/changes.ts';
import {
  createOutput,
  type CommandOutcome,
  type ExecutorCommand,
  type Output,
  type SubmitOutcome,
} from '../../master/domain/effects.ts';
import type {
  AttemptResult,
  Event,
  ExecutorHello,
  NewTask,
  ReportedAttempt,
} from '../../master/domain/events.ts';
import type { Told } from '../../master/domain/feed/feed-event.ts';
import {
  type Executor,
  type ExecutorRecord,
  READY,
  type Readiness,
} from '../../master/domain/model/executor.ts';
import { violations } from '../../master/domain/state/invariants.ts';
import { restore } from '../../master/domain/state/restore.ts';
import { step } from '../../master/domain/scheduler.ts';
import type { Policy } from '../../master/domain/state/policy.ts';
import { createState, nextWakeAt, type State } from '../../master/domain/state/state.ts';
import type { AttemptRecord, Notification, Task } from '../../master/domain/model/task.ts';
import { hello, newTask, noRows, testPolicy } from './task.ts';
import { changesOf } from './usage/changes.ts';

/** When every test begins. */
export const BEGIN = 1_800_000_000_000;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

type OfAttempt = Partial<{ taskId: string; attempt: number; sessionId: string }>;
type Reported = Partial<{ percent: number; state: string; checkpoint: string; detail: string }>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Command = DistributiveOmit<Extract<Event, { readonly request: number }>, 'request'>;

export class Scheduler {
  state: State;
  now = BEGIN;
  /** Executors that never acknowledge a frame. */
  readonly deaf = new Set<string>();
  /** Executors that send heartbeats while time passes. */
  readonly #beating = new Set<string>();
  #lastFrame = 0;
  #lastRequest = 0;

  constructor(policy: Partial<Policy> = {}) {
    this.state = createState({
      policy: { ...testPolicy, ...policy },
      term: 1,
      lastSeq: 0,
      now: this.now,
      seed: 1,
    });
  }

  /** As after a restart of the master, all lanes of type `echo`; also returns what it asks for at once. */
  static restored(
    rows: Partial<Parameters<typeof restore>[0]> & { executors?: readonly ExecutorRecord[] },
    policy: Partial<Policy> = {},
  ): { scheduler: Scheduler; output: Output } {
    const scheduler = new Scheduler(policy);
    const lane = (rows.lanes ?? []).map((of) => ({ id: of.lane, kind: 'echo||', group: 'g' }));
    const { state, output } = restore({
      policy: scheduler.state.policy,
      settings: scheduler.state.settings,
      term: 2,
      lastSeq: 1_000,
      now: scheduler.now,
      seed: 1,
      active: [],
      lanes: [],
      gates: [],
      whole: { ...noRows, lane, executor: rows.executors ?? [] },
      aliveAt: scheduler.now,
      pauseOfAll: null,
      ...rows,
    });
    scheduler.state = state;
    return { scheduler, output };
  }

  send(event: Event, isChecked = true): Output {
    const out = createOutput();
    step(this.state, event, this.now, out);
    const found = isChecked || out.changes.length > 0 ? violations(this.state) : [];
    const broken = found.map(({ invariant, what }) => `${invariant}: ${what}`);
    if (broken.length > 0) throw new Error(`after ${event.type}: ${broken.join('; ')}`);
    this.#acknowledge(out);
    return out;
  }

  /** Whoever is connected acknowledges at once that it is to end an attempt. */
  #acknowledge(out: Output): void {
    for (const { sessionId, taskId, attempt, reason } of sent(out, 'cancel')) {
      const id = sessionId.split('/')[0] ?? '';
      if (reason === 'stale_attempt' || this.deaf.has(id) || !this.#beating.has(id)) continue;
      append(out, this.acknowledge(id, { sessionId, taskId, attempt }));
    }
  }

  acknowledge(executorId: string, about: OfAttempt = {}): Output {
    return this.send({ type: 'cancelAcknowledged', ...this.#about(executorId, about) });
  }

  /** Steps a command; where the step asked for the row instead of answering, the code is null. */
  command(event: Command): Output & { readonly reply: CommandOutcome | null } {
    const out = this.send({ ...event, request: ++this.#lastRequest });
    const effect = out.effects.find((effect) => effect.type === 'reply');
    return { ...out, reply: (effect?.reply as CommandOutcome | undefined) ?? null };
  }

  /** `taken`: what the store has said of their ids. */
  submit(
    ...given: (Partial<NewTask> & { readonly taken?: string })[]
  ): Output & { readonly outcomes: readonly SubmitOutcome[] } {
    const request = ++this.#lastRequest;
    const tasks = given.map(({ taken: _, ...fields }) => newTask(fields));
    const taken = new Map(given.flatMap(({ id = 'a', taken: hash }) => (hash ? [[id, hash]] : [])));
    const out = this.send({ type: 'tasksSubmitted', request, tasks, taken });
    const reply = out.effects.find((effect) => effect.type === 'reply');
    return { ...out, outcomes: reply?.reply as readonly SubmitOutcome[] };
  }

  connect(executorId: string, fields: Partial<ExecutorHello> = {}): Output {
    this.#beating.add(executorId);
    return this.send({ type: 'executorConnected', ...hello({ executorId, ...fields }) });
  }

  /** The socket is gone; `left`: it said goodbye. */
  disconnect(executorId: string, left = false): Output {
    this.#beating.delete(executorId);
    const { sessionId } = this.#session(executorId);
    return this.send({ type: 'executorDisconnected', executorId, sessionId, left });
  }

  resume(executorId: string): Output {
    this.#beating.add(executorId);
    return this.send({ type: 'executorResumed', ...this.#session(executorId) });
  }

  /** Its socket stays open, but nothing comes any more. */
  silence(executorId: string): void {
    this.#beating.delete(executorId);
  }

  beat(
    executorId: string,
    running: readonly ReportedAttempt[] = this.#running(this.executor(executorId)),
    draining = false,
    isChecked = true,
  ): Output {
    const about = { draining, running, loopLagMs: 1, rssBytes: 1 };
    const session = this.#session(executorId);
    return this.send({ type: 'heartbeatReceived', ...session, ...about }, isChecked);
  }

  /** As a heartbeat says it; text: why it is not. */
  ready(executorId: string, is: true | string): Output {
    const ready: Readiness = is === true ? READY : { ok: false, reason: is, diskBytes: null };
    const running = this.#running(this.executor(executorId));
    const about = { draining: false, running, loopLagMs: 1, rssBytes: 1, ready };
    return this.send({ type: 'heartbeatReceived', ...this.#session(executorId), ...about });
  }

  accept(executorId: string, about: OfAttempt = {}): Output {
    return this.send({ type: 'attemptAccepted', ...this.#about(executorId, about) });
  }

  reject(executorId: string, about: OfAttempt = {}): Output {
    const refusal = { code: 409, message: 'not now' };
    return this.send({ type: 'attemptRejected', ...refusal, ...this.#about(executorId, about) });
  }

  progress(executorId: string, fields: OfAttempt & Reported = {}): Output {
    const { percent = null, state, checkpoint, detail } = fields;
    const report = { percent, state, checkpoint, detail };
    return this.send({ type: 'progressReported', ...report, ...this.#about(executorId, fields) });
  }

  tell(executorId: string, name: string, fields: OfAttempt & Partial<Told> = {}): Output {
    const told = { name, n: fields.n ?? null, data: fields.data };
    return this.send({ type: 'eventTold', ...told, ...this.#about(executorId, fields) });
  }

  end(executorId: string, fields: OfAttempt & Partial<AttemptResult> = {}): Output {
    const { outcome = 'succeeded' } = fields;
    return this.send({
      type: 'attemptEnded',
      outcome,
      result: outcome === 'succeeded' ? '"done"' : null,
      error: outcome === 'failed' ? { message: 'it broke' } : null,
      retryable: true,
      retryAfterMs: null,
      ...fields,
      ...this.#about(executorId, fields),
    });
  }

  /** The attempt that occupies the executor fails. */
  fail(executorId: string, fields: Partial<AttemptResult> = {}): Output {
    return this.end(executorId, { outcome: 'failed', ...fields });
  }

  /** A submitted task is offered to the executor and accepted by it. */
  run(executorId: string, task: Partial<NewTask> = {}): Task {
    this.submit(task);
    this.accept(executorId);
    return this.task(task.id ?? 'a');
  }

  notified(
    notification: Notification,
    outcome: 'delivered' | 'gone' | 'failed',
    retryAfterMs: number | null = null,
    tryCount = 1,
  ): Output {
    return this.send({
      type: 'notificationTried',
      term: this.state.term,
      tryCount,
      taskSeq: notification.taskSeq,
      finishedAt: notification.finishedAt,
      outcome,
      status: outcome === 'delivered' ? 200 : 503,
      error: null,
      retryAfterMs,
    });
  }

  putOff({ taskSeq, finishedAt }: Notification): Output {
    return this.send({
      type: 'notificationPutOff',
      term: this.state.term,
      taskSeq,
      finishedAt,
      error: 'not sent',
      afterMs: 60_000,
    });
  }

  /** Ticks as the engine does: when something is due, and at least once a second. */
  pass(ms: number): Output {
    const until = this.now + ms;
    const all = createOutput();
    let [ticksAtOnce, tickCount] = [0, 0];
    for (;;) {
      const at = Math.min(nextWakeAt(this.state), this.state.lastTickAt + SECOND);
      if (at > until) break;
      ticksAtOnce = at > this.now ? 0 : ticksAtOnce + 1;
      if (ticksAtOnce > 10) throw new Error('the core asks to be woken again and again');
      this.now = Math.max(this.now, at);
      // Where nothing comes of them, for hours: what is wrong stays so.
      const isChecked = at + SECOND > until || ++tickCount % 10 === 0;
      for (const id of this.#beating) append(all, this.beat(id, undefined, false, false));
      append(all, this.send({ type: 'ticked' }, isChecked));
    }
    this.now = until;
    return all;
  }

  /** A task held in memory. */
  task(id: string): Task {
    const task = this.state.tasks.get(id);
    if (task === undefined) throw new Error(`task ${id} is not in memory`);
    return task;
  }

  executor(id: string): Executor {
    const executor = this.state.executors.get(id);
    if (executor === undefined) throw new Error(`executor ${id} is not known`);
    return executor;
  }

  #session(executorId: string) {
    return { executorId, sessionId: this.executor(executorId).sessionId ?? '' };
  }

  #running(executor: Executor): ReportedAttempt[] {
    const { taskId = '', attempt = 0, accepted = false } = executor.occupation ?? {};
    return accepted ? [{ taskId, attempt, state: 'running' }] : [];
  }

  #about(executorId: string, about: OfAttempt) {
    const executor = this.state.executors.get(executorId);
    return {
      executorId,
      sessionId: about.sessionId ?? executor?.sessionId ?? `${executorId}/1`,
      frameSeq: ++this.#lastFrame,
      taskId: about.taskId ?? executor?.occupation?.taskId ?? 'a',
      attempt: about.attempt ?? executor?.occupation?.attempt ?? 1,
    };
  }
}

function append(all: Output, more: Output): void {
  for (const part of ['changes', 'told', 'effects', 'observed', 'loads'] as const) {
    const of: unknown[] = all[part];
    of.push(...more[part]);
  }
}

/** Frames for executors, in order. */
export function sent<T extends ExecutorCommand['type']>(
  out: Output,
  type: T,
): (Extract<ExecutorCommand, { type: T }> & { readonly sessionId: string })[] {
  return out.effects.flatMap((effect) =>
    effect.type === 'sendToExecutor' && effect.command.type === type
      ? [
          {
            ...(effect.command as Extract<ExecutorCommand, { type: T }>),
            sessionId: effect.sessionId,
          },
        ]
      : [],
  );
}

/** Assign frames as `task -> executor`, in order. */
export function offers(out: Output): string[] {
  return sent(out, 'assign').map(
    ({ task, sessionId }) => `${task.id} -> ${sessionId.split('/')[0]}`,
  );
}

/** Cancel frames as `task#attempt reason -> executor`, in order. */
export function stops(out: Output): string[] {
  return sent(out, 'cancel').map(
    ({ taskId, attempt, reason, sessionId }) =>
      `${taskId}#${attempt} ${reason} -> ${sessionId.split('/')[0]}`,
  );
}

/** Writes as `set task`, or `set task, large`, in order; not what is counted beside them. */
export function written(out: Output): string[] {
  return changesOf(out).map((change) => {
    if (change.op === 'credit' || change.op === 'settings') return change.op;
    const isLarge = change.op === 'set' && change.large;
    return `${change.op} ${change.table}${isLarge ? ', large' : ''}`;
  });
}

/** Attempts that ended without success, in order. */
export function ended(out: Output): AttemptRecord[] {
  return out.changes.flatMap((change) =>
    change.op === 'insert' && change.table === 'attempt' ? [change.row] : [],
  );
}

export function outcomes(out: Output): string[] {
  return ended(out).map(({ outcome }) => outcome);
}

/** Rows of newly accepted tasks, in order. */
export function inserted(out: Output): Task[] {
  return out.changes.flatMap((change) =>
    change.op === 'insert' && change.table === 'task' ? [change.row] : [],
  );
}

/** Rows of history that come, in order. */
export function ends(out: Output): Ended[] {
  return out.changes.flatMap((change) =>
    change.op === 'insert' && change.table === 'history' ? [change.row] : [],
  );
}

/** Tasks that became terminal, in order. */
export function finished(out: Output): Task[] {
  return ends(out).map(({ task }) => task);
}

/** Callbacks to be tried now. */
export function callbacks(out: Output): Notification[] {
  return out.effects.flatMap((effect) => (effect.type === 'notify' ? [effect.notification] : []));
}

/** Names of what was observed, for logs and metrics. */
export function observed(out: Output): string[] {
  return out.observed.map(({ event }) => event);
}

/** Sessions that are told to end, with the reason. */
export function closed(out: Output): string[] {
  return out.effects.flatMap((effect) =>
    effect.type === 'closeSession' ? [`${effect.sessionId} ${effect.reason}`] : [],
  );
}
