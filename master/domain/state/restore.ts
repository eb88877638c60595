/** Builds the state from rows: at the start, and after a commit of unknown outcome. */
import { idOf, taskUpdated, type WholeRows } from '../changes.ts';
import { createOutput, type Output } from '../effects.ts';
import type { Policy } from './policy.ts';
import { createState, type Settings, type State } from './state.ts';
import { markHungry } from '../queue/junctions.ts';
import { askForHeld, recallHeld } from '../limits/places.ts';
import { countSuspended, countWaiting, shareOut, takeLane } from '../queue/lanes.ts';
import { START } from '../queue/window.ts';
import { watchLimits } from '../queue/waiting.ts';
import { ABSENCE_MS_MIN, creditAbsence } from '../steps/absence.ts';
import { spare, watch } from '../steps/attempt.ts';
import { beginGrace } from '../steps/cancel.ts';
import { watchRecord } from '../operators/executor.ts';
import { askForDelayed } from '../steps/load.ts';
import { sendDue } from '../steps/notify.ts';
import { recallExecutor, recallLeftover } from '../steps/fleet.ts';
import { takeQuota, takeRate } from '../steps/limits.ts';
import { takeLimit } from '../limits/supplies.ts';
import { followPauseOfAll, takePause } from '../operators/pauses.ts';
import { watchPause } from '../operators/settings.ts';
import type { Pause } from '../model/pause.ts';
import { recallWindows, watchType } from '../operators/types.ts';
import type { Holding } from '../model/shared-limit.ts';
import { kindOf, type Task } from '../model/task.ts';
import { recallBookings, recallBound } from '../booking/recall.ts';
import { isUnsettled } from '../jobs/activity.ts';
import { recallReplan } from '../jobs/calendars.ts';
import { recallReplaced } from '../jobs/replaced.ts';
import { askForSettled } from '../jobs/settle.ts';
import { recallWork } from '../long-work/works.ts';

/** A lane as the rows of waiting tasks give it. */
export interface StoredLane {
  readonly lane: number;
  /** Waiting tasks, also those that are held. */
  readonly count: number;
  readonly heldCount: number;
  /** Beside those. */
  readonly suspendedCount: number;
  /** When the first is due of those that wait and are not held; null: there is none. */
  readonly dueAt: number | null;
}

/** So many are held by it. */
export interface StoredGate {
  readonly gate: number;
  readonly count: number;
}

/** What is stored cannot be: it was changed from outside, or read while another master wrote. */
export class RowsDisagree extends Error {}

/** What a term begins with. */
interface Beginning {
  policy: Policy;
  settings: Settings;
  secrets?: readonly string[];
  term: number;
  lastSeq: number;
  lastEventSeq?: number;
  now: number;
  seed: number;
  /** When a master last wrote that it was there; null where none has. */
  active: readonly Task[];
  lanes: readonly StoredLane[];
  gates: readonly StoredGate[];
  whole: WholeRows;
  /** When the first trigger of a job is to be looked at; null: none is. */
  firstTriggerAt?: number | null;
  /** When the newest commit was made; null where none was. */
  aliveAt: number | null;
  /** Of all namespaces, as it holds now. */
  pauseOfAll: Pause | null;
}

/**
 * Windows begin empty and are filled as executors ask for them. An executor that was running
 * something keeps it for one lease, in which it may come back and say so.
 */
