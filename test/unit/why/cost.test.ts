/** Why a task waits is told in a few milliseconds, however much waits. */
import { expect } from 'chai';
import { whyOf } from '../../../master/domain/why/why.ts';
import { inserted, MINUTE, Scheduler } from '../../helpers/domain.ts';

describe('why a task waits, among many', () => {
  it('looks at lanes and not at tasks, and says that there may be more', () => {
    const scheduler = new Scheduler({ laneWindowCount: 20 });
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    for (let group = 0; group < 40; group++) {
      const user = { group: `g${group}`, project: null, env: null, user: null };
      const ids = Array.from({ length: 25 }, (_, at) => `${group}-${at}`);
      scheduler.submit(...ids.map((id) => ({ id, user })));
    }
    scheduler.now += MINUTE;
    const [task] = inserted(scheduler.submit({ id: 'asked' }));
    const why = whyOf(scheduler.state, { task: task!, notification: null }, scheduler.now, true);
    expect(why.ahead).to.deep.include({ count: 800, isAtLeast: true });
    expect(why.change?.message).to.equal(
      'Start at least 801 executors of type echo (800 tasks come first).',
    );
  });
});
