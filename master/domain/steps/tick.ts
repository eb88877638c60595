/** Time passes: whatever is due happens. The only place where time alone changes something. */
import { taskUpdated } from '../changes.ts';
import type { Output } from '../effects.ts';
import type { Event } from '../events.ts';
import type { Executor } from '../model/executor.ts';
import { FIRE_COUNT_MAX, PAUSE_LOOK_COUNT_MAX } from '../bounds.ts';
import type { Deadline, Entry } from '../queue/deadlines.ts';
import { laneOf, shareOutMore } from '../queue/lanes.ts';
import type { State } from '../state/state.ts';
import { type CancelReason, isTerminal, type Task } from '../model/task.ts';
import { watchMoved } from './absence.ts';
import {
  coolDown,
  executionEndsAt,
  FLUSH_MS,
  rested,
  spare,
  stallEndsAt,
  writeSoon,
} from './attempt.ts';
import { beginEnding, graceEnded } from './cancel.ts';
import { recordDue } from '../operators/executor.ts';
import { endAttempt, settleOverdue } from './finish.ts';
import { askForDelayed } from './load.ts';
import { decide } from './loss.ts';
import { sendDue } from './notify.ts';
import { currentTask, holderOf, isKnown } from './occupation.ts';
import { leaseEnded } from './presence.ts';
import { followPauseOfAll, pauseDue, pauseEndsAt, rejoinResumed } from '../operators/pauses.ts';
import { isTimed, typeDue, windowDue } from '../operators/types.ts';
import { ADVANCED_COUNT_MAX } from '../booking/booking-bounds.ts';
import { advance } from '../booking/due.ts';
import { replan } from '../booking/planning.ts';
import { flushRan } from '../booking/rows.ts';
import { askForTriggers } from '../jobs/fire.ts';
import { forgetOldWork } from '../long-work/works.ts';

const OVERDUE_CHECK_MS = 5_000;
/** Of how far attempts are, in one commit: it is planned in one piece. */
const FLUSH_BYTES_MAX = 512 * 1024;
/** Of a row, beside its texts. */
const FLUSH_ROW_BYTES = 1024;

/**
 * Everything that is due by `now`, in the order in which it became due. After a time in which this
 * process stood still what executors have said lies unread in the sockets: nothing is judged before
 * that is read, nor while what has been read waits to be stepped (I15).
 */
export function ticked(
  state: State,
  event: Extract<Event, { type: 'ticked' }>,
  now: number,
  out: Output,
): void {
  state.lastTickAt = now;
  watchMoved(state);
  rejoinResumed(state);
  shareOutMore(state);
  const { hiddenMs = 0, pauseOfAll } = event;
  if (pauseOfAll !== undefined) followPauseOfAll(state, pauseOfAll, now, out);
  if (hiddenMs > 0) {
    state.jobs.hereSince = now;
    state.jobs.madeUpCount = 0;
    spareAll(state, hiddenMs, now);
    // What was to be over before a booking begins may not be any more.
    if (state.bookings.active.size > 0) state.bookings.isUnsettled = true;
  } else if (!event.isBehind) fireDue(state, now, out);
  state.deadlines.compact((entry) => live(state, entry) !== null);
  askForDelayed(state, out);
  sendDue(state, now, out);
  if (state.flush.at <= now) flush(state, now, out);
  askForTriggers(state, now, out);
  replan(state, now, out);
  if (state.works.byId.size > 0) forgetOldWork(state, now, out);
  if (state.overdue.isNeeded && !state.loading.has('overdue') && state.overdue.nextAt <= now) {
    state.overdue.nextAt = now + OVERDUE_CHECK_MS;
    state.loading.add('overdue');
    out.loads.push({ type: 'overdue' });
  }
}

