/**
 * `soda master` and `soda dev`: run a master in this process. Its flags come from the master's
 * own table of settings, which is loaded only when one of these two commands is called.
 */
import { setImmediate } from 'node:timers/promises';
import type { Config } from '@soda-scheduler/master';
import { Command, Option } from 'commander';
import { ExitCode, Failure } from './exit-code.ts';
import { endWithReader, Output } from './output.ts';

type Flags = Record<string, string | boolean | undefined>;

/** Callbacks to the same machine, which a master refuses otherwise. */
const DEV_NOTIFY_ALLOW = 'localhost,127.0.0.0/8,::1';

const loadMaster = () => import('@soda-scheduler/master');

export function masterCommand(): Command {
  return new Command('master')
    .description('Run a master in this process until it is told to stop.')
    .option('--print-config', 'print the settings it would run with, without secrets, and end')
    .addHelpText(
      'after',
      `
Every setting is also an environment variable; a flag goes before it. Secrets are read from files:
a command line is visible to everybody on the machine.

SIGINT or SIGTERM ends the master in order; a second one ends it at once. Executors keep their
tasks and come back to the next master. Exit codes: 0 stopped, 1 failed, 2 settings.`,
    )
    .action(async (flags: Flags) => {
      const config = await configOf(flags);
      if (flags['printConfig'] === true) {
        const { redacted } = await loadMaster();
        process.stdout.write(`${JSON.stringify(redacted(config), null, 2)}\n`);
        return;
      }
      await runUntilStopped(config, () => {});
    });
}

export function devCommand(): Command {
  return new Command('dev')
    .description('Run a master to try things out: embedded store, callbacks to this machine.')
    .option('--json', 'print the address as JSON')
    .addHelpText(
      'after',
      `
The same as "soda master", but callbacks may go to this machine and the log goes to stderr. Tasks
are kept in the data directory: stop it and start it again, and they go on.`,
    )
    .action(async (flags: Flags) => {
      const config = await configOf(flags, { SODA_NOTIFY_ALLOW: DEV_NOTIFY_ALLOW, ...process.env });
      const output = new Output(flags['json'] === true);
      await runUntilStopped(
        config,
        (url) => {
          output.say({ url }, `Soda Scheduler takes tasks at ${url}. Submit one with:`);
          if (output.json) return;
          process.stdout.write(`\n${curlLine(url, config)}\n\nSee it in a browser: ${url}/\n\n`);
        },
        process.stderr,
      ).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
        const other = 'soda dev --port 18900 --data-dir data-2';
        throw new Failure(`${(error as Error).message}\n${other}`);
      });
    });
}

function curlLine(url: string, config: Config): string {
  const token = config.submitToken === null ? '' : " -H 'authorization: Bearer <token>'";
  const body = '{"task":{"type":"hello","params":{"name":"Ada"}},"user":{"group":"dev"}}';
  return `  curl -s ${url}/scheduler/v2/task/submit${token} \\
    -H 'content-type: application/json' -d '${body}'`;
}

/** Gives the command a flag for each setting of a master. */
export async function addSettings(command: Command): Promise<void> {
  const { configFields } = await loadMaster();
  for (const { flag, value, description, default: preset, env, secret } of configFields) {
    const variable = secret ? `${env}, or ${env}_FILE` : env;
    const details = [preset === null || preset === '' ? null : `default: ${preset}`, variable];
    const text = `${description} (${details.filter((detail) => detail !== null).join('; ')})`;
    command.addOption(new Option(value === null ? flag : `${flag} <${value}>`, text));
  }
}

async function configOf(flags: Flags, env: NodeJS.ProcessEnv = process.env): Promise<Config> {
  const { loadConfig } = await loadMaster();
  const outcome = loadConfig({ env, flags });
  if ('config' in outcome) {
    for (const warning of outcome.warnings) process.stderr.write(`soda: warning: ${warning}\n`);
    return outcome.config;
  }
  throw new Failure(outcome.problems.join('\n'), ExitCode.usage);
}

/** Less than supervisors wait before they kill; a database that is frozen is waited for half as long. */
const STOP_MS_MAX = 9_000;
const LINGER_MS_MAX = 1_000;

/** Aborts at the first signal. A second one ends the process, and so does a stop that takes too long. */
const told = new AbortController();
/** There is something to stop. */
let isBegun = false;

/** Ctrl-C and SIGTERM may come before there is a master to tell: from here on they are heard. */
export function listenForSignals(): void {
  process.on('SIGINT', end).on('SIGTERM', end);
}

function end(): void {
  // The second time nobody wants to wait; a master that is killed loses nothing.
  if (told.signal.aborted) leave(ExitCode.failed);
  told.abort();
  // A machine that is slow to load is no database that does not answer.
  if (!isBegun) return;
  setTimeout(() => {
    process.stderr.write('soda: the stop takes too long: ended without the rest of it\n');
    leave(ExitCode.failed);
  }, STOP_MS_MAX).unref();
}

/** Returns when the master was told to stop and has, or was to begin after that. @throws if it had to end by itself. */
async function runUntilStopped(
  config: Config,
  onReady: (url: string) => void,
  logTo: NodeJS.WritableStream = process.stdout,
): Promise<void> {
  // What cannot be said is lost; the master goes on without whoever read it.
  process.stdout.off('error', endWithReader).on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const { runMaster } = await loadMaster();
  // What came while that was loaded is heard in the next turn of the event loop, and this is the end of one.
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  if (told.signal.aborted) return;
  isBegun = true;
  try {
    const master = await runMaster(config, { logTo, signal: told.signal });
    if (!told.signal.aborted) onReady(master.url);
    await master.stopped;
  } finally {
    // What a library has left open does not keep a master that has stopped.
    setTimeout(() => leave(), LINGER_MS_MAX).unref();
  }
}

/** At once: `process.exit` waits for threads, and one that reads what does not answer never comes back. */
function leave(code?: number): void {
  if (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'))) {
    process.stderr.write('soda: a file has not answered yet: the process ends itself by SIGKILL\n');
    process.kill(process.pid, 'SIGKILL');
  } else process.exit(code ?? process.exitCode);
}
