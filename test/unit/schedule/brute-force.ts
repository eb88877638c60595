/**
 * An independent calendar: the times of a cron expression by looking at every minute and what the runtime says a clock
 * shows then. It shares nothing with the code under test.
 */
import { Cron } from 'croner';

const MINUTE_MS = 60_000;

/** The days of an expression by croner, its times by itself; with minutes as the finest. */
export function bruteForce(expression: string, zone: string, from: number, to: number): number[] {
  const [minutes = '', hours = '', ...days] = expression.split(' ');
  const minuteSet = setOf(minutes, 0, 59);
  const hourSet = setOf(hours, 0, 23);
  const isByElapsed = /[*/]/.test(hours);
  const clock = clockOf(zone);
  const dayCron = new Cron(`0 0 ${days.join(' ')}`, { utcOffset: 0, paused: true });
  const isDay = new Map<number, boolean>();
  const isTime = (wall: number): boolean => {
    const date = new Date(wall);
    const midnight = wall - (wall % 86_400_000);
    let fits = isDay.get(midnight);
    if (fits === undefined) {
      fits = dayCron.nextRun(new Date(midnight - 1_000))?.getTime() === midnight;
      isDay.set(midnight, fits);
    }
    return fits && hourSet.has(date.getUTCHours()) && minuteSet.has(date.getUTCMinutes());
  };
  const found: number[] = [];
  let shown = clock(from - 3 * 86_400_000);
  for (let at = from - 3 * 86_400_000; at < to; at += MINUTE_MS) {
    const wall = clock(at);
    const isFirst = wall >= shown;
    let isNow = isTime(wall) && (isByElapsed || isFirst);
    if (!isByElapsed) {
      for (let skipped = shown; skipped < wall && !isNow; skipped += MINUTE_MS)
        isNow = isTime(skipped);
    }
    shown = isByElapsed ? wall + MINUTE_MS : Math.max(shown, wall + MINUTE_MS);
    if (isNow && at >= from) found.push(at);
  }
  return found;
}

const clocks = new Map<string, (at: number) => number>();

/** What a clock of the zone shows, as if it were that of UTC. */
function clockOf(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const shown = new Map<number, number>();
  const clock =
    clocks.get(zone) ??
    ((at: number) => {
      const wall = shown.get(at) ?? Date.parse(`${format.format(at).replace(' ', 'T')}Z`);
      shown.set(at, wall);
      return wall;
    });
  clocks.set(zone, clock);
  return clock;
}

function setOf(field: string, min: number, max: number): Set<number> {
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [span = '', step = '1'] = part.split('/');
    const [from, to] = span === '*' ? [min, max] : span.split('-').map(Number);
    for (let at = from ?? 0; at <= (to ?? from ?? 0); at += Number(step)) found.add(at);
  }
  return found;
}
