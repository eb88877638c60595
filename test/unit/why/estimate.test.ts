/** When a task is likely to start: from what attempts of its type have taken lately, and what comes before it. */
import { expect } from 'chai';
import { whyOf } from '../../../master/domain/why/why.ts';
import type { NewTask } from '../../../master/domain/events.ts';
import { random01 } from '../../../master/domain/state/state.ts';
import { inserted, MINUTE, offers, Scheduler, SECOND } from '../../helpers/domain.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

/** Attempts of the type that took so long, on an executor of their own that leaves. */
function known(...ranMs: number[]): void {
  scheduler.connect('known');
  for (const [index, ms] of ranMs.entries()) {
    scheduler.run('known', { id: `known ${index}` });
    scheduler.now += ms;
    scheduler.end('known');
  }
  scheduler.disconnect('known', true);
}

function submit(id: string, fields: Partial<NewTask> = {}) {
  const [task] = inserted(scheduler.submit({ id, ...fields }));
  if (task === undefined) throw new Error('refused');
  return task;
}

function estimateFor(id: string, fields: Partial<NewTask> = {}) {
  const task = submit(id, fields);
  return whyOf(scheduler.state, { task, notification: null }, scheduler.now, true).estimate;
}

describe('the estimate of a start', () => {
  it('is none before five attempts are known, nor where nobody can run it', () => {
    known(MINUTE, MINUTE, MINUTE, MINUTE);
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    expect(estimateFor('a')).to.equal(null);
    scheduler.now += MINUTE;
    scheduler.end('x');
    scheduler.accept('x');
    expect(estimateFor('b')).to.not.equal(null);
    expect(estimateFor('c', { type: 'other' })).to.equal(null);
  });

  it('plays what runs and what comes first to its end', () => {
    known(...Array.from({ length: 6 }, () => MINUTE));
    for (const id of ['x', 'y']) {
      scheduler.connect(id);
      scheduler.run(id, { id: `on ${id}` });
    }
    scheduler.now += 20 * SECOND;
    for (const id of ['1', '2', '3']) submit(id);
    // Two begin in 40 s, and of the next two it is one.
    const at = scheduler.now + 100 * SECOND;
    expect(estimateFor('asked')).to.deep.equal({ startAt: at, lowAt: at, highAt: at });
  });

  it('begins no earlier than it is due, or than the end of a pause', () => {
    known(...Array.from({ length: 6 }, () => MINUTE));
    scheduler.connect('x');
    const runAt = scheduler.now + 10 * MINUTE;
    expect(estimateFor('later', { runAt })).to.include({ startAt: runAt, highAt: runAt });
    const until = scheduler.now + 5 * MINUTE;
    scheduler.command({ type: 'typePaused', name: 'echo', reason: null, by: null, until });
    expect(estimateFor('paused')).to.include({ startAt: until });
    scheduler.command({ type: 'typePaused', name: 'echo', reason: null, by: null, until: null });
    expect(estimateFor('for ever')).to.equal(null);
  });

  it('waits for a place under the limit of its type, where there are more executors', () => {
    known(...Array.from({ length: 6 }, () => MINUTE));
    const text = '{"limits":{"max_running":1}}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    scheduler.submit({ id: 'running' });
    scheduler.accept(scheduler.task('running').executorId ?? '');
    submit('second');
    expect(estimateFor('asked')).to.include({ startAt: scheduler.now + 2 * MINUTE });
  });

  it('has the true start within its band in about four of five cases', () => {
    const chance = { randomState: 7 };
    // From 10 s to some minutes, as most work is.
    const took = () => Math.round(10 * SECOND * 20 ** random01(chance));
    known(...Array.from({ length: 60 }, took));
    const endAt = new Map<string, number>();
    for (const id of ['x', 'y']) scheduler.connect(id);
    const begin = (out: ReturnType<Scheduler['submit']> | ReturnType<Scheduler['end']>) => {
      for (const offer of offers(out)) {
        const [taskId = '', id = ''] = offer.split(' -> ');
        scheduler.accept(id);
        endAt.set(id, scheduler.now + took());
        begun.add(taskId);
      }
    };
    const begun = new Set<string>();
    let insideCount = 0;
    const trialCount = 60;
    for (let trial = 0; trial < trialCount; trial++) {
      for (let index = 0; index < 6; index++) begin(scheduler.submit({ id: `${trial} ${index}` }));
      scheduler.now += 5 * SECOND;
      const estimate = estimateFor(`asked ${trial}`);
      let startedAt = scheduler.now;
      while (endAt.size > 0) {
        const [next] = [...endAt].sort(([, one], [, other]) => one - other);
        const [id, at] = next ?? ['', 0];
        scheduler.now = Math.max(scheduler.now, at);
        endAt.delete(id);
        const isWaiting = !begun.has(`asked ${trial}`);
        begin(scheduler.end(id));
        if (isWaiting) startedAt = scheduler.now;
      }
      const { lowAt = 0, highAt = 0 } = estimate ?? {};
      if (lowAt <= startedAt && startedAt <= highAt) insideCount++;
    }
    expect(insideCount / trialCount).to.be.within(0.7, 0.9);
  });
});
