/**
 * `step`: what happens, to what is asked for. Deterministic: time, ids and the seed come in as
 * arguments, nothing else is read, nothing is done. It changes the state in place; the engine
 * throws the state away when what was asked for could not be committed.
 */
import type { Output } from './effects.ts';
import type { Event } from './events.ts';
import { RELEASE_COUNT_MAX } from './bounds.ts';
import { isOfBookings, onBooking, type OnBooking } from './booking/set.ts';
import { bookedLoaded, endPastWindows } from './booking/due.ts';
import { settleBookings } from './booking/settle.ts';
import { askForHeld } from './limits/places.ts';
import type { JobHappening } from './jobs/job-events.ts';
import { isOfJobs, type OfJobs, onJobs } from './jobs/on-jobs.ts';
import { askForSettled } from './jobs/settle.ts';
import { releaseDue } from './queue/waiting.ts';
import { creditAbsence } from './steps/absence.ts';
import type { State } from './state/state.ts';
import { assignRoused } from './steps/assign.ts';
import { onAttempt } from './steps/attempt.ts';
import { cancelAcknowledged } from './steps/cancel.ts';
import { onTask } from './steps/command.ts';
import { onExecutor, sendDrain } from './operators/executor.ts';
import { lossDecided } from './steps/loss.ts';
import { tasksLoaded } from './steps/load.ts';
import {
  notificationPutOff,
  notificationsLoaded,
  notificationTried,
  redeliverRequested,
} from './steps/notify.ts';
import {
  executorConnected,
  executorDisconnected,
  executorResumed,
  frameRefused,
  heartbeatReceived,
} from './steps/presence.ts';
import { writeLeftovers } from './steps/occupation.ts';
import { pauseSet } from './operators/pauses.ts';
import { settingsChanged } from './operators/settings.ts';
import { tasksSubmitted } from './steps/submit.ts';
import { flush, ticked } from './steps/tick.ts';
import { onLimit } from './operators/limits.ts';
import { noting } from './operators/audit.ts';
import { tellingBy } from './feed/tell.ts';
import { onType } from './operators/types.ts';
import { onView } from './operators/saved-views.ts';
import { onWork } from './long-work/operations.ts';
import { workLoaded } from './long-work/slice.ts';

/** Appends to `out` what the event asks for. `now` must not be before that of an earlier step. */
export function step(state: State, event: Event, now: number, out: Output): void {
  // What has become due comes before what happens now; but not before rows that were read earlier:
  // what has become due since is not among them, and their window would close over it.
  if (event.type === 'ticked') state.releasableCount = RELEASE_COUNT_MAX;
  if (state.delayed.size > 0 && !event.type.endsWith('Loaded')) releaseDue(state, now, out);
  const { author } = event;
  if (author === undefined) apply(state, event, now, out);
  else {
    const commanded = () => noting(state, event, now, out, () => apply(state, event, now, out));
    tellingBy(author.actor, out, commanded);
  }
  endPastWindows(state, now, out);
  settleBookings(state, now, out);
  assignRoused(state, now, out);
  askForHeld(state, out);
  askForSettled(state, out);
  writeLeftovers(state, out);
}

function apply(state: State, event: Event, now: number, out: Output): void {
  if (isOfJobs(event)) onJobs(state, event, now, out);
  else if (isOfBookings(event)) onBooking(state, event, now, out);
  else applyToTasks(state, event, now, out);
}

