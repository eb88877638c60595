/** How the duties of a process went, by a clock that the test moves. */
import { expect } from 'chai';
import { Duties } from '../../../master/application/process/duties.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const MINUTE_MS = 60_000;

describe('a duty', () => {
  let clock: ManualClock;
  let duties: Duties;
  beforeEach(() => {
    clock = new ManualClock();
    duties = new Duties(clock);
  });
  const view = () => duties.views()[0];

  it('says when it was done last, how long it took, what there was and what was done', async () => {
    const duty = duties.add('sweep', MINUTE_MS);
    const never = { name: 'sweep', everyMs: MINUTE_MS, runCount: 0, last: null, isOverdue: false };
    expect(view()).to.deep.equal(never);
    await duty.run(async () => {
      await clock.pass(70);
      return { foundCount: 3, doneCount: 2 };
    });
    const last = { at: clock.now(), tookMs: 70, foundCount: 3, doneCount: 2, error: null };
    expect(view()).to.deep.equal({ ...never, runCount: 1, last });
  });

  it('says why it failed, and so does whoever did it', async () => {
    const failure = new Error('disk is full');
    const duty = duties.add('sweep', MINUTE_MS);
    const thrown = await duty.run(() => Promise.reject(failure)).catch((error: unknown) => error);
    expect(thrown).to.equal(failure);
    expect(view()?.last).to.include({ error: 'Error: disk is full', foundCount: 0, doneCount: 0 });
  });

  it('is overdue once it should have ended again for long, if it has an interval', async () => {
    const duty = duties.add('sweep', MINUTE_MS);
    const rare = duties.add('rebuild', null);
    await clock.pass(3 * MINUTE_MS);
    expect(view()?.isOverdue, 'never done').to.equal(false);
    await clock.pass(1);
    expect(view()?.isOverdue, 'never done').to.equal(true);
    await duty.run(async () => ({ foundCount: 0, doneCount: 0 }));
    expect(view()?.isOverdue).to.equal(false);
    await clock.pass(3 * MINUTE_MS + 1);
    expect(view()?.isOverdue).to.equal(true);
    expect(rare.view().isOverdue).to.equal(false);
  });

  it('of engines is what they tell of: rebuilding, and sweeping what is overdue', () => {
    const observer = duties.ofEngines();
    observer.observe({ event: 'restored', taskCount: 7 });
    observer.observe({ event: 'overdue_swept', foundCount: 5, doneCount: 4 });
    const [overdue, rebuild] = duties.views();
    expect(overdue?.last).to.include({ foundCount: 5, doneCount: 4, tookMs: null });
    expect(rebuild?.last).to.include({ foundCount: 7, doneCount: 7 });
  });
});
