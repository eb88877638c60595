/** Times at which no job of the namespace is fired. */
import type { BlackoutsView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import type { Question } from '../../frame/asking.tsx';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import { Empty, Head, Loaded } from '../../parts/page.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { TimeInFull } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { CalendarTabs } from './tabs.tsx';

type Blackout = BlackoutsView['blackouts'][number];

export function BlackoutsPage() {
  const { namespace } = useFrame().place;
  const found = useAnswer<BlackoutsView>({ path: '/blackouts' }, 15_000);
  return (
    <>
      <Head
        title={t('blackouts')}
        actions={
          found.data !== null && (
            <AskButton
              route="PUT /blackouts"
              question={newBlackout(found.data, namespace, found.reload)}
            />
          )
        }
      />
      <CalendarTabs current="blackouts" />
      <Loaded of={found}>
        {(view) =>
          view.blackouts.length === 0 ? (
            <Empty title={t('blackouts.none')}>
              <SodaCommand text="soda blackout add --from 2026-12-31T18:00Z --to 2027-01-01T06:00Z --reason 'new year'" />
            </Empty>
          ) : (
            <Table of={layoutOf(view, namespace)} rows={view.blackouts} reload={found.reload} />
          )
        }
      </Loaded>
    </>
  );
}

const layoutOf = (view: BlackoutsView, namespace: string): Layout<Blackout> => ({
  keyOf: ({ from, to, reason }) => `${from} ${to} ${reason}`,
  classOf: ({ to }) => (Date.parse(to) < masterNow() ? 'soft' : ''),
  columns: [
    { title: 'blackouts.from', show: ({ from }) => <TimeInFull at={from} /> },
    { title: 'blackouts.to', show: ({ to }) => <TimeInFull at={to} /> },
    { title: 'field.reason', class: 'fill', text: 'whole', show: ({ reason }) => reason },
    {
      title: 'action.delete',
      isTitleHidden: true,
      class: 'num',
      show: (one, reload) => (
        <AskButton
          route="PUT /blackouts"
          question={{
            title: t('blackouts.delete'),
            ...(one.reason !== null && { text: one.reason }),
            verb: t('action.delete'),
            isGrave: true,
            request: () =>
              putting(
                view,
                namespace,
                view.blackouts.filter((other) => other !== one),
              ),
            done: reload,
          }}
        />
      ),
    },
  ],
});

function newBlackout(view: BlackoutsView, namespace: string, done: () => void): Question {
  return {
    title: t('blackouts.new'),
    text: t('blackouts.text'),
    verb: t('blackouts.new'),
    fields: [
      { name: 'from', label: t('blackouts.from'), kind: 'datetime-local', isRequired: true },
      { name: 'to', label: t('blackouts.to'), kind: 'datetime-local', isRequired: true },
      { name: 'reason', label: t('field.reason') },
    ],
    request: (_, { from, to, reason = null }) =>
      putting(view, namespace, [...view.blackouts, { from, to, reason } as Blackout]),
    done,
  };
}

/** All of them, and not over what somebody else has made of them meanwhile. */
function putting({ version }: BlackoutsView, namespace: string, blackouts: readonly Blackout[]) {
  return {
    method: 'PUT',
    path: '/blackouts',
    namespace,
    headers: { 'if-match': `"${version}"` },
    body: {
      blackouts: blackouts.map(({ reason, ...span }) => ({
        ...span,
        ...(reason !== null && { reason }),
      })),
    },
  } as const;
}
