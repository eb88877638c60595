/** Commands on many tasks, the newest first. */
import type { OperationList } from '@soda-scheduler/protocol';
import { SodaCommand } from '../parts/copy.tsx';
import { Link } from '../parts/link.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import { State } from '../parts/state.tsx';
import type { Layout } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

export function OperationsPage() {
  return (
    <ListPage
      of={useListed<OperationList>('operations', { path: '/operations', fields: [] })}
      rowsOf={({ operations }) => operations}
      layout={operationLayout}
      empty={
        <Empty title={t('operations.none')}>
          <Link to="tasks">{t('tasks')}</Link>
          <SodaCommand text="soda bulk retry --state failed --type encode" />
        </Empty>
      }
    />
  );
}

const operationLayout: Layout<OperationList['operations'][number]> = {
  keyOf: ({ operation_id: id }) => id,
  columns: [
    { title: 'state', show: ({ state }) => <State of={state} /> },
    {
      title: 'operation',
      show: ({ operation_id: id, action }) => (
        <Link to="operation" name={id}>
          {wordOf('action', action)}
        </Link>
      ),
    },
    { title: 'operation.total', class: 'num', show: ({ total }) => total.toLocaleString() },
    { title: 'operation.done', class: 'num', show: ({ done }) => done.toLocaleString() },
    { title: 'operation.asked', class: 'num wide', show: ({ asked }) => asked.toLocaleString() },
    {
      title: 'operation.skipped',
      class: 'num wide',
      show: ({ skipped }) => skipped.toLocaleString(),
    },
    {
      title: 'operation.failed',
      class: 'num',
      show: ({ failed }) => (
        <span class={failed > 0 ? 'error' : ''}>{failed.toLocaleString()}</span>
      ),
    },
    { title: 'operation.by', class: 'wide', show: ({ by }) => by },
    { title: 'field.reason', class: 'fill', text: 'whole', show: ({ reason }) => reason },
    { title: 'when', class: 'num', show: ({ created_at: at }) => <Time at={at} /> },
  ],
};
