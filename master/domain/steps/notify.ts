/** Callbacks: which are tried when, and when they are given up. The outbox is the history row. */
import { notificationChanged } from '../changes.ts';
import { NOTIFYING_BYTES_MAX } from '../bounds.ts';
import { shortOf, tellCallback } from '../feed/tell.ts';
import { count } from '../usage/count.ts';
import type { Event } from '../events.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { endedBytes } from '../state/held-bytes.ts';
import { random01, type State } from '../state/state.ts';
import { endedTask, type Notification, type Task } from '../model/task.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between tries: about 24 hours in all. */
const NOTIFY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
];

/** About as long as the tries take in all; one that was sent is not put off for longer. */
const PUT_OFF_AGE_MAX_MS = 26 * HOUR;

/** Tries a callback now, or keeps it for later when too many are in flight. */
export function send(
  state: State,
  notification: Notification,
  task: Task | null,
  out: Output,
): void {
  if (state.notifying.size >= state.policy.notificationCountMax) {
    keep(state, notification);
    return;
  }
  const bytes = task === null ? 0 : endedBytes(task);
  const goesAlong = task !== null && state.notifying.bytes + bytes <= NOTIFYING_BYTES_MAX;
  state.notifying.add(notification, goesAlong ? bytes : 0);
  out.effects.push({ type: 'notify', notification, task: goesAlong ? endedTask(task) : null });
}

/** Tries what is due, and asks the store for more when little is left. */
export function sendDue(state: State, now: number, out: Output): void {
  const { notifications, policy } = state;
  while (state.notifying.size < policy.notificationCountMax) {
    const next = notifications.first();
    if (next === undefined || next.nextTryAt > now) break;
    notifications.remove(next);
    send(state, next, null, out);
  }
  if (state.loading.has('notifications') || !notifications.runsLow(policy.pageCount)) return;
  state.loading.add('notifications');
  out.loads.push({ type: 'notifications' });
}

/**
 * It leaves the notifier. Null: of no interest. What was handed over by a state that has been rebuilt
 * since was dropped there, or waits there again, and goes on counting.
 */
function takeReported(
  state: State,
  event: Extract<Event, { type: 'notificationTried' | 'notificationPutOff' }>,
): Notification | null {
  return event.term === state.term ? state.notifying.take(event) : null;
}

/** It was taken, refused for good, or is tried again after a wait that grows. */
export function notificationTried(
  state: State,
  event: Extract<Event, { type: 'notificationTried' }>,
  now: number,
  out: Output,
): void {
  const notification = takeReported(state, event);
  if (notification === null) return;
  notification.tries += event.tryCount;
  notification.lastStatus = event.status;
  notification.lastError = event.error;
  const delayMs = NOTIFY_DELAYS_MS[notification.tries - 1];
  if (event.outcome === 'delivered') {
    notification.state = 'delivered';
    notification.deliveredAt = now;
  } else if (event.outcome === 'gone' || delayMs === undefined) {
    notification.state = 'gave_up';
  } else {
    notification.nextTryAt = now + Math.max(spread(state, delayMs), event.retryAfterMs ?? 0);
    keep(state, notification);
  }
  out.changes.push(notificationChanged(notification));
  out.observed.push({
    event: 'notification_tried',
    notification,
    outcome: event.outcome,
  });
  const { outcome, status, error } = event;
  const how = { outcome, status, ...(error !== null && { error: shortOf(error) }) };
  tellCallback(state, out, 'task.callback_tried', notification, now, how);
  tellOfEnd(state, notification, now, out);
  sendDue(state, now, out);
}

/**
 * It comes back later, at no cost: only what was sent is a try. It is never given up unsent; and who
 * puts off (`Notifier`) prefers what was tried least, so that each gets its try.
 */
export function notificationPutOff(
  state: State,
  event: Extract<Event, { type: 'notificationPutOff' }>,
  now: number,
  out: Output,
): void {
  const notification = takeReported(state, event);
  if (notification === null) return;
  notification.lastError = event.error;
  if (notification.tries > 0 && now - notification.triesSince > PUT_OFF_AGE_MAX_MS) {
    notification.state = 'gave_up';
  } else {
    notification.nextTryAt = now + spread(state, event.afterMs);
    keep(state, notification);
  }
  out.changes.push(notificationChanged(notification));
  tellOfEnd(state, notification, now, out);
  sendDue(state, now, out);
}

function tellOfEnd(state: State, notification: Notification, now: number, out: Output): void {
  if (notification.state === 'pending') return;
  out.observed.push({ event: 'notification_ended', notification });
  const figure = notification.state === 'gave_up' ? 'callbacks_gave_up' : 'callbacks_delivered';
  count(state, out, notification, now, { [figure]: 1 });
  const { tries } = notification;
  if (notification.state === 'gave_up')
    tellCallback(state, out, 'task.callback_gave_up', notification, now, { tries });
}

function spread(state: State, delayMs: number): number {
  return Math.round(delayMs * (1 + 0.1 * random01(state)));
}

/** A page of the outbox; what is in flight or known already is passed over. */
export function notificationsLoaded(
  state: State,
  event: Extract<Event, { type: 'notificationsLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('notifications');
  const { notifications } = state;
  notifications.extend(event.notifications, event.complete);
  for (const notification of event.notifications) {
    if (state.notifying.has(notification) || notifications.find(notification)) continue;
    notifications.offer(notification);
  }
  sendDue(state, now, out);
}

/** Someone wants a finished task's callback once more, whatever became of the earlier tries. */
export function redeliverRequested(
  state: State,
  event: Extract<Event, { type: 'redeliverRequested' }>,
  now: number,
  out: Output,
): void {
  const { request } = event;
  // A live task has none.
  const notification = state.tasks.has(event.taskId) ? null : event.notification;
  if (notification === undefined) {
    out.loads.push({ type: 'task', event });
    return;
  }
  // What has ended is of its group for good.
  const isMeant = event.only === undefined || event.only.seq === notification?.taskSeq;
  const reply = redeliver(state, isMeant ? notification : null, now, out);
  out.effects.push({ type: 'reply', request, reply });
}

/** Of a task that has ended; null: it has none, or has not. */
export function redeliver(
  state: State,
  notification: Notification | null,
  now: number,
  out: Output,
): CommandOutcome {
  if (notification === null) {
    return { kind: 'unknown', message: 'no ended task with a callback has this id' };
  }
  // What is in flight is not sent twice, but what becomes of it is the first of the new tries.
  const inFlight = state.notifying.find(notification);
  if (inFlight !== null) {
    beginTries(state, inFlight, now, out);
    return { kind: 'done' };
  }
  state.notifications.remove(notification);
  beginTries(state, notification, now, out);
  send(state, notification, null, out);
  return { kind: 'done' };
}

/** The tries begin anew, so that it is not given up on at the first failure. */
function beginTries(state: State, notification: Notification, now: number, out: Output): void {
  notification.state = 'pending';
  notification.tries = 0;
  notification.triesSince = now;
  notification.nextTryAt = now;
  out.changes.push(notificationChanged(notification));
  tellCallback(state, out, 'task.redelivered', notification, now);
}

function keep(state: State, notification: Notification): void {
  const { notifications, policy } = state;
  notifications.offer(notification);
  if (notifications.size > policy.notificationCountMax) notifications.evictLast();
}
