/**
 * `npm test`: installs what is missing, builds, and runs every test, some files at a time. Arguments
 * go to mocha: `npm test -- -g pattern`, `npm test -- test/unit/x.test.ts`.
 * `--check` runs `npm run check` beside them, as one more test.
 *
 * The last line is always `N passed, N failed` (and `, N skipped`), whatever happened before.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A run that takes longer than this hangs, also on a machine that is slow and busy. */
const LIMIT_MS = 60 * 60_000;
/**
 * What takes longest goes first, so that all jobs end at about the same time: beginnings of paths below
 * `test/`. Those that wait for a lease stand beside those that compute.
 */
const FIRST = [
  'system/control/booking-kills',
  'sim/',
  'system/console/',
  'system/executor-faults',
  'system/database',
  'system/network',
  'sweep/sweep',
  'docs/snippets',
  'system/',
  'integration/pack',
  'contract/sql-',
  'contract/task-store-',
  'integration/cli/',
  'integration/ffmpeg/',
  'integration/sdk/',
  'integration/',
  'contract/',
  'unit/queue/',
];

/** All that runs: the types of the tests are left to the checks, where those run as well. */
const BUILT = ['executors', 'cli', 'examples', 'console'];

process.chdir(root);

const args = process.argv.slice(2).filter((arg) => arg !== '--check');
const checks = process.argv.includes('--check');
const total = { passed: 0, failed: 0, skipped: 0 };

function run(command, commandArgs) {
  const { status } = spawnSync(command, commandArgs, { stdio: ['ignore', 'inherit', 'inherit'] });
  return status === 0;
}

/** Beside the tests: resolves to what it says in the end, and whether all is well. */
function check() {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/check.mjs'], { maxBuffer: 2 ** 26 }, (error, said) => {
      resolve({ said, isWell: error === null });
    });
  });
}

function build() {
  if (!existsSync('node_modules/.package-lock.json') && !run('npm', ['ci'])) return false;
  return run(process.execPath, ['scripts/build.mjs', ...(checks ? BUILT : [])]);
}

function mochaArgs() {
  const namesFiles = args.some((arg) => /^(\.\/)?test\/|\.test\.ts$/.test(arg));
  return [
    'node_modules/mocha/bin/mocha.js',
    '--parallel',
    // More than there are cores, for many tests wait for others.
    `--jobs=${availableParallelism() + 4}`,
    '--reporter=./scripts/count-reporter.mjs',
    ...(process.env.CI ? ['--forbid-only'] : []),
    ...args,
    ...(namesFiles ? [] : testFiles()),
  ];
}

function testFiles() {
  const rank = (file) => {
    const path = file.split(sep).slice(1).join('/');
    const place = FIRST.findIndex((beginning) => path.startsWith(beginning));
    return place < 0 ? FIRST.length : place;
  };
  return readdirSync('test', { recursive: true })
    .map((file) => join('test', file))
    .filter((file) => file.endsWith('.test.ts'))
    .sort((a, b) => rank(a) - rank(b));
}

/** Resolves to what mocha counted; a mocha that did not get to its end is one more failure. */
async function test() {
  const folder = mkdtempSync(join(tmpdir(), 'soda-test-'));
  const countsFile = join(folder, 'counts.json');
  // In a group of its own, so that what its tests started ends with it.
  const mocha = spawn(process.execPath, mochaArgs(), {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SODA_TEST_FOLDER: folder },
    detached: true,
  });
  const stop = () => {
    const { pid } = mocha;
    // None: it could not be started.
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone: nothing of it is left to stop.
    }
  };
  const watchdog = setTimeout(() => {
    console.error(`\nThe tests did not end within ${LIMIT_MS / 60_000} minutes: stopped.`);
    stop();
  }, LIMIT_MS);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);

  const exitCode = await new Promise((resolve) => {
    mocha.once('error', () => resolve(1));
    mocha.once('close', (code) => resolve(code ?? 1));
  });
  clearTimeout(watchdog);
  stop();

  const none = { passed: 0, failed: 0, skipped: 0, ended: false };
  const counts = existsSync(countsFile) ? JSON.parse(readFileSync(countsFile, 'utf8')) : none;
  // What was killed just now may still have been writing there.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  if (!counts.ended || (exitCode !== 0 && counts.failed === 0)) {
    console.error(`\nMocha ended with code ${exitCode} before all tests had run.`);
    counts.failed += 1;
  }
  return counts;
}

try {
  if (!build()) {
    console.error('\nThe build failed: no test was run.');
    total.failed += 1;
  } else {
    const checked = checks ? check() : null;
    const counts = await test();
    if (checked !== null) {
      const { said, isWell } = await checked;
      console.log(said);
      total[isWell ? 'passed' : 'failed'] += 1;
    }
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
} catch (error) {
  console.error(error);
  total.failed += 1;
}

const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;
