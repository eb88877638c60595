/** By what tasks are looked for: states with their counts, and fields of which the rarer ones are folded. */
import {
  failureReasons,
  notificationStates,
  type TaskCount,
  taskStates,
} from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { useAnswer } from '../../frame/resource.ts';
import {
  ChoiceFilter,
  FilterForm,
  InstantFilter,
  type Search,
  Tabs,
  TextFilter,
} from '../../parts/filters.tsx';
import { t, type TextName, wordOf } from '../../words/words.ts';

interface Props {
  readonly of: Search;
}

const USUAL = ['id_prefix', 'type', 'group', 'error'] as const;
const RARE = [
  'label',
  'requires',
  'executor_id',
  'job',
  'project',
  'env',
  'user',
  'min_attempts',
] as const;
const CHOICES = ['failure_reason', 'notification'] as const;
const INSTANTS = ['from', 'to'] as const;
const LABELS = {
  id_prefix: 'filter.id_prefix',
  type: 'type',
  group: 'group',
  error: 'filter.error',
  label: 'filter.label',
  requires: 'filter.requires',
  executor_id: 'executor',
  job: 'filter.job',
  project: 'filter.project',
  env: 'filter.env',
  user: 'filter.user',
  min_attempts: 'filter.min_attempts',
  failure_reason: 'filter.failure_reason',
  notification: 'callback',
  from: 'filter.from',
  to: 'filter.to',
} as const satisfies Readonly<Record<string, TextName>>;

/** Of the URL: others are none of this list. */
export const TASK_FIELDS = ['state', 'sort', ...Object.keys(LABELS)];

export function TaskFilters({ of }: Props) {
  const { filters, change } = of;
  const rare = [...RARE, ...CHOICES, ...INSTANTS];
  const [isOpen, setOpen] = useState(() => rare.some((name) => filters[name] !== undefined));
  return (
    <>
      <StateTabs of={of} />
      <FilterForm>
        {USUAL.map((name) => (
          <TextFilter key={name} name={name} label={LABELS[name]} of={of} />
        ))}
        {isOpen ? (
          <RareFilters of={of} />
        ) : (
          <button type="button" class="quiet" onClick={() => setOpen(true)}>
            {t('filter.more')}
          </button>
        )}
        {filters['state'] === 'waiting' && (
          <label class="check">
            <input
              type="checkbox"
              checked={filters['sort'] === 'order'}
              onChange={({ currentTarget }) =>
                change({ sort: currentTarget.checked ? 'order' : undefined })
              }
            />
            {t('filter.order')}
          </label>
        )}
        {Object.keys(filters).some((name) => name !== 'state' && name !== 'sort') && (
          <button
            type="button"
            class="quiet"
            onClick={() =>
              change(Object.fromEntries(Object.keys(LABELS).map((name) => [name, undefined])))
            }
          >
            {t('filter.none')}
          </button>
        )}
      </FilterForm>
    </>
  );
}

function RareFilters({ of }: Props) {
  return (
    <>
      {RARE.map((name) => (
        <TextFilter
          key={name}
          name={name}
          label={LABELS[name]}
          of={of}
          kind={name === 'min_attempts' ? 'number' : 'text'}
        />
      ))}
      <ChoiceFilter
        name="failure_reason"
        label={LABELS.failure_reason}
        of={of}
        choices={failureReasons}
        inWords={(reason) => wordOf('failure', reason)}
      />
      <ChoiceFilter
        name="notification"
        label={LABELS.notification}
        of={of}
        choices={notificationStates}
        inWords={(state) => wordOf('callback', state)}
      />
      {INSTANTS.map((name) => (
        <InstantFilter key={name} name={name} label={LABELS[name]} of={of} />
      ))}
    </>
  );
}

function StateTabs({ of: { filters, linkTo, linkNow } }: Props) {
  const { type, group, state: current, sort: _, ...others } = filters;
  // The counters know no other filter: beside a list by one they would count something else.
  const isCounted = Object.keys(others).length === 0;
  const counts = useAnswer<TaskCount>(
    isCounted ? { path: '/tasks/count', query: { type, group } } : null,
  );
  return (
    <Tabs
      of={[undefined, ...taskStates]}
      current={current}
      linkTo={(state) => linkTo({ state, sort: undefined })}
      linkNow={(state) => linkNow({ state, sort: undefined })}
    >
      {(state) => {
        if (state === undefined) return t('filter.all-states');
        const count = counts.data?.states[state] ?? 0;
        return (
          <>
            {wordOf('state', state)}
            {count > 0 && <b class="num">{count.toLocaleString()}</b>}
          </>
        );
      }}
    </Tabs>
  );
}
