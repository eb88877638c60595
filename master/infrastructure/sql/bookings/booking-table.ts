/** Bookings, as rows: what they are found by in columns, the rest of what they say as text. */
import type { Booking, BookingState } from '../../../domain/booking/booking.ts';
import type { Dialect, Types } from '../dialects/dialect.ts';
import { columns } from '../rows.ts';
import type { WholeTable } from '../tables/table.ts';

export const bookingDefinition = (t: Types): string => `
  ns ${t.integer} NOT NULL,
  id ${t.key(32)} NOT NULL,
  state ${t.key(16)} NOT NULL,
  from_at ${t.instant} NOT NULL,
  to_at ${t.instant} NOT NULL,
  accepted_seq ${t.instant} NOT NULL,
  created_at ${t.instant} NOT NULL,
  ended_at ${t.instant} NULL,
  definition ${t.text} NOT NULL,
  bound ${t.text} NOT NULL,
  PRIMARY KEY (ns, id)`;

/** Of tasks, live or ended. */
export const addedBookingColumns = (t: Types) => [['booking', `${t.key(32)} NULL`]] as const;

/** Of what was used on a day. */
export const addedUsageColumns = (t: Types) =>
  [['booked_idle_ms', `${t.instant} NOT NULL DEFAULT 0`]] as const;

/** By which its tasks are found. */
const bookingIndex = {
  name: 'ns_booking',
  columns: 'ns, booking, due_at, seq',
  where: 'booking IS NOT NULL',
} as const;

/** Can be run again. @param made the indexes of live tasks. */
export function createBookings(dialect: Dialect, made: ReadonlySet<string> = new Set()): string[] {
  const isIndexed = made.has(`task_${bookingIndex.name}`);
  return [
    ...(isIndexed ? [] : [dialect.createIndex('task', bookingIndex)]),
    ...dialect.createTable('booking', bookingDefinition(dialect.types), []),
  ];
}

/** Of rows: it has a window yet. */
export const NOT_OVER = "state NOT IN ('no_show', 'ended', 'canceled')";

type Named = 'id' | 'state' | 'from' | 'to' | 'seq' | 'createdAt' | 'endedAt' | 'executors';

type Defined = Omit<Booking, Named | 'replacedMs'> & Partial<Pick<Booking, 'replacedMs'>>;

function definitionOf(row: Booking): string {
  const { id, state, from, to, seq, createdAt, endedAt, executors, ...rest } = row;
  return JSON.stringify(rest);
}

export const booking: WholeTable<'booking'> = {
  place: 'booking',
  key: [
    { name: 'ns', kind: 'integer' },
    { name: 'id', kind: 'text' },
  ],
  columns: columns<Booking>(
    ['ns', 'integer', (_, ns) => ns],
    ['id', 'text', (row) => row.id],
    ['state', 'text', (row) => row.state],
    ['from_at', 'integer', (row) => row.from],
    ['to_at', 'integer', (row) => row.to],
    ['accepted_seq', 'integer', (row) => row.seq],
    ['created_at', 'integer', (row) => row.createdAt],
    ['ended_at', 'integer', (row) => row.endedAt],
    ['definition', 'text', definitionOf],
    ['bound', 'text', (row) => JSON.stringify(row.executors)],
  ),
  of(row) {
    const get = <T>(name: string): T => row[name] as T;
    const definition = JSON.parse(get('definition')) as Defined;
    return {
      ...definition,
      // Rows that were written before this was counted do not say it.
      replacedMs: definition.replacedMs ?? 0,
      id: get('id'),
      state: get<BookingState>('state'),
      from: get('from_at'),
      to: get('to_at'),
      seq: get('accepted_seq'),
      createdAt: get('created_at'),
      endedAt: get('ended_at'),
      executors: JSON.parse(get('bound')) as Booking['executors'],
    };
  },
};
