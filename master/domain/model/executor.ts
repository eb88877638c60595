/** An executor as the master knows it, and which tasks it may run. */
import type { Taken } from './shared-limit.ts';
import type { AttemptOutcome, TaskSpec } from './task.ts';

/**
 * `connecting`: known from a row or a broken connection, may come back within its lease.
 * `draining`: gets no new task, on its own wish or an operator's.
 */
export type ExecutorState = 'connecting' | 'idle' | 'offered' | 'busy' | 'draining';

/** What counts in place of what an executor says of itself; null: its own word does. */
export interface Override {
  readonly labels: readonly string[] | null;
  readonly reserve: readonly string[] | null;
}

export const NO_OVERRIDE: Override = { labels: null, reserve: null };

/** What an operator has decided about an executor: a row, which lasts until it is taken back. */
export interface ExecutorRecord extends Override {
  readonly executorId: string;
  /** False: the id means nothing once its process has ended. */
  readonly lasting: boolean;
  /** When it was taken out of work; null: it is not. */
  readonly drainedAt: number | null;
  /** By whom: the name of a token; null: of somebody who needs none, or it is not. */
  readonly drainedBy: string | null;
  /** In their words. */
  readonly drainReason: string | null;
  /** When what it still runs is taken back. */
  readonly drainDeadlineAt: number | null;
  /** Who has set labels or reservations last. */
  readonly overrideBy: string | null;
}

/** What an attempt counts as, towards the limits of types; the type is empty where it is not known. */
export interface Counted {
  readonly type: string;
  readonly group: string;
  /** Of which its task has a place; null: of none. */
  readonly gate: number | null;
}

/** The attempt that occupies an executor until it reports, or its lease ends. */
export interface Occupation extends Counted {
  /** In whose window it runs; null: in none, also where its task goes on after its window. */
  readonly booking: string | null;
  /** Of shared limits. */
  readonly taken: readonly Taken[];
  readonly taskId: string;
  readonly attempt: number;
  readonly accepted: boolean;
}

/** An attempt that is over for its task, and that its executor has not reported: it may still run. */
export interface Leftover extends Counted {
  readonly taskId: string;
  readonly attempt: number;
  readonly executorId: string;
  readonly incarnation: string;
}

/** The attempt it was told to end, from when its grace counts, and whether its lease stands still. */
export interface Ending {
  readonly taskId: string;
  readonly attempt: number;
  /** When it was first told. Nothing restarts it. */
  sentAt: number;
  /** When it first said that it has heard it. */
  acknowledgedAt: number | null;
}

/** A loss of which it is not known yet whether its executor died of it. */
export interface Doubt {
  readonly taskId: string;
  readonly taskSeq: number;
  readonly attempt: number;
  /** Of the task then: a newer one makes the decision pointless. */
  readonly checkpoint: string | null;
  readonly executorId: string;
  readonly incarnation: string;
  /** It counts in no budget, whatever is decided. */
  readonly isExcused: boolean;
  /** When its executor counts as dead. */
  readonly at: number;
}

/** An attempt that has ended on an executor, for people. */
export interface PastAttempt {
  readonly taskId: string;
  readonly attempt: number;
  readonly type: string;
  readonly group: string;
  readonly outcome: AttemptOutcome;
  readonly endedAt: number;
}

/** Whether it can work now, by its own word. */
export interface Readiness {
  readonly ok: boolean;
  /** Why not, in the words of its program. */
  readonly reason: string | null;
  /** Free in its directory for scratch files; null: it does not say. */
  readonly diskBytes: number | null;
}

/** Also of one that does not say. */
export const READY: Readiness = { ok: true, reason: null, diskBytes: null };

