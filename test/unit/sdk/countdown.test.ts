/** What a guard does with the groups of a process that stands still, or is gone. */
import { expect } from 'chai';
import { Countdown } from '../../../executor-sdk/children/countdown.ts';

const NEVER = Number.POSITIVE_INFINITY;

describe('the countdown of a guard', () => {
  const end = { endAt: 100, killAt: 150 };

  function counting(groups: readonly number[], times: object = end): Countdown {
    const countdown = new Countdown();
    countdown.take({ groups, ...times });
    return countdown;
  }

  it('tells a group to end, and kills it a little later, once each', () => {
    const countdown = counting([7]);
    expect(countdown.dueAt).to.equal(100);
    expect(countdown.due(99)).to.deep.equal([]);
    expect(countdown.due(100)).to.deep.equal([{ group: 7, signal: 'SIGTERM' }]);
    expect(countdown.dueAt).to.equal(150);
    expect(countdown.due(149)).to.deep.equal([]);
    expect(countdown.due(150)).to.deep.equal([{ group: 7, signal: 'SIGKILL' }]);
    expect(countdown.dueAt).to.equal(NEVER);
    expect(countdown.due(151)).to.deep.equal([]);
  });

  it('kills at once when it is asked too late', () => {
    expect(counting([7, 8]).due(1_000)).to.deep.equal([
      { group: 7, signal: 'SIGKILL' },
      { group: 8, signal: 'SIGKILL' },
    ]);
  });

  it('goes by what it was told last, be that later or earlier', () => {
    const countdown = counting([7]);
    countdown.take({ groups: [7], endAt: 200, killAt: 250 });
    expect(countdown.due(199)).to.deep.equal([]);
    countdown.take({ groups: [7], endAt: 50, killAt: 60 });
    expect(countdown.dueAt).to.equal(50);
    expect(countdown.due(55)).to.deep.equal([{ group: 7, signal: 'SIGTERM' }]);
  });

  it('waits for nothing where there is no group, or no end', () => {
    expect(counting([]).dueAt).to.equal(NEVER);
    const endless = counting([7], {});
    expect(endless.dueAt).to.equal(NEVER);
    expect(endless.due(1e12)).to.deep.equal([]);
  });

  it('leaves alone what has ended', () => {
    const countdown = counting([7, 8]);
    countdown.take({ groups: [8], ...end });
    expect(countdown.due(100)).to.deep.equal([{ group: 8, signal: 'SIGTERM' }]);
    countdown.take({ groups: [], ...end });
    expect(countdown.dueAt).to.equal(NEVER);
    expect(countdown.due(150)).to.deep.equal([]);
  });

  it('ends what is begun after the end of the others', () => {
    const countdown = counting([7]);
    countdown.due(100);
    countdown.take({ groups: [7, 8], ...end });
    expect(countdown.dueAt).to.equal(100);
    expect(countdown.due(120)).to.deep.equal([{ group: 8, signal: 'SIGTERM' }]);
    countdown.due(150);
    countdown.take({ groups: [7, 8, 9], ...end });
    expect(countdown.due(160)).to.deep.equal([{ group: 9, signal: 'SIGKILL' }]);
  });

  it('kills whatever is left when its owner is gone, whatever the time', () => {
    const countdown = counting([7, 8], {});
    expect(countdown.killAll().map(({ group }) => group)).to.deep.equal([7, 8]);
  });
});
