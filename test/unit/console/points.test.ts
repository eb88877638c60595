/** Points of a report of load, as a chart of the console shows them. */
import { expect } from 'chai';
import type { LoadPoint } from '@soda-scheduler/protocol';
import { stepsOf } from '../../../console/pages/reports/points.ts';
import { rangeOf } from '../../../console/parts/chart/plot.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const from = Date.UTC(2026, 10, 22, 10, 0);

function point(minute: number, figures: Partial<LoadPoint>): LoadPoint {
  return {
    ...{ samples: 1, accepted: 0, started: 0, succeeded: 0, failed: 0, canceled: 0, expired: 0 },
    ...{ attempts_failed: 0, waiting: 0, held: 0, paused: 0, limited: 0, no_executor: 0 },
    ...{ all_busy: 0, running: 0, executors_idle: 0, oldest_wait_ms: 0 },
    ...{ start_delay_p95_ms: null, start_delay_max_ms: null },
    at: new Date(from + minute * MINUTE_MS).toISOString(),
    ...figures,
  };
}

function report(minutes: number, points: readonly LoadPoint[]) {
  const [begin, end] = [from, from + minutes * MINUTE_MS].map((at) => new Date(at).toISOString());
  return { from: begin ?? '', to: end ?? '', resolution_ms: MINUTE_MS, points: [...points] };
}

describe('points of a chart', () => {
  it('leave a gap where nothing is known, and are 0 where nothing was', () => {
    const of = report(4, [point(0, { waiting: 3 }), point(2, { waiting: 0, succeeded: 2 })]);
    const { times, valuesOf } = stepsOf(of, MINUTE_MS, 0);
    expect(times).to.deep.equal([0, 1, 2, 3].map((minute) => from + minute * MINUTE_MS));
    expect(valuesOf('waiting')).to.deep.equal([3, null, 0, null]);
    expect(valuesOf('succeeded')).to.deep.equal([0, null, 2, null]);
  });

  it('add up what has happened, average what stood, and keep the longest wait', () => {
    const of = report(4, [
      point(0, { failed: 1, waiting: 10, samples: 3, oldest_wait_ms: 5, start_delay_p95_ms: 7 }),
      point(1, { failed: 2, waiting: 2, oldest_wait_ms: 9, start_delay_p95_ms: null }),
      point(3, { start_delay_p95_ms: null }),
    ]);
    const { valuesOf } = stepsOf(of, 2 * MINUTE_MS, 0);
    expect(valuesOf('failed')).to.deep.equal([3, 0]);
    expect(valuesOf('waiting')).to.deep.equal([8, 0]);
    expect(valuesOf('oldest_wait_ms')).to.deep.equal([9, 0]);
    expect(valuesOf('start_delay_p95_ms')).to.deep.equal([7, null]);
  });

  it('begin as the clocks of whoever looks do, and are never shorter than they were asked for', () => {
    const of = { ...report(600, []), resolution_ms: HOUR_MS };
    const india = stepsOf(of, 4 * HOUR_MS, 5.5 * HOUR_MS);
    expect(new Date(india.times[0] ?? 0).toISOString()).to.equal('2026-11-22T06:30:00.000Z');
    expect(india.times.length).to.equal(4);
    expect(stepsOf(of, MINUTE_MS, 0).stepMs).to.equal(HOUR_MS);
  });

  it('are drawn from nothing on, shares of all', () => {
    for (const most of [null, 0, 0.22, 0.995, 1]) {
      expect(rangeOf(most, 'share')).to.deep.equal([0, 1]);
    }
    expect(rangeOf(null, 'count')).to.deep.equal([0, 4]);
    expect(rangeOf(100, 'count')).to.deep.equal([0, 106]);
  });
});
