/**
 * The clock on the wall of a zone. Pure; the rules of zones are those of the runtime. A day is a number: how many
 * have passed since 1970-01-01. A wall is what the clock shows, as milliseconds, as if it were that of UTC.
 */
import { MIDNIGHTS_KEPT_MAX, ZONES_KEPT_MAX } from '../bounds.ts';

export const DAY_MS = 86_400_000;

/** Nothing is looked for from here on: the year 10000. */
export const TIME_END = 253_402_300_800_000;

/** This runtime knows no zone of that name; one that was there when it was named may. */
export class UnknownZone extends Error {}

/** What the clock on the wall shows. @param at Epoch milliseconds. */
export const wallOf = (zone: string, at: number): number => at + offsetOf(zone, at);

/** Of what the clock on the wall shows. */
export const dayOf = (wall: number): number => Math.floor(wall / DAY_MS);

/** Milliseconds since midnight, of what the clock on the wall shows. */
export const timeOf = (wall: number): number => ((wall % DAY_MS) + DAY_MS) % DAY_MS;

/** 0: Sunday. The first day of the epoch was a Thursday. */
export const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;

/** Of `08:30`, in minutes. */
export function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/** When the clock on the wall shows that first; of what it never shows, when it is past it. */
export function instantOf(zone: string, wall: number): number {
  const earliest = wall - Math.max(offsetOf(zone, wall - DAY_MS), offsetOf(zone, wall + DAY_MS));
  const latest = wall - Math.min(offsetOf(zone, wall - DAY_MS), offsetOf(zone, wall + DAY_MS));
  if (wallOf(zone, earliest) >= wall) return earliest;
  return changeIn(zone, earliest, latest) ?? latest;
}

/** The first change of the offset after `from`, up to and with `to`; null: there is none. At most days apart. */
export function changeIn(zone: string, from: number, to: number): number | null {
  for (let before = from; before < to; before = Math.min(before + DAY_MS, to)) {
    const offset = offsetOf(zone, before);
    let after = Math.min(before + DAY_MS, to);
    if (offsetOf(zone, after) === offset) continue;
    let at = before;
    while (after - at > 1) {
      const middle = Math.floor((at + after) / 2);
      if (offsetOf(zone, middle) === offset) at = middle;
      else after = middle;
    }
    return after;
  }
  return null;
}

interface CivilDate {
  readonly year: number;
  /** 1: January. */
  readonly month: number;
  readonly day: number;
}

/** The inverse of `daysBefore`: eras of 400 years that begin in March. */
export function civilOf(day: number): CivilDate {
  const since = day + 719_468;
  const era = Math.floor(since / 146_097);
  const ofEra = since - era * 146_097;
  const leaps =
    Math.floor(ofEra / 1_460) - Math.floor(ofEra / 36_524) + Math.floor(ofEra / 146_096);
  const yearOfEra = Math.floor((ofEra - leaps) / 365);
  const ofYear =
    ofEra - (yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1 };
}

/** Days from the epoch to that date: years begin in March here, so that leap days come last. */
function daysBefore(year: number, month: number, day: number): number {
  const since = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leaps = Math.floor(since / 4) - Math.floor(since / 100) + Math.floor(since / 400);
  return since * 365 + leaps + dayOfYear - 719_468;
}

/** The day on which a month begins; `month` may be 13. */
export const monthStart = (year: number, month: number): number =>
  month > 12 ? daysBefore(year + 1, month - 12, 1) : daysBefore(year, month, 1);

/** Of `2026-10-01`. @returns Null: there is no such date. */
export function dayOfDate(date: string): number | null {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date) ?? [];
  const number = daysBefore(Number(year), Number(month), Number(day));
  return dateOf(number) === date ? number : null;
}

/** As `2026-10-01`. */
export function dateOf(number: number): string {
  const { year, month, day } = civilOf(number);
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
}

/** By UTC, as `2026-10-01T19:00:00.000Z`; a year of more than four digits has a sign and six, as ISO 8601 has it. */
export function isoOf(at: number): string {
  const day = dateOf(dayOf(at));
  const date = day.length > 10 ? `+${day.padStart(12, '0')}` : day;
  const ms = Math.floor(timeOf(at));
  const time = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 1000) % 60,
  ];
  return `${date}T${time.map((part) => padded(part, 2)).join(':')}.${padded(ms % 1000, 3)}Z`;
}

