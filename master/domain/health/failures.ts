/** Types of which most attempts fail, and with what. */
import { counted } from '../why/words.ts';
import type { Finding, FindingFacts } from './finding.ts';
import type { Outcome } from './outcomes.ts';

/** Of fewer nothing is said; from this share on they count as failing. */
const KNOWN_COUNT_MIN = 5;
const FAILING_SHARE = 0.5;

interface Failing {
  readonly failedCount: number;
  /** Since the last one that did not fail. */
  readonly since: number;
  readonly error: string;
  readonly errorCount: number;
  /** The newest that failed with it. */
  readonly taskId: string;
}

export function factsOf(
  { error, failedCount, errorCount: alikeCount }: Failing,
  count: number,
): Pick<FindingFacts, 'error' | 'outcomes'> {
  return { error, outcomes: { count, failedCount, alikeCount } };
}

/** What most of them fail with; null: too few are known, or fewer fail. */
export function failingOf(outcomes: readonly Outcome[]): Failing | null {
  const failed = outcomes.filter(({ error }) => error !== null);
  const share = failed.length / outcomes.length;
  if (outcomes.length < KNOWN_COUNT_MIN || share < FAILING_SHARE) return null;
  const byError = new Map<string, { errorCount: number; taskId: string }>();
  for (const { error, taskId } of failed) {
    const alike = byError.get(error ?? '');
    if (alike === undefined) byError.set(error ?? '', { errorCount: 1, taskId });
    else {
      alike.errorCount++;
      alike.taskId = taskId;
    }
  }
  const [first] = [...byError].sort(([, a], [, b]) => b.errorCount - a.errorCount);
  const [error, alike] = first ?? ['', { errorCount: 0, taskId: '' }];
  const lastGood = outcomes.findLastIndex((one) => one.error === null);
  const since = (outcomes[lastGood + 1] ?? failed[0])?.at ?? 0;
  return { failedCount: failed.length, since, error, ...alike };
}

export function failureFindings(
  attempts: ReadonlyMap<string, readonly Outcome[]>,
): readonly Finding[] {
  return [...attempts].flatMap(([type, outcomes]): Finding[] => {
    const failing = failingOf(outcomes);
    if (failing === null) return [];
    const { failedCount, since, error, errorCount, taskId } = failing;
    const isEach = failedCount === outcomes.length;
    return [
      {
        kind: 'failing',
        severity: isEach ? 'critical' : 'warning',
        subject: `type/${type}`,
        since,
        count: failedCount,
        message: `${failedCount} of the newest ${counted(outcomes.length, 'attempt')} of type ${type} failed.`,
        cause: errorCount === failedCount ? `All with: ${error}` : `${errorCount} with: ${error}`,
        advice: 'Look at the errors, and mend what they name.',
        facts: factsOf(failing, outcomes.length),
        taskId,
      },
    ];
  });
}
