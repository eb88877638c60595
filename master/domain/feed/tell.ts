/**
 * Puts what happens into the feed: as steps decide it, before the rows of a turn are folded, and with numbers when it
 * is committed. What can wait for its row, as that a task has started, waits here too.
 */
import { taskUpdated } from '../changes.ts';
import type { Output } from '../effects.ts';
import type { Executor } from '../model/executor.ts';
import type { Notification, Task } from '../model/task.ts';
import type { State } from '../state/state.ts';
import {
  type DataOf,
  FEED_KINDS,
  type FeedEvent,
  type FeedKind,
  type FeedLevel,
  type FeedState,
  type Told,
} from './feed-event.ts';

/** Characters of a message that are told; the row of the attempt has it whole. */
const MESSAGE_LENGTH_MAX = 200;
/** Of JSON of a state of progress. */
const STATE_LENGTH_MAX = 1_000;

/** What is told with a row that is written lazily. */
type LazyKind = 'task.started' | 'task.progress';
const LAZY_KINDS: ReadonlySet<string> = new Set<LazyKind>(['task.started', 'task.progress']);

type About = Partial<Pick<FeedEvent, 'type' | 'group' | 'executorId' | 'actor'>>;
/** What is told of a task, wherever it is. */
export type ToldTask = Pick<Task, 'seq' | 'id' | 'type' | 'attempt' | 'executorId'> & {
  readonly user: { readonly group: string };
};

const RANKS: Readonly<Record<FeedLevel, number>> = { none: 0, ends: 1, all: 2 };

function isTold({ policy: { feedLevel } }: State, kind: FeedKind): boolean {
  return feedLevel === 'all' || RANKS[FEED_KINDS[kind]] <= RANKS[feedLevel];
}

/** Of anything but a task. */
export function tell<K extends FeedKind>(
  state: State,
  out: Output,
  kind: K,
  at: number,
  { type = null, group = null, executorId = null, actor = null }: About,
  data?: DataOf<K>,
): void {
  if (!isTold(state, kind)) return;
  const about = { taskSeq: null, taskId: null, type, group, attempt: null, executorId, actor };
  const text = data === undefined ? null : JSON.stringify(data);
  push(state, out, { seq: 0, at, kind, data: text, ...about });
}

/** Of a task before, or after, any of its attempts. */
export function tellTask<K extends FeedKind>(
  state: State,
  out: Output,
  kind: K,
  task: Pick<ToldTask, 'seq' | 'id' | 'type' | 'user'>,
  at: number,
  data?: DataOf<K>,
): void {
  if (isTold(state, kind)) push(state, out, eventOf(kind, task, null, null, at, data));
}

/** Of its newest attempt. */
export function tellAttempt<K extends FeedKind>(
  state: State,
  out: Output,
  kind: K,
  task: ToldTask,
  at: number,
  data?: DataOf<K>,
): void {
  if (!isTold(state, kind)) return;
  push(state, out, eventOf(kind, task, task.attempt, task.executorId, at, data));
}

/** That its newest attempt ends, how far it was, and in which step: the state of its progress as it was said, if that is short. */
export function tellAttemptEnd(
  state: State,
  out: Output,
  task: Task,
  at: number,
  end: Pick<DataOf<'task.attempt_ended'>, 'outcome' | 'error'>,
): void {
  const kind = 'task.attempt_ended';
  if (!isTold(state, kind)) return;
  const { progressPercent: percent, progressState } = task;
  const data = { ...end, ...(percent !== null && { percent }) };
  const event = eventOf(kind, task, task.attempt, task.executorId, at, data);
  const isShort = progressState !== null && progressState.length <= STATE_LENGTH_MAX;
  const text = isShort ? `${event.data?.slice(0, -1)},"state":${progressState}}` : event.data;
  push(state, out, { ...event, data: text });
}

/**
 * The same where its row is written later: the commit that writes it tells this too, so that a master which begins from
 * the row before tells it again, and one which begins from that row does not.
 */
