/** What is put in place of an override that is there already: it is put as a whole, and what it says stays. */
import { jsonAt, type TypeView } from '@soda-scheduler/protocol';
import { type Field, NONE, setAt, textOf, type Typed, valueOf } from '../../parts/form/fields.ts';

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

/** What stands there, as a field says it. Of a rate that is none both parts are. */
export function textAt(object: object, way: string): string {
  const path = way.split('.');
  const texts = path.map((_, end) => jsonAt(JSON.stringify(object), path.slice(0, end + 1)));
  return texts.includes('null') ? NONE : (texts.at(-1) ?? '');
}

/** With what fields say now, where they said something else. @throws {WrongField} */
export function limitsWith(held: object = {}, fields: readonly Field[], values: Typed): object {
  const changed: Record<string, unknown> = { limits: structuredClone(held) };
  for (const field of fields) {
    const said = textOf(field, values);
    if (said !== field.initial) setAt(changed, field.name, valueOf(field, said));
  }
  return changed['limits'] ?? {};
}
