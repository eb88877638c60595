/** Days of the calendar, as text: `2026-11-22`. */
import { dayOf } from '../../../domain/usage/day.ts';
import { instantOf } from '../../body/instants.ts';
import { invalidFields } from '../../http/problem.ts';

/** Of one report. */
const REPORT_DAYS_MAX = 400;
const DAY_MS = 86_400_000;

interface Zoned {
  readonly zone: string;
  readonly today: string;
}

/** From the first to the last; each that is not given is today. @throws {Problem} 400 */
export function daysOf(
  {
    from,
    to,
  }: { readonly from?: string | number | undefined; readonly to?: string | number | undefined },
  reports: Zoned,
): readonly string[] {
  const [first, last] = [dayFrom(from, reports), dayFrom(to, reports)];
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  const expected = count < 1 ? `a day not before ${first}` : `at most ${REPORT_DAYS_MAX} days`;
  if (!(count >= 1 && count <= REPORT_DAYS_MAX)) {
    throw invalidFields([{ field: 'to', message: `expected ${expected}` }]);
  }
  return Array.from({ length: count }, (_, index) => {
    return new Date(Date.parse(first) + index * DAY_MS).toISOString().slice(0, 10);
  });
}

function dayFrom(given: string | number | undefined, { zone, today }: Zoned): string {
  if (typeof given === 'string' && given.length === today.length) return given;
  const at = instantOf(given);
  return at === null ? today : dayOf(zone, at);
}
