/** Commands on many tasks, the newest first. */
import type { OperationList } from '@soda-scheduler/protocol';
import { useFrame } from '../frame/context.ts';
import { useList } from '../frame/resource.ts';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

export function OperationsPage() {
  const { place, link } = useFrame();
  const { cursor } = place.query;
  const list = useList<OperationList>('/operations', { cursor });
  return (
    <>
      <Head title={t('operations')} />
      <Loaded of={list}>
        {({ operations, next_cursor: next }) => (
          <>
            {operations.length === 0 ? (
              <Empty title={t('operations.none')}>
                <a href={link('tasks')}>{t('tasks')}</a>
              </Empty>
            ) : (
              <Table operations={operations} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('operations')}
              next={next === null ? null : link('operations', null, { cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

function Table({ operations }: { readonly operations: OperationList['operations'] }) {
  const { link } = useFrame();
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('state')}</th>
            <th>{t('operation')}</th>
            <th class="num">{t('operation.total')}</th>
            <th class="num">{t('operation.done')}</th>
            <th class="num wide">{t('operation.asked')}</th>
            <th class="num wide">{t('operation.skipped')}</th>
            <th class="num">{t('operation.failed')}</th>
            <th class="wide">{t('operation.by')}</th>
            <th class="fill">{t('field.reason')}</th>
            <th class="num">{t('when')}</th>
          </tr>
        </thead>
        <tbody>
          {operations.map((one) => (
            <tr key={one.operation_id}>
              <td>
                <State of={one.state} />
              </td>
              <td>
                <a href={link('operation', one.operation_id)}>{wordOf('action', one.action)}</a>
              </td>
              <td class="num">{one.total.toLocaleString()}</td>
              <td class="num">{one.done.toLocaleString()}</td>
              <td class="num wide">{one.asked.toLocaleString()}</td>
              <td class="num wide">{one.skipped.toLocaleString()}</td>
              <td class={one.failed > 0 ? 'num error' : 'num'}>{one.failed.toLocaleString()}</td>
              <td class="wide">{one.by}</td>
              <td class="fill">{one.reason}</td>
              <td class="num">
                <Time at={one.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
