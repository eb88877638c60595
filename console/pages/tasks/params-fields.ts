/** The fields of params: one for each that their schema names, and else one of JSON. */
import { checkAll, type Field, textOf, type Typed, WrongField } from '../../parts/form/fields.ts';
import { t } from '../../words/words.ts';
import { PARAMS, paramName, paramsText, type SchemaField } from './schema-fields.ts';

/** @param text what stands there at first, where they are one field. */
export function paramsFields(fields: readonly SchemaField[] | null, text = '{}'): Field[] {
  if (fields === null) {
    return [{ name: PARAMS, label: t('new-task.params'), kind: 'json', initial: text }];
  }
  return fields.map((field) => {
    const { name, label, kind, hint, example, choices, isRequired, preset } = field;
    const told = example === '' ? [hint] : [hint, t('new-task.json', { example })];
    const common = {
      ...{ name: paramName(name), label, isRequired, initial: preset },
      hint: told.filter((one) => one !== '').join(' · '),
    };
    if (kind !== 'choice') return { ...common, kind: kind === 'number' ? 'digits' : kind };
    return {
      ...common,
      kind: 'select',
      options: ['', ...choices],
      inWords: (choice) => choice.replaceAll(/^"|"$/g, ''),
    };
  });
}

/** Params are sent as they were typed: a number of twenty digits keeps all of them. */
export function paramsOf(fields: readonly SchemaField[] | null, typed: Typed): string {
  const text = fields === null ? (typed[PARAMS] ?? '{}') : paramsText(fields, typed);
  return text.trim() === '' ? 'null' : text;
}

/** The same, once each is JSON by itself: so a place in it is one in what was typed. @throws {WrongField} */
export function checkedParams(fields: readonly SchemaField[] | null, typed: Typed): string {
  checkAll(
    paramsFields(fields).map((field) => () => {
      const text = textOf(field, typed);
      if (text.trim() !== '') check(field, text);
    }),
  );
  return paramsOf(fields, typed);
}

function check({ name, kind }: Field, text: string): void {
  if (kind !== 'json' && kind !== 'digits') return;
  try {
    const value = JSON.parse(text) as unknown;
    if (kind === 'json' || typeof value === 'number') return;
  } catch (error) {
    if (kind === 'json') throw new WrongField(name, String(error));
  }
  throw new WrongField(name, t('field.no-number', { text }));
}
