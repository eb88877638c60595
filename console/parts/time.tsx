/** Instants and lengths of time, as people read them: since when, or as on the clock; the other one is in the title. */
import { useEffect, useState } from 'preact/hooks';
import { useFrame } from '../frame/context.ts';
import { language, t } from '../words/words.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The present, anew every so often. */
function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** `at`: ISO 8601; null where there is none. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  const { hasClockTimes } = useFrame();
  const now = useNow();
  if (at === null || at === undefined) return <span class="none">–</span>;
  const [since, clock] = [sinceOf(Date.parse(at), now), clockOf(at, now)];
  return (
    <time dateTime={at} title={hasClockTimes ? since : fullOf(at)}>
      {hasClockTimes ? clock : since}
    </time>
  );
}

/** Both ways beside each other. */
export function TimeInFull({ at }: { readonly at: string | null | undefined }) {
  const now = useNow();
  if (at === null || at === undefined) return <span class="none">–</span>;
  return (
    <time dateTime={at} title={fullOf(at)}>
      {clockOf(at, now)} <span class="soft">{sinceOf(Date.parse(at), now)}</span>
    </time>
  );
}

/** How long it has taken, or takes until now. */
export function Took({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  const now = useNow(SECOND_MS);
  if (from === null) return <span class="none">–</span>;
  const ms = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return <>{lengthOf(Math.max(0, ms))}</>;
}

/** `3 min`, `2 h 5 min`: two units at most. */
export function lengthOf(ms: number): string {
  if (ms < MINUTE_MS) {
    const seconds = ms / SECOND_MS;
    return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  }
  if (ms < HOUR_MS) return twoUnits(ms, MINUTE_MS, 'min', SECOND_MS, 's');
  if (ms < DAY_MS) return twoUnits(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return twoUnits(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

function twoUnits(ms: number, big: number, bigName: string, small: number, smallName: string) {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** One unit is enough: `3 min ago`. */
function sinceOf(at: number, now: number): string {
  const ms = Math.abs(now - at);
  if (ms < 5 * SECOND_MS) return t('time.now');
  const [unit, name] =
    ms < MINUTE_MS
      ? [SECOND_MS, 's']
      : ms < HOUR_MS
        ? [MINUTE_MS, 'min']
        : ms < DAY_MS
          ? [HOUR_MS, 'h']
          : [DAY_MS, 'd'];
  const length = `${Math.floor(ms / unit)} ${name}`;
  return t(at > now ? 'time.in' : 'time.ago', { length });
}

/** In the zone of the browser; of another day with the date. */
export function clockOf(at: string, now: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  const time = date.toLocaleTimeString(language(), { hour12: false });
  if (isToday) return time;
  return `${date.toLocaleDateString(language(), { month: 'short', day: 'numeric' })} ${time}`;
}

function fullOf(at: string): string {
  return `${new Date(at).toLocaleString(language(), { hour12: false, timeZoneName: 'short' })} · ${at}`;
}

/** Of a day of a calendar, `2026-11-22`: `22 Nov 2026`. */
export function dayText(day: string): string {
  return calendarText(day, { year: 'numeric', month: 'short', day: 'numeric' });
}

/** Of a month, `2026-11`: `November 2026`. */
export function monthText(month: string): string {
  return calendarText(`${month}-01`, { year: 'numeric', month: 'long' });
}

/** Of a day of the week, 0 being Sunday. */
export function weekdayText(day: number, form: 'long' | 'narrow'): string {
  // The first of 2023 was a Sunday.
  return calendarText(`2023-01-0${day + 1}`, { weekday: form });
}

/** A day is the same in all zones. */
function calendarText(day: string, form: Intl.DateTimeFormatOptions): string {
  return new Date(day).toLocaleDateString(language(), { ...form, timeZone: 'UTC' });
}
