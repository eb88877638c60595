/**
 * Calendars as others publish them (RFC 5545): from the text of an ICS file to the days of a calendar. Only what days
 * are made of is read, and only as much of it as there is time for; it never guesses at what it does not know.
 *
 * An event that lasts whole days says that these are off, or working days where it says so: by a category or a
 * summary with `班`, `work day` or `make-up day`, or by `X-APPLE-SPECIAL-DAY`. Where some events say that they
 * are off (`休`, `假`, `holiday`), those that say nothing are days that people keep without being off, and are left out.
 */
import { type CalendarDay } from '../../domain/schedule/calendar.ts';
import { dateOf, dayOfDate } from '../../domain/schedule/local-time.ts';
import { IcsRule, RuleRefused } from './ics-rule.ts';

export interface IcsCalendar {
  /** By date, each once. */
  readonly days: readonly CalendarDay[];
  readonly name: string | null;
  /** What was left out, and why; for people. */
  readonly warnings: readonly string[];
}

/** What cannot be read, or is too much; for people. */
export class IcsRefused extends Error {
  override readonly name = 'IcsRefused';
}

/** Days of rules are looked for so far ahead of today. */
const AHEAD_DAY_COUNT = 5 * 366;
const EVENT_COUNT_MAX = 10_000;
const LINE_COUNT_MAX = 200_000;
/** Days of one event, and days that are looked at or added for all of them. */
const EVENT_DAY_COUNT_MAX = 400;
const LOOKED_DAY_COUNT_MAX = 500_000;
const LABEL_LENGTH_MAX = 64;
/** Characters of one line of dates: a thousand of them. */
const LIST_LENGTH_MAX = 10_000;
/** Lines, dates of a list, or days, between two pauses. */
const PIECE_COUNT = 2_000;

type Mark = 'off' | 'work' | null;

interface Event {
  readonly uid: string;
  /** It stands for one instance of the series with its id. */
  readonly isInstance: boolean;
  readonly from: number;
  readonly dayCount: number;
  readonly label: string;
  readonly mark: Mark;
  readonly rule: string | null;
  /** Days on which it begins beside the rule, and on which it does not. */
  readonly more: ReadonlySet<number>;
  readonly without: ReadonlySet<number>;
}

/** What is read of an event. */
const KEPT = new Set(
  'UID STATUS SUMMARY CATEGORIES DTSTART DTEND DURATION RRULE RDATE EXDATE RECURRENCE-ID X-APPLE-SPECIAL-DAY'.split(
    ' ',
  ),
);

type Fields = Map<string, { readonly parameters: string; readonly value: string }[]>;

/**
 * In pieces: it yields after each.
 * @param today The day of now, up to some years from which rules count.
 * @throws {IcsRefused}
 */
export function* daysOfIcs(
  text: string,
  today: number,
  dayCountMax: number,
): Generator<void, IcsCalendar> {
  const left = { timed: 0, unmarked: 0 };
  const events: Event[] = [];
  const replaced = new Map<string, Set<number>>();
  let fields: Fields | null = null;
  let name: string | null = null;
  let depth = 0;
  let isBegun = false;
  let isWhole = false;
  for (const line of unfolded(text)) {
    if (line === null) {
      yield;
      continue;
    }
    if (!isBegun && !/^BEGIN:VCALENDAR\s*$/i.test(line)) break;
    isBegun = true;
    const [, key = '', parameters = '', value = ''] = FIELD.exec(line) ?? [];
    const upper = key.toUpperCase();
    const isEdge = upper === 'BEGIN' || upper === 'END';
    const isEvent = upper === 'BEGIN' && isNamed(value, 'VEVENT');
    if (isEvent || (isEdge && isNamed(value, 'VCALENDAR'))) {
      if (fields !== null) throw new IcsRefused(`${eventIn(fields)} has no END:VEVENT`);
      if (isEvent) fields = new Map();
      else isWhole = upper === 'END';
    } else if (upper === 'BEGIN' && fields !== null) depth += 1;
    else if (upper === 'END' && depth > 0) depth -= 1;
    else if (upper === 'END' && fields !== null) {
      noteReplaced(fields, replaced);
      const event = yield* eventOf(fields);
      fields = null;
      if (event === null) left.timed += 1;
      else if (event !== 'canceled') events.push(event);
      if (events.length > EVENT_COUNT_MAX) {
        throw new IcsRefused(`it has more than ${EVENT_COUNT_MAX} events`);
      }
    } else if (fields !== null && depth === 0) {
      if (KEPT.has(upper))
        fields.set(upper, [...(fields.get(upper) ?? []).slice(-99), { parameters, value }]);
    } else if (upper === 'X-WR-CALNAME') name = cleaned(value) || null;
  }
  if (!isBegun) throw new IcsRefused('expected BEGIN:VCALENDAR first');
  if (!isWhole) throw new IcsRefused('it ends before END:VCALENDAR: the rest of it is missing');
  const days = yield* daysOf(events, replaced, today, dayCountMax, left);
  return { days, name, warnings: warningsOf(left, days) };
}