/** Moves on whatever counts the time of executors: nobody is to blame for what was not read. */
function spareAll(state: State, hiddenMs: number, now: number): void {
  for (const booking of state.bookings.active.values()) booking.seenFrom &&= now;
  for (const executor of [...state.executors.values(), ...state.elders.values()]) {
    executor.lastSeenAt = Math.min(now, executor.lastSeenAt + hiddenMs);
    const { occupation, ending } = executor;
    if (ending !== null) {
      ending.sentAt += hiddenMs;
      if (ending.acknowledgedAt !== null) ending.acknowledgedAt += hiddenMs;
    }
    const task = occupation && currentTask(state, executor, occupation);
    if (!task) continue;
    // Half of it, as executors let go before its end.
    if (hiddenMs >= executor.leaseMs / 2) executor.isUnheard = true;
    spare(task, hiddenMs, now);
    if (task.state === 'running') writeSoon(state, task, now);
  }
}

/** What is left over is due at once: the engine steps what else has come, and ticks again. */
function fireDue(state: State, now: number, out: Output): void {
  let advancedCount = 0;
  for (let count = 0; count < FIRE_COUNT_MAX && advancedCount < ADVANCED_COUNT_MAX; count++) {
    const due = state.deadlines.take(now);
    if (due === undefined) break;
    if (due.kind === 'booking') advancedCount += bookedCount(state, due);
    fire(state, due, now, out);
  }
  endPauses(state, now, out);
}

/** How many executors a booking is about that is looked at now. */
function bookedCount(state: State, entry: Extract<Entry, { readonly kind: 'booking' }>): number {
  if (live(state, entry) === null) return 0;
  return state.bookings.byId.get(entry.booking)?.count ?? 0;
}

/**
 * As many as can be in one tick, since the store is gone through once for all of a commit: for each, all lanes are
 * looked at, and there may be thousands.
 */
function endPauses(state: State, now: number, out: Output): void {
  const { lanes, kinds, deadlines } = state;
  const countMax = Math.ceil(PAUSE_LOOK_COUNT_MAX / (1 + lanes.size + kinds.size));
  for (const due of deadlines.pausesOver.splice(0, countMax)) {
    if (live(state, due) === null) continue;
    if (due.kind === 'type') typeDue(state, due.name, now, out);
    else pauseDue(state, due.pause, now, out);
  }
}

/**
 * Writes what was left for later: that attempts run, and how far they are. No more than fits; the rest is due at once,
 * but what has come meanwhile waits its second.
 */
export function flush(state: State, now: number, out: Output, bytesMax = FLUSH_BYTES_MAX): void {
  const { unwritten } = state;
  if (state.flush.count === 0) state.flush.count = unwritten.size;
  let room = bytesMax;
  for (const task of unwritten) {
    if (room <= 0 || state.flush.count === 0) break;
    room -=
      FLUSH_ROW_BYTES + (task.progressState?.length ?? 0) + (task.progressDetail?.length ?? 0);
    out.changes.push(taskUpdated(task));
    unwritten.delete(task);
    state.flush.count -= 1;
  }
  // Some may have ended, and so have been written.
  state.flush.count = Math.min(state.flush.count, unwritten.size);
  const restAt = state.flush.count > 0 ? now : now + FLUSH_MS;
  state.flush.at = unwritten.size > 0 ? restAt : Number.POSITIVE_INFINITY;
  if (state.flush.count === 0) flushRan(state, out);
}

/** With its task, or null if it can no longer apply. */
function live(state: State, entry: Entry): Deadline | null {
  if (entry.kind === 'pause') return pauseEndsAt(state, entry.pause) === entry.at ? entry : null;
  if (entry.kind === 'booking')
    return state.bookings.wakes.get(entry.booking) === entry.at ? entry : null;
  if (entry.kind === 'quota')
    return state.quotas.get(entry.name)?.wakes.has(entry.at) ? entry : null;
  if ('name' in entry) return isTimed(state.types.get(entry.name), entry.at) ? entry : null;
  if ('key' in entry) return state.doubts.get(entry.key)?.at === entry.at ? entry : null;
  if ('executor' in entry) {
    const { executor, kind, at } = entry;
    if (kind === 'drain' && executor.drainDeadlineAt !== at) return null;
    if (kind === 'lease' && executor.leaseCheckAt !== at) return null;
    return isKnown(state, executor) ? entry : null;
  }
  if ('executorId' in entry) return state.executorRecords.has(entry.executorId) ? entry : null;
  const task = state.tasks.get(entry.taskId);
  if (task === undefined || task.seq !== entry.taskSeq) return null;
  const { at } = entry;
  if (!('attempt' in entry)) {
    const { kind } = entry;
    if (kind === 'route') return task.state === 'waiting' ? { at, kind, task } : null;
    return (kind === 'deadline' ? task.deadlineAt : task.startBy) === at
      ? { at, kind, task }
      : null;
  }
  const { attempt, kind } = entry;
  return isOpen(state, task, attempt) ? { at, kind, task, attempt } : null;
}

