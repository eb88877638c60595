/** `soda booking`: executors that are kept for a window of time. */
import type { BookingView } from '@soda-scheduler/client';
import { Argument, Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { instantOf, TIME } from '../instant.ts';
import { count } from '../options.ts';
import { upTo } from '../task/task-search.ts';
import { createCommand } from './create-command.ts';
import {
  executorsInWords,
  hasZone,
  LOCAL,
  localInstantOf,
  localTime,
  recurrenceInWords,
  unreadyInWords,
} from './words.ts';

export function bookingCommand(): Command {
  return new Command('booking')
    .description('Keep executors for a window of time, so that work starts on its second.')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(getCommand())
    .addCommand(cancelCommand())
    .addCommand(skipCommand());
}

const id = () => new Argument('<id>', 'the booking');

interface ListOptions extends ConnectionOptions {
  readonly type?: string;
  readonly group?: string;
  readonly executor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

function listCommand(): Command {
  return remoteCommand('list', 'List bookings, those that begin last first.')
    .option('--type <type>', 'of this type only')
    .option('--group <group>', 'of this group only')
    .addOption(new Option('--executor <id>', 'that have bound this executor only'))
    .option('--from <time>', `with a window that ends after this time, ${TIME}`)
    .option('--to <time>', `with a window that begins before this time, ${TIME}`)
    .option('--limit <count>', 'how many at most (default: 20)', count)
    .addHelpText(
      'after',
      '\nTimes are those of the zone of a booking, else of this machine, also into a pipe: there with tabs.',
    )
    .action(async ({ limit = 20, ...options }: ListOptions) => {
      const { type, group, executor, from, to, ...connection } = options;
      const { client, output } = connect(connection);
      const filter = { type, group, executor, from: instantOf(from), to: instantOf(to) };
      const head = ['booking', 'state', 'type', 'group', 'from', 'to', 'executors', 'every'];
      await output.rows(upTo(limit, client.bookings.list(filter)), head, (booking) => [
        booking.booking_id,
        booking.state,
        booking.type,
        booking.group,
        localTime(booking.from, booking.zone),
        localTime(booking.to, booking.zone),
        executorsInWords(booking),
        recurrenceInWords(booking),
      ]);
    });
}

function getCommand(): Command {
  return remoteCommand('get', 'Show a booking: its window, who is bound, and what comes after it.')
    .addArgument(id())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const booking = await client.bookings.get(of);
      output.fields(booking, fieldsOf(booking));
    });
}

function fieldsOf(booking: BookingView): (readonly [string, string | number | null])[] {
  const { created_by: by } = booking;
  const timeOf = (instant: string) => localTime(instant, booking.zone);
  return [
    ['booking', booking.booking_id],
    ['state', booking.state],
    ['type', booking.type],
    ['group', booking.group],
    ['requires', booking.requires.join(' ')],
    ['labels', booking.labels.join(' ')],
    ['from', timeOf(booking.from)],
    ['to', timeOf(booking.to)],
    ['every', recurrenceInWords(booking)],
    ['executors', executorsInWords(booking)],
    ['bound', booking.executors.join(' ')],
    ['at risk', booking.risk],
    ['short', booking.short === 0 ? null : `${booking.short} that should be bound by now`],
    ...booking.unready.map((one) => ['cannot serve', unreadyInWords(one)] as const),
    ['tasks', booking.maintenance ? 'none: it is for maintenance' : booking.tasks],
    ['bound before', `${booking.lead} s`],
    ['held before', `${booking.hold} s`],
    ['past its end', booking.overrun === 'allow' ? 'until another booking follows' : 'ended'],
    ...booking.windows.map(({ from, to }) => {
      return ['then', `${timeOf(from)} to ${timeOf(to)}`] as const;
    }),
    ...booking.skipped.map((from) => ['left out', timeOf(from)] as const),
    ['created', by === null ? booking.created_at : `${booking.created_at} by ${by}`],
  ];
}

function cancelCommand(): Command {
  return remoteCommand('cancel', 'Give up a booking: all its windows that are not over.')
    .addArgument(id())
    .action(async (of: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      await client.bookings.cancel(of);
      output.say({ booking_id: of, code: 200 }, `canceled: ${of}`);
    });
}

function skipCommand(): Command {
  return remoteCommand('skip', 'Leave out one window of a recurring booking.')
    .addArgument(id())
    .addArgument(
      new Argument('<from>', `when that window begins, by the zone of the booking, ${LOCAL}`),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ soda booking skip bk-0123456789abcdef "2026-12-24 20:00"',
    )
    .action(async (of: string, begin: string, options: ConnectionOptions) => {
      const { client, output } = connect(options);
      const zone = hasZone(begin) ? null : (await client.bookings.get(of)).zone;
      const from = localInstantOf(begin, zone);
      await client.bookings.skip(of, from);
      output.say({ booking_id: of, from, code: 200 }, `skipped: ${of} at ${begin}`);
    });
}
