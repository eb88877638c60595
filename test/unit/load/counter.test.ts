/** What is counted of how busy types are, and what is told of it. */
import { expect } from 'chai';
import { LOAD_TYPES_MAX } from '../../../master/domain/bounds.ts';
import type { Observation } from '../../../master/domain/effects.ts';
import { LoadCounter } from '../../../master/domain/load/counter.ts';
import { addLoad, delayOfMost, type Load } from '../../../master/domain/load/figures.ts';
import type { AttemptOutcome } from '../../../master/domain/model/task.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { createState } from '../../../master/domain/state/state.ts';
import { NOW, sampleTask, testPolicy } from '../../helpers/task.ts';

const state = createState({ policy: testPolicy, term: 1, lastSeq: 0, now: NOW, seed: 1 });

const accepted = (type: string): Observation => ({
  event: 'task_accepted',
  task: sampleTask({ type }),
});
const started = (waitedMs: number): Observation => {
  return { event: 'task_started', task: sampleTask({ type: 'encode', startedAt: NOW }), waitedMs };
};

const ended = (outcome: AttemptOutcome): Observation => {
  const of = { taskSeq: 1, attempt: 1, executorId: 'x', incarnation: null, session: null };
  const attempt = { ...of, outcome, offeredAt: 0, startedAt: 0, endedAt: NOW, error: null };
  return { event: 'attempt_ended', task: sampleTask({ type: 'encode' }), attempt };
};

describe('the counter of load', () => {
  it('begins anew with each minute', () => {
    const counter = new LoadCounter();
    counter.note(accepted('encode'));
    counter.note(started(70));
    counter.note(started(800));
    expect(counter.counted.get('encode')).to.include({ accepted: 1, started: 2 });
    const [all, encode, ...others] = atOnce(counter.take(state, NOW));
    const load = { accepted: 1, started: 2, delay_tenth: 1, delay_second: 1, delay_max_ms: 800 };
    expect(encode).to.deep.equal({ type: 'encode', load: { ...load, last_started_at: NOW } });
    expect(all?.type).to.equal('(all)');
    expect(all?.load).to.include({ ...load, samples: 1 });
    expect(others).to.deep.equal([]);
    expect(atOnce(counter.take(state, NOW))).to.deep.equal([
      { type: '(all)', load: { samples: 1, idle: 0 } },
    ]);
  });

  it('takes an attempt for failed that did, took too long or was lost, in whatever way', () => {
    const counter = new LoadCounter();
    for (const outcome of ['failed', 'timed_out', 'lost', 'lost_contact', 'succeeded'] as const) {
      counter.note(ended(outcome));
    }
    for (const outcome of ['canceled', 'returned', 'rejected'] as const)
      counter.note(ended(outcome));
    expect(counter.counted.get('encode')).to.deep.equal({ attempts_failed: 4 });
  });

  it('tells the busiest types apart, and sums up the rest', () => {
    const counter = new LoadCounter();
    for (let n = 0; n < 3_000; n++) counter.note(accepted(`t-${n}`));
    for (const type of ['busy', 't-2000', 't-7', 't-7']) counter.note(accepted(type));
    const samples = atOnce(counter.take(state, NOW));
    expect(samples).to.have.length(LOAD_TYPES_MAX + 2);
    expect(samples[0]?.load.accepted).to.equal(3_004);
    expect(samples[1]).to.deep.equal({ type: 't-7', load: { accepted: 3 } });
    expect(samples.at(-1)?.type).to.equal('(other)');
    const sum: Load = {};
    for (const { load } of samples.slice(1)) addLoad(sum, load);
    expect(sum).to.deep.equal({ accepted: 3_004 });
  });

  it('knows within what delay nearly all have started', () => {
    expect(delayOfMost({ accepted: 1 })).to.equal(null);
    expect(delayOfMost({ delay_tenth: 4, delay_max_ms: 20 })).to.equal(19);
    expect(delayOfMost({ delay_tenth: 95, delay_longer: 5, delay_max_ms: 9e6 })).to.equal(100);
    expect(delayOfMost({ delay_tenth: 90, delay_second: 10, delay_max_ms: 900 })).to.equal(500);
    expect(delayOfMost({ delay_longer: 1, delay_max_ms: 7_200_000 })).to.equal(7_020_000);
  });
});
