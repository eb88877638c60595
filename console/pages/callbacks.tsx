/** Callbacks that have not arrived: those that were given up, and those that are still tried. */
import type { TaskList } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useList } from '../frame/resource.ts';
import { askForMany } from '../parts/bulk.tsx';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const LIMIT = 50;
const STATES = ['gave_up', 'pending', 'delivered'] as const;

export function CallbacksPage() {
  const { place, link, may } = useFrame();
  const { namespace, query } = place;
  const { cursor } = query;
  const state = query['notification'] ?? 'gave_up';
  const list = useList<TaskList>('/tasks', { notification: state, cursor, limit: LIMIT });
  return (
    <>
      <Head
        title={t('callbacks')}
        actions={
          may('POST /tasks/bulk') &&
          state !== 'pending' && (
            <button
              type="button"
              onClick={() =>
                void askForMany(namespace, 'redeliver', { filter: { notification: state } })
              }
            >
              {t('callbacks.redeliver')}
            </button>
          )
        }
      />
      <nav class="tabs" aria-label={t('state')}>
        {STATES.map((one) => (
          <a
            key={one}
            href={link('callbacks', null, { notification: one })}
            aria-current={one === state ? 'true' : undefined}
          >
            {wordOf('callbacks', one)}
          </a>
        ))}
      </nav>
      <Loaded of={list}>
        {({ tasks, next_cursor: next }) => (
          <>
            {tasks.length === 0 ? (
              <Empty
                title={t(
                  next === null
                    ? `callbacks.none.${state === 'gave_up' ? 'gave_up' : 'other'}`
                    : 'tasks.none-yet',
                )}
              />
            ) : (
              <Table tasks={tasks} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('callbacks', null, { notification: state })}
              next={
                next === null
                  ? null
                  : link('callbacks', null, { notification: state, cursor: next })
              }
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function Table({ tasks }: { readonly tasks: TaskList['tasks'] }) {
  const { link } = useFrame();
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('task')}</th>
            <th class="wide">{t('group')}</th>
            <th class="fill">{t('callback.url')}</th>
            <th class="num">{t('callback.tries')}</th>
            <th>{t('task.error')}</th>
            <th class="num">{t('when')}</th>
          </tr>
        </thead>
        <tbody>
          {tasks.map(({ task_id: id, user, notification, finished_at: at }) => (
            <tr key={id}>
              <td class="id">
                <a href={link('task', id)}>{id}</a>
              </td>
              <td class="wide">{user.group}</td>
              <td class="fill id" title={notification?.url}>
                {notification?.url}
              </td>
              <td class="num">{notification?.tries}</td>
              <td class="error">{notification?.last_error}</td>
              <td class="num">
                <Time at={notification?.delivered_at ?? notification?.next_try_at ?? at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