/** One process under an executor id. */
export interface Executor {
  readonly id: string;
  /** Which process; empty where the row that it is known from does not say. */
  incarnation: string;
  /** Null while it is only known from a row, and once another process has taken over its id. */
  sessionId: string | null;
  connected: boolean;
  types: readonly string[];
  /** What it says of itself. */
  own: { readonly labels: readonly string[]; readonly reserve: readonly string[] };
  /** Of its `ExecutorRecord`, where there is one. */
  override: Override;
  /** What counts of the two. */
  labels: readonly string[];
  reserve: readonly string[];
  /** A task waits that names it: only then it has its own label, and a pool of its own. */
  isPinned: boolean;
  /** It is bound to this booking, and takes its tasks alone. */
  booking: string | null;
  /** It is about to be bound: until then it takes only what is over by that instant. Null: it is not. */
  keptUntil: number | null;
  /** `poolKeyOf` of types, labels and reservations. */
  poolKey: string;
  /** The same, whatever names it, or has booked it. */
  bareKey: string;
  host: string;
  pid: number;
  sdk: string;
  /** Of its program, in its own words; empty where it does not say. */
  version: string;
  /** Of its host, in its own words; empty where it did not say. Tells whose death it may report. */
  bootId: string;
  /** Whether it hands back the proof that came with an offer. */
  usesMac: boolean;
  /** How long it may be silent: its own wish, if that is shorter than what is set. */
  leaseMs: number;
  /** When its lease is looked at next: the one entry among the deadlines that counts. */
  leaseCheckAt: number;
  /** When its present connection began. */
  connectedAt: number | null;
  /**
   * Its attempt may have ended while nobody answered it: this master has not heard of that since it stood still for long,
   * or knows it from a row only. What is lost so is nobody's fault.
   */
  isUnheard: boolean;
  lastSeenAt: number;
  occupation: Occupation | null;
  ending: Ending | null;
  /** It did not hear in time that it has to end an attempt: nothing renews its lease any more. */
  isFrozen: boolean;
  /** Another process of its id has said that it ended its attempt by itself. */
  hasFenced: boolean;
  /** Whether another process may come back under this id. */
  lasting: boolean;
  /** An operator asked for it (`ExecutorRecord`), or this master is about to stop. */
  drainRequested: boolean;
  drainDeadlineAt: number | null;
  /** It says so itself: it is about to leave. */
  leaving: boolean;
  /** While it is not ready it is offered nothing. What it runs goes on. */
  readiness: Readiness;
  /** Tasks it rejected, and until when it is not offered them again. */
  readonly coolDowns: Map<string, number>;
  /** Offers in a row that came to nothing; from the third on it is left alone for a while. */
  refusalCount: number;
  /** 0: it does not rest, and has chosen since. */
  restUntil: number;
  /** Heartbeats in a row that did not mention the attempt it should be running. */
  missedCount: number;
  loopLagMs: number | null;
  rssBytes: number | null;
  /** Of its host, all processors together. */
  cpuPercent: number | null;
  /** `hashOf` its id. */
  readonly idHash: number;
  /** When it was given a task last; 0: never yet. */
  offeredAt: number;
  /** How its last attempts ended, the newest in the lowest bit; 1: it failed. */
  failures: number;
  /** What ended on it, the newest first: `PAST_ATTEMPT_COUNT_MAX` of them, since this master has begun. */
  readonly past: PastAttempt[];
}

/** Why it takes no tasks, whichever they are; null: it does, now or once it is done with the one it has. */
export function absenceOf({
  connected,
  drainRequested,
  leaving,
  readiness,
}: Executor): 'away' | 'draining' | 'not_ready' | null {
  if (!connected) return 'away';
  if (drainRequested || leaving) return 'draining';
  return readiness.ok ? null : 'not_ready';
}

/** Whether it takes tasks, now or once it is done with the one it has. */
export function isServing(executor: Executor): boolean {
  return absenceOf(executor) === null;
}

/** Whether it takes one now; it may still refuse it, or rest. */
export function isFree(executor: Executor): boolean {
  return executor.occupation === null && isServing(executor);
}

/** Whether such a task, begun now, is over before the executor is bound to a booking. */
export function endsInTime(
  { keptUntil }: Pick<Executor, 'keptUntil'>,
  { executionTimeoutMs, deadlineAt }: Pick<TaskSpec, 'executionTimeoutMs' | 'deadlineAt'>,
  graceMs: number,
  now: number,
): boolean {
  if (keptUntil === null) return true;
  const endsAt = executionTimeoutMs === null ? Number.POSITIVE_INFINITY : now + executionTimeoutMs;
  return Math.min(endsAt, deadlineAt ?? Number.POSITIVE_INFINITY) + graceMs <= keptUntil;
}

