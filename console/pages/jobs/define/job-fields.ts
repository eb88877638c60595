/** The definition of a job as fields of a form. What the form does not touch stays as it is written, every digit of it. */
import { jsonAt, jsonMembers, type TriggerRequest } from '@soda-scheduler/protocol';
import { type Field, setAt, textOf, type Typed, valueOf } from '../../../parts/form/fields.ts';
import { joined } from '../../../parts/form/json-text.ts';
import { indented } from '../../../parts/indented.ts';
import { t, wordOf } from '../../../words/words.ts';

const KINDS = ['cron', 'every', 'delay', 'at', 'rotate', 'on'] as const;
type Kind = (typeof KINDS)[number];
const MISFIRES = ['', 'once', 'skip', 'all', 'after_current'];
const STATES = ['succeeded', 'failed', 'canceled', 'expired'];
const TEMPLATE = 'template.';

type Members = Record<string, unknown>;

export function jobFields(definition: string, typed: Typed): readonly Field[] {
  const triggers = triggersIn(definition);
  const each = [...triggers, {}].flatMap((trigger, at) => triggerFields(trigger, at, typed));
  return [
    ...plainFields(definition),
    ...templateFields(definition),
    ...each,
    ...lateFields(definition),
  ];
}

function plainFields(definition: string): Field[] {
  return [
    {
      name: 'description',
      label: t('define.description'),
      initial: told(definition, 'description'),
    },
    { name: 'tags', label: t('jobs.tags'), kind: 'words', initial: told(definition, 'tags') },
  ];
}

function templateFields(definition: string): Field[] {
  const section = t('job.what');
  const at = (...path: string[]) => told(definition, 'template', ...path);
  const params = jsonAt(definition, ['template', 'task', 'params']);
  return [
    {
      name: 'template.task.type',
      label: t('type'),
      section,
      initial: at('task', 'type'),
      isRequired: true,
    },
    {
      name: 'template.user.group',
      label: t('group'),
      section,
      initial: at('user', 'group'),
      isRequired: true,
    },
    {
      name: 'template.task.priority',
      label: t('task.priority'),
      section,
      initial: at('task', 'priority'),
    },
    {
      name: 'template.task.params',
      label: t('new-task.params'),
      section,
      kind: 'json',
      initial: params === undefined ? '' : indented(params),
    },
  ];
}

function lateFields(definition: string): Field[] {
  const section = t('job.late-title');
  const at = (name: string) => told(definition, name);
  return [
    {
      name: 'overlap',
      label: t('job.overlap'),
      section,
      initial: at('overlap'),
      preset: 'queue_one',
      hint: t('job.overlap.hint'),
    },
    {
      name: 'misfire',
      label: t('job.misfire'),
      section,
      kind: 'select',
      options: MISFIRES,
      inWords: (one) =>
        one === ''
          ? t('rules.preset', { word: wordOf('misfire', 'once') })
          : wordOf('misfire', one),
      initial: at('misfire'),
    },
    {
      name: 'grace',
      label: t('job.grace'),
      section,
      kind: 'number',
      unit: 's',
      initial: at('grace'),
      preset: '60',
    },
    {
      name: 'pause_after',
      label: t('job.pause-after'),
      section,
      kind: 'number',
      initial: at('pause_after'),
      hint: t('job.pause-after.hint'),
    },
  ];
}

/** @param at one more than there are: it is added. */
function triggerFields(trigger: Partial<TriggerRequest>, at: number, typed: Typed): Field[] {
  const name = (field: string): string => `triggers[${at}].${field}`;
  const was = KINDS.find((kind) => trigger[kind] !== undefined) ?? '';
  const kind = typed[name('kind')] ?? was;
  const section =
    was === '' ? t('trigger.another') : `${t('job.trigger')} ${trigger.name ?? at + 1}`;
  const field = (path: string, label: string, more: Partial<Field> = {}): Field => ({
    ...{
      name: name(path),
      label,
      section,
      initial: told(JSON.stringify(trigger), ...path.split('.')),
    },
    ...more,
  });
  const choice: Field = {
    name: name('kind'),
    label: t('trigger.kind'),
    section,
    kind: 'select',
    options: ['', ...KINDS],
    inWords: (one) => (one === '' ? t('trigger.none') : wordOf('kind-of-trigger', one)),
    initial: was,
  };
  if (kind === '') return [choice];
  const byKind: Readonly<Record<Kind, readonly Field[]>> = {
    cron: [
      field('cron', t('trigger.cron'), { preset: '0 3 * * *', hint: t('trigger.cron.hint') }),
      zoneField(field),
    ],
    every: [field('every', t('trigger.every-field'), { kind: 'number', unit: 's' })],
    delay: [field('delay', t('trigger.delay-field'), { kind: 'number', unit: 's' })],
    at: [field('at', t('trigger.at-field'), { preset: '2026-12-31T15:00:00Z' })],
    rotate: [
      field('rotate.days', t('trigger.rotate-days'), { kind: 'number' }),
      field('rotate.at', t('trigger.rotate-at'), { preset: '19:00' }),
      field('rotate.minutes', t('trigger.rotate-minutes'), { kind: 'number' }),
      zoneField(field),
    ],
    on: [
      field('on.job', t('job')),
      field('on.state', t('state'), {
        kind: 'select',
        options: STATES,
        inWords: (one) => wordOf('state', one),
        initial: trigger.on?.state ?? 'succeeded',
      }),
    ],
  };
  const days =
    kind === 'delay' || kind === 'on'
      ? []
      : [
          field('only_on', t('trigger.only-on'), { hint: t('trigger.days.hint') }),
          field('except', t('trigger.except'), { hint: t('trigger.days.hint') }),
          field('shift', t('trigger.shift'), {
            kind: 'select',
            options: ['', 'next', 'previous'],
            inWords: (one) => t(`trigger.shift.${one === '' ? 'skip' : (one as 'next')}`),
          }),
        ];
  return [
    choice,
    field('name', t('tokens.name'), { preset: 'default' }),
    ...(byKind[kind as Kind] ?? []),
    ...days,
  ];
}

