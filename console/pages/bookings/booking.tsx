/** One booking: its windows, who is bound, and to give it up. */
import type { BookingView } from '@soda-scheduler/protocol';
import { useFrame } from '../../frame/context.ts';
import { useAnswer } from '../../frame/resource.ts';
import { AskButton } from '../../parts/ask-button.tsx';
import { SodaCommand } from '../../parts/copy.tsx';
import { ExecutorLink, Link } from '../../parts/link.tsx';
import { Missing } from '../missing.tsx';
import { Facts, Head, Loaded, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { type Layout, Table } from '../../parts/table.tsx';
import { lengthOf, Took, TimeInFull } from '../../parts/time.tsx';
import { t } from '../../words/words.ts';
import { troubleOf } from './bookings.tsx';

const pathOf = (id: string): string => `/booking/${encodeURIComponent(id)}`;
const isOver = ({ state }: BookingView): boolean =>
  ['no_show', 'ended', 'canceled'].includes(state);

export function BookingPage({ id }: { readonly id: string }) {
  const booking = useAnswer<BookingView>({ path: pathOf(id) });
  const { data } = booking;
  return (
    <>
      <Head
        title={id}
        actions={data !== null && !isOver(data) && <Cancel of={data} done={booking.reload} />}
      >
        {data !== null && <State of={data.state} />}
      </Head>
      <Loaded of={booking} none={<Missing name={id} list="bookings" />}>
        {(view) => <Whole of={view} reload={booking.reload} />}
      </Loaded>
    </>
  );
}

function Cancel({ of: { booking_id: id }, done }: { of: BookingView; done: () => void }) {
  const { namespace } = useFrame().place;
  return (
    <AskButton
      route="DELETE /booking/{booking_id}"
      question={{
        title: t('bookings.cancel', { id }),
        text: t('bookings.cancel.text'),
        verb: t('bookings.cancel.verb'),
        isGrave: true,
        request: () => ({ method: 'DELETE', path: pathOf(id), namespace }),
        done,
      }}
    />
  );
}

function Whole({ of: view, reload }: { of: BookingView; reload: () => void }) {
  const trouble = troubleOf(view);
  const { booking_id: id, type, every, zone, executors, windows } = view;
  const seconds = (value: number) => lengthOf(value * 1000);
  return (
    <>
      {trouble !== '' && <p class="remark">{trouble}</p>}
      <Facts
        of={[
          [t('type'), <Link to="type" name={type} />],
          [t('group'), view.group],
          [t('bookings.from'), <TimeInFull at={view.from} />],
          [t('bookings.to'), <TimeInFull at={view.to} />],
          [t('bookings.length'), <Took from={view.from} to={view.to} />],
          [t('bookings.every'), every !== null && `${seconds(every)} ${zone ?? ''}`],
          [t('bookings.count'), view.count.toLocaleString()],
          [t('bookings.bound'), executors.map((one) => <ExecutorLink key={one} id={one} />)],
          [
            t('bookings.unready'),
            view.unready.length > 0 &&
              view.unready.map((one) => <Unready key={one.executor_id} of={one} />),
          ],
          [t('bookings.requires'), view.requires.join(' ')],
          [t('task.labels'), view.labels.join(' ')],
          [t('bookings.lead'), seconds(view.lead)],
          [t('bookings.hold'), seconds(view.hold)],
          [t('bookings.overrun'), t(`bookings.overrun.${view.overrun}`)],
          [t('bookings.maintenance'), view.maintenance && t('bookings.maintenance.text')],
          [t('tasks'), !view.maintenance && view.tasks.toLocaleString()],
          [t('bookings.created'), <TimeInFull at={view.created_at} />],
          [t('operation.by'), view.created_by],
        ]}
      />
      {!view.maintenance && !isOver(view) && (
        <SodaCommand
          text={`soda task submit --type ${type} --group ${view.group} --booking ${id}`}
        />
      )}
      {every !== null && (
        <Section title={t('bookings.windows')}>
          <Table of={windowLayout(view)} rows={windows} reload={reload} />
          {view.skipped.length > 0 && (
            <p class="note">
              {t('bookings.skipped')}{' '}
              {view.skipped.map((from) => (
                <span key={from}>
                  <TimeInFull at={from} />{' '}
                </span>
              ))}
            </p>
          )}
        </Section>
      )}
    </>
  );
}

/** It has the booking, and could not begin: the next that is free takes its place. */
function Unready({
  of: { executor_id: id, reason, message },
}: {
  of: BookingView['unready'][number];
}) {
  return (
    <div>
      <ExecutorLink id={id} /> {t(`bookings.unready.${reason}`)}
      {message !== null && `: ${message}`}
    </div>
  );
}

type Window = BookingView['windows'][number];

const windowLayout = (view: BookingView): Layout<Window> => ({
  keyOf: ({ from }) => from,
  columns: [
    { title: 'bookings.from', class: 'fill', show: ({ from }) => <TimeInFull at={from} /> },
    { title: 'bookings.to', class: 'num wide', show: ({ to }) => <TimeInFull at={to} /> },
    {
      title: 'bookings.skip.verb',
      isTitleHidden: true,
      class: 'num',
      show: (window, reload) => <Skip of={view} from={window.from} done={reload} />,
    },
  ],
});

interface SkipProps {
  readonly of: BookingView;
  readonly from: string;
  readonly done: () => void;
}

function Skip({ of: { booking_id: id }, from, done }: SkipProps) {
  const { namespace } = useFrame().place;
  return (
    <AskButton
      route="POST /booking/{booking_id}/skip"
      isQuiet
      question={{
        title: t('bookings.skip', { id }),
        text: t('bookings.skip.text'),
        content: <TimeInFull at={from} />,
        verb: t('bookings.skip.verb'),
        isGrave: true,
        request: () => ({ method: 'POST', path: `${pathOf(id)}/skip`, namespace, body: { from } }),
        done,
      }}
    />
  );
}
