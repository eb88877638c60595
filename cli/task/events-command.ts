/** `soda events`, and of one task `soda task events`: what has happened, and what happens. */
import { type EventPage, type EventView, exactJson, type SodaClient } from '@soda-scheduler/client';
import { eventKinds } from '@soda-scheduler/protocol';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  tellAbsence,
} from '../connection.ts';
import type { Output } from '../output.ts';
import { rounded } from './progress-words.ts';

type Level = EventPage['level'];
type Query = NonNullable<Parameters<SodaClient['events']>[0]>;

interface EventOptions extends ConnectionOptions, Omit<Query, 'limit'> {
  readonly follow?: true;
}

const COLUMNS = `
A line has the number, when, what, the task and its attempt, the executor, who asked for it, and what else there is to
say; into a pipe with tabs between. --json has all of it. Keep the number of the last line: --after goes on there.`;

export function eventsCommand(): Command {
  return following('events', 'Show what has happened, oldest first; with --follow as it happens.')
    .option('--task <id>', 'of this task')
    .option('--type <type>', 'of tasks of this type, and of the type')
    .option('--group <group>', 'of tasks of this group, and of the group')
    .addHelpText(
      'after',
      `${COLUMNS}

Examples:
  $ soda events -f --after now
  $ soda events --kind task.finished --type encode --json
  $ soda events -f --after 48213 --json | ./deal-with-them`,
    )
    .action((options: EventOptions) => show(options));
}

export function taskEventsCommand(): Command {
  return following('events', 'Show what has happened to a task; with --follow as it happens.')
    .addArgument(new Argument('<id>', 'the id of the task'))
    .addHelpText('after', COLUMNS)
    .action((task: string, options: EventOptions) => show({ ...options, task }));
}

function following(name: string, description: string): Command {
  return remoteCommand(name, description)
    .option('-f, --follow', 'go on with what happens, until Ctrl-C')
    .option('--kind <kind>', 'of this kind: task.finished, or task for all that begin so')
    .option('--after <number>', 'what comes after this number; now: from now on', numberOrNow);
}

function numberOrNow(text: string): number | 'now' {
  if (text === 'now') return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected the number of an event, or now');
}

async function show(options: EventOptions): Promise<void> {
  const { client, output } = connect(options);
  const { follow = false, task, type, group, kind, after } = options;
  const query = { task, type, group, kind, after };
  await interruptible(async (signal) => {
    const absence = tellAbsence();
    const onLevel = (level: Level) => {
      const untold = untoldInWords(level, kind);
      if (untold !== null) output.hint(untold);
    };
    for await (const event of client.events(query, { follow, signal, onLevel, ...absence })) {
      tell(output, event);
    }
  });
}

/** Why whoever asks may wait for ever; null: what he asks for is told. */
function untoldInWords(level: Level, kind: string | undefined): string | null {
  if (level === 'none') return 'The master tells nothing here (SODA_EVENTS=none).';
  const kinds: Readonly<
    Record<string, { readonly means: string; readonly level?: 'all' } | undefined>
  > = eventKinds;
  if (level === 'all' || kind === undefined || kinds[kind]?.level !== 'all') return null;
  return `The master does not tell of ${kind} (SODA_EVENTS=${level}; it would with all).`;
}

function tell(output: Output, event: EventView): void {
  const { seq, at, kind, task_id, attempt, executor_id, actor, data } = event;
  const shown = (name: string, value: unknown) =>
    name === 'percent' && typeof value === 'number'
      ? rounded(value)
      : exactJson(event, 'data', name);
  const more = Object.entries(data).map(([name, value]) => `${name}=${shown(name, value)}`);
  const task = attempt === undefined ? task_id : `${task_id}#${attempt}`;
  const about = [task, executor_id, actor].map((cell) => cell ?? null);
  output.row(exactJson(event), [seq, at, kind, ...about, more.join(' ')]);
}
