/** `soda history search`: looks for ended tasks in files of an archive, or of exports. Asks no master, and holds one line at a time. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { endedStates } from '@soda-scheduler/protocol';
import { Command, Option } from 'commander';
import { interruptible, sayAside } from '../connection.ts';
import { ExitCode, Failure } from '../exit-code.ts';
import { instantOf, TIME } from '../instant.ts';
import { count, once } from '../options.ts';
import { Output } from '../output.ts';
import { type Archived, linesOf, matcherOf, type Wanted } from './archive-lines.ts';

const DAY_MS = 86_400_000;
/** Of a table, which is held until it is printed. */
const TABLE_COUNT = 1_000;
/** As the master names them; exports may have any name. */
const ARCHIVE_FILE = /\.ndjson(?:\.gz)?$/;
const DAY_IN_NAME = /\.(\d{4}-\d\d-\d\d)(?:\.\d+)?\.ndjson(?:\.gz)?$/;

interface SearchOptions extends Omit<Wanted, 'from' | 'to'> {
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly json?: true;
}

export function searchCommand(): Command {
  return new Command('search')
    .description('Look for ended tasks in the files of an archive, without a master.')
    .argument('<path...>', 'directories of archives, or files: *.ndjson.gz, or plain lines of JSON')
    .addOption(once(new Option('--id <id>', 'of this id')))
    .addOption(once(new Option('--type <type>', 'of this type only')))
    .addOption(once(new Option('--group <group>', 'of this group only')))
    .addOption(once(new Option('--state <state>', 'that ended so').choices(endedStates)))
    .addOption(once(new Option('--namespace <name>', 'of this namespace only')))
    .addOption(
      once(new Option('--text <text>', 'with this text somewhere, in just these characters')),
    )
    .addOption(once(new Option('--from <time>', `ended then or later, ${TIME}`)))
    .addOption(once(new Option('--to <time>', 'ended before')))
    .option('--limit <count>', 'how many at most (default: all; of a table 1,000)', count)
    .option('--json', 'print JSON, one value a line')
    .addHelpText(
      'after',
      `
The oldest days first. --from and --to leave out whole files by the day in their names. Into a pipe: id, state, type,
group, when it ended and the message of its error, with tabs between; --json has all of each task. A file that cannot be
read to its end is told of on stderr, and the command ends with 1.

Examples:
  $ soda history search /var/lib/soda/archive --id clip-17 --json
  $ soda history search /var/lib/soda/archive --group video --state failed --from 2026-11-01T00:00:00Z
  $ soda history search november.ndjson --text 'moov atom'`,
    )
    .action((paths: string[], options: SearchOptions) =>
      interruptible((signal) => run(paths, options, signal)),
    );
}

async function run(
  paths: readonly string[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<void> {
  const output = new Output(options.json);
  const wanted: Wanted = { ...options, from: timeOf(options.from), to: timeOf(options.to) };
  const files = (await filesIn(paths)).filter((file) => mayHave(file, wanted));
  const most = options.limit ?? (output.isTerminal ? TABLE_COUNT : Number.POSITIVE_INFINITY);
  const search = new Search(files, wanted, output, signal);
  const head = ['task', 'state', 'type', 'group', 'ended', 'error'];
  await output.rows(
    search.found(most),
    head,
    ({ task }) => [
      task.task_id,
      task.state,
      task.type,
      task.user?.group ?? null,
      task.finished_at,
      task.error?.message ?? null,
    ],
    ({ line }) => line,
  );
  if (search.isCut && options.limit === undefined) {
    output.hint(`There are more than ${most}: --limit shows others, --json all.`);
  }
  if (search.brokenCount > 0) throw new Failure('');
}

class Search {
  readonly #files: readonly string[];
  readonly #matches: (line: string) => Archived | null;
  readonly #output: Output;
  readonly #signal: AbortSignal;
  brokenCount = 0;
  /** There may be others. */
  isCut = false;

  constructor(files: readonly string[], wanted: Wanted, output: Output, signal: AbortSignal) {
    this.#files = files;
    this.#matches = matcherOf(wanted);
    this.#output = output;
    this.#signal = signal;
  }

  async *found(most: number): AsyncGenerator<Archived> {
    let count = 0;
    for (const [place, file] of this.#files.entries()) {
      if (this.#output.isTerminal) {
        this.#output.progress(`${place} of ${this.#files.length} files, ${count} found`);
      }
      for await (const found of this.#foundIn(file)) {
        if (count >= most) {
          this.isCut = true;
          break;
        }
        count += 1;
        yield found;
      }
      if (this.isCut) break;
    }
    if (this.#output.isTerminal) this.#output.progress('');
  }

  /** What cannot be read keeps nobody from the rest. */
  async *#foundIn(file: string): AsyncGenerator<Archived> {
    let lineCount = 0;
    try {
      for await (const line of linesOf(file)) {
        this.#signal.throwIfAborted();
        lineCount += 1;
        const found = this.#matches(line);
        if (found !== null) yield found;
      }
    } catch (error) {
      this.#signal.throwIfAborted();
      this.brokenCount += 1;
      const reason = error instanceof Error ? error.message : String(error);
      sayAside(`${file}, after ${lineCount} tasks: ${reason}`);
    }
  }
}

/** @throws {Failure} there is no such thing. */
async function filesIn(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const one of paths) {
    const found = await stat(one).catch((error: Error) => {
      throw new Failure(`${one}: ${error.message}`, ExitCode.usage);
    });
    if (!found.isDirectory()) files.push(one);
    else {
      const names = (await readdir(one)).filter((name) => ARCHIVE_FILE.test(name));
      for (const name of names) files.push(path.join(one, name));
    }
  }
  const placeOf = (file: string) => `${DAY_IN_NAME.exec(file)?.[1] ?? ''} ${file}`;
  return files.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** By the day in its name. */
function mayHave(file: string, { from, to }: Wanted): boolean {
  const [, day] = DAY_IN_NAME.exec(file) ?? [];
  if (day === undefined) return true;
  const begin = Date.parse(`${day}T00:00:00Z`);
  return (from === null || from < begin + DAY_MS) && (to === null || to > begin);
}

/** @throws {Failure} */
function timeOf(text: string | undefined): number | null {
  const given = instantOf(text);
  if (given === undefined) return null;
  const [day = ''] = /^\d{4}-\d\d-\d\d/.exec(String(given)) ?? [];
  // Of the 31st of February JavaScript makes a day of March.
  const isDay = new Date(Date.parse(day)).getUTCDate() === Number(day.slice(8));
  const at = typeof given === 'number' ? given : isDay ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at))
    throw new Failure(`expected an instant, ${TIME}, not ${text}`, ExitCode.usage);
  return at;
}
