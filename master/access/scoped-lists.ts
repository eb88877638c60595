/** Lists of the tasks that somebody may see. */
import type { ListsHandle } from '../application/lists/lists.ts';
import type { Scope, StoredTask } from '../application/ports.ts';
import type { TaskFilter } from '../domain/model/task-filter.ts';
import type { Actor } from './auth.ts';
import { Problem } from './http/problem.ts';
import { includes, narrowed } from './scope.ts';

export function scopedLists(actor: Actor, scope: Scope, lists: ListsHandle): ListsHandle {
  // To some databases texts are equal that differ in blanks at their end.
  const sees = ({ type, group }: { readonly type: string; readonly group: string }): boolean =>
    includes(scope, 'types', type) && includes(scope, 'groups', group);
  const seen = <T extends StoredTask>(tasks: readonly T[]): T[] =>
    tasks.filter(({ task: { type, user } }) => sees({ type, group: user.group }));
  return {
    async newest(query) {
      const within = narrow(scope, query);
      if (within === null) return { tasks: [], beforeSeq: null };
      const page = await lists.newest({ ...query, within });
      return { ...page, tasks: seen(page.tasks) };
    },
    async failures(query) {
      const within = narrow(scope, query);
      if (within === null) return { failures: [], beforeSeq: null };
      const page = await lists.failures({ ...query, within });
      return { ...page, failures: page.failures.filter(sees) };
    },
    async inOrder(query) {
      const within = narrow(scope, query);
      if (within === null) return { tasks: [], after: null };
      const page = await lists.inOrder({ ...query, within });
      return page && { ...page, tasks: seen(page.tasks) };
    },
    /** Nobody counts them by type or group. */
    countEnded() {
      const what = scope.types === null ? 'groups' : 'types';
      const detail = `Ended tasks are counted in all, and the scope of the token ${actor.name} has only some ${what}.`;
      throw new Problem('forbidden', detail);
    },
    async history(search, ...page) {
      const within = narrow(scope, search.filter);
      if (within === null) return { tasks: [], cursor: null };
      const filter = { ...search.filter, within };
      const found = await lists.history({ ...search, filter }, ...page);
      return { ...found, tasks: seen(found.tasks) };
    },
  };
}

/** What of that may be seen; null: nothing. */
export function narrow(scope: Scope, { within }: Pick<TaskFilter, 'within'>) {
  const types = narrowed(scope.types, within?.types ?? null);
  const groups = narrowed(scope.groups, within?.groups ?? null);
  return types?.length === 0 || groups?.length === 0 ? null : { types, groups };
}
