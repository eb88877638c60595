/** By what tasks are looked for: states with their counts, and fields of which the rarer ones are folded. */
import {
  failureReasons,
  notificationStates,
  type TaskCount,
  taskStates,
} from '@soda-scheduler/protocol';
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { typeOf } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { t, type TextName, wordOf } from '../../words/words.ts';

type Filters = Readonly<Record<string, string>>;

interface Props {
  readonly filters: Filters;
  /** Undefined takes a filter out. */
  readonly change: (changed: Readonly<Record<string, string | undefined>>) => void;
}

const USUAL = ['id_prefix', 'type', 'group', 'error'] as const;
const RARE = [
  'label',
  'requires',
  'executor_id',
  'project',
  'env',
  'user',
  'min_attempts',
] as const;
const CHOICES = { failure_reason: failureReasons, notification: notificationStates } as const;
const INSTANTS = ['from', 'to'] as const;
const LABELS = {
  id_prefix: 'filter.id_prefix',
  type: 'type',
  group: 'group',
  error: 'filter.error',
  label: 'filter.label',
  requires: 'filter.requires',
  executor_id: 'executor',
  project: 'filter.project',
  env: 'filter.env',
  user: 'filter.user',
  min_attempts: 'filter.min_attempts',
  failure_reason: 'filter.failure_reason',
  notification: 'callback',
  from: 'filter.from',
  to: 'filter.to',
} as const satisfies Readonly<Record<string, TextName>>;
type FilterName = keyof typeof LABELS;

export function TaskFilters({ filters, change }: Props) {
  const rare = [...RARE, ...Object.keys(CHOICES), ...INSTANTS];
  const [isOpen, setOpen] = useState(() => rare.some((name) => filters[name] !== undefined));
  return (
    <>
      <StateTabs filters={filters} change={change} />
      <form
        class="filters"
        aria-label={t('filters')}
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        {USUAL.map((name) => (
          <TextFilter key={name} name={name} filters={filters} change={change} />
        ))}
        {isOpen ? (
          <RareFilters filters={filters} change={change} />
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
      </form>
    </>
  );
}

function RareFilters({ filters, change }: Props) {
  return (
    <>
      {RARE.map((name) => (
        <TextFilter key={name} name={name} filters={filters} change={change} />
      ))}
      {Object.entries(CHOICES).map(([name, choices]) => (
        <label key={name} class="filter">
          <span>{t(LABELS[name as FilterName])}</span>
          <select
            value={filters[name] ?? ''}
            onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
          >
            <option value="" />
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {wordOf(name === 'notification' ? 'callback' : 'failure', choice)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {INSTANTS.map((name) => (
        <label key={name} class="filter">
          <span>{t(LABELS[name])}</span>
          <input
            type="datetime-local"
            value={localOf(filters[name])}
            onChange={({ currentTarget: { value } }) =>
              change({ [name]: value === '' ? undefined : new Date(value).toISOString() })
            }
          />
        </label>
      ))}
    </>
  );
}

/** Applied by Enter, or when one goes on to the next. */
function TextFilter({ name, filters, change }: Props & { readonly name: FilterName }) {
  const applied = filters[name] ?? '';
  return (
    <label class="filter">
      <span>{t(LABELS[name])}</span>
      <input
        key={applied}
        {...typeOf(name === 'min_attempts' ? 'number' : 'text')}
        defaultValue={applied}
        spellcheck={false}
        autocomplete="off"
        onChange={({ currentTarget: { value } }) =>
          value !== applied && change({ [name]: value.trim() })
        }
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
      />
    </label>
  );
}

function StateTabs({ filters, change }: Props) {
  const { place, link } = useFrame();
  const { namespace } = place;
  const { type, group } = filters;
  const counts = useResource<TaskCount>(`count ${namespace} ${type} ${group}`, (signal) =>
    call({ path: '/tasks/count', namespace, query: { type, group }, signal }),
  );
  const { state: current, sort: _, ...others } = filters;
  const tab = (state: string | undefined) => {
    const count = state === undefined ? undefined : counts.data?.states[state];
    return (
      <a
        key={state}
        href={link('tasks', null, { ...others, state })}
        aria-current={current === state ? 'true' : undefined}
        onClick={(event) => {
          event.preventDefault();
          change({ state, sort: undefined });
        }}
      >
        {state === undefined ? t('filter.all-states') : wordOf('state', state)}
        {count !== undefined && count > 0 && <b class="num">{count.toLocaleString()}</b>}
      </a>
    );
  };
  return (
    <nav class="tabs" aria-label={t('state')}>
      {tab(undefined)}
      {taskStates.map((state) => tab(state))}
    </nav>
  );
}

/** As an input of the browser has it; empty where there is none. */
function localOf(instant: string | undefined): string {
  const at = new Date(instant ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
