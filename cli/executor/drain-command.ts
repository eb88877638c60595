/** `soda executor drain`: takes one executor out of work, or all of a selector, some at a time. */
import type {
  DrainOptions,
  DrainProgress,
  DrainStep,
  RollingOptions,
  SodaClient,
} from '@soda-scheduler/client';
import { Presets, SingleBar } from 'cli-progress';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  type ConnectionOptions,
  connect,
  interruptible,
  remoteCommand,
  tellAbsence,
} from '../connection.ts';
import { ExitCode, Failure, Interrupted } from '../exit-code.ts';
import { goOnWithoutReader, type Output, plain } from '../output.ts';
import {
  hasLeft,
  SELECTOR_HELP,
  selectorOption,
  type Selection,
  selectionOf,
  untilWhen,
} from './selection.ts';

interface DrainCommandOptions extends ConnectionOptions, Selection {
  readonly timeout?: number;
  readonly reason?: string;
  readonly wait?: true;
  readonly maxUnavailable?: number;
  readonly until?: 'empty' | 'replaced';
}

export function drainCommand(): Command {
  return remoteCommand('drain', 'Give executors no new task. What they run goes on.')
    .addArgument(new Argument('[id]', 'the id of the executor'))
    .addOption(selectorOption())
    .option(
      '--timeout <seconds>',
      'take back what one still runs after this long (default: never)',
      seconds,
    )
    .option('--reason <text>', 'why, for whoever looks at the list')
    .option('--wait', 'end only when they run nothing any more, also while the master is away')
    .option(
      '--max-unavailable <count>',
      'of a selector so many at a time, with --wait (default: all at once)',
      count,
    )
    .addOption(
      new Option(
        '--until <what>',
        'when it is done with one: "empty", it runs nothing any more or has left; "replaced", ' +
          'besides, another one takes tasks in its place',
      )
        .choices(['empty', 'replaced'])
        .default('empty'),
    )
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, options: DrainCommandOptions) => {
      const selector = selectionOf(id, options);
      checkRolling(selector, options);
      const { client, output } = connect(options);
      if (id !== undefined) return drainOne(client, output, id, options);
      if (selector !== null && options.wait) return roll(client, output, selector, options);
      if (selector !== null) await drainAll(client, output, selector, options);
    });
}

const HELP = `
An executor with an id of its own stays drained until "soda executor resume", through restarts of it
and of the master; one whose id was made up, until its process ends.

${SELECTOR_HELP}

With --max-unavailable 3 no more than three are on their way at a time, those that run nothing first;
the next follows when the command is done with one:
  --until empty      It runs nothing any more, or has left. All that were selected end up drained.
  --until replaced   Never are more than three fewer at work than before, as with maxUnavailable of
                     Kubernetes: a place is free again when the executor has come back under its id
                     and is not selected any more (it is resumed then), or when one that was not here
                     before takes tasks of these types. Who restarts them is your supervisor.

On a terminal a bar shows how far it is; elsewhere there is a line for each executor that is
"draining", "empty", "left" or "back", with its id and host and tabs between. Ctrl-C ends the command
with 130 and leaves drained what is drained; the same command goes on from there. It ends with 0 when
it is done with all of them, also where there are none.

Examples, before a machine is taken down, and for a new version of all executors:
  $ soda executor drain encoder-3 --timeout 3600 --wait && ssh encoder-3 sudo poweroff
  $ soda executor drain --selector version=1.4 --max-unavailable 3 --until replaced --wait`;

/** @throws {Failure} they mean nothing here. */
function checkRolling(selector: string | null, options: DrainCommandOptions): void {
  const { maxUnavailable, until, wait } = options;
  if (maxUnavailable === undefined && until === 'empty') return;
  if (selector === null) {
    throw new Failure('--max-unavailable and --until are for a --selector', ExitCode.usage);
  }
  if (wait) return;
  throw new Failure('--max-unavailable and --until need --wait: who would go on?', ExitCode.usage);
}

