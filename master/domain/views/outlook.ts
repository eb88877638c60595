/** What is to come for a task that has not ended, as its view shows it. */
import { isAtRest, type Task } from '../model/task.ts';
import type { EndEstimate } from '../state/paces.ts';
import type { State } from '../state/state.ts';
import { explain, type WaitingReason } from './explain.ts';

export interface Outlook {
  /** Why it does not run; null: it does, or has ended. */
  readonly waiting: WaitingReason | null;
  /** When it ends if it goes on as it has; null: nobody knows. */
  readonly end: EndEstimate | null;
}

const STARTING: WaitingReason = {
  reason: 'no_executor',
  message: 'The master is starting.',
  ahead: null,
};

/** `state`: null before anything is known; `isNaming`: also which tasks come first. */
export function outlookOf(
  state: State | null,
  task: Task,
  now: number,
  isNaming: boolean,
): Outlook {
  if (state === null) return { waiting: isAtRest(task) ? STARTING : null, end: null };
  if (isAtRest(task)) return { waiting: explain(state, task, now, isNaming), end: null };
  const known = state.tasks.get(task.id);
  const isSame = known?.seq === task.seq && known.attempt === task.attempt;
  return { waiting: null, end: isSame ? state.paces.endOf(known, now) : null };
}
