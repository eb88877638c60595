/** What steps count, when, and for whom. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { dayOf } from '../../../master/domain/usage/day.ts';
import type { Figures } from '../../../master/domain/usage/usage.ts';
import { BEGIN, HOUR, Scheduler, SECOND } from '../../helpers/domain.ts';

/** By type and day of the month, without what is 0. */
function counted(...outs: readonly Output[]): Record<string, Figures> {
  const sums: Record<string, Figures> = {};
  for (const { changes } of outs) {
    for (const change of changes) {
      if (!('table' in change) || change.op !== 'insert' || change.table !== 'usage') continue;
      for (const { type, day, figures } of change.row.counts.values()) {
        const sum = (sums[`${type} ${day.slice(-2)}`] ??= {});
        for (const [name, value] of Object.entries(figures)) {
          if (value > 0) sum[name as keyof Figures] = (sum[name as keyof Figures] ?? 0) + value;
        }
      }
    }
  }
  return sums;
}

describe('usage', () => {
  it('counts a submit when it is accepted, and the rest at its end', () => {
    const scheduler = new Scheduler();
    const day = dayOf('UTC', BEGIN).slice(-2);
    const outs: Output[] = [scheduler.submit({ id: 'a' })];
    expect(counted(...outs)).to.deep.equal({ [`echo ${day}`]: { submitted: 1 } });
    scheduler.now += 3 * SECOND;
    outs.push(scheduler.connect('x-1'), scheduler.accept('x-1'));
    expect(counted(...outs)).to.deep.equal({ [`echo ${day}`]: { submitted: 1 } });
    scheduler.now += 5 * SECOND;
    const end = scheduler.end('x-1');
    expect(counted(end)).to.deep.equal({
      [`echo ${day}`]: { succeeded: 1, attempts: 1, wait_ms: 3 * SECOND, run_ms: 5 * SECOND },
    });
  });

  it('is of days that begin where reports have them', () => {
    // 2027-01-15T08:00:00Z
    expect(dayOf('UTC', BEGIN)).to.equal('2027-01-15');
    expect(dayOf('Pacific/Kiritimati', BEGIN + 2 * HOUR)).to.equal('2027-01-16');
    expect(dayOf('America/Los_Angeles', BEGIN)).to.equal('2027-01-15');
    expect(dayOf('America/Los_Angeles', BEGIN - 1)).to.equal('2027-01-14');
    expect(dayOf('Asia/Kathmandu', BEGIN + 10 * HOUR + 15 * 60_000 - 1)).to.equal('2027-01-15');
    expect(dayOf('Asia/Kathmandu', BEGIN + 10 * HOUR + 15 * 60_000)).to.equal('2027-01-16');
    const scheduler = new Scheduler({ reportZone: 'Pacific/Kiritimati' });
    expect(counted(scheduler.submit({ id: 'a' }))).to.deep.equal({ 'echo 15': { submitted: 1 } });
    scheduler.now += 2 * HOUR;
    expect(counted(scheduler.submit({ id: 'b' }))).to.deep.equal({ 'echo 16': { submitted: 1 } });
  });
});
