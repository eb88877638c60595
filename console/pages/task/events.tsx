/** What the feed has told of a task. */
import type { EventPage } from '@soda-scheduler/protocol';
import { call } from '../../api/call.ts';
import { useFrame } from '../../frame/context.ts';
import { useResource } from '../../frame/resource.ts';
import { Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { t, wordOf } from '../../words/words.ts';

const LIMIT = 200;

export function TaskEvents({ taskId }: { readonly taskId: string }) {
  const { namespace } = useFrame().place;
  const { data } = useResource<EventPage>(`events ${namespace} ${taskId}`, (signal) =>
    call({
      path: `/task/${encodeURIComponent(taskId)}/events`,
      namespace,
      query: { limit: LIMIT },
      signal,
    }),
  );
  if (data === null || data.events.length === 0) return null;
  const newestFirst = [...data.events].reverse();
  return (
    <Section title={t('events')}>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th class="num">{t('when')}</th>
              <th>{t('events.what')}</th>
              <th class="num">#</th>
              <th>{t('events.who')}</th>
              <th class="fill">{t('events.data')}</th>
            </tr>
          </thead>
          <tbody>
            {newestFirst.map((event) => (
              <tr key={event.seq}>
                <td class="num">
                  <Time at={event.at} />
                </td>
                <td>{wordOf('event', event.kind)}</td>
                <td class="num">{event.attempt}</td>
                <td class="id">{event.actor ?? event.executor_id}</td>
                <td class="fill whole">{inLine(event.data)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** `state failed, reason non_retryable`. */
function inLine(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