/** The same to the second, for sentences. */
export const instantInWords = (at: number): string => `${isoOf(at).slice(0, -5)}Z`;

const padded = (number: number, length: number): string => String(number).padStart(length, '0');

/** A clock that is changed stays so for longer than that: the soonest that one was changed back, since 1970, was 7 days less an hour. */
const ALIKE_DAY_COUNT = 6;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** Its offsets at midnights of UTC, by day. */
  readonly midnights: Map<number, number>;
  /** When they change, by day: there are fewer of these. */
  readonly changes: Map<number, number>;
}

/**
 * What is kept of zones, each by its name as it is written: making a format takes a hundred times as long as using it,
 * and asking the runtime a thousand times as long as looking up a midnight. One name may be written in any case, and
 * so in millions of ways: beyond so many names the oldest goes.
 */
export class Zones {
  readonly #zones = new Map<string, Zone>();
  #midnightCount = 0;

  get zoneCount(): number {
    return this.#zones.size;
  }

  /** Of all zones. */
  get midnightCount(): number {
    return this.#midnightCount;
  }

  /**
   * How far the zone is ahead of UTC then. Of some days of UTC that begin and end with one offset, no other is expected
   * in between; and of a day that does not, one change alone.
   */
  offsetOf(name: string, at: number): number {
    if (name === 'UTC') return 0;
    const zone = this.#zones.get(name) ?? this.#add(name);
    const day = Math.floor(at / DAY_MS);
    const first = Math.floor(day / ALIKE_DAY_COUNT) * ALIKE_DAY_COUNT;
    const ofFirst = this.#midnightOffset(zone, first);
    if (ofFirst === this.#midnightOffset(zone, first + ALIKE_DAY_COUNT)) return ofFirst;
    const offset = this.#midnightOffset(zone, day);
    const ofNext = this.#midnightOffset(zone, day + 1);
    return offset === ofNext || at < changeOn(zone, day, offset) ? offset : ofNext;
  }

  #add(name: string): Zone {
    const zone: Zone = { format: formatOf(name), midnights: new Map(), changes: new Map() };
    if (this.#zones.size >= ZONES_KEPT_MAX) this.#removeOldest();
    this.#zones.set(name, zone);
    return zone;
  }

  #midnightOffset({ format, midnights }: Zone, day: number): number {
    const known = midnights.get(day);
    if (known !== undefined) return known;
    const offset = toldOffset(format, day * DAY_MS);
    if (this.#midnightCount >= MIDNIGHTS_KEPT_MAX) {
      for (const zone of this.#zones.values()) {
        zone.midnights.clear();
        zone.changes.clear();
      }
      this.#midnightCount = 0;
    }
    midnights.set(day, offset);
    this.#midnightCount += 1;
    return offset;
  }

  #removeOldest(): void {
    const [oldest] = this.#zones;
    if (oldest === undefined) return;
    const [name, { midnights }] = oldest;
    this.#midnightCount -= midnights.size;
    this.#zones.delete(name);
  }
}

/** When its offset is no more as at the beginning of that day. */
function changeOn({ format, changes }: Zone, day: number, offset: number): number {
  const known = changes.get(day);
  if (known !== undefined) return known;
  let before = day * DAY_MS;
  let after = before + DAY_MS;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (toldOffset(format, middle) === offset) before = middle;
    else after = middle;
  }
  changes.set(day, after);
  return after;
}

const zones = new Zones();

/** How far the zone is ahead of UTC then. @throws {UnknownZone} */
export const offsetOf = (zone: string, at: number): number => zones.offsetOf(zone, at);

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    throw new UnknownZone((error as Error).message);
  }
}

/** From its text, as `11/28/2026, 09:16:18`: its parts one by one take three times as long, and a cold zone is asked for each day. */
function toldOffset(format: Intl.DateTimeFormat, at: number): number {
  const shown = format.format(at).split(/\D+/, 6).map(Number);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = shown;
  const seconds = (hour * 60 + minute) * 60 + second;
  const wall = daysBefore(year, month, day) * DAY_MS + seconds * 1000;
  return wall - Math.floor(at / 1000) * 1000;
}
