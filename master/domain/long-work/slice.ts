/**
 * Does long work slice by slice: each is read and stepped as one turn, and what has come meanwhile is stepped
 * before the next. What a slice has done to tasks and how far the work is are one commit, so that
 * whoever begins again after a crash comes to each task once.
 */
import { type CommandOutcome, type Output, refusalInWords } from '../effects.ts';
import type { Event, WorkPage } from '../events.ts';
import { ANY_TASK, isSeen, matches } from '../model/task-filter.ts';
import { isAtRest, isTerminal, type Notification, type Task } from '../model/task.ts';
import { positionOf } from '../queue/agenda.ts';
import type { Position } from '../queue/window.ts';
import type { State } from '../state/state.ts';
import { act, NO_TASK } from '../steps/command.ts';
import { redeliver } from '../steps/notify.ts';
import { type BulkAction, type BulkWork, ended, type WorkCounts, withProblem } from './work.ts';
import { beginTimes } from './backfill.ts';
import { askForWork, putWork } from './works.ts';

const LATER: CommandOutcome = {
  kind: 'conflict',
  message: 'the task was accepted after the preview',
};
const OUTSIDE = 'the group that it is to have is outside the scope of who asked';

/** They were read while nothing was stepped. */
export function workLoaded(
  state: State,
  { page }: Extract<Event, { type: 'workLoaded' }>,
  now: number,
  out: Output,
): void {
  state.loading.delete('work');
  const work = page === null ? undefined : state.works.byId.get(page.workId);
  if (page !== null && 'times' in page) {
    if (work?.kind === 'backfill') beginTimes(state, work, page, now, out);
  } else if (page !== null && work?.kind === 'bulk') {
    state.works.lastId = work.id;
    const { ids, cursor } = page;
    const after = { ...doSlice(state, work, page, now, out), ids, cursor };
    putWork(state, page.isLast ? ended(after, 'done', now) : after, now, out);
  }
  askForWork(state, out);
}

function doSlice(
  state: State,
  work: BulkWork,
  { tasks, edges: before = new Map() }: Pick<WorkPage, 'tasks' | 'edges'>,
  now: number,
  out: Output,
): BulkWork {
  const edges = new Map(before);
  const { filter, within } = work.request;
  const counts: { -readonly [N in keyof WorkCounts]: number } = { ...work.counts };
  let { problems } = work;
  // Before the first is acted on: it may put another out of memory, with a change that no row has yet.
  const known = tasks.map((found) => ({
    ...found,
    task: state.tasks.get(found.taskId) ?? found.task,
  }));
  for (const { taskId, task, notification } of known) {
    const isTheirs = task !== null && isSeen(task, within);
    // Memory knows what is written later; and to some databases texts are equal that differ in blanks.
    const isFound =
      isTheirs && (filter === null || matches({ ...ANY_TASK, ...filter }, task, notification));
    if (filter !== null && !isFound) continue;
    const outcome = isFound
      ? perform(state, work, { task, notification, edges }, now, out)
      : NO_TASK;
    if (outcome.kind === 'done') {
      counts[task !== null && isAsked(work.request.action, task) ? 'asked' : 'done'] += 1;
      continue;
    }
    const isFull = outcome.kind === 'full' || outcome.kind === 'limited';
    const kind = isFull ? 'failed' : 'skipped';
    counts[kind] += 1;
    problems = withProblem(problems, { taskId, kind, message: refusalInWords(outcome) });
  }
  return { ...work, counts, problems };
}

/** It runs on until its executor has ended it. */
function isAsked(action: BulkAction, task: Task): boolean {
  return (
    (action === 'cancel' || action === 'suspend') && !isTerminal(task.state) && !isAtRest(task)
  );
}

interface Subject {
  readonly task: Task;
  readonly notification: Notification | null;
  /** Who is first, or last, of each type now. */
  readonly edges: Map<string, Position>;
}

function perform(
  state: State,
  { request: { action, change, within, reason, seqMax }, by }: BulkWork,
  { task, notification, edges }: Subject,
  now: number,
  out: Output,
): CommandOutcome {
  // A search finds none, and an id may be that of another task by now.
  if (task.seq > seqMax) return LATER;
  switch (action) {
    case 'cancel':
      return act(state, { type: 'cancelRequested' }, task, now, out);
    case 'retry':
      return act(state, { type: 'retryRequested', notification }, task, now, out);
    case 'suspend':
      return act(state, { type: 'suspendRequested', reason, by }, task, now, out);
    case 'resume':
      return act(state, { type: 'taskResumeRequested' }, task, now, out);
    case 'delete':
      return act(state, { type: 'deleteRequested', notification }, task, now, out);
    case 'first':
    case 'last': {
      const { queueTime, type } = task;
      const edge = edges.get(type) ?? null;
      const outcome = act(state, { type: 'moveRequested', to: action, edge }, task, now, out);
      if (task.queueTime !== queueTime) edges.set(type, positionOf(task));
      return outcome;
    }
    case 'redeliver':
      return redeliver(state, isTerminal(task.state) ? notification : null, now, out);
    case 'change': {
      const after = { type: task.type, user: { ...task.user, ...change?.user } };
      if (!isSeen(after, within)) return { kind: 'conflict', message: OUTSIDE };
      const seen = { seq: null, version: null };
      return act(state, { type: 'changeRequested', change: change ?? {}, seen }, task, now, out);
    }
  }
}
