/** What executors say that people have to know: as often as one may. */
import { expect } from 'chai';
import { ALERTS_AT_ONCE_MAX, ALERTS_PER_SECOND_MAX } from '../../../master/domain/alerts/bounds.ts';
import { observed, Scheduler } from '../../helpers/domain.ts';

describe('alerts of executors', () => {
  it('are raised as many at once as one may, and so many a second', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x');
    const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'a', attempt: 1 };
    const said = { severity: 'warning', message: 'm', fields: undefined } as const;
    const say = () => observed(scheduler.send({ type: 'alertSaid', ...said, ...about }));
    for (let count = 1; count <= ALERTS_AT_ONCE_MAX; count++) {
      expect(say()).to.deep.equal(['alert_said']);
    }
    expect(say()).to.deep.equal(['alert_left_out']);
    scheduler.pass(1_000);
    for (let count = 1; count <= ALERTS_PER_SECOND_MAX; count++) {
      expect(say()).to.deep.equal(['alert_said']);
    }
    expect(say()).to.deep.equal(['alert_left_out']);
  });
});
