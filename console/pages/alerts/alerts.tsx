/** Alerts: what is raised now, or was; who was told of it and when; and how to be told no more for a while. */
import type { AlertView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import type { Question } from '../../frame/asking.tsx';
import { AskButton } from '../../parts/ask-button.tsx';
import { Link } from '../../parts/link.tsx';
import { ListPage, useListed } from '../../parts/list-page.tsx';
import { Empty } from '../../parts/page.tsx';
import type { Layout } from '../../parts/table.tsx';
import { lengthOf, Time } from '../../parts/time.tsx';
import { headOf, t, wordOf } from '../../words/words.ts';
import { alertSaid } from './alert-said.ts';
import { AlertTabs } from './tabs.tsx';
import { toldOf } from './told.ts';

interface AlertList {
  readonly alerts: readonly AlertView[];
  readonly next_cursor: string | null;
}

export function AlertsPage() {
  const list = useListed<AlertList>('alerts', {
    path: '/alerts',
    namespace: null,
    preset: { state: 'raised' },
    fields: ['state'],
  });
  const isRaised = list.filters['state'] !== 'cleared';
  return (
    <ListPage
      of={list}
      rowsOf={({ alerts }) => alerts}
      layout={alertLayout}
      empty={<Empty title={t(isRaised ? 'alerts.none' : 'alerts.none-cleared')} />}
    >
      <AlertTabs current={isRaised ? 'raised' : 'cleared'} />
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
    {
      title: 'alerts.told',
      class: 'wide',
      show: (alert) => <Told of={alert} />,
    },
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
  const { type, count, fields, silenced_until: silenced } = alert;
  const { message, change } = alertSaid(alert);
  const kind = headOf('rule', alert.kind);
  return (
    <>
      {kind !== '' && <strong>{kind} </strong>}
      {type === null ? (
        message
      ) : (
        <Link to="type" name={type}>
          {message}
        </Link>
      )}
      {count > 1 && <span class="soft"> ×{count.toLocaleString()}</span>}
      {change !== null && <div class="soft">{change}</div>}
      {alert.kind === 'message' && fields !== null && (
        <pre class="said">{JSON.stringify(fields)}</pre>
      )}
      {silenced !== null && (
        <div class="warn">
          {t('alerts.silent')} <Time at={silenced} /> {alert.silenced_by} {alert.silence_reason}
        </div>
      )}
      <Deliveries of={alert.deliveries} />
    </>
  );
}

function Told({ of: alert }: { readonly of: AlertView }) {
  const told = toldOf(alert);
  if (told === null) return <span class="soft">{t('alerts.told.nobody')}</span>;
  if (typeof told === 'string') return <Time at={told} />;
  const { state, tries } = told;
  return (
    <span class={state === 'failed' ? 'error' : 'warn'}>
      {wordOf('delivery', state)}
      {tries > 0 && ` · ${t('alerts.tries', { n: tries })}`}
    </span>
  );
}

/** Who was told when; what has gone wrong is seen without a click. */
function Deliveries({ of: deliveries }: { readonly of: AlertView['deliveries'] }) {
  if (deliveries.length === 0) return null;
  return (
    <details class="deliveries" open={deliveries.some(({ state }) => state === 'failed')}>
      <summary>{t('alerts.deliveries', { n: deliveries.length })}</summary>
      <ul>
        {deliveries.map(({ receiver, event, state, tries, at, error }) => (
          <li key={`${receiver} ${event} ${at}`} class={state === 'failed' ? 'error' : 'soft'}>
            {receiver} · {wordOf('delivery-event', event)} · {wordOf('delivery', state)}
            {tries > 1 && ` (${t('alerts.tries', { n: tries })})`} · <Time at={at} /> {error}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Silence({ of: alert, done }: { readonly of: AlertView; readonly done: () => void }) {
  if (alert.cleared_at !== null) return null;
  const isSilent = alert.silenced_until !== null;
  return (
    <AskButton
      route="POST /alert/{alert_id}/silence"
      question={isSilent ? voiceOf(alert, done) : silenceOf(alert, done)}
    />
  );
}

const HOUR_SECONDS = 3_600;
const SILENCES = [1, 4, 24, 7 * 24].map((hours) => String(hours * HOUR_SECONDS));
/** In place of a length. */
const UNTIL = 'until';

function silenceOf(alert: AlertView, done: () => void): Question {
  const { id } = alert;
  return {
    title: t('alerts.silence.title'),
    text: alertSaid(alert).message,
    verb: t('alerts.silence'),
    fields: ({ for: length = SILENCES[1] }) => [
      {
        name: 'for',
        label: t('alerts.silence.for'),
        kind: 'select',
        options: [...SILENCES, UNTIL],
        inWords: (one) =>
          one === UNTIL ? t('alerts.silence.until') : lengthOf(1000 * Number(one)),
        initial: String(SILENCES[1]),
      },
      ...(length === UNTIL
        ? ([
            { name: 'until', label: t('field.until'), kind: 'datetime-local', isRequired: true },
          ] as const)
        : []),
      { name: 'reason', label: t('field.reason') },
    ],
    request: ({ for: length }, { until, reason }) => ({
      ...toSilence(id),
      body: {
        until:
          length === UNTIL ? until : new Date(masterNow() + 1000 * Number(length)).toISOString(),
        reason,
      },
    }),
    done,
  };
}

function voiceOf(alert: AlertView, done: () => void): Question {
  const { id } = alert;
  return {
    title: t('alerts.voice.title'),
    text: alertSaid(alert).message,
    verb: t('alerts.voice'),
    request: () => ({ ...toSilence(id), body: { until: null } }),
    done,
  };
}

const toSilence = (id: string) =>
  ({ method: 'POST', path: `/alert/${encodeURIComponent(id)}/silence`, namespace: null }) as const;
