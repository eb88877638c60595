/** The callback of a task: where it goes, what became of it, and, where the feed tells of tries, each of them. */
import type { EventPage, TaskView } from '@soda-scheduler/protocol';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { Time, TimeInFull } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';

interface Props {
  readonly task: TaskView;
  readonly notification: NonNullable<TaskView['notification']>;
}

export function Callback({ task, notification }: Props) {
  const { state, last_status: status, last_error: error, tries } = notification;
  return (
    <Section title={t('callback')}>
      <Facts
        of={[
          [
            t('state'),
            <span class={state === 'gave_up' ? 'error' : ''}>
              {state === null ? t('callback.later') : wordOf('callback', state)}
            </span>,
          ],
          [t('callback.url'), <span class="id whole">{notification.url}</span>],
          [t('callback.tries'), tries],
          [t('callback.answer'), status],
          [t('task.error'), error && <span class="error whole">{error}</span>],
          [
            t('callback.next'),
            notification.next_try_at && <TimeInFull at={notification.next_try_at} />,
          ],
          [
            t('callback.delivered-at'),
            notification.delivered_at && <TimeInFull at={notification.delivered_at} />,
          ],
        ]}
      />
      {tries > 0 && <Tries taskId={task.task_id} />}
    </Section>
  );
}

/** They are told by the feed only, and only where it tells everything. */
function Tries({ taskId }: { readonly taskId: string }) {
  const { namespace } = useFrame().place;
  const { data } = useResource<EventPage>(`tries ${namespace} ${taskId}`, (signal) =>
    call({
      path: `/task/${encodeURIComponent(taskId)}/events`,
      namespace,
      query: { kind: 'task.callback_tried', limit: 100 },
      signal,
    }),
  );
  if (data === null || data.events.length === 0) return null;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="num">{t('when')}</th>
            <th>{t('outcome')}</th>
            <th class="num">{t('callback.answer')}</th>
            <th class="fill">{t('task.error')}</th>
          </tr>
        </thead>
        <tbody>
          {data.events.map(({ seq, at, data: { outcome, status, error } }) => (
            <tr key={seq}>
              <td class="num">
                <Time at={at} />
              </td>
              <td>{wordOf('try', typeof outcome === 'string' ? outcome : '')}</td>
              <td class="num">{status === null ? '' : JSON.stringify(status)}</td>
              <td class="fill whole">{typeof error === 'string' ? error : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
