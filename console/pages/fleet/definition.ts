/**
 * The definition of a type as JSON text, and as fields of a form. What the form does not touch stays as it is written, every
 * digit of it.
 */
import { jsonAt, jsonMembers, typeDefinitionKeys } from '@soda-scheduler/protocol';
import {
  type Field,
  numberIn,
  setAt,
  textOf,
  type Typed,
  valueOf,
  wordsIn,
} from '../../parts/form/fields.ts';
import { joined } from '../../parts/form/json-text.ts';
import { allFields, type DefinitionField } from './definition-fields.ts';

/** As it was defined, in the order of the documentation. @param text the answer to who asks for the type. */
export function definitionIn(text: string): string {
  const members = jsonMembers(text);
  return joined(typeDefinitionKeys.map((key) => [key, members.get(key)]));
}

/** What people change. The rest is JSON. */
export function definitionFields(definition: string): readonly Field[] {
  return allFields().map((field) => ({ ...field, initial: initialOf(field, definition) }));
}

/** Empty too where it is of another shape, which is the master's to refuse. */
function initialOf({ name, form, kind }: DefinitionField, definition: string): string {
  const text = jsonAt(definition, name.split('.'));
  if (text === undefined || text === 'null') return '';
  if (kind === 'number') return text;
  const value = JSON.parse(text) as unknown;
  const isList = Array.isArray(value);
  if (form === 'uses') {
    const uses = (isList ? value : []) as { readonly limit: string; readonly n?: number }[];
    return uses.map(({ limit, n = 1 }) => (n === 1 ? limit : `${limit}=${n}`)).join(' ');
  }
  if (form === 'pairs') {
    return Object.entries(value as object)
      .map(([group, weight]) => `${group}=${weight}`)
      .join(' ');
  }
  return isList ? value.join(' ') : String(value);
}

/** @throws {WrongField} */
function ownValueOf(field: DefinitionField, text: string): unknown {
  const { name, form } = field;
  if (text.trim() === '') return undefined;
  if (form === 'uses') {
    return pairsIn(name, text, '1').map(([limit, n]) => ({ limit, n }));
  }
  if (form === 'pairs') return Object.fromEntries(pairsIn(name, text));
  if (form === 'interval') {
    const numbers = wordsIn(text).map((one) => numberIn(name, one));
    return numbers.length === 1 && Number(numbers[0]) >= 0 && !text.includes(',')
      ? numbers[0]
      : numbers;
  }
  if (name === 'defaults.priority' && /^-?\d+$/.test(text.trim())) return Number(text);
  return valueOf(field, text);
}

function pairsIn(name: string, text: string, preset?: string): [string, number][] {
  return wordsIn(text).map((word) => {
    const at = word.lastIndexOf('=');
    const [key, value] = at < 0 ? [word, preset] : [word.slice(0, at), word.slice(at + 1)];
    return [key, numberIn(name, value ?? '')];
  });
}

/** The definition with what was typed into the form: what says what it said before is left alone. @throws {WrongField} */
export function withTyped(definition: string, typed: Typed): string {
  const members = jsonMembers(definition);
  const changed: Record<string, unknown> = {};
  const touched = new Set<string>();
  for (const field of allFields()) {
    const initial = initialOf(field, definition);
    const text = textOf({ ...field, initial }, typed);
    if (text === initial) continue;
    const [key = ''] = field.name.split('.');
    if (!touched.has(key)) {
      touched.add(key);
      const was = members.get(key);
      if (was !== undefined) changed[key] = JSON.parse(was) as unknown;
    }
    setAt(changed, field.name, ownValueOf(field, text));
  }
  // Others than these are the master's to refuse.
  const keys = new Set([...typeDefinitionKeys, ...members.keys()]);
  return joined(
    [...keys].map((key) => [
      key,
      touched.has(key) ? JSON.stringify(changed[key]) : members.get(key),
    ]),
  );
}
