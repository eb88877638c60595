/** What has failed, by why: the most frequent first, each with a way to run all of it again. */
import type { ErrorList } from '@soda-scheduler/protocol';
import { failureReasons } from '@soda-scheduler/protocol';
import { call } from '../api/call.ts';
import { useFrame } from '../frame/context.ts';
import { useResource } from '../frame/resource.ts';
import { go } from '../frame/route.ts';
import { askForMany } from '../parts/bulk.tsx';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { t, wordOf } from '../words/words.ts';

const TERMS = ['type', 'group'] as const;
const EVERY_MS = 10_000;

export function FailedPage() {
  const { place, link } = useFrame();
  const { namespace, query } = place;
  const { cursor, ...filters } = query;
  const list = useResource<ErrorList>(
    `${namespace} ${JSON.stringify(query)}`,
    (signal) => call({ path: '/tasks/errors', namespace, query, signal }),
    EVERY_MS,
  );
  return (
    <>
      <Head title={t('failed')}>
        <a href={link('tasks', null, { ...filters, state: 'failed' })}>{t('failed.as-list')}</a>
      </Head>
      <form class="filters" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        {TERMS.map((name) => (
          <label key={name} class="filter">
            <span>{t(name)}</span>
            <input
              key={filters[name]}
              defaultValue={filters[name] ?? ''}
              autocomplete="off"
              onChange={({ currentTarget: { value } }) =>
                go({ namespace, page: 'failed', query: { ...filters, [name]: value.trim() } })
              }
            />
          </label>
        ))}
      </form>
      <Loaded of={list}>
        {({ errors, looked_at: lookedAt, next_cursor: next }) => (
          <>
            {errors.length === 0 ? (
              <Empty title={t(next === null ? 'failed.none' : 'tasks.none-yet')} />
            ) : (
              <>
                <p class="soft">{t('failed.looked', { n: lookedAt })}</p>
                <Table errors={errors} filters={filters} />
              </>
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('failed', null, filters)}
              next={next === null ? null : link('failed', null, { ...filters, cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly errors: ErrorList['errors'];
  readonly filters: Readonly<Record<string, string>>;
}

function Table({ errors, filters }: TableProps) {
  const { place, link, may } = useFrame();
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="num">{t('failed.count')}</th>
            <th class="fill">{t('task.error')}</th>
            <th class="wide">{t('failed.newest')}</th>
            <th>
              <span class="sr">{t('action.retry')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {errors.map(({ error, count, sample }) => {
            const filter = { ...filters, ...filterOf(error) };
            return (
              <tr key={error}>
                <td class="num">
                  <a href={link('tasks', null, filter)}>{count.toLocaleString()}</a>
                </td>
                <td class="fill whole error">{wordOf('failure', error)}</td>
                <td class="wide id">
                  {sample.slice(0, 1).map((id) => (
                    <a key={id} href={link('task', id)}>
                      {id}
                    </a>
                  ))}
                </td>
                <td class="num">
                  {may('POST /tasks/bulk') && (
                    <button
                      type="button"
                      onClick={() => void askForMany(place.namespace, 'retry', { filter })}
                    >
                      {t('action.retry')}
                    </button>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const ERROR_LENGTH_MAX = 256;

/** The longest piece of a message without what differs (`#`). */
function filterOf(error: string): Record<string, string> {
  if ((failureReasons as readonly string[]).includes(error)) {
    return { state: 'failed', failure_reason: error };
  }
  const pieces = error.split(/[#…]/).map((piece) => piece.trim());
  const longest = pieces.reduce((a, b) => (b.length > a.length ? b : a), '');
  const text = longest.slice(0, ERROR_LENGTH_MAX);
  return { state: 'failed', ...(text !== '' && { error: text }) };
}
