/** How many executors are advised, against what the theory of queues says where it has a formula. */
import { expect } from 'chai';
import { adviseFleet, type Observed } from '../../../cli/fleet/advice.ts';
import { numbersOf } from '../../sim/random.ts';

const MINUTE_MS = 60_000;

/** Arrivals by chance alone, and run times that are as likely to end at any moment. */
function chance(perMinute: number, meanMs: number, minuteCount: number, random: () => number) {
  const points: { at: number; accepted: number }[] = Array.from(
    { length: minuteCount },
    (_, at) => ({
      at: at * MINUTE_MS,
      accepted: 0,
    }),
  );
  for (let at = 0; ; ) {
    at -= Math.log(1 - random()) / (perMinute / MINUTE_MS);
    const point = points[Math.floor(at / MINUTE_MS)];
    if (point === undefined) break;
    point.accepted += 1;
  }
  const runMs = Array.from({ length: 1_000 }, () => -meanMs * Math.log(1 - random()));
  return { points, pointMs: MINUTE_MS, runMs } satisfies Observed;
}

/** Erlang's formula C: how many servers keep the chance of a longer wait below `late`. */
function erlangC(perMs: number, meanMs: number, waitMs: number, late: number): number {
  const load = perMs * meanMs;
  for (let count = Math.floor(load) + 1; ; count++) {
    let blocked = 1;
    for (let k = 1; k <= count; k++) blocked = (load * blocked) / (k + load * blocked);
    const waits = blocked / (1 - (load / count) * (1 - blocked));
    if (waits * Math.exp(-(count - load) * (waitMs / meanMs)) <= late) return count;
  }
}

describe('advice on how many executors there should be', () => {
  for (const { perMinute, meanMs, waitMs } of [
    { perMinute: 6, meanMs: 60_000, waitMs: 30_000 },
    { perMinute: 1, meanMs: 240_000, waitMs: 60_000 },
  ]) {
    it(`is what Erlang's formula says: ${perMinute} a minute, ${meanMs / 1000} s each`, async () => {
      const random = numbersOf(perMinute);
      const observed = chance(perMinute, meanMs, 1_440, random);
      const advice = await adviseFleet(observed, { waitMs, percentile: 95 }, random);
      const right = erlangC(perMinute / MINUTE_MS, meanMs, waitMs, 0.05);
      expect(advice?.executors).to.be.within(right - 1, right + 1);
      expect(right).to.be.within(advice?.low ?? 0, advice?.high ?? 0);
      expect(advice?.load).to.be.closeTo((perMinute * meanMs) / MINUTE_MS, 0.5);
    });
  }

  it('needs more of them for the same tasks in a burst, and says nothing where nothing is known', async () => {
    const even = Array.from({ length: 60 }, (_, at) => ({ at: at * MINUTE_MS, accepted: 10 }));
    const burst = even.map(({ at }, index) => ({ at, accepted: index === 0 ? 600 : 0 }));
    const of = (points: Observed['points'], runMs = [30_000]) =>
      adviseFleet(
        { points, pointMs: MINUTE_MS, runMs },
        { waitMs: 0, percentile: 99 },
        numbersOf(1),
      );
    const advised = await of(even);
    expect((await of(burst))?.executors).to.be.above(20 * (advised?.executors ?? 0));
    expect(advised?.load).to.equal(5);
    expect(await of(even, [])).to.equal(null);
    expect(await of([])).to.equal(null);
  });

  it('lets as many be late as the percentile says, whatever is lost in binary', async () => {
    // Ten at once, one of which waits for the other nine.
    const observed = { points: [{ at: 0, accepted: 10 }], pointMs: 0, runMs: [60_000] };
    for (const [percentile, count] of [
      [90, 9],
      [80, 8],
      [99.9, 10],
    ] as const) {
      const advice = await adviseFleet(observed, { waitMs: 0, percentile }, numbersOf(1));
      expect(advice?.executors, String(percentile)).to.equal(count);
    }
  });

  it('goes by the busiest time where there is more than can be played', async () => {
    const points = Array.from({ length: 1_440 }, (_, at) => ({
      at: at * MINUTE_MS,
      accepted: at >= 600 && at < 660 ? 300 : 30,
    }));
    const observed = { points, pointMs: MINUTE_MS, runMs: [6_000] };
    const advice = await adviseFleet(observed, { waitMs: 60_000, percentile: 95 }, numbersOf(1));
    expect(advice?.arrivals).to.be.within(18_000, 20_000);
    // Of the whole day it would be 4.1.
    expect(advice?.load).to.be.closeTo(15.9, 0.5);
  });

  it('plays no point in which more came than can be played, and ends when it is told to', async () => {
    const flood = { at: 0, accepted: 1_000_000 };
    const of = (points: Observed['points'], signal?: AbortSignal) =>
      adviseFleet(
        { points, pointMs: 60 * MINUTE_MS, runMs: [1_000] },
        { waitMs: 30_000, percentile: 95 },
        numbersOf(1),
        signal,
      );
    expect(await of([flood])).to.equal(null);
    const calm = [
      { at: 60 * MINUTE_MS, accepted: 7 },
      { at: 120 * MINUTE_MS, accepted: 5 },
    ];
    expect((await of([flood, ...calm]))?.arrivals).to.equal(12);
    expect((await of([...calm, { ...flood, at: 180 * MINUTE_MS }]))?.arrivals).to.equal(12);
    const over = new Error('over');
    const given = of(calm, AbortSignal.abort(over)).catch((error: unknown) => error);
    expect(await given).to.equal(over);
  });
});
