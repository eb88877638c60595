/** One task, or one attempt, as text: fields below one another. */
import { type AttemptView, exactJson, type TaskView } from '@soda-scheduler/client';
import { priorityNames } from '@soda-scheduler/protocol';
import type { Output } from '../output.ts';
import { isOfEarlier, partLine, progressInWords, rounded } from './progress-words.ts';

export function showTask(output: Output, task: TaskView): void {
  const { notification, progress, timeline } = task;
  output.fields(task, [
    ['task', task.task_id],
    ['type', task.type],
    ['booking', task.booking ?? null],
    ['state', task.state],
    ['why', whyOf(task)],
    [isCause(task) ? 'error' : 'last error', errorInWords(task)],
    ['user', Object.values(task.user).join(' / ')],
    ['submitted', task.submitted_at],
    ['priority', priorityIn(task)],
    ['place', placeInWords(task)],
    ['due', task.state === 'waiting' ? task.due_at : null],
    ['started', task.started_at],
    ['finished', task.finished_at],
    ['deadline', task.deadline],
    ['limits', limitsOf(task)],
    ['suspended', suspendedInWords(task)],
    ['cancel asked', task.suspended ? null : task.cancel_requested_at],
    ['executor', task.executor_id],
    ['attempt', task.attempt],
    ['progress', progressInWords(task, Date.now()) ?? earlierProgress(task)],
    ['labels', task.labels.join(' ')],
    ['requires', task.requires.join(' ')],
    ['params', exactJson(task, 'params')],
    ['result', task.result === null ? null : exactJson(task, 'result')],
    ['callback', notification && `${notification.state ?? 'at the end'} ${notification.url}`],
    ['callback tries', notification?.state ? notification.tries : null],
    ['next try', notification?.next_try_at ?? null],
    ['callback error', notification?.last_error ?? null],
  ]);
  if (output.json) return;
  const parts = isOfEarlier(task) ? [] : (progress?.parts ?? []);
  for (const part of parts) output.say(null, `  ${partLine(part)}`);
  for (const attempt of timeline) output.say(null, `  ${attemptLine(attempt)}`);
  const large = timeline.findLast(({ error: reason }) => reason?.details_bytes !== undefined);
  if (hasWaited(task)) output.hint(`What would start it: soda task why ${task.task_id}`);
  if (large) output.hint(`Details: soda task get ${task.task_id} --attempt ${large.attempt}`);
}

/** Whether its error is why it ended: that of a task that goes on, or was canceled, is of an attempt before. */
export function isCause({ state, finished_at: end, error }: TaskView): boolean {
  return end !== null && (state !== 'canceled' || error?.name === 'booking_end');
}

function errorInWords(task: TaskView): string | null {
  const { error, timeline } = task;
  if (error === null) return null;
  const of = !isCause(task) && timeline.findLast((one) => one.error?.message === error.message);
  return of ? `attempt ${of.attempt}: ${error.message}` : error.message;
}

function earlierProgress(task: TaskView): string | null {
  const percent = rounded(task.progress?.percent ?? null);
  return isOfEarlier(task) && percent !== null ? `${percent} %, by the attempt before` : null;
}

const LONG_WAIT_MS = 10_000;

/** Longer than it takes to be offered to somebody who is free. */
function hasWaited({ waiting, due_at }: TaskView): boolean {
  return waiting !== null && Date.now() - Date.parse(due_at) > LONG_WAIT_MS;
}

export function showAttempt(output: Output, attempt: AttemptView): void {
  const { error } = attempt;
  output.fields(attempt, [
    ['attempt', attempt.attempt],
    ['executor', attempt.executor_id],
    ['outcome', attempt.outcome ?? 'runs'],
    ['offered', attempt.offered_at],
    ['started', attempt.started_at],
    ['ended', attempt.ended_at],
    ['error', error?.message ?? null],
    ['details', error?.details === undefined ? null : exactJson(attempt, 'error', 'details')],
  ]);
}

const ended: Readonly<Record<string, string>> = {
  attempts_exhausted: 'its attempts are used up',
  non_retryable: 'the executor said that trying again is of no use',
  input_unavailable: 'what it was to work on is not there, or not to be read',
  crash_budget: 'it lost too many executors without getting further',
  not_started: 'no executor started it in time',
  deadline: 'its deadline passed',
};

/** A sentence for a waiting task as for an ended one. */
function whyOf({ failure_reason: reason, waiting }: TaskView): string | null {
  return reason === null ? (waiting?.message ?? null) : (ended[reason] ?? reason);
}

/** A master of 2.0.0 does not know the field. */
function suspendedInWords({ suspended }: Partial<TaskView>): string | null {
  if (!suspended) return null;
  const { at, by, reason } = suspended;
  return `since ${at}${by === null ? '' : ` by ${by}`}${reason === null ? '' : `: ${reason}`}`;
}

/** A master of 2.0.0 does not tell of it. */
function placeInWords({ place }: Partial<TaskView>): string | null {
  return place ? `put ${place} of its type` : null;
}

/** `high`, or `90 s` where no name stands for it. */
function priorityIn({ priority }: TaskView): string {
  const name = Object.entries(priorityNames).find(([, seconds]) => seconds === priority)?.[0];
  return name ?? `${priority} s`;
}

/** Those that there are, in seconds: `start 600, attempt 3600, silence 60`. A master of 2.0.0 tells none. */
function limitsOf(task: Partial<TaskView>): string | null {
  const { start_timeout: start = null, execution_timeout: attempt = null } = task;
  const { stall_timeout: silence = null } = task;
  const limits = Object.entries({ start, attempt, silence }).filter(([, limit]) => limit !== null);
  const words = limits.map(([name, limit]) => `${name} ${limit} s`);
  return words.length === 0 ? null : words.join(', ');
}

function attemptLine(attempt: AttemptView): string {
  const { outcome, error, started_at: startedAt, ended_at: endedAt } = attempt;
  const parts = [
    `attempt ${attempt.attempt}`,
    attempt.executor_id,
    startedAt ?? 'not started',
    durationOf(startedAt, endedAt),
    outcome ?? 'runs',
    error?.message ?? '',
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** `1 h 02 min`, `3 min 20 s`, `4.2 s`; nothing where it has not begun or ended. */
function durationOf(startedAt: string | null, endedAt: string | null): string {
  if (startedAt === null || endedAt === null) return '';
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds >= 3600)
    return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${(ms / 1000).toFixed(1)} s`;
}
