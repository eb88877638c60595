/** Between which instants whatever is looked for has ended, or was submitted. */
import type { TaskFilter } from '../../../domain/model/task-filter.ts';
import { invalidFields } from '../../http/problem.ts';
import { instantOf } from '../submission.ts';

interface Times {
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
}

/** @param place of the query: before the names of its fields. @throws {Problem} there is no time between them. */
export function timesOf(query: Times, place = ''): Pick<TaskFilter, 'from' | 'to'> {
  const from = instantOf(query.from);
  const to = instantOf(query.to);
  if (from === null || to === null || from < to) return { from, to };
  throw invalidFields([{ field: `${place}to`, message: `expected later than \`${place}from\`` }]);
}
