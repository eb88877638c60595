/** What is put in place of an override that is there already: it is put as a whole, and what it says stays. */
import type { TypeView } from '@soda-scheduler/protocol';

/** With one limit raised. @param way as `limits.per_group.max_running`. */
export function raised({ limits = {}, overrides }: TypeView, way: string, max: unknown): object {
  const { limits: held = {}, route, until = null } = overrides[0] ?? {};
  const [, first = '', second] = way.split('.');
  const [ours, defined] = [held, limits] as readonly Readonly<Record<string, unknown>>[];
  const value =
    second === undefined
      ? max
      : { ...((ours?.[first] ?? defined?.[first]) as object), [second]: max };
  return {
    limits: { ...held, [first]: value },
    ...(route !== undefined && { route }),
    ...(until !== null && { until }),
  };
}