async function drainOne(
  client: SodaClient,
  output: Output,
  id: string,
  { timeout, reason, wait }: DrainOptions & Pick<DrainCommandOptions, 'wait'>,
): Promise<void> {
  const { lasting } = await client.drainExecutor(id, { timeout, reason });
  if (wait) await interruptible((signal) => client.waitForDrain(id, { signal, ...tellAbsence() }));
  const done = wait ? 'drained' : 'draining';
  output.say({ executor_id: id, code: 200, lasting }, `${done}: ${id}${untilWhen(lasting)}`);
}

async function drainAll(
  client: SodaClient,
  output: Output,
  selector: string,
  { timeout, reason }: DrainCommandOptions,
): Promise<void> {
  const found = await client.executors({ selector });
  const ids = found.filter(({ state }) => state !== 'gone').map(({ executor_id }) => executor_id);
  goOnWithoutReader();
  for (const id of new Set(ids)) {
    await drainOne(client, output, id, { timeout, reason }).catch((error: unknown) => {
      if (!hasLeft(error)) throw error;
    });
  }
  if (ids.length === 0) output.hint(`There is no executor of ${selector}.`);
}

async function roll(
  client: SodaClient,
  output: Output,
  selector: string,
  { timeout, reason, maxUnavailable, until }: DrainCommandOptions,
): Promise<void> {
  const bar = output.isTerminal ? progressBar() : null;
  let progress = null as DrainProgress | null;
  const show: Pick<RollingOptions, 'onStep' | 'onProgress' | 'onAway' | 'onBack'> = {
    onStep: (step) => {
      if (bar === null) sayStep(output, step);
    },
    onProgress: (now) => {
      progress = now;
      bar?.setTotal(Math.max(1, now.total));
      bar?.update(now.done, { state: inWords(now) });
    },
    ...tellAbsence(bar ? (state) => bar.update({ state: plain(state) }) : undefined),
  };
  const options = { timeout, reason, maxUnavailable, until, ...show };
  try {
    const { total } = await interruptible((signal) =>
      client.drainExecutors(selector, { ...options, signal }),
    );
    bar?.stop();
    if (total === 0) output.hint(`There is no executor of ${selector}.`);
  } catch (error) {
    bar?.stop();
    if (error instanceof Interrupted && progress !== null) tellRest(output, selector, progress);
    throw error;
  }
}

function sayStep(output: Output, { executorId, host, step }: DrainStep): void {
  const json = JSON.stringify({ executor_id: executorId, host, step });
  output.row(json, [step, executorId, host]);
}

/** What is drained stays so. */
function tellRest(output: Output, selector: string, progress: DrainProgress): void {
  const { total, left } = progress;
  output.hint(
    `Of ${total} executors ${total - left} are drained and stay so; ${inWords(progress)}.`,
  );
  output.hint(
    `To go on: the same command. To give them tasks again: soda executor resume --selector '${selector}'`,
  );
}

function inWords({ running, awaited, left }: DrainProgress): string {
  const some = running.slice(0, 3).join(', ') + (running.length > 3 ? ', …' : '');
  const parts = [
    running.length > 0 ? `${running.length} still at work (${some})` : null,
    awaited > 0 ? `${awaited} waiting to be replaced` : null,
    left > 0 ? `${left} to come` : null,
  ];
  return parts.filter((part) => part !== null).join(', ') || 'none is at work';
}

function progressBar(): SingleBar {
  const bar = new SingleBar(
    // Ctrl-C is dealt with by whoever waits; the bar must not end the process.
    { format: '{bar} {value}/{total} {state}', hideCursor: true, gracefulExit: false },
    Presets.shades_classic,
  );
  bar.start(1, 0, { state: '' });
  return bar;
}

function count(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a count from 1.');
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('Expected seconds.');
  return value;
}
