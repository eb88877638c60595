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

export function FailedPage() {
  const list = useListed<ErrorList>('failed', {
    path: '/tasks/errors',
    fields: [...TERMS, 'from', 'to'],
    everyMs: 10_000,
  });
  const { filters } = list;
  return (
    <ListPage
      of={list}
      rowsOf={({ errors }) => errors.map((error) => ({ ...error, filters }))}
      layout={errorLayout}
      summary={
        <Link to="tasks" query={{ ...filters, state: 'failed' }}>
          {t('failed.as-list')}
        </Link>
      }
      empty={<Empty title={t('failed.none')} />}
      noteOf={({ looked_at: n }) => t('failed.looked', { n })}
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

/** With what all of them are looked for by. */
type Failure = ErrorList['errors'][number] & { readonly filters: Filters };

const errorLayout: Layout<Failure> = {
  keyOf: ({ error }) => error,
  columns: [
    {
      title: 'failed.count',
      class: 'num',
      show: (failure) => (
        <Link to="tasks" query={filterOf(failure)}>
          {failure.count.toLocaleString()}
        </Link>
      ),
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

function Again({ filter }: { readonly filter: Filters }) {
  const { place, may } = useFrame();
  if (!may('POST /tasks/bulk')) return null;
  return (
    <button type="button" onClick={() => void askForMany(place.namespace, 'retry', { filter })}>
      {t('action.retry')}
    </button>
  );
}

const ERROR_LENGTH_MAX = 256;

/** Which tasks have failed so: by the longest piece of a message without what differs (`#`). */
function filterOf({ error, filters }: Failure): Filters {
  const filter = { ...filters, state: 'failed' };
  if ((failureReasons as readonly string[]).includes(error)) {
    return { ...filter, failure_reason: error };
  }
  const pieces = error.split(/[#…]/).map((piece) => piece.trim());
  const longest = pieces.reduce((a, b) => (b.length > a.length ? b : a), '');
  const text = longest.slice(0, ERROR_LENGTH_MAX);
  return { ...filter, ...(text !== '' && { error: text }) };
}
