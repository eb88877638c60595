/** What turns of two clones say of one figure. */
import { median } from '../scenario.ts';

/** Whatever differs by no more than that is the same. */
const SAME = 0.03;

export interface Judged {
  /** Here to there in each turn: what else the machine does for a while falls on both. */
  readonly ratios: readonly number[];
  /** In words: by how much their median departs from one, beside their spread, from the least to the most. */
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
  const ratios = here.map((value, turn) => value / (there[turn] ?? Number.NaN));
  const ratio = median(ratios);
  if (ratio >= 1 - SAME && ratio <= 1 + SAME)
    return { ratios, verdict: `the same within ${percent(SAME)}` };
  const change = Math.abs(ratio - 1);
  const how = ratio > 1 === (better === 'more') ? 'faster' : 'slower';
  const spread = Math.max(...ratios) - Math.min(...ratios);
  const beside =
    ratios.length === 1
      ? 'in one turn'
      : `${change > spread ? 'more than' : 'within'} the spread of ${percent(spread)}`;
  return { ratios, verdict: `${how} by ${percent(change)}, ${beside}` };
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
