/** Instants: as they are asked for, ISO 8601 or epoch milliseconds, and as answers have them. */
import type { TaskFilter } from '../../domain/model/task-filter.ts';
import { invalidFields } from '../http/problem.ts';

/** Epoch milliseconds of a validated instant; what lies before 1970 counts as 1970. */
export function instantOf(instant: string | number | null | undefined): number | null {
  if (instant === undefined || instant === null) return null;
  return typeof instant === 'number' ? instant : Math.max(0, Date.parse(instant));
}

/** When something is to end by itself; null: it is not. @throws {Problem} that is over. */
export function untilOf(given: string | number | null | undefined): number | null {
  const until = instantOf(given);
  if (until === null || until > Date.now()) return until;
  throw invalidFields([{ field: 'until', message: 'expected an instant that is yet to come' }]);
}

interface Times {
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
}

/**
 * Between which instants lies what is looked for.
 * @param place of the query: before the names of its fields.
 * @throws {Problem} there is no time between them.
 */
export function timesOf(query: Times, place = ''): Pick<TaskFilter, 'from' | 'to'> {
  const from = instantOf(query.from);
  const to = instantOf(query.to);
  if (from === null || to === null || from < to) return { from, to };
  throw invalidFields([{ field: `${place}to`, message: `expected later than \`${place}from\`` }]);
}

export function iso(at: number): string;
export function iso(at: number | null): string | null;
export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