const isNamed = (value: string, name: string): boolean => value.trim().toUpperCase() === name;

/** For people. */
function eventIn(fields: Fields): string {
  const date = cleaned(fields.get('DTSTART')?.[0]?.value ?? '');
  return date === '' ? 'an event' : `the event of ${date}`;
}

/** `NAME;PARAMETER=value:value`; a quoted parameter may have a colon. */
const FIELD = /^([A-Za-z0-9-]{1,64})((?:;[^":;]{0,200}(?:"[^"]{0,500}")?){0,50}):(.*)$/s;

/** Its lines, of which a long one stands in several that begin with a blank; null: it is time for a pause. @throws {IcsRefused} */
function* unfolded(text: string): Generator<string | null> {
  let line: string[] = [];
  let lineCount = 0;
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const raw = text.slice(at, end === -1 ? text.length : end).replace(/\r$/, '');
    at = end === -1 ? text.length : end + 1;
    lineCount += 1;
    if (lineCount % PIECE_COUNT === 0) yield null;
    if (lineCount > LINE_COUNT_MAX) {
      throw new IcsRefused(`it has more than ${LINE_COUNT_MAX} lines`);
    }
    if (/^[ \t]/.test(raw)) line.push(raw.slice(1));
    else {
      if (line.length > 0) yield line.join('');
      line = raw === '' ? [] : [raw];
    }
  }
  if (line.length > 0) yield line.join('');
}

/** An event may stand for one instance of a series, whatever it is itself: canceled, or with a time of day. @throws {IcsRefused} */
function noteReplaced(fields: Fields, replaced: Map<string, Set<number>>): void {
  const [instance] = fields.get('RECURRENCE-ID') ?? [];
  if (instance === undefined) return;
  if (/;RANGE=/i.test(instance.parameters)) {
    throw new IcsRefused(`${eventIn(fields)}: RANGE=THISANDFUTURE is not supported`);
  }
  const uid = uidOf(fields);
  const day = dayIn(instance.value);
  // Of a series with times of day, which is left out itself.
  if (day === null) return;
  replaced.set(uid, (replaced.get(uid) ?? new Set()).add(day));
}

const uidOf = (fields: Fields): string => (fields.get('UID')?.[0]?.value ?? '').trim();

/** Null: it does not last whole days. @throws {IcsRefused} */
function* eventOf(fields: Fields): Generator<undefined, Event | null | 'canceled'> {
  const first = (key: string) => fields.get(key)?.[0]?.value ?? '';
  if (/^CANCELLED$/i.test(first('STATUS').trim())) return 'canceled';
  const from = dayIn(first('DTSTART'));
  if (from === null) return null;
  const label = cleaned(first('SUMMARY'));
  const end = dayIn(first('DTEND'));
  if (end !== null && end < from) {
    throw new IcsRefused(`the event of ${dateOf(from)} ends before it begins, on ${dateOf(end)}`);
  }
  const dayCount = end === null ? daysIn(from, first('DURATION')) : end - from;
  if (dayCount > EVENT_DAY_COUNT_MAX) {
    throw new IcsRefused(
      `the event of ${dateOf(from)} lasts more than ${EVENT_DAY_COUNT_MAX} days`,
    );
  }
  return {
    uid: uidOf(fields),
    isInstance: fields.has('RECURRENCE-ID'),
    from,
    dayCount: Math.max(1, dayCount),
    label,
    mark: markOf(label, first('CATEGORIES'), first('X-APPLE-SPECIAL-DAY')),
    rule: first('RRULE') || null,
    more: yield* listed(fields, 'RDATE'),
    without: yield* listed(fields, 'EXDATE'),
  };
}

/** @throws {IcsRefused} */
function* listed(fields: Fields, key: string): Generator<undefined, ReadonlySet<number>> {
  const days = new Set<number>();
  for (const { value } of fields.get(key) ?? []) {
    for (const text of value.slice(0, LIST_LENGTH_MAX).split(',')) {
      const day = dayIn(text);
      if (day !== null) days.add(day);
    }
    yield;
  }
  return days;
}

const WORK = /班|\b(work(ing)?[ -]?days?|make[ -]?up[ -](work[ -]?)?days?)\b/i;
const OFF = /休|假|\b(holidays?|days? off|off[ -]?days?)\b/i;

