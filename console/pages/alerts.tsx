/** Alerts: what is raised now, or was; who was told of it, and how to be told no more for a while. */
import type { AlertView } from '@soda-scheduler/protocol';
import { AskButton } from '../parts/ask-button.tsx';
import { Tabs } from '../parts/filters.tsx';
import { Link } from '../parts/link.tsx';
import { ListPage, useListed } from '../parts/list-page.tsx';
import { Empty } from '../parts/page.tsx';
import type { Layout } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const STATES = ['raised', 'cleared'] as const;

interface AlertList {
  readonly alerts: readonly AlertView[];
  readonly next_cursor: string | null;
}

export function AlertsPage() {
  const list = useListed<AlertList>('alerts', {
    path: '/alerts',
    namespace: null,
    preset: { state: 'raised' },
  });
  const { state } = list.filters;
  return (
    <ListPage
      of={list}
      rowsOf={({ alerts }) => alerts}
      layout={alertLayout}
      empty={<Empty title={t(state === 'raised' ? 'alerts.none' : 'alerts.none-cleared')} />}
    >
      <Tabs of={STATES} current={state} linkTo={(one) => list.linkTo({ state: one })}>
        {(one) => wordOf('alert', one)}
      </Tabs>
    </ListPage>
  );
}

const alertLayout: Layout<AlertView> = {
  keyOf: ({ id }) => id,
  columns: [
    {
      title: 'alerts.severity',
      show: ({ severity }) => (
        <span class={`severity-${severity}`}>{wordOf('severity', severity)}</span>
      ),
    },
    {
      title: 'alerts.message',
      class: 'fill',
      text: 'whole',
      show: (alert) => <Message of={alert} />,
    },
    { title: 'alerts.rule', class: 'wide', show: ({ rule }) => rule },
    { title: 'namespace', class: 'wide', show: ({ namespace }) => namespace },
    { title: 'alerts.told', class: 'wide', show: ({ told_at: at }) => <Time at={at} /> },
    { title: 'alerts.since', class: 'num', show: ({ raised_at: at }) => <Time at={at} /> },
    {
      title: 'alerts.silence',
      isTitleHidden: true,
      class: 'num',
      show: (alert, reload) => <Silence of={alert} done={reload} />,
    },
  ],
};

function Message({ of: alert }: { readonly of: AlertView }) {
  const { message, change, type, count, deliveries } = alert;
  const failed = deliveries.filter(({ state }) => state === 'failed');
  return (
    <>
      {type === null ? (
        message
      ) : (
        <Link to="type" name={type}>
          {message}
        </Link>
      )}
      {count > 1 && <span class="soft"> ×{count.toLocaleString()}</span>}
      {change !== null && <div class="soft">{change}</div>}
      {failed.map(({ receiver, error }) => (
        <div key={receiver} class="error">
          {t('alerts.not-told', { receiver })} {error}
        </div>
      ))}
    </>
  );
}

function Silence({ of: alert, done }: { readonly of: AlertView; readonly done: () => void }) {
  const { id, message, silenced_until: silenced, cleared_at: clearedAt } = alert;
  if (silenced !== null) {
    return (
      <span class="warn">
        {t('alerts.silent')} <Time at={silenced} />
      </span>
    );
  }
  if (clearedAt !== null) return null;
  return (
    <AskButton
      route="POST /alert/{alert_id}/silence"
      question={{
        title: t('alerts.silence.title'),
        text: message,
        verb: t('alerts.silence'),
        fields: [
          { name: 'until', label: t('field.until'), kind: 'datetime-local', isRequired: true },
        ],
        request: ({ until = '' }) => ({
          method: 'POST',
          path: `/alert/${encodeURIComponent(id)}/silence`,
          namespace: null,
          body: { until: new Date(until).toISOString() },
        }),
        done,
      }}
    />
  );
}
