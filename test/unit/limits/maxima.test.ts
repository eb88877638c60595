/** What windows of the day allow at most, and how often they are looked at for that. */
import { expect } from 'chai';
import { maximaOf } from '../../../master/domain/limits/maxima.ts';
import { windowsAt } from '../../../master/domain/limits/windows.ts';
import type { LimitWindow } from '../../../master/domain/model/task-type.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 24 * 3_600_000];
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/New_York'];
/** Clocks go back in Berlin on the second day after it. */
const FROM = Date.UTC(2026, 9, 23, 9, 30);

const maximaWithin = (
  windows: readonly LimitWindow[],
  span: { readonly from: number; readonly to: number },
) => [...(maximaOf(windows)?.within(span) ?? [])];

describe('the maxima of windows of the day', () => {
  let lookCount = 0;
  const counting = (window: LimitWindow): LimitWindow => ({
    ...window,
    get zone() {
      lookCount++;
      return window.zone;
    },
  });
  const windowOf = (index: number): LimitWindow => ({
    days: index % 3 === 0 ? [1, 3, 7] : null,
    from: `0${index % 9}:1${index % 6}`,
    to: `1${index % 9}:3${index % 6}`,
    zone: ZONES[index % ZONES.length] ?? 'UTC',
    maxRunning: 1 + (index % 5),
    paused: index === 7,
  });
  const windows = Array.from({ length: 16 }, (_, index) => counting(windowOf(index)));

  it('are what holds at each minute', () => {
    const limiting = windows.filter(({ paused }) => !paused);
    const maxima = maximaWithin(windows, { from: FROM, to: FROM + 4 * DAY });
    expect(maxima[0]?.from).to.equal(FROM);
    for (let at = FROM; at < FROM + 4 * DAY; at += MINUTE) {
      const max = maxima.find(({ from, to }) => from <= at && at < to)?.max ?? null;
      expect(max, new Date(at).toISOString()).to.equal(windowsAt(limiting, at).maxRunning);
    }
  });

  it('do not change at midnight, and are what holds then of what is far on', () => {
    const always = [{ ...windowOf(1), from: '00:00', to: '00:00', maxRunning: 3 }];
    const span = { from: FROM, to: FROM + 9 * DAY };
    expect(maximaWithin(always, span)).to.deep.equal([{ ...span, max: 3 }]);
    const end = Date.UTC(2037, 9, 23);
    const far = maximaWithin([windowOf(4)], { from: FROM, to: end }).at(-1);
    const from = end - DAY + 4 * HOUR + 14 * MINUTE;
    expect(far).to.deep.equal({ from, to: end - DAY + 14 * HOUR + 34 * MINUTE, max: 5 });
  });

  it('never allow less than the least of them', () => {
    expect(maximaOf(windows)?.least).to.equal(1);
    expect(maximaOf([{ ...windowOf(1), paused: true }])).to.equal(undefined);
  });

  it('are looked at once for days that are alike', () => {
    const anew = [...windows];
    lookCount = 0;
    maximaWithin(anew, { from: FROM, to: FROM + 14 * DAY });
    const ofDays = lookCount;
    lookCount = 0;
    maximaWithin(anew, { from: FROM + 14 * DAY, to: FROM + 140 * DAY });
    expect(lookCount).to.be.below(2 * ofDays);
  });

  it('are looked at once for a day, and each window a few times for that', () => {
    const week = { from: FROM + 30 * DAY, to: FROM + 37 * DAY };
    lookCount = 0;
    maximaWithin(windows, week);
    expect(lookCount).to.be.within(1, 8 * 16 * 12);
    lookCount = 0;
    maximaWithin(windows, week);
    for (let hour = 0; hour < 100; hour++) {
      maximaWithin(windows, { from: week.from + hour * HOUR, to: week.from + (hour + 1) * HOUR });
    }
    expect(lookCount).to.equal(0);
    maximaWithin([...windows], { from: week.from, to: week.from + HOUR });
    expect(lookCount).to.be.greaterThan(0);
  });
});