export function restore(options: Beginning): { state: State; output: Output } {
  const { now, aliveAt } = options;
  const absentMs = aliveAt === null ? now : Math.max(0, now - aliveAt);
  const backMs = aliveAt === null ? 0 : Math.max(0, aliveAt - now);
  const state = createState(options);
  const output = createOutput();
  watchPause(state);
  recallBound(state, options.whole.booking, now);
  recallSettings(state, options.whole, now);
  for (const row of options.whole.rate) takeRate(state, row, now, output);
  if (aliveAt !== null) recallWindows(state, aliveAt, now, output);
  for (const row of options.whole.lane) takeLane(state, row, kindOf(row.kind));
  for (const stored of options.lanes) recallWaiting(state, stored);
  state.delayed.until = { time: now + 1, seq: 0 };
  state.notifications.until = START;
  state.overdue.isNeeded = state.waitingCount + state.suspendedCount > 0;
  const holdings = new Map(options.whole.holding.map((row) => [keyOf(row), row]));
  for (const task of options.active) {
    state.tasks.set(task.id, task);
    state.open.count(task);
    const executor = recallExecutor(state, task, holdings.get(idOf([task.id, task.attempt])), now);
    if (task.cancelReason !== null) beginGrace(state, executor, task, now);
    if (task.state === 'running') {
      // Written by the commit that begins this term, so that it is spared, or moved, once.
      if (isTimed(task)) {
        output.changes.push(taskUpdated(task));
        moveBack(task, backMs, now);
      }
      spare(task, absentMs, now);
      watch(state, task);
    }
    watchLimits(state, task);
  }
  for (const row of options.whole.leftover) {
    recallLeftover(state, row, holdings.get(keyOf(row)), now, output);
  }
  forgetHoldings(state, holdings.values(), output);
  if (aliveAt !== null && now - aliveAt > ABSENCE_MS_MIN)
    creditAbsence(state, aliveAt, now, output);
  followPauseOfAll(state, options.pauseOfAll, now, output);
  for (const { gate, count } of options.gates) recallHeld(state, gate, count);
  askForHeld(state, output);
  askForDelayed(state, output);
  recallWork(state, options.whole.work, output);
  recallJobs(state, options, output);
  recallBookings(state, options.whole.booking, now, output);
  sendDue(state, now, output);
  const taskCount = state.waitingCount + options.active.length;
  output.observed.push({ event: 'restored', taskCount });
  return { state, output };
}

/** Only what is busy of them is in memory. */
function recallJobs(
  state: State,
  { whole, firstTriggerAt, now }: Pick<Beginning, 'whole' | 'firstTriggerAt' | 'now'>,
  output: Output,
): void {
  const { jobs } = state;
  jobs.hereSince = now;
  jobs.nextTriggerAt = firstTriggerAt ?? Number.POSITIVE_INFINITY;
  for (const row of whole.calendar) jobs.calendars.set(row.name, row);
  for (const row of whole.jobActivity) {
    jobs.activities.set(row.job, row);
    if (isUnsettled(row)) jobs.unsettled.add(row.job);
  }
  askForSettled(state, output);
  recallReplaced(state, output);
  recallReplan(state, output);
}

/** What people have set. */
function recallSettings(state: State, whole: WholeRows, now: number): void {
  for (const row of whole.pause) takePause(state, row);
  for (const record of whole.executor) {
    state.executorRecords.set(record.executorId, record);
    watchRecord(state, record.executorId, now);
  }
  for (const row of whole.limit) takeLimit(state, row);
  for (const row of whole.view) state.views.set(row.name, row);
  for (const row of whole.type) {
    state.types.set(row.type, row);
    takeQuota(state, row, now);
    watchType(state, row);
    shareOut(state, row.type, row);
  }
}

/** They are in the store only, until somebody asks for them. */
function recallWaiting(state: State, stored: StoredLane): void {
  const lane = state.lanes.get(stored.lane);
  if (lane === undefined) {
    throw new RowsDisagree(`tasks wait in lane ${stored.lane}, of which there is no row`);
  }
  countSuspended(state, lane, stored.suspendedCount);
  if (stored.count === 0) return;
  countWaiting(state, lane, stored.count);
  lane.heldCount = stored.heldCount;
  lane.kind.heldCount += stored.heldCount;
  lane.ready.until = START;
  lane.storedDueAt = stored.dueAt;
  markHungry(lane);
}

/** Those that nobody has any more. */
function forgetHoldings(state: State, rows: Iterable<Holding>, { changes }: Output): void {
  const held = new Set(state.holdings.values());
  for (const row of rows) {
    const key = [row.taskId, row.attempt] as const;
    if (!held.has(row)) changes.push({ op: 'remove', table: 'holding', key, expect: 'any' });
  }
}

const keyOf = ({ taskId, attempt }: { readonly taskId: string; readonly attempt: number }) =>
  idOf([taskId, attempt]);

/**
 * The clock was set back: by the new time it began so much earlier, and has run for as long as it had.
 * Where another master has begun since, and told only the new time, it begins now: not in the future.
 */
function moveBack(task: Task, backMs: number, now: number): void {
  if (task.startedAt !== null) task.startedAt = Math.min(task.startedAt - backMs, now);
  if (task.progressAt !== null) task.progressAt = Math.min(task.progressAt - backMs, now);
}

function isTimed({ executionTimeoutMs, stallTimeoutMs }: Task): boolean {
  return executionTimeoutMs !== null || stallTimeoutMs !== null;
}