function markOf(summary: string, categories: string, apple: string): Mark {
  const special = apple.trim().toUpperCase();
  if (special === 'ALTERNATE-WORKDAY') return 'work';
  if (special === 'WORK-HOLIDAY') return 'off';
  if (WORK.test(categories) || WORK.test(summary)) return 'work';
  return OFF.test(summary) ? 'off' : null;
}

/** Of `20261001`; null: it has a time of day. @throws {IcsRefused} there is no such day */
function dayIn(value: string): number | null {
  const [, year, month, day] = /^\s*(\d{4})(\d\d)(\d\d)\s*$/.exec(value) ?? [];
  if (year === undefined) return null;
  const found = dayOfDate(`${year}-${month}-${day}`);
  if (found === null) throw new IcsRefused(`there is no day ${value.trim()}`);
  return found;
}

const DURATION = /^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;

/** Whole days of `P2D`, `P1W` or `PT24H`; none is said: one. @throws {IcsRefused} */
function daysIn(from: number, duration: string): number {
  if (duration.trim() === '') return 1;
  const found = DURATION.exec(duration.trim());
  if (found === null) throw new IcsRefused(`the DURATION of the event of ${dateOf(from)} is none`);
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((one) => Number(one ?? 0));
  return weeks * 7 + days + Math.floor((hours + (minutes + seconds / 60) / 60) / 24);
}

/** What people are shown: without escapes and control characters, and cut. */
function cleaned(value: string): string {
  const text = value
    .slice(0, 1_000)
    .replace(/\\[nN]/g, ' ')
    .replace(/\\([\\;,])/g, '$1')
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return [...text].slice(0, LABEL_LENGTH_MAX / 2).join('');
}

function* daysOf(
  events: readonly Event[],
  replaced: ReadonlyMap<string, ReadonlySet<number>>,
  today: number,
  dayCountMax: number,
  left: { unmarked: number },
): Generator<undefined, readonly CalendarDay[]> {
  const isSplit = events.some(({ mark }) => mark === 'off');
  const found = new Map<number, CalendarDay>();
  let lookedCount = 0;
  let pieceCount = 0;
  for (const event of events) {
    if (isSplit && event.mark === null) {
      left.unmarked += 1;
      continue;
    }
    const inPlace = event.isInstance ? undefined : replaced.get(event.uid);
    for (const begin of beginsOf(event, today + AHEAD_DAY_COUNT)) {
      const isOne = begin !== null && !event.without.has(begin) && inPlace?.has(begin) !== true;
      const count = isOne ? event.dayCount : 1;
      lookedCount += count;
      pieceCount += count;
      if (lookedCount > LOOKED_DAY_COUNT_MAX) throw new IcsRefused('its rules have too many days');
      if (isOne) addDays(begin, event, found);
      if (found.size > dayCountMax) throw new IcsRefused(`it has more than ${dayCountMax} days`);
      if (pieceCount < PIECE_COUNT) continue;
      pieceCount = 0;
      yield;
    }
  }
  return [...found.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
}

function addDays(begin: number, event: Event, found: Map<number, CalendarDay>): void {
  const { dayCount, mark, label } = event;
  const kind = mark ?? 'off';
  for (let day = begin; day < begin + dayCount; day++) {
    const known = found.get(day);
    // A day that is worked to make up for another is, whatever else is on it.
    if (known !== undefined && !(kind === 'work' && known.kind === 'off')) continue;
    found.set(day, { date: dateOf(day), kind, ...(label !== '' && { label }) });
  }
}

/** Each day on which it may begin, null for one on which it does not. @throws {IcsRefused} */
function* beginsOf(event: Event, last: number): Generator<number | null> {
  yield* event.more;
  if (event.rule === null) yield event.from;
  else yield* ruled(event.rule, event.from, last);
}

/** Each day on which it may begin, null for one on which it does not. @throws {IcsRefused} */
function* ruled(rule: string, from: number, last: number): Generator<number | null> {
  try {
    yield* new IcsRule(rule, from).days(last);
  } catch (error) {
    if (!(error instanceof RuleRefused)) throw error;
    throw new IcsRefused(`the rule of the event of ${dateOf(from)}: ${error.message}`);
  }
}

function warningsOf(
  { timed, unmarked }: { readonly timed: number; readonly unmarked: number },
  days: readonly CalendarDay[],
): string[] {
  const warnings: string[] = [];
  if (timed > 0) warnings.push(`left out ${eventsIn(timed)} of less than whole days`);
  if (unmarked > 0) {
    warnings.push(
      `left out ${eventsIn(unmarked)} without a word on whether days are off or worked`,
    );
  }
  if (days.length === 0) warnings.push('no day is in it');
  return warnings;
}

const eventsIn = (count: number): string => (count === 1 ? '1 event' : `${count} events`);