function applyToTasks(
  state: State,
  event: Exclude<Event, OfJobs | OnBooking>,
  now: number,
  out: Output,
): void {
  if (isLoaded(event)) return rowsLoaded(state, event, now, out);
  switch (event.type) {
    case 'tasksSubmitted':
      return tasksSubmitted(state, event, now, out);
    case 'cancelRequested':
    case 'retryRequested':
    case 'changeRequested':
    case 'deleteRequested':
    case 'suspendRequested':
    case 'taskResumeRequested':
    case 'moveRequested':
      return onTask(state, event, now, out);
    case 'settingsChanged':
      return settingsChanged(state, event, now, out);
    case 'typeSet':
    case 'typeRemoved':
    case 'typePaused':
    case 'typeResumed':
    case 'typeOverridden':
      return onType(state, event, now, out);
    case 'pauseSet':
      return pauseSet(state, event, now, out);
    case 'viewSet':
      return onView(state, event, out);
    case 'limitSet':
      return onLimit(state, event, now, out);
    case 'drainRequested':
    case 'resumeRequested':
    case 'relabelRequested':
    case 'removeRequested':
      return onExecutor(state, event, now, out);
    case 'workRequested':
    case 'workSteered':
      return onWork(state, event, now, out);
    case 'executorConnected':
    case 'executorResumed':
    case 'executorDisconnected':
    case 'heartbeatReceived':
    case 'frameRefused':
      return onSession(state, event, now, out);
    case 'attemptAccepted':
    case 'attemptRejected':
    case 'progressReported':
    case 'eventTold':
    case 'alertSaid':
    case 'attemptEnded':
      return onAttempt(state, event, now, out);
    case 'lossDecided':
      return lossDecided(state, event, now, out);
    case 'cancelAcknowledged':
      return cancelAcknowledged(state, event, now);
    case 'redeliverRequested':
    case 'notificationTried':
    case 'notificationPutOff':
      return onCallback(state, event, now, out);
    case 'stoodStill':
      return creditAbsence(state, now - event.hiddenMs, now, out);
    case 'drainStarted':
      return drainStarted(state, now, out);
    case 'ticked':
      return ticked(state, event, now, out);
  }
}

type OnSession = Extract<
  Event,
  {
    type:
      | 'executorConnected'
      | 'executorResumed'
      | 'executorDisconnected'
      | 'heartbeatReceived'
      | 'frameRefused';
  }
>;

/** An executor comes, stays or goes, or has said what nobody understands. */
function onSession(state: State, event: OnSession, now: number, out: Output): void {
  switch (event.type) {
    case 'executorConnected':
      return executorConnected(state, event, now, out);
    case 'executorResumed':
      return executorResumed(state, event, now, out);
    case 'executorDisconnected':
      return executorDisconnected(state, event, now, out);
    case 'heartbeatReceived':
      return heartbeatReceived(state, event, now, out);
    case 'frameRefused':
      return frameRefused(state, event, now, out);
  }
}

function onCallback(
  state: State,
  event: Extract<
    Event,
    { readonly type: 'redeliverRequested' | 'notificationTried' | 'notificationPutOff' }
  >,
  now: number,
  out: Output,
): void {
  switch (event.type) {
    case 'redeliverRequested':
      return redeliverRequested(state, event, now, out);
    case 'notificationTried':
      return notificationTried(state, event, now, out);
    case 'notificationPutOff':
      return notificationPutOff(state, event, now, out);
  }
}

/** Those of jobs are apart. */
type Loaded = Exclude<
  Extract<Event, { readonly type: `${string}Loaded` }>,
  { readonly type: JobHappening['type'] }
>;

function isLoaded(event: Exclude<Event, OfJobs>): event is Loaded {
  return event.type.endsWith('Loaded');
}

/** Rows that the state has asked for. */
function rowsLoaded(state: State, event: Loaded, now: number, out: Output): void {
  switch (event.type) {
    case 'workLoaded':
      return workLoaded(state, event, now, out);
    case 'lanesLoaded':
    case 'heldLoaded':
    case 'delayedLoaded':
    case 'overdueLoaded':
      return tasksLoaded(state, event, now, out);
    case 'notificationsLoaded':
      return notificationsLoaded(state, event, now, out);
    case 'bookedLoaded':
      for (const page of event.pages) bookedLoaded(state, page, now, out);
      return;
  }
}

/** The master is about to stop: nothing new is accepted or offered, and what is known is written. */
function drainStarted(state: State, now: number, out: Output): void {
  state.accepting = false;
  flush(state, now, out, Number.POSITIVE_INFINITY);
  for (const executor of state.executors.values()) {
    executor.drainRequested = true;
    sendDrain(executor, out);
  }
}
