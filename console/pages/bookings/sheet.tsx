/** Bookings over a day or a week: a row for each type or executor, and a line where it is now. */
import type { BookingView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import { useFrame } from '../../frame/context.ts';
import { ExecutorLink, Link } from '../../parts/link.tsx';
import { language, t, wordOf } from '../../words/words.ts';
import { isInTrouble, type Row, rowsOf, servingOf, type Shown, type Span } from './rows.ts';

const HOUR_MS = 3_600_000;
/** Percent of the span: words of a window that is narrower stand beside it. */
const NARROW_PERCENT_MAX = 5;

interface Props {
  readonly of: readonly BookingView[];
  readonly by: 'type' | 'executor';
  readonly span: Span;
}

export function Sheet({ of: bookings, by, span }: Props) {
  const rows = rowsOf(bookings, by, span);
  const ticks = ticksOf(span);
  const now = placeOf(masterNow(), span);
  return (
    <div class="booked" role="region" aria-label={t('bookings.calendar')} tabIndex={0}>
      <div class="booked-sheet">
        <div class="booked-row booked-head" aria-hidden="true">
          <span />
          <div class="booked-lines">
            {ticks.map(({ at, text }) => (
              <span key={at} class="booked-tick" style={{ left: `${placeOf(at, span)}%` }}>
                {text}
              </span>
            ))}
          </div>
        </div>
        {rows.map((row) => (
          <RowOf key={row.name} of={row} by={by} span={span} ticks={ticks.map(({ at }) => at)} />
        ))}
        {rows.length === 0 && <p class="soft booked-none">{t('bookings.none-then')}</p>}
        {now > 0 && now < 100 && (
          <div class="booked-now" aria-hidden="true">
            <i style={{ left: `${now}%` }} />
          </div>
        )}
      </div>
    </div>
  );
}

interface RowProps extends Pick<Props, 'by' | 'span'> {
  readonly of: Row;
  readonly ticks: readonly number[];
}

function RowOf({ of: { name, lines, hasTrouble }, by, span, ticks }: RowProps) {
  const { may } = useFrame();
  const isLink = by === 'type' || may('GET /executors');
  return (
    <section class="booked-row" aria-label={name || t('bookings.unbound')}>
      <div class={`booked-name ${hasTrouble ? 'booked-trouble' : ''}`}>
        {name === '' ? (
          <span class="soft">{t('bookings.unbound')}</span>
        ) : by === 'type' ? (
          <Link to="type" name={name} />
        ) : isLink ? (
          <ExecutorLink id={name} />
        ) : (
          name
        )}
      </div>
      <div class="booked-lines" style={{ height: `${lines.length * 34 + 6}px` }}>
        {ticks.map((at) => (
          <i key={at} class="booked-rule" style={{ left: `${placeOf(at, span)}%` }} />
        ))}
        {lines.flatMap((line, at) =>
          line.map((shown, index) => (
            <Window
              key={`${shown.booking.booking_id} ${shown.from}`}
              of={shown}
              line={at}
              span={span}
              until={Math.min(span.to, line[index + 1]?.from ?? span.to)}
            />
          )),
        )}
      </div>
    </section>
  );
}

function Window({
  of: shown,
  line,
  span,
  until,
}: {
  readonly of: Shown;
  readonly line: number;
  readonly span: Span;
  /** Nothing else is in its line before. */
  readonly until: number;
}) {
  const { link } = useFrame();
  const { booking, isCurrent, from, to } = shown;
  const { booking_id: id, group, count, executors, maintenance } = booking;
  const left = Math.max(0, placeOf(from, span));
  const width = Math.min(100, placeOf(to, span)) - left;
  const state = isCurrent ? booking.state : 'planned';
  const words = [
    maintenance ? t('bookings.maintenance') : group,
    isCurrent && state === 'bound' ? servingOf(booking) : `×${count}`,
  ];
  const whole = [
    ...words,
    wordOf('state', state),
    `${clockOf(from)} – ${clockOf(to)}`,
    ...(isCurrent ? executors : []),
    ...(isCurrent && booking.short > 0 ? [t('bookings.short', { n: booking.short })] : []),
  ].join(', ');
  const room = placeOf(until, span) - left - width;
  const top = `${line * 34 + 3}px`;
  const window = (
    <a
      href={link('booking', id)}
      class={`booked-window booked-${isCurrent && isInTrouble(booking) ? 'at_risk' : state} ${maintenance ? 'booked-maintenance' : ''}`}
      style={{ left: `${left}%`, width: `${width}%`, top }}
      aria-label={whole}
      title={whole}
    >
      <b>{words[0]}</b> <span>{words[1]}</span>
    </a>
  );
  if (width > NARROW_PERCENT_MAX || room < NARROW_PERCENT_MAX) return window;
  return (
    <>
      {window}
      <span
        class="booked-beside"
        aria-hidden="true"
        style={{
          left: `max(${left + width}%, calc(${left}% + var(--booked-least)))`,
          maxWidth: `${room}%`,
          top,
        }}
      >
        {words[0]}
      </span>
    </>
  );
}

function clockOf(at: number): string {
  return new Date(at).toLocaleString(language(), {
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });
}

/** In percent of the span. */
const placeOf = (at: number, { from, to }: Span): number => (100 * (at - from)) / (to - from);

/** Every other hour of a day, every day of a week: by the clock on the wall. */
function ticksOf({ from, to }: Span): { readonly at: number; readonly text: string }[] {
  const isDay = to - from < 2 * 24 * HOUR_MS;
  const ticks: { at: number; text: string }[] = [];
  const date = new Date(from);
  while (date.getTime() < to) {
    const text = isDay
      ? String(date.getHours()).padStart(2, '0')
      : date.toLocaleDateString(language(), { weekday: 'short', day: 'numeric' });
    ticks.push({ at: date.getTime(), text });
    if (isDay) date.setHours(date.getHours() + 2);
    else date.setDate(date.getDate() + 1);
  }
  return ticks;
}
