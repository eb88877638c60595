/** From the body of a `PUT /calendar` to the text that is kept of it. In slices: it may have thousands of days. */
import { JOB_LIMITS } from '@soda-scheduler/protocol';
import { calendarRequest } from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { CalendarDay } from '../../../domain/schedule/calendar.ts';
import { canonicalJson } from '../../body/canonical-json.ts';
import { checkShape, valueWithParams } from '../../body/fields.ts';
import { invalidFields, Problem } from '../../http/problem.ts';

const WEEKEND_DEFAULT = [6, 0];
/** Days between two pauses. */
const SLICE_COUNT = 200;

const daysRequest = calendarRequest.pick({ days: true });

/** @throws {Problem} 400: of several days that are wrong those that stand together are named. */
export function* readCalendar(
  body: Buffer | undefined,
): Generator<void, z.output<typeof calendarRequest>> {
  const { value } = valueWithParams(body, 'ids');
  yield;
  const asked = (value as { readonly days?: unknown } | null)?.days;
  if (!Array.isArray(asked)) return checkShape(calendarRequest, value);
  const max = JOB_LIMITS.calendarDayCountMax;
  if (asked.length > max) {
    const message = `expected at most ${max} entries, given a list of ${asked.length} entries`;
    throw invalidFields([{ field: 'days', message }]);
  }
  const rest = checkShape(calendarRequest, { ...(value as object), days: [] });
  const days: z.output<typeof daysRequest>['days'] = [];
  for (let at = 0; at < asked.length; at += SLICE_COUNT) {
    yield;
    days.push(...daysFrom(asked.slice(at, at + SLICE_COUNT), at));
  }
  return { ...rest, days };
}

/** @param first Where the slice begins. */
function daysFrom(slice: readonly unknown[], first: number) {
  try {
    return checkShape(daysRequest, { days: slice }).days;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = (error.errors ?? []).map(({ field, message }) => ({
      field: field.replace(/^days\[(\d+)\]/, (_, at: string) => `days[${first + Number(at)}]`),
      message,
    }));
    throw invalidFields(errors);
  }
}

/** The same of what says the same. @throws {Problem} 400 */
export function* calendarText({
  days,
  weekend = WEEKEND_DEFAULT,
  description,
}: {
  readonly days: readonly CalendarDay[];
  readonly weekend?: readonly number[] | undefined;
  readonly description?: string | undefined;
}): Generator<void, string> {
  const sorted = days.toSorted((a, b) => (a.date < b.date ? -1 : 1));
  const twice = sorted.findIndex(({ date }, at) => date === sorted[at - 1]?.date);
  if (twice > 0) {
    const message = `expected each date once: ${sorted[twice]?.date} is there twice`;
    throw invalidFields([{ field: 'days', message }]);
  }
  const texts: string[] = [];
  for (let at = 0; at < sorted.length; at += SLICE_COUNT) {
    yield;
    const slice = JSON.stringify(sorted.slice(at, at + SLICE_COUNT));
    texts.push(canonicalJson(slice).slice(1, -1));
  }
  const rest = { description, weekend: [...new Set(weekend)].sort((a, b) => a - b) };
  // `days` is the first of its names.
  return `{"days":[${texts.join(',')}],${canonicalJson(JSON.stringify(rest)).slice(1)}`;
}
