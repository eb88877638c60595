/** What turns of two clones say of one figure. */
import { median } from '../scenario.ts';

/** Whatever differs by no more than that is the same. */
const SAME = 0.03;

export interface Judged {
  /** Here to there, the median of that of each turn: what else the machine does for a while falls on both. */
  readonly ratio: number;
  /** In words, beside the spread: from the least to the most of whichever clone departs more from itself. */
  readonly verdict: string;
}

/**
 * One turn has no spread, and decides nothing.
 * @param there a value of each turn, as `here`
 * @param better whether more of it is, or less
 */
export function judge(
  there: readonly number[],
  here: readonly number[],
  better: 'more' | 'less',
): Judged {
  const ratio = median(here.map((value, turn) => value / (there[turn] ?? Number.NaN)));
  const spread = Math.max(spreadOf(there), spreadOf(here));
  if (ratio >= 1 - SAME && ratio <= 1 + SAME)
    return { ratio, verdict: `the same within ${percent(SAME)}` };
  const change = Math.abs(ratio - 1);
  const how = ratio > 1 === (better === 'more') ? 'faster' : 'slower';
  const beside =
    here.length === 1
      ? 'in one turn'
      : `${change > spread ? 'more than' : 'within'} the spread of ${percent(spread)}`;
  return { ratio, verdict: `${how} by ${percent(change)}, ${beside}` };
}

/** As a share of the median. */
function spreadOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / median(values);
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
