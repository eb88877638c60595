/** What becomes of a nominal time that is to be run, by what of its job runs and waits already. Pure. */
import { PENDING_COUNT_MAX } from '../bounds.ts';
import type { Overlap } from './trigger-spec.ts';

export type Fate =
  | { readonly kind: 'run' }
  /** It waits for what runs; `cancels`: that is told to end; `replaces`: those that waited before do not any more. */
  | { readonly kind: 'wait'; readonly cancels: boolean; readonly replaces: boolean }
  | { readonly kind: 'skipped' | 'merged'; readonly reason: string };

/**
 * @param live runs of the job that have not ended. @param waiting nominal times of this trigger that wait.
 * @param waitingInAll of all triggers of the job.
 */
export function decideOverlap(
  overlap: Overlap,
  live: number,
  waiting: number,
  waitingInAll: number,
): Fate {
  if (overlap.kind === 'allow') return { kind: 'run' };
  if (overlap.kind === 'max') {
    return live < overlap.max ? { kind: 'run' } : { kind: 'skipped', reason: 'overlap' };
  }
  if (live === 0 && waitingInAll === 0) return { kind: 'run' };
  switch (overlap.kind) {
    case 'skip':
      return { kind: 'skipped', reason: 'overlap' };
    case 'queue_one':
      if (waiting > 0) return { kind: 'merged', reason: 'overlap' };
      return { kind: 'wait', cancels: false, replaces: false };
    case 'replace':
      return { kind: 'wait', cancels: true, replaces: waiting > 0 };
    default:
      if (waiting >= PENDING_COUNT_MAX) return { kind: 'skipped', reason: 'overflow' };
      return { kind: 'wait', cancels: false, replaces: false };
  }
}
