/** The last line of the log of an attempt: how it ended, for whoever reads nothing but the log. */
import type { AbortReason } from '../errors.ts';
import { partsOf } from '../failure.ts';
import type { HandlerEnd } from '../outcome.ts';
import type { TaskLog } from './task-log.ts';

const ENDS: Record<AbortReason, string> = {
  canceled: 'canceled',
  suspended: 'suspended',
  booking_end: 'ended: its booking is over',
  execution_timeout: 'timed out: it has run for longer than it may',
  stalled: 'timed out: it has shown no progress for longer than it may',
  deadline: 'ended: the deadline of its task has passed',
  drain: 'given back: its executor stops',
  lease_lost: 'lost: its executor was without the master for longer than its lease',
  stale_attempt: 'ended: its task is no longer here',
};

interface Ending {
  /** Why it was told to end, null if it was not. */
  readonly aborted: AbortReason | null;
  /** Why what the handler returned cannot be sent. */
  readonly problem: string | undefined;
}

/** Nothing of one that has succeeded. */
export function logEnd(log: TaskLog, end: HandlerEnd, { aborted, problem }: Ending): void {
  if (problem !== undefined) log.error(`failed: ${problem}`);
  if (!('error' in end)) return;
  if (aborted !== null) log.warn(ENDS[aborted]);
  else log.error(`failed: ${partsOf(end.error).message}`);
}
