/** Only the newest attempt of a live task may change it (P4); a task ends exactly once (P3). */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import { finished, observed, Scheduler, SECOND, stops, written } from '../../helpers/domain.ts';

const old = { taskId: 'a', attempt: 1 };

function confirms(out: Output): number {
  return out.effects.filter(({ type }) => type === 'confirmFrame').length;
}

/** Attempt 1 was lost with x, which is back; attempt 2 runs on y. */
function overtaken(): Scheduler {
  const scheduler = new Scheduler();
  scheduler.connect('x');
  scheduler.run('x');
  scheduler.silence('x');
  scheduler.pass(15 * SECOND);
  scheduler.connect('y');
  scheduler.accept('y');
  return scheduler;
}

describe('a stale attempt', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = overtaken();
  });

  const reports: Record<string, () => Output> = {
    accept: () => scheduler.accept('x', old),
    progress: () => scheduler.progress('x', { ...old, percent: 99, checkpoint: '"old"' }),
    result: () => scheduler.end('x', old),
    failure: () => scheduler.end('x', { ...old, outcome: 'failed', retryable: false }),
    rejection: () => scheduler.reject('x', old),
  };

  for (const [name, report] of Object.entries(reports)) {
    it(`changes nothing by its ${name}, and the frame is confirmed`, () => {
      const before = { ...scheduler.task('a') };
      const out = report();
      expect(out.changes).to.deep.equal([]);
      expect(scheduler.task('a')).to.deep.equal(before);
      expect(confirms(out)).to.equal(1);
    });
  }

  for (const name of ['accept', 'progress']) {
    it(`that goes on (${name}) is told to stop`, () => {
      const out = reports[name]?.();
      expect(out && stops(out)).to.deep.equal(['a#1 stale_attempt -> x']);
      expect(out && observed(out)).to.deep.equal(['stale_attempt']);
    });
  }

  it('that has ended is only observed', () => {
    const out = scheduler.end('x', old);
    expect(stops(out)).to.deep.equal([]);
    expect(observed(out)).to.deep.equal(['stale_attempt']);
  });

  it('does not keep the newest from ending the task', () => {
    scheduler.end('x', { ...old, result: '"old"' });
    expect(finished(scheduler.end('y', { result: '"new"' }))[0]).to.include({ result: '"new"' });
  });

  it('is refused by its number even when it has the number of nobody yet', () => {
    const out = scheduler.end('y', { taskId: 'a', attempt: 3 });
    expect(out.changes).to.deep.equal([]);
  });

  it('is refused when the right number comes from the wrong executor', () => {
    const out = scheduler.end('x', { taskId: 'a', attempt: 2 });
    expect(out.changes).to.deep.equal([]);
    expect(scheduler.task('a').state).to.equal('running');
  });
});

describe('a late report', () => {
  it('never revives a task (T-5)', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    const task = scheduler.run('x');
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    scheduler.pass(10 * SECOND);
    expect(task.state).to.equal('canceled');
    const ended = { ...task };
    for (const out of [
      scheduler.progress('x', { ...old, percent: 50 }),
      scheduler.end('x', old),
      scheduler.end('x', { ...old, outcome: 'failed' }),
    ]) {
      expect(written(out).filter((write) => write !== 'remove leftover')).to.deep.equal([]);
      expect(confirms(out)).to.equal(1);
    }
    expect(task).to.deep.equal(ended);
  });

  it('of a task that has ended with success does not end it again', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x', { notifyUrl: 'https://example.org/' });
    scheduler.end('x');
    const again = scheduler.end('x', old);
    expect(again.changes).to.deep.equal([]);
    expect(again.effects.map(({ type }) => type)).to.deep.equal(['confirmFrame']);
    expect(observed(again)).to.deep.equal(['stale_attempt']);
  });

  it('of a task that nobody knows is confirmed and forgotten', () => {
    const scheduler = new Scheduler();
    const out = scheduler.end('stranger', { taskId: 'nothing', attempt: 7 });
    expect(out.changes).to.deep.equal([]);
    expect(confirms(out)).to.equal(1);
  });
});

describe('a frame of a result', () => {
  it('is confirmed in the step that ends the task, so only after that commit', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x');
    const out = scheduler.end('x');
    expect(finished(out)).to.have.length(1);
    expect(confirms(out)).to.equal(1);
  });

  it('may come before the acceptance was seen: the attempt is the newest, so it counts', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.submit({});
    expect(finished(scheduler.end('x'))[0]).to.include({ state: 'succeeded', startedAt: null });
  });
});
