/** What of the definition of a type a form has: where it stands, what it is called, how it is written. */
import type { Field } from '../../parts/form/fields.ts';
import { t, wordOf } from '../../words/words.ts';

/** Some fields are written shorter than JSON has them. */
type Form = 'pairs' | 'uses' | 'interval';
export interface DefinitionField extends Field {
  readonly form?: Form;
}

export function allFields(): readonly DefinitionField[] {
  return [
    { name: 'description', label: t('define.description') },
    { name: 'owner', label: t('define.owner') },
    ...within(t('limits'), limitFields()),
    ...within(t('define.order'), orderFields()),
    ...within(t('define.times'), timeFields()),
    ...within(t('define.needs'), needFields()),
  ];
}

const within = (section: string, fields: readonly DefinitionField[]) =>
  fields.map((field) => ({ ...field, section }));
const number = (name: string, label: string, more: Partial<DefinitionField> = {}) =>
  ({ name, label, kind: 'number', ...more }) satisfies DefinitionField;
const seconds = { unit: 's' } as const;

function limitFields(): DefinitionField[] {
  return [
    number('limits.max_running', t('type.max-running')),
    number('limits.max_waiting', t('define.max-waiting'), { hint: t('define.max-waiting.hint') }),
    number('limits.per_group.max_running', t('define.group-running')),
    number('limits.per_group.max_waiting', t('define.group-waiting')),
    number('limits.rate.count', t('define.rate')),
    number('limits.rate.seconds', t('define.rate.seconds'), seconds),
    {
      name: 'limits.concurrency.pointer',
      label: t('define.pointer'),
      preset: '/input',
      hint: t('define.pointer.hint'),
    },
    number('limits.concurrency.max', t('define.concurrency')),
    {
      name: 'uses',
      label: t('define.uses'),
      form: 'uses',
      preset: 'drm-licences encoder=2',
      hint: t('define.uses.hint'),
    },
  ];
}

function orderFields(): DefinitionField[] {
  return [
    { name: 'defaults.priority', label: t('task.priority'), hint: t('define.priority.hint') },
    {
      name: 'fair_by',
      label: t('define.fair'),
      kind: 'select',
      options: ['', 'group'],
      inWords: (one) => t(one === '' ? 'define.fair.no' : 'define.fair.group'),
    },
    {
      name: 'group_weights',
      label: t('define.weights'),
      form: 'pairs',
      preset: 'news=3 sport=1',
      hint: t('define.weights.hint'),
    },
    routeField(t('define.route.unset')),
    { name: 'route.pointer', label: t('define.route.pointer'), preset: '/input' },
    number('route.wait', t('define.route.wait'), { ...seconds, preset: '2' }),
  ];
}

function timeFields(): DefinitionField[] {
  return [
    number('defaults.execution_timeout', t('task.execution_timeout'), seconds),
    number('defaults.stall_timeout', t('task.stall_timeout'), seconds),
    number('defaults.start_timeout', t('task.start_timeout'), seconds),
    {
      name: 'defaults.start_timeout_action',
      label: t('define.start-action'),
      kind: 'select',
      options: ['', 'fail', 'alert'],
      inWords: (one) => one && t(one === 'fail' ? 'define.start-fail' : 'define.start-alert'),
    },
    number('defaults.retry.max_attempts', t('define.attempts'), {
      preset: '10',
      hint: t('define.attempts.hint'),
    }),
    {
      name: 'defaults.retry.interval',
      label: t('task.retry'),
      form: 'interval',
      preset: '600',
      hint: t('define.interval.hint'),
    },
  ];
}

function needFields(): DefinitionField[] {
  return [
    { name: 'defaults.requires', label: t('filter.requires'), kind: 'words', preset: 'gpu' },
    { name: 'defaults.labels', label: t('task.labels'), kind: 'words' },
    number('needs.disk_bytes', t('task.needs'), { unit: 'B' }),
    { name: 'defaults.notify_url', label: t('define.notify'), preset: 'https://' },
  ];
}

const ROUTES = ['', 'longest_idle', 'last_used', 'round_robin', 'random', 'least_failed', 'sticky'];

/** @param unset what holds where none is chosen. */
export function routeField(unset: string): Field {
  const inWords = (rule: string): string => (rule === '' ? unset : wordOf('route', rule));
  const label = t('define.route');
  return { name: 'route.rule', label, kind: 'select', options: ROUTES, inWords };
}
