/** Callbacks that do not arrive, or pile up. */
import { counted } from '../why/words.ts';
import { factsOf, failingOf } from './failures.ts';
import type { Finding } from './finding.ts';
import type { Outcome } from './outcomes.ts';

/** So many that are not settled are more than what is on its way. */
const PENDING_COUNT_MAX = 1_000;

/** @param pendingCount Of all, as memory knows; null: it is not to be told. */
export function callbackFindings(
  tries: readonly Outcome[],
  pendingCount: number | null,
): readonly Finding[] {
  const failing = failingOf(tries);
  const isPiling = pendingCount !== null && pendingCount >= PENDING_COUNT_MAX;
  if (failing === null && !isPiling) return [];
  const pending = pendingCount === null ? '' : `${counted(pendingCount, 'callback')} not settled`;
  const failed =
    failing && `${failing.failedCount} of the newest ${tries.length} tries of callbacks failed`;
  const message = `${[failed, pending].filter((part) => part).join(', ')}.`;
  return [
    {
      kind: 'callbacks',
      severity: 'warning',
      subject: null,
      since: failing?.since ?? null,
      count: pendingCount ?? failing?.failedCount ?? null,
      message,
      cause:
        failing === null
          ? 'Their receivers take them more slowly than tasks end, or do not answer.'
          : `${failing.errorCount} with: ${failing.error}`,
      advice: 'Look at the receivers of these callbacks; what was given up can be sent again.',
      facts: {
        ...(failing && factsOf(failing, tries.length)),
        ...(pendingCount !== null && { pendingCount }),
      },
      taskId: failing?.taskId ?? null,
    },
  ];
}