const zoneField = (field: (path: string, label: string, more: Partial<Field>) => Field): Field =>
  field('zone', t('trigger.zone'), { preset: 'UTC' });

/** As a field shows it; what has several parts as JSON. */
function told(definition: string, ...path: string[]): string {
  const text = jsonAt(definition, path);
  if (text === undefined || text === 'null') return '';
  const value = JSON.parse(text) as unknown;
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : text;
}

/** What is no trigger is shown as one that is not chosen yet. */
const triggersIn = (definition: string): readonly Partial<TriggerRequest>[] => {
  const value = JSON.parse(jsonAt(definition, ['triggers']) ?? '[]') as unknown;
  const each = Array.isArray(value) ? (value as readonly (Partial<TriggerRequest> | null)[]) : [];
  return each.map((one) => one ?? {});
};

/** With what was typed: what says what it said before is left alone. @throws {WrongField} */
export function withTyped(definition: string, typed: Typed): string {
  const touched = jobFields(definition, typed).filter(
    (field) => textOf(field, typed) !== (field.initial ?? ''),
  );
  const texts = new Map<string, string | undefined>();
  const template = touched.filter(({ name }) => name.startsWith(TEMPLATE));
  if (template.length > 0) texts.set('template', templateWith(definition, template, typed));
  if (touched.some(({ name }) => name.startsWith('triggers['))) {
    texts.set('triggers', JSON.stringify(triggersWith(definition, touched, typed)));
  }
  for (const field of touched) {
    if (/[.[]/.test(field.name)) continue;
    const value = valueOf(field, textOf(field, typed));
    texts.set(field.name, value === undefined ? undefined : JSON.stringify(value));
  }
  return withTexts(definition, texts);
}

/** Members in place of those that are there; undefined: taken out. */
function withTexts(object: string, texts: ReadonlyMap<string, string | undefined>): string {
  return joined(new Map<string, string | undefined>([...jsonMembers(object), ...texts]));
}

function templateWith(definition: string, fields: readonly Field[], typed: Typed): string {
  const template = jsonAt(definition, ['template']) ?? '{}';
  const parts = new Map<string, Map<string, string | undefined>>();
  for (const field of fields) {
    const [, part = '', key = ''] = field.name.split('.');
    const members = parts.get(part) ?? new Map<string, string | undefined>();
    parts.set(part, members.set(key, memberOf(field, key, textOf(field, typed))));
  }
  const texts = [...parts].map(
    ([part, members]) => [part, withTexts(jsonAt(template, [part]) ?? '{}', members)] as const,
  );
  return withTexts(template, new Map(texts));
}

/** As JSON; undefined: left out. @throws {WrongField} */
function memberOf(field: Field, key: string, text: string): string | undefined {
  if (text.trim() === '') return undefined;
  if (key === 'params') {
    valueOf(field, text);
    return text;
  }
  return key === 'priority' && /^-?\d+$/.test(text.trim()) ? text.trim() : JSON.stringify(text);
}

function triggersWith(definition: string, touched: readonly Field[], typed: Typed): Members[] {
  const before = [...triggersIn(definition), {}] as Members[];
  return before.flatMap((trigger, at) => {
    const own = `triggers[${at}].`;
    const was = KINDS.find((kind) => trigger[kind] !== undefined) ?? '';
    const kind = typed[`${own}kind`] ?? was;
    if (kind === '') return [];
    const changed: Members = { ...trigger };
    if (kind !== was) for (const one of KINDS) delete changed[one];
    for (const field of touched) {
      const { name } = field;
      if (!name.startsWith(own) || name === `${own}kind`) continue;
      setAt(changed, name.slice(own.length), triggerValue(field, textOf(field, typed)));
    }
    // It is what it is chosen to be, though nothing of it was said otherwise.
    if (kind === 'on' && changed['on'] === undefined) changed['on'] = {};
    return [changed];
  });
}

/** @throws {WrongField} */
function triggerValue(field: Field, text: string): unknown {
  return text.trim().startsWith('{')
    ? valueOf({ ...field, kind: 'json' }, text)
    : valueOf(field, text);
}
