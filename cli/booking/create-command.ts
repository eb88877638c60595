/** `soda booking create`, and what might be had instead of what is taken. */
import {
  type BookingRequest,
  type FreeWindow,
  type SodaClient,
  SodaError,
} from '@soda-scheduler/client';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, connect, remoteCommand } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { count, number } from '../options.ts';
import { lengthOf, localInstantOf, localTime, LOCAL, typed } from './words.ts';

interface CreateOptions {
  readonly type: string;
  readonly group: string;
  readonly from: string;
  readonly to?: string;
  readonly for?: string;
  readonly count?: number;
  readonly requires?: string[];
  readonly label?: string[];
  readonly lead?: number;
  readonly hold?: number;
  readonly overrun?: 'end' | 'allow';
  readonly every?: string;
  readonly zone?: string;
  readonly maintenance?: boolean;
}

const EXAMPLES = `
Prints the id, which "soda task submit --booking" takes. Where it is not free, what is follows.

Examples:
  $ soda booking create --type ffmpeg.push --group class-7 --from "2026-12-01 20:00" --for 2h
  $ soda booking create --type ffmpeg.push --group class-7 --from "2026-12-01 20:00" --for 2h \\
      --every 7d --zone Asia/Shanghai
  $ soda booking create --type ffmpeg.push --group ops --from +1d --for 3h \\
      --requires executor:push-3 --maintenance`;

export function createCommand(): Command {
  return remoteCommand('create', 'Book executors for a window of time, once or again and again.')
    .requiredOption('--type <type>', 'of the tasks that will run')
    .requiredOption('--group <group>', 'whose tasks may be of it')
    .requiredOption('--from <time>', `when the window begins, ${LOCAL}`)
    .option('--to <time>', `when it ends, ${LOCAL}`)
    .option('--for <length>', 'how long it is in place of that, such as 90min, 2h or 1d')
    .option('--count <count>', 'executors (default: 1)', count)
    .option('--requires <label...>', 'labels that they must have, all of them')
    .option('--label <label...>', 'labels of its tasks: executors reserved so may be booked too')
    .option('--every <length>', 'again each time after so long, such as 1d or 7d')
    .option(
      '--zone <zone>',
      'where whole days keep the time of the day (default: UTC), and of times that say none',
    )
    .option('--lead <seconds>', 'so long before they are bound (default: 30)', number)
    .option(
      '--hold <seconds>',
      'so long before they take only what ends in time (default: as the type says, else 900)',
      number,
    )
    .addOption(
      new Option('--overrun <rule>', 'what becomes of tasks at the end (default: end)').choices([
        'end',
        'allow',
      ]),
    )
    .option('--maintenance', 'they are given nothing at all meanwhile')
    .addHelpText('after', EXAMPLES)
    .action(async ({ url, namespace, token, json, requestTimeout, ...asked }: Options) => {
      const connection = { url, namespace, token, json, requestTimeout } as ConnectionOptions;
      const { client, output } = connect(connection);
      const booking = requestOf(asked);
      try {
        const made = await client.bookings.create(booking);
        output.say(made, made.booking_id);
      } catch (error) {
        if (!(error instanceof SodaError) || error.code !== 409) throw error;
        const { free, limit } = error.problem ?? {};
        if (output.json) output.say({ code: 409, free, limit }, '');
        const isAnyFree = free !== undefined && free.length > 0;
        const lines = isAnyFree
          ? suggestions(booking, free)
          : await remedies(client, booking, error);
        throw new Failure([error.message, ...lines].join('\n'), ExitCode.conflict);
      }
    });
}

type Options = ConnectionOptions & CreateOptions;

function requestOf(options: CreateOptions): BookingRequest & { from: string; to: string } {
  const { type, group, from: begin, to, for: length, requires, label, every, ...others } = options;
  const { count: executors, lead, hold, overrun, zone, maintenance } = others;
  const from = localInstantOf(begin, zone);
  if ((to === undefined) === (length === undefined)) {
    const both = to === undefined ? '' : ', not both';
    throw new Failure(`say when it ends: --to, or --for${both}`, ExitCode.usage);
  }
  const end =
    length === undefined
      ? localInstantOf(to ?? '', zone)
      : new Date(Date.parse(from) + lengthOf(length, '--for') * 1000).toISOString();
  return {
    type,
    group,
    from,
    to: end,
    count: executors,
    requires,
    labels: label,
    every: every === undefined ? undefined : lengthOf(every, '--every'),
    zone,
    lead,
    hold,
    overrun,
    maintenance,
  };
}

const NOT_LOOKED = 'the master is too busy to look for what is free: ask again';

/** What may help where nothing is free, of that only what whoever asks may do. */
async function remedies(
  client: SodaClient,
  { type, requires = [], every }: BookingRequest,
  { problem }: SodaError,
): Promise<string[]> {
  const looked =
    every === undefined
      ? 'no such window was found free in the days around it'
      : 'no other time near to it was found at which all of its windows fit';
  const none = problem?.free === undefined ? NOT_LOOKED : looked;
  // It is named already, and no executor would help.
  if (problem?.limit !== undefined) return [none];
  const { role } = await client.whoami();
  if (role === 'submit') return [none];
  const seen = [
    `${none}; those count that were there in the last ten minutes:`,
    `  soda executor list --selector type=${type}`,
  ];
  // With a capacity labels do not count: all of it would be taken to have them.
  if (role !== 'admin' || requires.length > 0) return seen;
  return [
    ...seen,
    'where these are not all, say how many there will be:',
    `  soda type set ${type} capacity=N`,
  ];
}

/** How many are said: the nearest. */
const SUGGESTION_COUNT = 5;

/** A line for each, and what to type for it. */
function suggestions(
  booking: BookingRequest & { from: string; to: string },
  free: readonly FreeWindow[],
): string[] {
  const lengthMs = Date.parse(booking.to) - Date.parse(booking.from);
  const fitted = free.map((window) => {
    const latest = Date.parse(window.to) - lengthMs;
    const at = Math.max(Date.parse(window.from), Math.min(Date.parse(booking.from), latest));
    return { window, at, away: Math.abs(at - Date.parse(booking.from)) };
  });
  const nearest = fitted.toSorted((a, b) => a.away - b.away).slice(0, SUGGESTION_COUNT);
  return nearest.flatMap(({ window, at }) => {
    const executors = Math.min(booking.count ?? 1, window.count);
    const timeOf = (instant: string) => localTime(instant, booking.zone);
    const from = timeOf(new Date(at).toISOString());
    const to = timeOf(new Date(at + lengthMs).toISOString());
    return [
      `${window.count} free from ${timeOf(window.from)} to ${timeOf(window.to)}:`,
      `  soda booking create ${typed({ ...booking, from, to, count: executors })}`,
    ];
  });
}
