/** What waits, by what keeps the first of it: by lanes, whatever there is of them. */
import { expect } from 'chai';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { headsOf } from '../../../master/domain/why/heads.ts';
import { MINUTE, Scheduler } from '../../helpers/domain.ts';

describe('what keeps the first tasks that wait', () => {
  const brief = (scheduler: Scheduler, sight = ALL) =>
    headsOf(scheduler.state, scheduler.now, sight).heads.map(
      ({ type, refusal, count }) => `${type} ${refusal?.reason ?? 'nothing'} ${count}`,
    );

  it('is told once for each type and reason, who waits longest first', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    scheduler.submit({ id: 'a', requires: ['gpu'] }, { id: 'b', requires: ['cpu'] });
    scheduler.now += MINUTE;
    scheduler.submit({ id: 'c' }, { id: 'd' }, { id: 'e', type: 'other' });
    expect(brief(scheduler)).to.deep.equal([
      'echo labels_unmatched 2',
      'echo all_busy 2',
      'other no_executor 1',
    ]);
    expect(brief(scheduler, { types: ['other'], groups: null })).to.deep.equal([
      'other no_executor 1',
    ]);
    expect(brief(scheduler, { types: null, groups: ['nobody'] })).to.deep.equal([]);
  });

  it('is asked of some of each type only, and it is told how many others wait', () => {
    const scheduler = new Scheduler();
    for (let at = 0; at < 20; at++) {
      scheduler.submit({ id: `a${at}`, requires: [`label-${at}`] });
    }
    const { heads, unaskedCount } = headsOf(scheduler.state, scheduler.now, ALL);
    expect(heads.map(({ count }) => count)).to.deep.equal([8]);
    expect(unaskedCount).to.equal(12);
  });
});
