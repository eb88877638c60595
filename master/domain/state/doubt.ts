/** Losses that are not decided yet, and the budgets that they count in once they are. */
import { CONTACT_COUNT_MAX } from '../bounds.ts';
import { type Doubt, elderKey } from '../model/executor.ts';
import type { State } from './state.ts';
import type { Task } from '../model/task.ts';

/** The tick that decides comes after whatever else is stepped at that instant. */
const DECISION_MS = 1_000;

/**
 * When the task may be offered again: at once, unless all that is in doubt would use up its budget.
 * Then it waits for the decision, so that it never kills more executors than that.
 */
export function beginDoubt(state: State, task: Task, doubt: Doubt, now: number): number {
  const key = elderKey(doubt.executorId, doubt.incarnation);
  state.doubts.set(key, doubt);
  state.deadlines.push({ at: doubt.at, kind: 'doubt', key });
  if (doubt.isExcused) return now;
  let count = task.crashCount;
  for (const { taskSeq, checkpoint, isExcused } of state.doubts.of(task.id).values()) {
    if (taskSeq === task.seq && checkpoint === task.checkpoint && !isExcused) count++;
  }
  return count < state.policy.crashBudget ? now : doubt.at + DECISION_MS;
}

/** A task that has ended has no more use for a decision. */
export function forgetDoubts(state: State, task: Task): void {
  for (const [key, { taskSeq }] of state.doubts.of(task.id)) {
    if (taskSeq === task.seq) state.doubts.delete(key);
  }
}

/** True: the budget is used up. */
export function countLoss(state: State, task: Task, verdict: 'lost' | 'lost_contact'): boolean {
  if (verdict === 'lost_contact') return ++task.contactCount >= CONTACT_COUNT_MAX;
  return ++task.crashCount >= state.policy.crashBudget;
}
