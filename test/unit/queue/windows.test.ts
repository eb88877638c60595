/** Which windows of a type are open, in zones whose clocks change. */
import { expect } from 'chai';
import { windowsAt } from '../../../master/domain/limits/windows.ts';
import type { LimitWindow } from '../../../master/domain/model/task-type.ts';

function window(from: string, to: string, of: Partial<LimitWindow> = {}): LimitWindow {
  return { days: null, from, to, zone: 'UTC', maxRunning: 2, paused: false, ...of };
}
const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 19);
const maxAt = (of: LimitWindow, time: string) => windowsAt([of], at(time)).maxRunning;
const untilAt = (of: LimitWindow, time: string) => iso(windowsAt([of], at(time)).until);

describe('windows of a type', () => {
  it('are open from one time of the day up to another', () => {
    const day = window('08:30', '18:00');
    expect(maxAt(day, '2026-11-20T08:29:59.999Z')).to.equal(null);
    expect(maxAt(day, '2026-11-20T08:30:00Z')).to.equal(2);
    expect(maxAt(day, '2026-11-20T18:00:00Z')).to.equal(null);
    expect(untilAt(day, '2026-11-20T08:29:59.999Z')).to.equal('2026-11-20T08:30:00');
    expect(untilAt(day, '2026-11-20T08:30:00Z')).to.equal('2026-11-20T18:00:00');
    expect(untilAt(day, '2026-11-20T18:00:00Z')).to.equal('2026-11-21T08:30:00');
  });

  it('last into the next day, and are of the day on which they began', () => {
    const friday = window('22:00', '06:00', { days: [5] });
    expect(maxAt(friday, '2026-11-20T23:00:00Z')).to.equal(2);
    expect(maxAt(friday, '2026-11-21T05:59:59Z')).to.equal(2);
    expect(maxAt(friday, '2026-11-20T05:00:00Z')).to.equal(null);
    expect(maxAt(friday, '2026-11-21T22:00:00Z')).to.equal(null);
    expect(maxAt(window('00:00', '00:00', { days: [5] }), '2026-11-20T12:00:00Z')).to.equal(2);
    expect(maxAt(window('00:00', '00:00', { days: [5] }), '2026-11-21T12:00:00Z')).to.equal(null);
  });

  it('say the least of what is open, and pause', () => {
    const both = [window('00:00', '12:00', { maxRunning: 5 }), window('06:00', '18:00')];
    const pause = window('10:00', '11:00', { maxRunning: null, paused: true });
    expect(windowsAt(both, at('2026-11-20T07:00:00Z'))).to.include({ maxRunning: 2 });
    expect(windowsAt([...both, pause], at('2026-11-20T10:00:00Z'))).to.include({ isPaused: true });
    expect(windowsAt([], 0)).to.deep.equal({ maxRunning: null, isPaused: false, until: Infinity });
  });

  it('go by the clock on the wall of their zone', () => {
    const berlin = window('08:00', '18:00', { zone: 'Europe/Berlin' });
    expect(untilAt(berlin, '2026-01-10T00:00:00Z')).to.equal('2026-01-10T07:00:00');
    expect(untilAt(berlin, '2026-07-10T00:00:00Z')).to.equal('2026-07-10T06:00:00');
    const india = window('00:00', '06:00', { zone: 'Asia/Kolkata', days: [6] });
    expect(maxAt(india, '2026-11-20T18:29:59Z'), 'Friday there').to.equal(null);
    expect(maxAt(india, '2026-11-20T18:30:00Z'), 'Saturday there').to.equal(2);
  });

  it('open at the change where their hour is skipped', () => {
    // 02:00 is followed by 03:00, at 01:00 UTC.
    const spring = window('02:30', '05:00', { zone: 'Europe/Berlin' });
    expect(untilAt(spring, '2026-03-29T00:30:00Z')).to.equal('2026-03-29T01:00:00');
    expect(maxAt(spring, '2026-03-29T00:59:59Z')).to.equal(null);
    expect(maxAt(spring, '2026-03-29T01:00:00Z')).to.equal(2);
    expect(untilAt(spring, '2026-03-29T01:00:00Z')).to.equal('2026-03-29T03:00:00');
  });

  it('last the hour longer that comes twice', () => {
    // 03:00 is followed by 02:00, at 01:00 UTC.
    const autumn = window('01:30', '04:00', { zone: 'Europe/Berlin' });
    const found: string[] = [];
    for (let now = at('2026-10-24T23:00:00Z'); now < at('2026-10-25T04:00:00Z'); ) {
      const { maxRunning, until } = windowsAt([autumn], now);
      found.push(`${iso(now).slice(11, 16)} ${maxRunning}`);
      now = until;
    }
    expect(found).to.deep.equal(['23:00 null', '23:30 2', '01:00 2', '03:00 null']);
    const inIt = window('02:00', '02:30', { zone: 'Europe/Berlin' });
    expect(maxAt(inIt, '2026-10-25T00:15:00Z')).to.equal(2);
    expect(maxAt(inIt, '2026-10-25T00:45:00Z')).to.equal(null);
    expect(maxAt(inIt, '2026-10-25T01:15:00Z')).to.equal(2);
  });
});
