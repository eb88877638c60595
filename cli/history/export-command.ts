/** `soda history export`: ended tasks of a master as lines of JSON, into a file that an interrupted export goes on with, or to stdout. */
import { once } from 'node:events';
import {
  exactJson,
  type HistoryQuery,
  type SodaClient,
  type TaskView,
} from '@soda-scheduler/client';
import { endedStates, HTTP_LIMITS, visibleJson } from '@soda-scheduler/protocol';
import { type Command, Option } from 'commander';
import { progressBar } from '../bulk/follow.ts';
import { type ConnectionOptions, connect, interruptible, remoteCommand } from '../connection.ts';
import { instantOf, TIME } from '../instant.ts';
import { once as onlyOnce } from '../options.ts';
import type { Output } from '../output.ts';
import { ExportFile, type Progress } from './export-file.ts';

interface ExportOptions extends ConnectionOptions {
  readonly from?: string;
  readonly to?: string;
  readonly type?: string;
  readonly group?: string;
  readonly state?: NonNullable<HistoryQuery['state']>;
  readonly out?: string;
}

export function exportCommand(): Command {
  return remoteCommand(
    'export',
    'Write ended tasks, whole, as lines of JSON, the oldest days first.',
  )
    .addOption(onlyOnce(new Option('--from <time>', `ended then or later, ${TIME}`)))
    .addOption(onlyOnce(new Option('--to <time>', 'ended before (default: now)')))
    .addOption(onlyOnce(new Option('--type <type>', 'of this type only')))
    .addOption(onlyOnce(new Option('--group <group>', 'of this group only')))
    .addOption(onlyOnce(new Option('--state <state>', 'that ended so').choices(endedStates)))
    .addOption(
      onlyOnce(new Option('--out <file>', 'into this file, which is there once it is whole')),
    )
    .addHelpText(
      'after',
      `
A line is what "soda task get --json" says of a task. Until an export into a file is whole, the file is called
<file>.part; where it was interrupted, the same command goes on.

Examples:
  $ soda history export --from -1d > yesterday.ndjson
  $ soda history export --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z --out november.ndjson
  $ soda history export --state failed | jq -r .error.message | sort | uniq -c`,
    )
    .action(async (options: ExportOptions) => {
      const { client, output } = connect(options);
      await interruptible((signal) => run(client, output, options, signal));
    });
}

async function run(
  client: SodaClient,
  output: Output,
  { out, url, namespace, ...options }: ExportOptions,
  signal: AbortSignal,
): Promise<void> {
  const { from, to, type, group, state } = options;
  const begin = (): Progress => {
    const times = { from: instantOf(from)?.toString(), to: (instantOf(to) ?? now()).toString() };
    return { query: { ...times, type, group, state }, cursor: null, bytes: 0, count: 0 };
  };
  if (out === undefined) {
    await readAll(client, begin(), signal, toStdout, tellNothing);
    return;
  }
  const asked = JSON.stringify({ url, namespace, from, to, type, group, state });
  const file = await ExportFile.open(out, asked, begin);
  const bar = process.stderr.isTTY && !output.json ? progressBar() : null;
  let first = file.progress.query.from;
  const tell = (progress: Progress, last: TaskView): void => {
    first ??= last.finished_at ?? undefined;
    const share = shareOf(progress, last, instant(first ?? ''));
    bar?.update(share, { state: inWords(progress, last) });
  };
  try {
    const { count } = await readAll(
      client,
      file.progress,
      signal,
      (text, progress) => file.write(text, progress),
      tell,
    );
    await file.finish();
    bar?.update(1);
    bar?.stop();
    output.say({ file: out, count }, `${count} ${count === 1 ? 'task' : 'tasks'} in ${out}`);
  } catch (error) {
    bar?.stop();
    await file.close();
    output.hint(`The same command goes on where this one has ended: ${out}.part`);
    throw error;
  }
}

type Take = (text: string, progress: Omit<Progress, 'bytes'>) => Promise<void>;

/** Each page is taken before the next one is asked for. */
async function readAll(
  client: SodaClient,
  begun: Progress,
  signal: AbortSignal,
  take: Take,
  tell: (progress: Progress, last: TaskView) => void,
): Promise<Progress> {
  let progress = begun;
  for (;;) {
    const { query, cursor } = progress;
    const asked = { ...query, limit: HTTP_LIMITS.listCountMax, cursor: cursor ?? undefined };
    const { tasks, next_cursor } = await client.historyPage(asked, { signal });
    const count = progress.count + tasks.length;
    progress = { ...progress, cursor: next_cursor, count };
    await take(tasks.map((task) => `${onOneLine(exactJson(task))}\n`).join(''), progress);
    const last = tasks.at(-1);
    if (last !== undefined) tell(progress, last);
    if (next_cursor === null) return progress;
  }
}

/** A terminal is steered by no task; a pipe has each character as it was given. */
async function toStdout(text: string): Promise<void> {
  const shown = process.stdout.isTTY ? visibleJson(text) : text;
  if (!process.stdout.write(shown)) await once(process.stdout, 'drain');
}

const tellNothing = (): void => undefined;

/** In JSON a newline is nothing but white space between values. */
function onOneLine(json: string): string {
  return json.replace(/[\r\n]/g, ' ');
}

/** By time, from `begin` on: nobody counts ended tasks. */
function shareOf({ query }: Progress, { finished_at }: TaskView, begin: number): number {
  const share = (Date.parse(finished_at ?? '') - begin) / (instant(query.to ?? '') - begin);
  return share >= 0 ? Math.min(share, 1) : 0;
}

const instant = (text: string | number): number =>
  /^\d+$/.test(String(text)) ? Number(text) : Date.parse(String(text));

function inWords({ count }: Progress, { finished_at }: TaskView): string {
  return `${count} tasks, up to ${finished_at?.slice(0, 10) ?? ''}`;
}

const now = (): string => new Date().toISOString();