/** It has refused so much that it is left alone for a while. */
export function isResting({ restUntil }: Executor, now: number): boolean {
  return restUntil > now;
}

/** It has refused this task, or lost it, a moment ago. */
export function isCooling({ coolDowns }: Executor, { id }: TaskRef, now: number): boolean {
  return coolDowns.size > 0 && (coolDowns.get(id) ?? 0) > now;
}

type TaskRef = Pick<TaskSpec, 'id'>;

/**
 * Whether a process on the host that calls itself so can have seen this one end: on the same host
 * only, since its last start. Of one that is known from a row only nobody can say where it was: the
 * other one has looked, and its word counts.
 */
export function maySeeDie(
  bootId: string,
  dead: { readonly bootId: string; readonly connectedAt?: number | null },
): boolean {
  return bootId !== '' && (dead.connectedAt === null || dead.bootId === bootId);
}

/** What it looks like from outside. */
export function stateOf(executor: Executor): ExecutorState {
  if (executor.sessionId === null || !executor.connected) return 'connecting';
  if (executor.drainRequested || executor.leaving) return 'draining';
  if (executor.occupation === null) return 'idle';
  return executor.occupation.accepted ? 'busy' : 'offered';
}

/** Whether it has as much free disk as tasks of this kind need. */
export function hasDisk(
  executor: Pick<Executor, 'readiness'>,
  { diskBytes }: { readonly diskBytes: number | null },
): boolean {
  return diskBytes === null || diskOf(executor) >= diskBytes;
}

/** Bytes of disk that it says are free; none, where it does not say. */
export function diskOf({ readiness }: Pick<Executor, 'readiness'>): number {
  return readiness.diskBytes ?? 0;
}

/** The label that every executor carries by itself, so that a task can name it in `requires`. */
export function pinOf(executorId: string): string {
  return `executor:${executorId}`;
}

/** The executor that is named there; null: any will do that has the labels. */
export function pinnedTo(requires: readonly string[]): string | null {
  const pin = requires.find((label) => label.startsWith(pinOf('')));
  return pin === undefined ? null : pin.slice(pinOf('').length);
}

/** The name of its pool: equal for executors that may run the same tasks. */
export function poolKeyOf(
  executor: Pick<Executor, 'types' | 'labels' | 'reserve'> & { readonly booking?: string | null },
): string {
  const part = (list: readonly string[]) => [...list].sort().join(',');
  const key = `${part(executor.types)}|${part(executor.labels)}|${part(executor.reserve)}`;
  return executor.booking ? `${key}|${executor.booking}` : key;
}

interface OfBooking {
  /** Absent, or null: of none. */
  readonly booking?: string | null;
}
type Fleet = Pick<Executor, 'types' | 'labels' | 'reserve'> & OfBooking;
type Fitting = Pick<TaskSpec, 'type' | 'labels' | 'requires'> & OfBooking;

/** The conditions under which a task may run on an executor of this kind: one that is booked takes what is of its booking alone. */
export function mayRun(executor: Fleet, task: Fitting): boolean {
  return (
    executor.types.includes(task.type) &&
    (executor.booking ?? null) === (task.booking ?? null) &&
    task.requires.every((label) => executor.labels.includes(label)) &&
    executor.reserve.every((label) => task.labels.includes(label))
  );
}

/** Of the last two what is not met: labels that it has not, and labels for whose tasks it is reserved. */
export function lacksFor(
  { labels, reserve }: Fleet,
  task: Fitting,
): { readonly labels: readonly string[]; readonly reserve: readonly string[] } {
  return {
    labels: task.requires.filter((label) => !labels.includes(label)),
    reserve: reserve.filter((label) => !task.labels.includes(label)),
  };
}

/** No id has a blank in it, so that no other pair has this name. */
export function elderKey(executorId: string, incarnation: string): string {
  return `${executorId} ${incarnation}`;
}
