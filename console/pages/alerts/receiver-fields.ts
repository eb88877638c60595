/** Whom a rule tells, as a field of its form. Left out of a request it would be all of them. */
import type { AlertReceiverView, AlertRuleView } from '@soda-scheduler/protocol';
import type { Field } from '../../parts/form/fields.ts';
import { t } from '../../words/words.ts';

type Rule = Pick<AlertRuleView, 'receivers'> | null;

/** @param known those that there are, as far as anybody has told. */
export function receiverFields(rule: Rule, known: readonly AlertReceiverView[]): Field[] {
  // One that it names may be gone: whoever changes the rule has to be able to take it out.
  const names = new Set([...known.map(({ name }) => name), ...(rule?.receivers ?? [])]);
  if (names.size === 0) return [];
  return [
    {
      name: 'receivers',
      label: t('rules.receivers'),
      kind: 'choices',
      options: [...names],
      initial: rule?.receivers?.join(' ') ?? '',
      hint: t(tellsNobody(rule) ? 'rules.receivers.nobody' : 'rules.receivers.hint'),
    },
  ];
}

/** What is sent where none is chosen. */
export function toldBefore(rule: Rule): { readonly receivers?: readonly string[] } {
  return tellsNobody(rule) ? { receivers: [] } : {};
}

const tellsNobody = (rule: Rule): boolean => rule?.receivers?.length === 0;
