/** What has failed, by why: the most frequent first, each with a way to run all of it again. */
import type { ErrorList } from '@soda-scheduler/protocol';
import { failureReasons } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { askForMany } from '../parts/bulk.tsx';
import { FilterForm, type Filters, InstantFilter, TextFilter } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import type { Layout } from '../parts/table.tsx';
import { t, wordOf } from '../words/words.ts';

const TERMS = ['type', 'group'] as const;
/** Failed tasks that a page groups. A request looks at some hundred. */
const TASKS_MIN = 8_000;
const SAMPLE_COUNT = 3;

export function FailedPage() {
  const list = useListed<ErrorList>('failed', {
    path: '/tasks/errors',
    fields: [...TERMS, 'from', 'to'],
    everyMs: 10_000,
    isTooLittle: ({ looked_at: n }) => n < TASKS_MIN,
    join,
  });
  const { filters } = list;
  return (
    <ListPage
      of={list}
      rowsOf={({ errors, next_cursor: next }) =>
        errors.map((error) => ({ ...error, filters, isPart: next !== null || !list.isFirst }))
      }
      layout={errorLayout}
      summary={
        <Link to="tasks" query={{ ...filters, state: 'failed' }}>
          {t('failed.as-list')}
        </Link>
      }
      empty={<Empty title={t('failed.none')} />}
      noteOf={({ looked_at: n }) => {
        const looked = t(list.isFirst ? 'failed.looked' : 'failed.looked.before', { n });
        return `${looked} ${t('failed.alike')}`;
      }}
      further={'failed.further'}
    >
      <FilterForm>
        {TERMS.map((name) => (
          <TextFilter key={name} name={name} label={name} of={list} />
        ))}
        <InstantFilter name="from" label="filter.from" of={list} />
        <InstantFilter name="to" label="filter.to" of={list} />
      </FilterForm>
    </ListPage>
  );
}

/** Of both together, the most frequent first. */
function join(answer: ErrorList, behind: ErrorList): ErrorList {
  const errors = new Map(answer.errors.map((one) => [one.error, one]));
  for (const { error, count, sample, search } of behind.errors) {
    const known = errors.get(error);
    errors.set(error, {
      error,
      search: known === undefined ? search : inBoth(known.search, search),
      count: count + (known?.count ?? 0),
      sample: [...(known?.sample ?? []), ...sample].slice(0, SAMPLE_COUNT),
    });
  }
  return {
    errors: [...errors.values()].sort((a, b) => b.count - a.count),
    looked_at: answer.looked_at + behind.looked_at,
    next_cursor: behind.next_cursor,
  };
}

/** The shorter of two pieces, where it stands in the other: messages of both have it. */
function inBoth(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return null;
  if (one.includes(other)) return other;
  return other.includes(one) ? one : null;
}

/** With what all of them are looked for by. */
type Failure = ErrorList['errors'][number] & {
  readonly filters: Filters;
  /** There are tasks that nobody has looked at. */
  readonly isPart: boolean;
};

const errorLayout: Layout<Failure> = {
  keyOf: ({ error }) => error,
  columns: [
    {
      title: 'failed.count',
      class: 'num',
      show: (failure) => {
        const filter = filterOf(failure);
        return filter === null ? (
          <Count of={failure} />
        ) : (
          <Link to="tasks" query={filter}>
            <Count of={failure} />
          </Link>
        );
      },
    },
    {
      title: 'task.error',
      class: 'fill',
      text: 'whole error',
      show: ({ error }) => wordOf('failure', error),
    },
    {
      title: 'failed.newest',
      class: 'wide',
      text: 'id',
      show: ({ sample: [id] }) => id !== undefined && <Link to="task" name={id} />,
    },
    {
      title: 'action.retry',
      isTitleHidden: true,
      class: 'num',
      show: (failure) => <Again filter={filterOf(failure)} />,
    },
  ],
};

function Count({ of: { count, isPart } }: { readonly of: Failure }) {
  return (
    <span title={isPart ? t('failed.part') : undefined}>
      {count.toLocaleString()}
      {isPart && '+'}
    </span>
  );
}

function Again({ filter }: { readonly filter: Filters | null }) {
  const { place, may } = useFrame();
  if (filter === null || !may('POST /tasks/bulk')) return null;
  return (
    <button type="button" onClick={() => void askForMany(place.namespace, 'retry', { filter })}>
      {t('action.retry')}
    </button>
  );
}

/** Which tasks have failed so; null: their messages have too little in common to tell them from others. */
function filterOf({ error, search, filters }: Failure): Filters | null {
  const filter = { ...filters, state: 'failed' };
  if (search !== null) return { ...filter, error: search };
  const isReason = (failureReasons as readonly string[]).includes(error);
  return isReason ? { ...filter, failure_reason: error } : null;
}
