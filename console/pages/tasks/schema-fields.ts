/** Which fields a form for params has, as their schema says, and the JSON of what is typed there. */
import { jsonAt } from '@soda-scheduler/protocol';

export interface SchemaField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly kind: 'text' | 'number' | 'choice' | 'json';
  /** As JSON. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** Of JSON: how it may look. Else empty. */
  readonly example: string;
  /** What stands there at first. */
  readonly preset: string;
}

interface Schema {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly default?: unknown;
  readonly enum?: unknown;
  readonly items?: Schema;
  readonly examples?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const FIELDS_MAX = 40;

/** What the field of all of them is called; the master names it so too. */
export const PARAMS = 'task.params';
export const paramName = (name: string): string => `${PARAMS}.${name}`;

/**
 * Null: it is no schema of an object with properties of their own names. What is required comes first, in the order in which
 * the schema names it: that of properties the master does not keep.
 */
export function fieldsOf(schema: unknown): readonly SchemaField[] | null {
  const { type, properties, required = [] } = (schema ?? {}) as Schema;
  const places = new Map(required.map((name, place) => [name, place]));
  const placeOf = ([name]: readonly [string, unknown]) => places.get(name) ?? required.length;
  const all = Object.entries(properties ?? {}).sort((a, b) => placeOf(a) - placeOf(b));
  if (type !== 'object' || all.length === 0 || all.length > FIELDS_MAX) return null;
  return all.map(([name, one]) => {
    const kind = kindOf(one);
    const preset = one.default;
    return {
      name,
      label: typeof one.title === 'string' ? one.title : name,
      hint: typeof one.description === 'string' ? one.description : '',
      kind,
      choices: choicesOf(one),
      isRequired: required.includes(name),
      example: kind === 'json' ? exampleOf(one) : '',
      preset:
        preset === undefined
          ? ''
          : typeof preset === 'string' && kind === 'text'
            ? preset
            : JSON.stringify(preset),
    };
  });
}

/**
 * The same with what stands in `params`, which are JSON, in place of defaults. Null: a form would not keep them as they are.
 */
export function filledFields(schema: unknown, params: string): readonly SchemaField[] | null {
  const fields = fieldsOf(schema);
  const given = JSON.parse(params) as unknown;
  if (fields === null || typeof given !== 'object' || given === null || Array.isArray(given)) {
    return null;
  }
  const names = new Set(fields.map(({ name }) => name));
  if (Object.keys(given).some((name) => !names.has(name))) return null;
  const filled = fields.map((field): SchemaField | null => {
    const { name, kind, choices } = field;
    const text = jsonAt(params, [name]);
    if (text === undefined) return { ...field, preset: '' };
    if (kind === 'choice') return choices.includes(text) ? { ...field, preset: text } : null;
    if (kind !== 'text') return { ...field, preset: text };
    const value = JSON.parse(text) as unknown;
    // An empty field is left out.
    return typeof value === 'string' && value !== '' ? { ...field, preset: value } : null;
  });
  return filled.every((field) => field !== null) ? filled : null;
}

function kindOf({ type, enum: choices }: Schema): SchemaField['kind'] {
  if (Array.isArray(choices) || type === 'boolean') return 'choice';
  if (type === 'string') return 'text';
  return type === 'integer' || type === 'number' ? 'number' : 'json';
}

function exampleOf({ type, items, examples }: Schema): string {
  if (Array.isArray(examples) && examples.length > 0) return JSON.stringify(examples[0]);
  if (type === 'object') return '{"name": "value"}';
  if (type !== 'array') return '"text", 1, true, null';
  if (items?.type === 'integer' || items?.type === 'number') return '[1, 2]';
  return items?.type === 'object' ? '[{"name": "value"}]' : '["one", "two"]';
}

function choicesOf({ type, enum: choices }: Schema): string[] {
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice));
  return type === 'boolean' ? ['true', 'false'] : [];
}

/** As JSON; what is empty is left out. Numbers stand there as they were typed. */
export function paramsText(
  fields: readonly SchemaField[],
  values: Readonly<Record<string, string>>,
): string {
  const members = fields.flatMap(({ name, kind, preset }) => {
    const value = values[paramName(name)] ?? preset;
    if (value === '') return [];
    return [`${JSON.stringify(name)}:${kind === 'text' ? JSON.stringify(value) : value}`];
  });
  return `{${members.join(',')}}`;
}