export function tellSoon<K extends LazyKind>(
  state: State,
  kind: K,
  task: ToldTask,
  at: number,
  data?: DataOf<K>,
): void {
  if (!isTold(state, kind)) return;
  const { untold } = state.feed;
  const event = eventOf(kind, task, task.attempt, task.executorId, at, data);
  const before = untold.get(task.seq);
  if (before === undefined) untold.set(task.seq, [event]);
  else before.push(event);
}

/**
 * What an executor tells of its attempt, in its own words: once, however often that arrives. Which number it had is
 * written by the same commit, so that a master that has restarted knows it again.
 */
export function tellByExecutor(
  state: State,
  out: Output,
  task: Task,
  executor: Executor,
  { name, data, n }: Told,
  at: number,
): void {
  if (state.policy.feedLevel === 'none' || (n !== null && n <= task.eventCount)) return;
  if (!state.feed.allowances.take(executor, at)) return;
  if (n !== null) {
    const count = n - task.eventCount - 1;
    if (count > 0) tellAttempt(state, out, 'task.events_dropped', task, at, { count });
    task.eventCount = n;
  }
  // Also where it is not counted: that it has started is told now, if it was not yet.
  out.changes.push(taskUpdated(task));
  const { attempt, executorId } = task;
  const event = eventOf(`user.${name}`, task, attempt, executorId, at, undefined);
  push(state, out, { ...event, data: data ?? null });
}

/** Of the callback of a task that may be in no memory. */
export function tellCallback<K extends FeedKind>(
  state: State,
  out: Output,
  kind: K,
  { taskSeq: seq, taskId: id, type, user }: Notification,
  at: number,
  data?: DataOf<K>,
): void {
  tellTask(state, out, kind, { seq, id, type, user }, at, data);
}

function eventOf(
  kind: FeedEvent['kind'],
  task: Pick<ToldTask, 'seq' | 'id' | 'type' | 'user'>,
  attempt: number | null,
  executorId: string | null,
  at: number,
  data: object | undefined,
): FeedEvent {
  return {
    seq: 0,
    at,
    kind,
    taskSeq: task.seq,
    taskId: task.id,
    type: task.type,
    group: task.user.group,
    attempt,
    executorId,
    actor: null,
    data: data === undefined ? null : JSON.stringify(data),
  };
}

function push({ feed }: State, { told }: Output, event: FeedEvent): void {
  if (event.taskSeq !== null && feed.untold.size > 0) takeUntold(feed, told, event.taskSeq);
  told.push(event);
}

function takeUntold({ untold }: FeedState, told: FeedEvent[], taskSeq: number): void {
  for (const event of untold.get(taskSeq) ?? []) told.push(event);
  untold.delete(taskSeq);
}

/** What this command tells, whoever asks for it has done; not that its task has started. */
export function tellingBy(actor: string | null, { told }: Output, step: () => void): void {
  const from = told.length;
  step();
  for (const event of told.slice(from)) {
    if (!LAZY_KINDS.has(event.kind)) event.actor ??= actor;
  }
}

/**
 * All that the next commit tells, numbered. `isSplit`: what is set by people is written before the rest of that commit,
 * and is told first.
 */
export function numbered(
  { feed }: State,
  { told, changes }: Pick<Output, 'told' | 'changes'>,
  isSplit = false,
): readonly FeedEvent[] {
  if (feed.untold.size > 0) {
    for (const change of changes) {
      if ('key' in change && change.table === 'task') takeUntold(feed, told, change.key);
    }
  }
  const isOfTask = ({ taskSeq }: FeedEvent): number => (taskSeq === null ? 0 : 1);
  if (isSplit) told.sort((a, b) => isOfTask(a) - isOfTask(b));
  for (const event of told) event.seq = ++feed.lastSeq;
  return told;
}

/** Of an error, for the feed. */
export function shortOf(message: string): string {
  if (message.length <= MESSAGE_LENGTH_MAX) return message;
  return `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…`;
}