function isOpen(state: State, task: Task, attempt: number): boolean {
  return (
    task.attempt === attempt &&
    holderOf(state, task) !== undefined &&
    state.tasks.get(task.id) === task
  );
}

function fire(state: State, entry: Entry, now: number, out: Output): void {
  const due = live(state, entry);
  if (due === null) return;
  switch (due.kind) {
    case 'assign':
      return checkAssign(state, due.task, now, out);
    case 'execution':
      return checkExecution(state, due.task, now, out);
    case 'stall':
      return checkStall(state, due.task, now, out);
    case 'grace':
      if (due.task.cancelReason !== null) graceEnded(state, due.task, now, out);
      return;
    case 'deadline':
      return deadlinePassed(state, due.task, now, out);
    case 'doubt':
      return decide(state, due.key, 'lost', now, out);
    case 'route':
      state.roused.add(laneOf(state, due.task));
      return;
    case 'start':
      // An offer may still be accepted: what becomes of it decides.
      if (due.task.state === 'waiting') settleOverdue(state, due.task, now, out);
      return;
    case 'lease':
      return leaseEnded(state, due.executor, now, out);
    case 'record':
      return recordDue(state, due.executorId, out);
    case 'drain':
      return endOccupation(state, due.executor, 'drain', now, out);
    case 'rested':
      return rested(state, due.executor, now);
    case 'booking':
      return advance(state, due.booking, now, out);
    case 'quota':
      return windowDue(state, due.name, now, out);
    case 'type':
    case 'pause':
      state.deadlines.pausesOver.push(due);
      return;
  }
}

/** No answer to the offer. The executor stays occupied until it says something about it. */
function assignTimedOut(state: State, task: Task, now: number, out: Output): void {
  const executor = holderOf(state, task);
  const message = 'no answer to the assignment in time';
  if (executor !== undefined) coolDown(state, executor, task, now, message);
  const error = { message };
  endAttempt(state, task, { outcome: 'assign_timeout', error }, now, out);
}

function checkAssign(state: State, task: Task, now: number, out: Output): void {
  if (task.state !== 'offered') return;
  const at = (task.offeredAt ?? 0) + task.hiddenMs + task.assignTimeoutMs;
  if (at <= now) return assignTimedOut(state, task, now, out);
  state.deadlines.push({ at, kind: 'assign', task, attempt: task.attempt });
}

function checkExecution(state: State, task: Task, now: number, out: Output): void {
  const at = executionEndsAt(task);
  if (at === null) return;
  if (at <= now) return beginEnding(state, task, 'execution_timeout', now, out);
  state.deadlines.push({ at, kind: 'execution', task, attempt: task.attempt });
}

function checkStall(state: State, task: Task, now: number, out: Output): void {
  const at = stallEndsAt(task);
  if (at === null) return;
  if (at <= now) return beginEnding(state, task, 'stalled', now, out);
  state.deadlines.push({ at, kind: 'stall', task, attempt: task.attempt });
}

function deadlinePassed(state: State, task: Task, now: number, out: Output): void {
  if (isTerminal(task.state)) return;
  if (task.state === 'waiting') settleOverdue(state, task, now, out);
  else beginEnding(state, task, 'deadline', now, out);
}

function endOccupation(
  state: State,
  executor: Executor,
  reason: CancelReason,
  now: number,
  out: Output,
): void {
  if (executor.occupation === null) return;
  const task = currentTask(state, executor, executor.occupation);
  if (task !== null) beginEnding(state, task, reason, now, out);
}
