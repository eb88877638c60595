/** What is kept of zones: within bounds, whatever names are asked for; and how instants are told. */
import { expect } from 'chai';
import { MIDNIGHTS_KEPT_MAX, ZONES_KEPT_MAX } from '../../../master/domain/bounds.ts';
import {
  DAY_MS,
  instantInWords,
  isoOf,
  Zones,
} from '../../../master/domain/schedule/local-time.ts';

const winter = Date.parse('2026-01-10T12:34:56Z');
const summer = Date.parse('2026-07-10T12:34:56Z');
const HOUR_MS = 3_600_000;

/** In one of the many ways that its letters can be written. */
const spelled = (name: string, way: number): string =>
  [...name].map((letter, at) => ((way >> at) & 1 ? letter.toUpperCase() : letter)).join('');

describe('what is kept of zones', () => {
  it('is of so many names at most, in whatever case they are written', () => {
    const zones = new Zones();
    for (let way = 0; way < 2 * ZONES_KEPT_MAX; way++) {
      const name = spelled('america/new_york', way);
      expect(zones.offsetOf(name, way % 2 === 0 ? winter : summer)).to.equal(
        (way % 2 === 0 ? -5 : -4) * HOUR_MS,
      );
    }
    expect(zones.zoneCount).to.equal(ZONES_KEPT_MAX);
    // Midnights of names that have gone are not kept either: of each there are two.
    expect(zones.midnightCount).to.equal(2 * ZONES_KEPT_MAX);
  });

  it('tells the hour of each change, also where a clock is changed back a week later', () => {
    const zones = new Zones();
    // It was set forward in the night to October 8 of 2000, and back in that to October 15.
    for (const [day, offset] of [
      ['2000-10-07T12:00Z', -3],
      ['2000-10-08T12:00Z', -2],
      ['2000-10-14T12:00Z', -2],
      ['2000-10-15T12:00Z', -3],
    ] as const) {
      expect(zones.offsetOf('America/Recife', Date.parse(day)), day).to.equal(offset * HOUR_MS);
    }
    const change = Date.parse('2026-03-29T01:00Z');
    expect(zones.offsetOf('Europe/Berlin', change - 1)).to.equal(HOUR_MS);
    expect(zones.offsetOf('Europe/Berlin', change)).to.equal(2 * HOUR_MS);
  });

  it('is few midnights of a year', () => {
    const zones = new Zones();
    for (let hour = 0; hour < 365 * 24; hour++) {
      zones.offsetOf('Europe/Berlin', winter + hour * HOUR_MS);
    }
    expect(zones.midnightCount).to.be.below(100);
  });

  it('is so many midnights of all of them', () => {
    const zones = new Zones();
    let most = 0;
    // Each of these days has two.
    for (let index = 0; index < 0.6 * MIDNIGHTS_KEPT_MAX; index++) {
      const zone = index % 2 === 0 ? 'Asia/Shanghai' : 'Europe/Berlin';
      zones.offsetOf(zone, winter + 6 * index * DAY_MS);
      most = Math.max(most, zones.midnightCount);
    }
    expect(most).to.equal(MIDNIGHTS_KEPT_MAX);
    expect(zones.offsetOf('Europe/Berlin', summer)).to.equal(2 * HOUR_MS);
  });
});

describe('an instant', () => {
  it('is told as dates of the runtime tell it, up to the last that they hold', () => {
    const instants = [0, 1, 951_782_399_999, winter + 7, 253_402_300_799_999, 253_402_300_800_000];
    for (const at of [...instants, 8_640_000_000_000_000]) {
      expect(isoOf(at)).to.equal(new Date(at).toISOString());
    }
    expect(instantInWords(winter + 999)).to.equal('2026-01-10T12:34:56Z');
  });
});
