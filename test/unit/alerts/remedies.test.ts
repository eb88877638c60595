/** What a look tells to be done, once it has rested: by who is there then. */
import { expect } from 'chai';
import { findingsIn } from '../../../master/domain/alerts/findings.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';
import { plainRule } from '../../../master/domain/alerts/rule.ts';
import { RemedyTurns } from '../../../master/domain/alerts/turns.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { HOUR, Scheduler } from '../../helpers/domain.ts';

describe('what an alert advises', () => {
  it('is about no executor that has gone since the look began', () => {
    const scheduler = new Scheduler();
    for (const id of ['x', 'y']) scheduler.connect(id, { labels: [] });
    scheduler.submit({ id: 'a', requires: ['gpu'] });
    scheduler.now += HOUR;
    const { state, now } = scheduler;
    const rule = plainRule('no_executor', 'no_executor');
    const adviceIf = (goneAfter: number | null) => {
      const [outcomes, recent] = [new Outcomes(now), new Recent(() => now)];
      const looked = { namespace: 'live', outcomes, recent, turns: new RemedyTurns(), now };
      const executors = new Map(state.executors);
      const work = findingsIn({ ...looked, state: { ...state, executors } }, [rule]);
      let step = work.next();
      let count = 0;
      for (; step.done !== true; count++) {
        if (count === goneAfter) executors.delete('x');
        step = work.next();
      }
      return { count, advice: step.value.get('no_executor')?.map(({ change }) => change) };
    };
    const { count, advice } = adviceIf(null);
    expect(advice).to.deep.equal(['Give executor x the label gpu.']);
    const start = ['Start another executor of type echo with the label gpu.'];
    expect(adviceIf(count - 1).advice, 'in the last rest').to.deep.equal(start);
  });
});
