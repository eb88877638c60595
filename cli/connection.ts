/** How commands reach the master, and how they are interrupted. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, SodaError, type SodaClient } from '@soda-scheduler/client';
import { DEFAULT_PORT } from '@soda-scheduler/protocol';
import { Command, Option } from 'commander';
import { ExitCode, Failure, Interrupted } from './exit-code.ts';
import { Output, plain } from './output.ts';

/** A person waits: about three seconds for a master that does not answer. */
const RETRY_COUNT = 3;
/** Between one such wait and the next, for those that go on. */
const AWAY_MS = 1_000;

export interface ConnectionOptions {
  readonly url: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** A command that talks to a master. */
export function remoteCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(
      new Option('--url <url>', 'where the master is')
        .env('SODA_URL')
        .default(`http://127.0.0.1:${DEFAULT_PORT}`),
    )
    .addOption(
      new Option('--token <token>', 'the submit or admin token, where the master wants one').env(
        'SODA_TOKEN',
      ),
    )
    .option('--json', 'print JSON, one value a line');
}

export function connect({ url, token, json }: ConnectionOptions): {
  readonly client: SodaClient;
  readonly output: Output;
} {
  try {
    return {
      client: createClient({ url, token, retryCount: RETRY_COUNT }),
      output: new Output(json),
    };
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), ExitCode.usage);
  }
}

/**
 * Begins `call` again as long as the master is away: a restart, or an hour, is no end of what is waited
 * for. Says so once, and that it is back with the first answer that `call` tells of.
 */
export async function outlasting<T>(
  signal: AbortSignal,
  call: (answered: () => void) => Promise<T>,
  say = (line: string): void => {
    process.stderr.write(`soda: ${plain(line)}\n`);
  },
): Promise<T> {
  let isAway = false;
  const answered = () => {
    if (isAway) say('the master is back');
    isAway = false;
  };
  for (;;) {
    try {
      return await call(answered);
    } catch (error) {
      if (!(error instanceof SodaError && error.isTransient)) throw error;
      if (!isAway) say(`${error.message}; waiting until the master is back`);
      isAway = true;
      await delay(AWAY_MS, undefined, { signal });
    }
  }
}

/** @throws {Interrupted} if Ctrl-C comes while `call` runs; its signal is aborted then. */
export async function interruptible<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const interrupt = () => abort.abort(new Interrupted());
  process.once('SIGINT', interrupt);
  try {
    return await call(abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? new Interrupted() : error;
  } finally {
    process.off('SIGINT', interrupt);
  }
}
