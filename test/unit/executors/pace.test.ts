/** When a running attempt ends, by what it has reported. */
import { expect } from 'chai';
import { PACE_POINT_COUNT_MAX } from '../../../master/domain/bounds.ts';
import { Paces } from '../../../master/domain/state/paces.ts';
import { outlookOf } from '../../../master/domain/views/outlook.ts';
import { MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';

const MONTH = 30 * 24 * 60 * MINUTE;

describe('the end of an attempt', () => {
  function running() {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x');
    const end = () => outlookOf(scheduler.state, scheduler.task('a'), scheduler.now, true).end;
    /** In seconds from now: the faster quarter, the middle, the slower quarter. */
    const left = () => {
      const found = end();
      if (found === null) return null;
      const { lowAt, endAt, highAt } = found;
      return [lowAt, endAt, highAt].map((at) => Math.round((at - scheduler.now) / SECOND));
    };
    const report = (ms: number, percent: number) => {
      scheduler.pass(ms);
      scheduler.progress('x', { percent });
    };
    return Object.assign(scheduler, { report, left });
  }

  it('is not known before there is something to go by', () => {
    const scheduler = running();
    expect(scheduler.left()).to.equal(null);
    scheduler.report(SECOND, 10);
    scheduler.report(SECOND, 10.1);
    scheduler.report(SECOND, 10.2);
    expect(scheduler.left(), 'less than a percent').to.equal(null);
    scheduler.report(SECOND, 100);
    expect(scheduler.left(), 'nothing is left').to.equal(null);
  });

  it('is not known of what gets on by the noise of a division, or in no time that anybody waits', () => {
    const scheduler = running();
    for (let percent = 0; percent <= 50; percent += 10) scheduler.report(SECOND, percent);
    for (let count = 1; count < 60; count++) scheduler.report(MINUTE, 50 + count * 1e-13);
    const [, , high = 0] = scheduler.left() ?? [];
    expect(high, 'it is late, and no more').to.be.below(100 * 60 * 60);
    const [paces, task] = [new Paces(), scheduler.task('a')];
    [0, 1, 1.1].forEach((percent, months) =>
      paces.note(task, percent, scheduler.now + months * MONTH),
    );
    expect(paces.endOf(task, scheduler.now + 2 * MONTH), 'in years').to.equal(null);
  });

  it('follows from how fast it goes on, wherever it began', () => {
    const scheduler = running();
    // From a checkpoint: it has not done these forty itself.
    scheduler.report(100, 40);
    for (let percent = 41; percent <= 60; percent++) scheduler.report(SECOND, percent);
    expect(scheduler.left()).to.deep.equal([40, 40, 40]);
    scheduler.pass(SECOND);
    expect(scheduler.left(), 'a second later').to.deep.equal([39, 39, 39]);
  });

  it('has a band where it was now faster and now slower, which one odd report does not move', () => {
    const scheduler = running();
    let percent = 0;
    for (let count = 0; count < 20; count++) {
      scheduler.report(count % 2 === 0 ? SECOND : 3 * SECOND, (percent += 1));
    }
    scheduler.report(0, (percent += 5));
    for (let count = 0; count < 10; count++) scheduler.report(2 * SECOND, (percent += 1));
    const [low = 0, middle = 0, high = 0] = scheduler.left() ?? [];
    expect(low, `of ${100 - percent} to go, at two seconds each`).to.be.at.most(middle);
    expect(middle).to.be.within(100, 135).and.at.most(high);
  });

  it('moves away from what has become silent', () => {
    const scheduler = running();
    for (let percent = 1; percent <= 50; percent++) scheduler.report(SECOND, percent);
    expect(scheduler.left()).to.deep.equal([50, 50, 50]);
    scheduler.pass(MINUTE);
    const [low = 0, middle = 0, high = 0] = scheduler.left() ?? [];
    expect(low).to.be.above(50);
    expect(high).to.be.at.least(middle).and.above(100);
  });

  it('leaves out time that nobody saw, begins anew with an attempt, and forgets how it was', () => {
    const scheduler = running();
    for (let percent = 1; percent <= 20; percent++) scheduler.report(SECOND, percent);
    scheduler.now += HOUR_AWAY;
    scheduler.send({ type: 'ticked', hiddenMs: HOUR_AWAY });
    scheduler.report(SECOND, 21);
    expect(scheduler.left()).to.deep.equal([79, 79, 79]);
    scheduler.report(SECOND, 5);
    expect(scheduler.left(), 'back to less').to.equal(null);
    for (let percent = 6; percent <= 50; percent++) scheduler.report(2 * SECOND, percent);
    expect(scheduler.left()).to.deep.equal([100, 100, 100]);
    expect(PACE_POINT_COUNT_MAX, 'of which some are forgotten').to.be.below(45);
    scheduler.fail('x', { retryAfterMs: SECOND });
    scheduler.pass(SECOND);
    scheduler.accept('x');
    expect(scheduler.left()).to.equal(null);
  });
});

const HOUR_AWAY = 60 * MINUTE;
