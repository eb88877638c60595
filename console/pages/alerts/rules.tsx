/** By which rules alerts are raised: those that are there from the start, and those that people have set. */
import type { AlertReceiverView, AlertRuleView } from '@soda-scheduler/protocol';
import type { Question } from '../../frame/asking.tsx';
import { useAnswer } from '../../frame/resource.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { lengthOf } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';
import { kindsOfRules, originOf } from './kinds.ts';
import type { ReceiverList } from './receivers.tsx';
import { pathOf, ruleForm } from './rule-form.ts';
import { AlertTabs } from './tabs.tsx';

interface RuleList {
  readonly rules: readonly AlertRuleView[];
  readonly next_cursor: string | null;
}

export function RulesPage() {
  const list = useListed<RuleList>('alert-rules', {
    path: '/alert-rules',
    namespace: null,
    fields: [],
    limit: 200,
  });
  const receivers = useAnswer<ReceiverList>({
    path: '/alert-receivers',
    namespace: null,
    query: { limit: 200 },
  });
  const known = receivers.data?.receivers ?? [];
  return (
    <ListPage
      of={list}
      rowsOf={({ rules }) => rules}
      layout={layoutWith(known)}
      actions={
        <AskButton route="PUT /alert-rule/{name}" question={ruleForm(null, known, list.reload)} />
      }
      noteOf={() => t('rules.note')}
    >
      <AlertTabs current="rules" />
    </ListPage>
  );
}

type Receivers = readonly AlertReceiverView[];

const layoutWith = (receivers: Receivers): Layout<AlertRuleView> => ({
  keyOf: ({ name }) => name,
  columns: [
    { title: 'alerts.rule', show: ({ name }) => name },
    {
      title: 'rules.when',
      class: 'fill',
      text: 'whole',
      show: (rule) => (
        <>
          {wordOf('rule', rule.kind)}
          <Scope of={rule} />
        </>
      ),
    },
    { title: 'rules.threshold', class: 'num', show: (rule) => thresholdOf(rule) },
    {
      title: 'alerts.severity',
      class: 'wide',
      show: ({ severity }) => severity && wordOf('severity', severity),
    },
    {
      title: 'rules.receivers',
      class: 'wide',
      show: ({ receivers: told }) => told?.join(' ') ?? t('rules.everybody'),
    },
    {
      title: 'state',
      show: (rule) =>
        rule.enabled ? t(`rules.${originOf(rule)}`) : <span class="warn">{t('rules.off')}</span>,
    },
    {
      title: 'action.change',
      isTitleHidden: true,
      class: 'num',
      show: (rule, reload) => <Actions of={rule} receivers={receivers} done={reload} />,
    },
  ],
});

function Scope({ of: { scope } }: { readonly of: AlertRuleView }) {
  if (scope === null) return null;
  const { namespaces = [], types = [] } = scope;
  return (
    <div class="soft">
      {namespaces.length > 0 && `${t('namespaces')}: ${namespaces.join(' ')} `}
      {types.length > 0 && `${t('types')}: ${types.join(' ')}`}
    </div>
  );
}

function thresholdOf({ kind, threshold, window }: AlertRuleView): string {
  const { unit } = kindsOfRules[kind];
  const within = window === null ? '' : t('rules.within', { length: lengthOf(1000 * window) });
  const joined = (...parts: string[]) => parts.filter((part) => part !== '').join(' ');
  if (threshold === null) {
    return joined(kind === 'running_long' ? t('rules.by-itself') : '', within);
  }
  const amount = unit === 's' ? lengthOf(1000 * threshold) : threshold.toLocaleString();
  const counted = unit === 's' || unit === null ? '' : t(`unit.${unit}`, { n: threshold });
  return joined(amount, counted, within);
}

interface ActionProps {
  readonly of: AlertRuleView;
  readonly receivers: Receivers;
  readonly done: () => void;
}

function Actions({ of: rule, receivers, done }: ActionProps) {
  return (
    <>
      <AskButton route="PUT /alert-rule/{name}" question={ruleForm(rule, receivers, done)} />{' '}
      {originOf(rule) !== 'plain' && (
        <AskButton route="DELETE /alert-rule/{name}" question={removalOf(rule, done)} />
      )}
    </>
  );
}

function removalOf(rule: AlertRuleView, done: () => void): Question {
  const { name } = rule;
  const isOwn = originOf(rule) === 'own';
  return {
    title: t(isOwn ? 'rules.delete.title' : 'rules.reset.title', { name }),
    ...(isOwn && { text: t('rules.delete.text') }),
    verb: t(isOwn ? 'action.delete' : 'rules.reset'),
    isGrave: isOwn,
    request: () => ({ method: 'DELETE', path: pathOf(name), namespace: null }),
    done,
  };
}
