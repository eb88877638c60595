/** How long an attempt lives that was told to end, whatever its executor does meanwhile. */
import { expect } from 'chai';
import { finished, outcomes, Scheduler, SECOND } from '../../helpers/domain.ts';

const GRACE_MS = 10 * SECOND;
const LEASE_MS = 15 * SECOND;

describe('the grace', () => {
  let scheduler: Scheduler;
  const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
  const frozen = (out: { effects: readonly { type: string }[] }) =>
    out.effects.flatMap((effect) =>
      effect.type === 'freezeExecutor' ? [(effect as { isFrozen?: boolean }).isFrozen] : [],
    );
  beforeEach(() => {
    scheduler = new Scheduler({ leaseMs: LEASE_MS });
    scheduler.connect('x', { leaseMs: LEASE_MS });
    scheduler.run('x');
    scheduler.deaf.add('x');
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
  });

  it('counts from when the executor has heard of it', () => {
    scheduler.pass(4 * SECOND);
    scheduler.acknowledge('x');
    expect(finished(scheduler.pass(GRACE_MS - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1))[0]).to.include({ id: 'a', state: 'canceled' });
  });

  it('is not begun again by hearing of it again', () => {
    scheduler.acknowledge('x');
    scheduler.pass(4 * SECOND);
    scheduler.acknowledge('x');
    expect(finished(scheduler.pass(6 * SECOND))).to.have.length(1);
  });

  for (const way of ['with a new session', 'with its old session'] as const) {
    it(`is not begun again by coming back ${way}`, () => {
      scheduler.acknowledge('x');
      for (let i = 0; i < 4; i++) {
        scheduler.disconnect('x');
        scheduler.pass(SECOND);
        if (way === 'with its old session') scheduler.resume('x');
        else scheduler.connect('x', { sessionId: `x/${i + 2}`, running, leaseMs: LEASE_MS });
        scheduler.acknowledge('x');
        scheduler.pass(SECOND);
      }
      expect(finished(scheduler.pass(2 * SECOND))[0]).to.include({ state: 'canceled' });
    });
  }

  it('ends with the lease where nobody has heard of it: from then on nothing renews that', () => {
    const first = scheduler.pass(GRACE_MS);
    expect(frozen(first)).to.deep.equal([true]);
    expect(finished(first)).to.deep.equal([]);
    let out = scheduler.pass(0);
    for (let i = 0; i < LEASE_MS / SECOND && finished(out).length === 0; i++) {
      // Whatever lies in the mailbox from before.
      scheduler.beat('x');
      scheduler.resume('x');
      out = scheduler.pass(SECOND);
    }
    expect(finished(out)[0]).to.include({ id: 'a', state: 'canceled' });
    expect(scheduler.now).to.be.at.most(scheduler.state.lastTickAt + SECOND);
    expect(frozen(out), 'it may come back').to.deep.equal([false]);
    expect(scheduler.state.executors.has('x')).to.equal(false);
  });

  it('counts from a late ack all the same, and never beyond the lease that stands still', () => {
    scheduler.pass(GRACE_MS + SECOND);
    scheduler.acknowledge('x');
    const out = scheduler.pass(GRACE_MS);
    expect(outcomes(out)).to.deep.equal(['canceled']);
    expect(frozen(out), 'it has nothing any more that must run out').to.deep.equal([false]);
    expect(scheduler.executor('x').isFrozen).to.equal(false);
  });

  it('leaves a result that comes first its way, and listens to the executor again', () => {
    scheduler.pass(GRACE_MS);
    const out = scheduler.end('x');
    expect(finished(out)[0]).to.include({ state: 'succeeded' });
    expect(frozen(out)).to.deep.equal([false]);
  });

  it('is one more after a restart of the master, which nobody could have answered', () => {
    const task = { ...scheduler.task('a') };
    const { scheduler: next } = Scheduler.restored({ active: [task] }, { leaseMs: LEASE_MS });
    next.deaf.add('x');
    next.connect('x', { sessionId: 'x/2', running, leaseMs: LEASE_MS });
    expect(frozen(next.pass(GRACE_MS))).to.deep.equal([true]);
    next.silence('x');
    expect(finished(next.pass(LEASE_MS))[0]).to.include({ state: 'canceled' });
  });
});
