/** How commands reach the master, and how they are interrupted. */
import { type AbsenceOptions, createClient, type SodaClient } from '@soda-scheduler/client';
import { DEFAULT_PORT } from '@soda-scheduler/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ExitCode, Failure, Interrupted } from './exit-code.ts';
import { Output, plain, withoutStop } from './output.ts';

/**
 * A person waits: about three seconds for a master that is not there, and a minute for one that
 * stands still.
 */
const RETRY_COUNT = 3;
/** Whoever waits so long for the next try wants to know why. */
const LONG_WAIT_MS = 5_000;
const TIMEOUT_SECONDS_MAX = 86_400;

export interface ConnectionOptions {
  readonly url: string;
  readonly namespace?: string;
  readonly token?: string;
  readonly json?: boolean;
  /** In seconds. */
  readonly requestTimeout?: number;
}

/** A command about what is in a namespace of a master. */
export function remoteCommand(name: string, description: string): Command {
  return masterwideCommand(name, description).addOption(
    new Option('--namespace <name>', 'the namespace (default: that of the url, or default)').env(
      'SODA_NAMESPACE',
    ),
  );
}

/** A command that talks to a master about all of it. */
export function masterwideCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(
      new Option('--url <url>', 'where the master is')
        .env('SODA_URL')
        .default(`http://127.0.0.1:${DEFAULT_PORT}`),
    )
    .addOption(
      new Option('--token <token>', 'the token, where the master wants one').env('SODA_TOKEN'),
    )
    .addOption(
      new Option(
        '--request-timeout <seconds>',
        'how long to wait for an answer of the master, other tries included (default: three ' +
          'seconds where none is there, a minute where it stands still, no end for what waits)',
      ).argParser(secondsOf),
    )
    .option('--json', 'print JSON, one value a line');
}

/** @throws {InvalidArgumentError} */
function secondsOf(text: string): number {
  const seconds = Number(text);
  if (/^\d*\.?\d+$/.test(text) && seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX) return seconds;
  throw new InvalidArgumentError(`expected seconds, above 0 and up to ${TIMEOUT_SECONDS_MAX}`);
}

/** A variable without a value is none; an option without one is a mistake. */
export function givenNamespace({ namespace }: ConnectionOptions): string | undefined {
  return namespace === '' && process.env['SODA_NAMESPACE'] === '' ? undefined : namespace;
}

export function connect(options: ConnectionOptions): {
  readonly client: SodaClient;
  readonly output: Output;
} {
  const { url, token, json, requestTimeout } = options;
  const namespace = givenNamespace(options);
  try {
    return {
      client: createClient({
        url,
        namespace,
        token,
        retryCount: RETRY_COUNT,
        ...(requestTimeout !== undefined && { timeoutMs: requestTimeout * 1000 }),
        onRetry: tellWait,
      }),
      output: new Output(json),
    };
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), ExitCode.usage);
  }
}

/** What a command says, beside its output, of a master that is away while it waits. */
export function tellAbsence(say: (line: string) => void = sayAside): Required<AbsenceOptions> {
  return {
    onAway: ({ message }) => say(`${withoutStop(message)}; waiting until the master is back`),
    onBack: () => say('the master is back'),
  };
}

/** What a command says of a call that is repeated, where a try or the wait for the next one is long. */
export function tellWait({ message, cause }: Error, waitMs: number, say = sayAside): void {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  const isSilent = code === 'ECONNABORTED' || code === 'ETIMEDOUT';
  if (waitMs < LONG_WAIT_MS && !isSilent) return;
  const when = waitMs > 0 ? ` in ${waitMs / 1000} s` : '';
  say(`${withoutStop(message)}. Asking again${when}.`);
}

/** To the person, also where stdout is for programs. */
export function sayAside(line: string): void {
  process.stderr.write(`soda: ${plain(line)}\n`);
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
