/** Alerts: what is raised now, or was; who was told of it, and how to be told no more for a while. */
import type { AlertView } from '@soda-scheduler/protocol';
import { call } from '../api/call.ts';
import { ask, type Question } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';
import { useResource } from '../frame/resource.ts';
import { Empty, Head, Loaded, Pager } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { t, wordOf } from '../words/words.ts';

const STATES = ['raised', 'cleared'] as const;

interface AlertList {
  readonly alerts: readonly AlertView[];
  readonly next_cursor: string | null;
}

export function AlertsPage() {
  const { place, link } = useFrame();
  const { cursor } = place.query;
  const state = place.query['state'] ?? 'raised';
  const list = useResource<AlertList>(`${state} ${cursor}`, (signal) =>
    call({ path: '/alerts', namespace: null, query: { state, cursor }, signal }),
  );
  return (
    <>
      <Head title={t('alerts')} />
      <nav class="tabs" aria-label={t('state')}>
        {STATES.map((one) => (
          <a
            key={one}
            href={link('alerts', null, { state: one })}
            aria-current={one === state ? 'true' : undefined}
          >
            {wordOf('alert', one)}
          </a>
        ))}
      </nav>
      <Loaded of={list}>
        {({ alerts, next_cursor: next }) => (
          <>
            {alerts.length === 0 ? (
              <Empty title={t(state === 'raised' ? 'alerts.none' : 'alerts.none-cleared')} />
            ) : (
              <Table alerts={alerts} done={list.reload} />
            )}
            <Pager
              isFirst={cursor === undefined}
              first={link('alerts', null, { state })}
              next={next === null ? null : link('alerts', null, { state, cursor: next })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

interface TableProps {
  readonly alerts: readonly AlertView[];
  readonly done: () => void;
}

function Table({ alerts, done }: TableProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{t('alerts.severity')}</th>
            <th class="fill">{t('alerts.message')}</th>
            <th class="wide">{t('alerts.rule')}</th>
            <th class="wide">{t('namespace')}</th>
            <th class="wide">{t('alerts.told')}</th>
            <th class="num">{t('alerts.since')}</th>
            <th>
              <span class="sr">{t('alerts.silence')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {alerts.map((alert) => (
            <Row key={alert.id} alert={alert} done={done} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ alert, done }: { readonly alert: AlertView; readonly done: () => void }) {
  const { may, link } = useFrame();
  const { severity, message, change, type, count, deliveries, silenced_until: silenced } = alert;
  const failed = deliveries.filter(({ state }) => state === 'failed');
  return (
    <tr>
      <td>
        <span class={`severity-${severity}`}>{wordOf('severity', severity)}</span>
      </td>
      <td class="fill whole">
        {type === null ? message : <a href={link('type', type)}>{message}</a>}
        {count > 1 && <span class="soft"> ×{count.toLocaleString()}</span>}
        {change !== null && <div class="soft">{change}</div>}
        {failed.map(({ receiver, error }) => (
          <div key={receiver} class="error">
            {t('alerts.not-told', { receiver })} {error}
          </div>
        ))}
      </td>
      <td class="wide">{alert.rule}</td>
      <td class="wide">{alert.namespace}</td>
      <td class="wide">
        <Time at={alert.told_at} />
      </td>
      <td class="num">
        <Time at={alert.raised_at} />
      </td>
      <td class="num">
        {silenced !== null ? (
          <span class="warn">
            {t('alerts.silent')} <Time at={silenced} />
          </span>
        ) : (
          alert.cleared_at === null &&
          may('POST /alert/{alert_id}/silence') && (
            <button type="button" onClick={() => ask(silenceOf(alert, done))}>
              {t('alerts.silence')}
            </button>
          )
        )}
      </td>
    </tr>
  );
}

function silenceOf({ id, message }: AlertView, done: () => void): Question {
  return {
    title: t('alerts.silence.title'),
    text: message,
    verb: t('alerts.silence'),
    fields: [{ name: 'until', label: t('field.until'), kind: 'datetime-local', isRequired: true }],
    request: ({ until = '' }) => ({
      method: 'POST',
      path: `/alert/${encodeURIComponent(id)}/silence`,
      namespace: null,
      body: { until: new Date(until).toISOString() },
    }),
    done,
  };
}
