/** Which keys of usage a day has room for. */
import { expect } from 'chai';
import {
  boundedTo,
  DAY_KEYS_MAX,
  GROUP_KEYS_MIN,
  type UsageCount,
  usageId,
  USAGE_KEYS_MAX,
} from '../../../master/domain/usage/usage.ts';

const usersOf = (group: string, count: number): Map<string, UsageCount> =>
  new Map(
    Array.from({ length: count }, (_, at) => {
      const key = { day: '2026-11-22', group, project: null, env: null, user: `${at}` };
      const one = { ...key, type: 'encode', figures: { submitted: 1 } };
      return [usageId(one), one];
    }),
  );
/** How many rows there are of each group, and how often it was submitted in those that tell nothing apart. */
const rowsOf = (counts: Map<string, UsageCount>): Record<string, number[]> => {
  const rows: Record<string, number[]> = {};
  for (const { group, type, figures } of counts.values()) {
    const row = (rows[group] ??= [0, 0]);
    row[0] = (row[0] ?? 0) + 1;
    if (type === '(other)') row[1] = (row[1] ?? 0) + (figures.submitted ?? 0);
  }
  return rows;
};

describe('the keys of a day of usage', () => {
  it('leave each group its least, however many groups have taken all that was free', () => {
    const all = new Map([...usersOf('late', 150), ...usersOf('later', 10)]);
    const kept = boundedTo(all, new Set(), { count: USAGE_KEYS_MAX, ofGroups: new Map() });
    expect(rowsOf(kept)).to.deep.equal({ late: [GROUP_KEYS_MIN + 1, 50], later: [10, 0] });
  });

  it('are no more for whoever invents groups, and a group that has some keeps its sum', () => {
    const all = new Map([...usersOf('known', 3), ...usersOf('new', 3)]);
    const [first] = usersOf('known', 1).keys();
    const ofGroups = new Map([['known', 1]]);
    const kept = boundedTo(all, new Set<string>(), { count: DAY_KEYS_MAX, ofGroups });
    expect(rowsOf(kept)).to.deep.equal({ known: [1, 3], '(other)': [1, 3] });
    const goesOn = boundedTo(all, new Set([first ?? '']), { count: DAY_KEYS_MAX, ofGroups });
    expect(rowsOf(goesOn)).to.deep.equal({ known: [2, 2], '(other)': [1, 3] });
  });
});
