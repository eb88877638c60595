/** Windows of bookings, as people write and read them: by the clock of their zone, else of this machine. */
import type { BookingRequest, BookingView } from '@soda-scheduler/client';
import { instantOfWall, wallOf } from '@soda-scheduler/protocol';
import { ExitCode, Failure } from '../exit-code.ts';
import { instantOf } from '../instant.ts';

export const LOCAL = 'such as "2026-12-01 20:00" here, +90min, or 2026-12-01T12:00:00Z';

const WALL = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)$/;

/**
 * As the API takes it. What has no zone is meant by the clock of that one, else of this machine.
 * @throws {Failure} it is no time, or there is no such zone.
 */
export function localInstantOf(text: string, zone: string | null = null): string {
  const [, day, time] = WALL.exec(text) ?? [];
  if (day === undefined) return checked(text, new Date(instantOf(text) ?? ''));
  const wall = `${day}T${time}`;
  return checked(text, new Date(zone === null ? wall : instantIn(zone, wall)));
}

function checked(text: string, at: Date): string {
  if (Number.isNaN(at.getTime())) throw new Failure(`${text}: expected ${LOCAL}`, ExitCode.usage);
  return at.toISOString();
}

function instantIn(zone: string, wall: string): number {
  const shown = Date.parse(`${wall}Z`);
  if (Number.isNaN(shown)) return shown;
  try {
    return instantOfWall(zone, shown);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure(`--zone ${zone}: expected a zone as Europe/Berlin`, ExitCode.usage);
  }
}

/**
 * `2026-12-01T20:00:00+08:00`: what they call it there, else on this machine, and what any other understands; of a zone
 * that is not known here by UTC.
 */
export function localTime(instant: string, zone: string | null = null): string {
  const at = new Date(instant);
  const offset = zone === null ? -at.getTimezoneOffset() : minutesAhead(zone, at.getTime());
  if (offset === 0) return at.toISOString().replace(/\.\d+Z$/, 'Z');
  const wall = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  return `${wall}${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(Math.abs(offset) % 60)}`;
}

function minutesAhead(zone: string, at: number): number {
  try {
    return Math.round((wallOf(zone, at) - at) / 60_000);
  } catch (error) {
    // The master may know zones that are newer than the rules here.
    if (error instanceof RangeError) return 0;
    throw error;
  }
}

/** No zone is to be added to it: it says one, or counts from now. */
export const hasZone = (text: string): boolean => !WALL.test(text);

const UNITS = { s: 1, min: 60, h: 3600, d: 86_400 } as const;

/** Of `90min`: its seconds. @throws {Failure} it is none. */
export function lengthOf(text: string, option: string): number {
  const [, count = '', unit = 's'] = /^(\d{1,8})(s|min|h|d)?$/.exec(text) ?? [];
  if (count !== '') return Number(count) * UNITS[unit as keyof typeof UNITS];
  throw new Failure(`${option} ${text}: expected such as 90s, 90min, 2h or 7d`, ExitCode.usage);
}

/** The shortest that `lengthOf` reads. */
function lengthInWords(seconds: number): string {
  for (const unit of ['d', 'h', 'min'] as const) {
    if (seconds % UNITS[unit] === 0) return `${seconds / UNITS[unit]}${unit}`;
  }
  return `${seconds}s`;
}

/** `7d Asia/Shanghai`; null: it is once. */
export function recurrenceInWords({ every, zone }: BookingView): string | null {
  if (every === null) return null;
  return [lengthInWords(every), zone].filter((part) => part !== null).join(' ');
}

/** `2 of 3`: bound and able to serve, of booked. */
export function executorsInWords({ executors, unready, count, state }: BookingView): string {
  return state === 'bound' ? `${executors.length - unready.length} of ${count}` : String(count);
}

/** The options of `soda booking create` that ask for it. */
export function typed(booking: BookingRequest): string {
  const { every, maintenance, labels, ...others } = booking;
  const fields: Record<string, unknown> = { ...others, label: labels };
  if (every !== undefined) fields['every'] = lengthInWords(every);
  const options = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const values = Array.isArray(value) ? value : [value];
    return values.length === 0 ? [] : [`--${name}`, ...values.map((each) => quoted(String(each)))];
  });
  return [...options, ...(maintenance ? ['--maintenance'] : [])].join(' ');
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Who cannot serve, and why: another takes its place. */
export function unreadyInWords({ executor_id, reason, message }: Unready): string {
  const said = message ?? 'it does not say why';
  if (reason === 'refusing') return `${executor_id} takes no task: ${said}`;
  const why =
    reason === 'away' ? 'it is not connected' : reason === 'draining' ? 'it drains' : said;
  return `${executor_id}: ${why}`;
}

type Unready = BookingView['unready'][number];
