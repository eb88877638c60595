/**
 * Who died? An executor that falls silent under an attempt may have been killed by it, or may only
 * have been cut off. The task waits again at once, but the loss is in doubt: the same process comes
 * back, or says that it ended the attempt by itself, and the contact was lost; or two leases pass,
 * and it counts as dead. Only deaths use up the crash budget; lost contacts have one of their own.
 *
 * Doubts live in memory. A master that begins forgives what the one before it had in doubt, and
 * what it finds lost of the time in which there was none counts in neither.
 */
import { attemptDecided, taskUpdated } from '../changes.ts';
import type { Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { type Doubt, elderKey, type Executor } from '../model/executor.ts';
import type { State } from '../state/state.ts';
import { isAtRest, isTerminal, type Task } from '../model/task.ts';
import { countLoss } from '../state/doubt.ts';
import { endAttempt, finish } from './finish.ts';

/** An attempt that had begun is not heard of any more. */
export function loseAttempt(
  state: State,
  executor: Executor,
  task: Task,
  how: { readonly message: string; readonly isCertain: boolean },
  now: number,
  out: Output,
): void {
  const error = { message: how.message };
  const isExcused = executor.isUnheard;
  if (executor.hasFenced) {
    return endAttempt(state, task, { outcome: 'lost_contact', error, isExcused }, now, out);
  }
  if (how.isCertain) {
    return endAttempt(state, task, { outcome: 'lost', error, isExcused }, now, out);
  }
  const { id: taskId, seq: taskSeq, attempt, checkpoint } = task;
  const { id: executorId, incarnation } = executor;
  const at = now + 2 * state.policy.leaseMs;
  const of = { taskId, taskSeq, attempt, checkpoint };
  const doubt: Doubt = { ...of, executorId, incarnation, isExcused, at };
  endAttempt(state, task, { outcome: 'lost', error, doubt }, now, out);
}

/** What this process lost, it did not die of: it is here, or says that it ended the attempt itself. */
export function contactRegained(
  state: State,
  event: Extract<Event, { type: 'executorConnected' }>,
  now: number,
  out: Output,
): void {
  const { executorId, incarnation, fenced } = event;
  decide(state, elderKey(executorId, incarnation), 'lost_contact', now, out);
  for (const { taskId, attempt } of fenced) {
    const isMeant = (of: { readonly taskId: string; readonly attempt: number } | null) =>
      of?.taskId === taskId && of.attempt === attempt;
    for (const [key, doubt] of state.doubts.of(taskId)) {
      if (doubt.executorId !== executorId || !isMeant(doubt)) continue;
      decide(state, key, 'lost_contact', now, out);
    }
    for (const elder of state.elders.values()) {
      if (elder.id === executorId && isMeant(elder.occupation)) elder.hasFenced = true;
    }
  }
}

export function decide(
  state: State,
  key: string,
  verdict: 'lost' | 'lost_contact',
  now: number,
  out: Output,
): void {
  const doubt = state.doubts.get(key);
  if (doubt === undefined) return;
  state.doubts.delete(key);
  const { taskId, taskSeq, attempt, checkpoint } = doubt;
  if (verdict === 'lost_contact') {
    out.changes.push(attemptDecided(taskSeq, attempt, verdict));
  }
  if (doubt.isExcused) return;
  const event = { type: 'lossDecided', taskId, taskSeq, attempt, checkpoint, verdict } as const;
  lossDecided(state, event, now, out);
}

/** Counted, unless the task has got further or has ended since. */
export function lossDecided(
  state: State,
  event: Extract<Event, { type: 'lossDecided' }>,
  now: number,
  out: Output,
): void {
  const task = state.tasks.get(event.taskId) ?? event.task;
  if (task === undefined) {
    out.loads.push({ type: 'task', event });
    return;
  }
  if (task === null || task.seq !== event.taskSeq || isTerminal(task.state)) return;
  if (task.checkpoint !== event.checkpoint) return;
  const isSpent = countLoss(state, task, event.verdict);
  if (isAtRest(task) && task.attempt === event.attempt) task.lastOutcome = event.verdict;
  // One that runs may yet succeed; its next loss ends it.
  if (isSpent && isAtRest(task)) finish(state, task, 'failed', 'crash_budget', now, out);
  else out.changes.push(taskUpdated(task));
}
