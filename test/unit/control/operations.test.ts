/** Operations on many tasks that are over: for how long they are known, so that none begins twice. */
import { expect } from 'chai';
import {
  WORK_KEPT_COUNT_MAX,
  WORK_KEPT_MS_MIN,
  WORK_KNOWN_COUNT_MAX,
} from '../../../master/domain/bounds.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { Scheduler } from '../../helpers/domain.ts';

describe('operations that are over', () => {
  const within = { types: null, groups: null };
  const bulk = { action: 'cancel', filter: ANY_TASK, change: null, reason: null } as const;
  const request = { ...bulk, seqMax: 0, endedBefore: 0, within };
  const counts = { total: 0, done: 0, asked: 0, skipped: 0, failed: 0 };
  const plan = { kind: 'bulk', ids: null, cursor: null, state: 'running', counts } as const;
  const rest = { isExact: true, problems: [], by: null, endedAt: null, request };

  function begun(scheduler: Scheduler, id: string) {
    const { reply } = scheduler.command({ type: 'workRequested', work: { ...plan, ...rest, id } });
    scheduler.command({ type: 'workSteered', workId: id, to: 'canceled' });
    return reply?.kind;
  }

  it('are known as long as their previews hold, however many follow them', () => {
    const scheduler = new Scheduler();
    begun(scheduler, 'first');
    scheduler.pass(1_000);
    for (let at = 0; at < 2 * WORK_KEPT_COUNT_MAX; at++) begun(scheduler, `op-${at}`);
    const again = scheduler.command({
      type: 'workRequested',
      work: { ...plan, ...rest, id: 'first' },
    });
    expect(again.reply?.kind).to.equal('done');
    expect(scheduler.state.works.byId.get('first')?.state).to.equal('canceled');
    scheduler.now += WORK_KEPT_MS_MIN;
    scheduler.pass(2_000);
    expect(scheduler.state.works.byId.has('first')).to.equal(false);
    expect(scheduler.state.works.byId.size).to.equal(WORK_KEPT_COUNT_MAX);
  });

  it('are so many at most', () => {
    const scheduler = new Scheduler();
    for (let at = 0; at < WORK_KNOWN_COUNT_MAX; at++) begun(scheduler, `op-${at}`);
    expect(begun(scheduler, 'more')).to.equal('full');
    scheduler.now += WORK_KEPT_MS_MIN;
    scheduler.pass(2_000);
    expect(begun(scheduler, 'more')).to.equal('done');
  });
});
