/** What a scope lets through. Knows neither tokens nor routes. */
import type { Scope } from '../application/ports.ts';
import { seesAll } from '../domain/model/task-filter.ts';

export function includes(scope: Scope | null, what: keyof Scope, value: string): boolean {
  return scope?.[what]?.includes(value) ?? true;
}

/** Whether it leaves anything out of a namespace that it includes. */
export function isPartial(scope: Scope | null): boolean {
  return scope !== null && !seesAll(scope);
}

/** Those of `asked` that it includes; null stands for all, in `asked` too. */
export function narrowed(
  list: readonly string[] | null | undefined,
  asked: readonly string[] | null,
): readonly string[] | null {
  if (list === null || list === undefined) return asked;
  return asked === null ? list : asked.filter((one) => list.includes(one));
}
