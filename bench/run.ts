/**
 * `npm run bench`: how fast the whole system is on this machine, embedded store and MariaDB side by side in one run.
 * Client, master, executors and database share its cores. `--help` says what else it measures.
 */
import { appendFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type Table from 'cli-table3';
import { type Mariadb, MARIADB_MISSING, startMariadb } from '../test/helpers/mariadb.ts';
import { problemOf } from './beside/clone.ts';
import { compareBeside } from './beside/table.ts';
import { compareBookings } from './bookings/table.ts';
import { compareBulk } from './bulk/table.ts';
import { compareFeed } from './feed/table.ts';
import { compareJobs } from './jobs/table.ts';
import { compareLists } from './lists.ts';
import { compareLogs } from './logs.ts';
import { comparePages } from './pages/table.ts';
import { contendersOf } from './peers/cases.ts';
import { compareWithPeers } from './peers/table.ts';
import { compareScale } from './scale/table.ts';
import type { BenchStore, Scenario } from './scenario.ts';
import { compareSpeed } from './speed/table.ts';
import { compareSpread } from './spread/table.ts';
import { compareStrangers } from './strangers/table.ts';
import { compareUsage } from './usage.ts';

const HELP = `npm run bench -- [one of these] [--quick]

  (none)      tasks a second, and from submit to start
  --lists     how long submits wait while 60 clients look through 300,000 ended tasks
  --bulk      how long while one command cancels 100,000 tasks, how long that takes, and for how long the event loop is
              held in one piece while 1,000 commands come at once, by processor time and by the clock
  --strangers how long while bodies of 8 MiB come, 15 at once; and callbacks while 2,000 other receivers hang
  --logs      how long while one executor logs 10,000 lines a second
  --feed      what the feed of events and usage cost: processor time of masters with them and without, by turns
  --usage     a million random tasks with kills of the master: what was counted of them, and a recount in SQL
  --jobs      how late runs of jobs come of which a thousand are due in one second, what 100,000 triggers cost
              that are not due, and how a master goes on that finds them an hour behind
  --bookings  how late tasks of bookings begin where everybody is busy, and where executors die before their windows
  --pages     how long a page takes of whatever people may ask of a million live and ten million ended tasks:
              some minutes and 10 GB where temporary files are (TMPDIR)
  --scale     what a task costs with 0 to a million that wait, 64 to 10,000 executors, up to two million that have
              ended; and a kill -9 of the master. --most: also ten million that wait, twenty million that have ended
  --spread    what a task costs that shares its namespace or its lane with few, beside as many that share one, and what
              1,000 namespaces cost in which nothing happens
  --beside <folder>
              whether a change made it slower: the same as with none of these, in five turns with another clone, which
              has been installed and built. Slower by more than 3 % and more than the spread is a defect
  --peers     beside other libraries (bench/peers/); --only <part of a name>, once or more, --json <file>, --svg <file>

  --store <url>  with --pages: on that store alone, sqlite:<file> or mysql://..., which keeps what it was filled with
  --quick        each once, with a tenth of the tasks

Some minutes each; --beside takes twenty, and --peers, which installs their libraries at first; --scale --most half
an hour and 30 GB.
`;
const SCENARIO_NAMES = [
  'lists',
  'bulk',
  'strangers',
  'logs',
  'feed',
  'usage',
  'jobs',
  'bookings',
  'pages',
  'scale',
  'spread',
  'beside',
  'peers',
] as const;
const flag = { type: 'boolean' } as const;
const value = { type: 'string' } as const;
const values = { type: 'string', multiple: true } as const;
const OPTIONS = {
  ...{
    lists: flag,
    bulk: flag,
    strangers: flag,
    logs: flag,
    feed: flag,
    usage: flag,
    jobs: flag,
    bookings: flag,
  },
  ...{ pages: flag, scale: flag, spread: flag, peers: flag, quick: flag, most: flag, help: flag },
  ...{ beside: value, store: value, only: values, json: value, svg: value },
};
/** Of a server that is to hold millions of rows; that of the tests has less. */
const LARGE_SERVER = ['--innodb-buffer-pool-size=2G', '--innodb-log-file-size=1G'];
const USUAL_SERVER = ['--innodb-log-file-size=96M'];

/** What only some of them take. */
const OWN_OPTIONS = {
  store: 'pages',
  most: 'scale',
  only: 'peers',
  json: 'peers',
  svg: 'peers',
} as const;

// So that whatever was started, and its files, go with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

// Another part of a measurement that has failed: it is told by what its scenario waits for.
process.on('unhandledRejection', () => (process.exitCode = 1));

const flags = readFlags();
if (flags.help) {
  console.log(HELP);
  process.exit(0);
}
const problem = flags.beside === undefined ? null : problemOf(flags.beside);
if (problem !== null) {
  console.error(problem);
  process.exit(2);
}

const scenarios: Record<
  (typeof SCENARIO_NAMES)[number],
  (scenario: Scenario) => Promise<Table.Table>
> = {
  lists: compareLists,
  bulk: compareBulk,
  strangers: compareStrangers,
  logs: compareLogs,
  feed: compareFeed,
  usage: compareUsage,
  jobs: compareJobs,
  bookings: compareBookings,
  pages: comparePages,
  beside: (scenario) => compareBeside(scenario, path.resolve(flags.beside as string)),
  scale: (scenario) => compareScale(scenario, { most: flags.most ?? false }),
  spread: compareSpread,
  peers: (scenario) =>
    compareWithPeers(scenario, { only: flags.only, json: flags.json, svg: flags.svg }),
};
const asked = SCENARIO_NAMES.filter((name) => flags[name] !== undefined);
const compare = asked[0] === undefined ? compareSpeed : scenarios[asked[0]];

const needsMariadb = flags.store === undefined && !flags.peers;
const isLarge = flags.pages || flags.scale;
const mariadb = needsMariadb ? await findMariadb(isLarge ? LARGE_SERVER : USUAL_SERVER) : null;
const stores: BenchStore[] =
  flags.store !== undefined
    ? [{ name: 'the given store', url: async () => flags.store as string }]
    : [
        { name: 'embedded (SQLite)', url: async () => null },
        ...(mariadb === null ? [] : [{ name: 'MariaDB', url: () => mariadb.url() }]),
      ];
const roundCount = flags.quick ? 1 : 3;
if (flags.quick) console.log('--quick: a tenth of the tasks, each once');
console.log(
  `${os.cpus().length} cores (${os.cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
    `${roundCount} round${roundCount === 1 ? '' : 's'} where it varies: median (min to max)`,
);
const table = await compare({ stores, scale: flags.quick ? 0.1 : 1, roundCount });
process.stderr.write('\n');
console.log(table.toString());
await mariadb?.stop();
// A measurement that failed may have left connections open.
process.exit();

/** Null where there is none, or it does not start, which is said. */
async function findMariadb(options: readonly string[]): Promise<Mariadb | null> {
  try {
    const found = await startMariadb(options);
    if (found === null) console.log(`MariaDB is left out: ${MARIADB_MISSING}`);
    return found;
  } catch (error) {
    console.error(`MariaDB is left out: ${(error as Error).message}`);
    process.exitCode = 1;
    return null;
  }
}

function readFlags() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    const names = SCENARIO_NAMES.filter((name) => values[name] !== undefined);
    if (names.length > 1) throw new Error(`one at a time: --${names.join(', --')}`);
    for (const option of Object.keys(OWN_OPTIONS) as (keyof typeof OWN_OPTIONS)[]) {
      const owner = OWN_OPTIONS[option];
      if (values[option] !== undefined && !values[owner])
        throw new Error(`--${option} goes with --${owner}`);
    }
    const stranger = values.only?.find((part) => contendersOf([part]).length === 0);
    if (stranger !== undefined) {
      const names = contendersOf(undefined).map(({ name }) => name);
      throw new Error(
        `--only ${stranger}: nobody has that in the name. There are ${names.join('; ')}`,
      );
    }
    // Not only when all is measured.
    for (const file of [values.json, values.svg]) if (file !== undefined) appendFileSync(file, '');
    return values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}
