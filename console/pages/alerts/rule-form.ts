/** What a rule of alerts says, as a form: each kind has its own fields, and what holds where one is left empty. */
import {
  type AlertReceiverView,
  type AlertRuleView,
  alertKinds,
  alertSeverities,
} from '@soda-scheduler/protocol';
import type { Question } from '../../frame/asking.tsx';
import { type Field, YES } from '../../parts/form/fields.ts';
import { t, wordOf } from '../../words/words.ts';
import { type AlertKind, type Kind, kindsOfRules, REASONS, REPEAT_SECONDS } from './kinds.ts';
import { receiverFields, toldBefore } from './receiver-fields.ts';

type Rule = AlertRuleView | null;
type Receivers = readonly AlertReceiverView[];

export const pathOf = (name = ''): string => `/alert-rule/${encodeURIComponent(name)}`;

/** @param rule null: a new one. */
export function ruleForm(rule: Rule, receivers: Receivers, done: () => void): Question {
  return {
    title: rule === null ? t('rules.new') : t('rules.change.title', { name: rule.name }),
    verb: t(rule === null ? 'rules.new' : 'action.change'),
    fields: ({ kind = rule?.kind ?? 'no_executor' }) =>
      ruleFields(rule, kind as AlertKind, receivers),
    request: (_, { name = rule?.name, kind = rule?.kind, once, ...body }) => ({
      method: 'PUT',
      path: pathOf(name as string),
      namespace: null,
      body: {
        kind,
        ...toldBefore(rule),
        ...body,
        ...(once === true && { repeat: null }),
      },
    }),
    done,
  };
}

function ruleFields(rule: Rule, kind: AlertKind, receivers: Receivers): Field[] {
  return [
    ...(rule === null ? nameFields(kind) : []),
    ...conditionFields(rule, kind),
    ...(kind === 'disk' ? [] : scopeFields(rule)),
    ...tellingFields(rule, receivers),
  ];
}

function nameFields(kind: AlertKind): Field[] {
  return [
    { name: 'name', label: t('tokens.name'), isRequired: true, hint: t('rules.name.hint') },
    {
      name: 'kind',
      label: t('rules.when'),
      kind: 'select',
      options: alertKinds,
      inWords: (one) => wordOf('rule', one),
      initial: kind,
    },
  ];
}

/** When it is raised. */
function conditionFields(rule: Rule, kind: AlertKind): Field[] {
  const plain = kindsOfRules[kind];
  const { unit, threshold, window } = plain;
  const fields: Field[] = [];
  if (unit !== null) {
    fields.push({
      ...numberField('threshold', t('rules.threshold'), rule?.threshold, threshold),
      unit: unit === 's' ? unit : wordOf('unit', unit),
      preset: String(threshold ?? t('rules.by-itself')),
    });
  }
  if (window !== null) {
    fields.push({ ...numberField('window', t('rules.window'), rule?.window, window), unit: 's' });
  }
  if (kind === 'oldest_wait') fields.push(reasonsField(rule?.reasons ?? REASONS));
  return [
    ...fields,
    severityField(rule, plain),
    {
      ...numberField('checks', t('rules.checks'), rule?.checks, plain.checks),
      unit: t('rules.checks.unit'),
    },
  ];
}

/** Empty where it is what holds anyway. */
function numberField(
  name: string,
  label: string,
  value: number | null | undefined,
  preset: number | null,
): Field {
  const initial = value === undefined || value === null || value === preset ? '' : String(value);
  return { name, label, kind: 'number', preset: String(preset ?? ''), initial };
}

const WAITS = [
  'all_busy',
  'no_executor',
  'labels_unmatched',
  'not_ready',
  'draining',
  'limited',
  'paused',
  'cooling_down',
];

function reasonsField(reasons: readonly string[]): Field {
  return {
    name: 'reasons',
    label: t('rules.reasons'),
    kind: 'choices',
    options: [...new Set([...WAITS, ...reasons])],
    inWords: (one) => wordOf('why', one),
    initial: reasons.join(' '),
  };
}

function severityField(rule: Rule, { severity }: Kind): Field {
  const preset =
    severity === null
      ? t('rules.as-said')
      : t('rules.preset', { word: wordOf('severity', severity) });
  return {
    name: 'severity',
    label: t('alerts.severity'),
    kind: 'select',
    options: ['', ...alertSeverities],
    inWords: (one) => (one === '' ? preset : wordOf('severity', one)),
    initial: rule === null || rule.severity === severity ? '' : (rule.severity ?? ''),
  };
}

function scopeFields(rule: Rule): Field[] {
  const words = { kind: 'words', preset: t('tokens.everything') } as const;
  const { types = [], namespaces = [] } = rule?.scope ?? {};
  return [
    { ...words, name: 'scope.types', label: t('types'), initial: types.join(' ') },
    { ...words, name: 'scope.namespaces', label: t('namespaces'), initial: namespaces.join(' ') },
  ];
}

/** Who is told, and how often. */
function tellingFields(rule: Rule, receivers: Receivers): Field[] {
  const isOnce = rule !== null && rule.repeat === null;
  const isOn = rule?.enabled !== false;
  return [
    ...receiverFields(rule, receivers),
    { ...numberField('repeat', t('rules.repeat'), rule?.repeat, REPEAT_SECONDS), unit: 's' },
    { name: 'once', label: t('rules.once'), kind: 'check', initial: isOnce ? YES : '' },
    { name: 'enabled', label: t('rules.enabled'), kind: 'check', initial: isOn ? YES : '' },
  ];
}
