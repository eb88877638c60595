/** What went wrong lately: counted in minutes, whatever the clock does. */
import { expect } from 'chai';
import { RECENT_KEYS_MAX } from '../../../master/domain/alerts/bounds.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const joined = { event: 'executor_joined', types: [], host: 'h', lasting: true } as const;

describe('what is counted lately', () => {
  it('goes with time also after the clock was ahead, and not at once', () => {
    let now = 1_800_000_000_000;
    const recent = new Recent(() => now);
    const join = () => recent.observe({ ...joined, executorId: 'x' });
    const count = () => recent.joins.get('x')?.count.count(now, 10 * MINUTE);
    now += DAY;
    join();
    now -= DAY;
    join();
    expect(count()).to.equal(2);
    now += 20 * MINUTE;
    expect(count()).to.equal(0);
    join();
    expect(count()).to.equal(1);
  });

  it('is forgotten of whoever was quiet for longest', () => {
    let now = 1_800_000_000_000;
    const recent = new Recent(() => now);
    const join = (executorId: string) => recent.observe({ ...joined, executorId });
    for (let at = 0; at < 2 * RECENT_KEYS_MAX; at++) {
      now += 100;
      join('x');
      join(`other-${at}`);
    }
    expect(recent.joins.size).to.equal(RECENT_KEYS_MAX);
    expect(recent.joins.get('x')?.count.count(now, 10 * MINUTE)).to.equal(2 * RECENT_KEYS_MAX);
  });
});
