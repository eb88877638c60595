/** Instants and lengths of time, as people read them: since when, or as on the clock; the other one is in the title. */
import { useEffect, useState } from 'preact/hooks';
import { clockOffsetMs, masterNow } from '../api/clock.ts';
import { useFrame } from '../frame/context.ts';
import { clockOf } from '../words/instant.ts';
import { lengthOf, sinceOf } from '../words/length.ts';
import { language, t } from '../words/words.ts';

export { lengthOf };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The present of the master, anew every so often. */
function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(masterNow);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(masterNow()), everyMs);
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

/** Where the clock of the browser is far from that of the master, by which everything here is told. */
export function ClockNote() {
  useNow();
  const offsetMs = clockOffsetMs();
  if (Math.abs(offsetMs) < MINUTE_MS) return null;
  const length = lengthOf(Math.round(Math.abs(offsetMs) / MINUTE_MS) * MINUTE_MS);
  return <p class="warn">{t(offsetMs > 0 ? 'clock.behind' : 'clock.ahead', { length })}</p>;
}

/** How long it has taken, or takes until now. */
export function Took({ from, to }: { readonly from: string | null; readonly to: string | null }) {
  const now = useNow(SECOND_MS);
  if (from === null) return <span class="none">–</span>;
  const ms = (to === null ? now : Date.parse(to)) - Date.parse(from);
  return <>{lengthOf(Math.max(0, ms))}</>;
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
