/** Lengths of time, in words. */
import { t } from './words.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNITS = [
  { name: 'length.d', ms: DAY_MS },
  { name: 'length.h', ms: HOUR_MS },
  { name: 'length.min', ms: MINUTE_MS },
  { name: 'length.s', ms: SECOND_MS },
] as const;

/** `3 min`, `2 h 5 min`: two units at most. */
export function lengthOf(ms: number): string {
  const at = UNITS.findIndex((unit) => ms >= unit.ms);
  const [big, small] = [UNITS[at], UNITS[at + 1]];
  if (big === undefined || small === undefined) {
    const seconds = ms / SECOND_MS;
    const isWhole = seconds >= 10 || Number.isInteger(seconds);
    return t('length.s', { n: isWhole ? String(Math.floor(seconds)) : seconds.toFixed(1) });
  }
  const rest = Math.floor((ms % big.ms) / small.ms);
  const first = t(big.name, { n: String(Math.floor(ms / big.ms)) });
  return rest === 0 ? first : `${first} ${t(small.name, { n: String(rest) })}`;
}

/** One unit is enough: `3 min ago`. */
export function sinceOf(at: number, now: number): string {
  const ms = Math.abs(now - at);
  if (ms < 5 * SECOND_MS) return t('time.now');
  const unit = UNITS.find((one) => ms >= one.ms) ?? UNITS[3];
  const length = t(unit.name, { n: String(Math.floor(ms / unit.ms)) });
  return t(at > now ? 'time.in' : 'time.ago', { length });
}
