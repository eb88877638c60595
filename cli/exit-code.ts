/** How a command ends, for scripts. These numbers are part of the interface: docs/cli.md. */
import { SodaError } from '@soda-scheduler/client';

export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unreachable: 5,
  degraded: 6,
  stopped: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends the command with this code. An empty message: everything has been said. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = ExitCode.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Ctrl-C while the command waited; Ctrl-C or Ctrl-D in place of an answer, where nothing was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

const byCode: Readonly<Record<number, ExitCode>> = {
  0: ExitCode.unreachable,
  400: ExitCode.usage,
  401: ExitCode.usage,
  403: ExitCode.usage,
  404: ExitCode.notFound,
  409: ExitCode.conflict,
  412: ExitCode.conflict,
  413: ExitCode.usage,
  502: ExitCode.unreachable,
  503: ExitCode.unreachable,
  504: ExitCode.unreachable,
};

/** What to do about it, where the master cannot know; null where there is nothing to add. */
export function adviceOn(error: unknown): string | null {
  if (!(error instanceof SodaError)) return null;
  if (error.code === 401) return 'it comes from SODA_TOKEN, or from --token';
  if (error.status === 0) {
    const cause = error.cause as NodeJS.ErrnoException | undefined;
    return cause?.code === 'ECONNRESET' ? 'the connection was closed: is it https there?' : null;
  }
  if (isOfMaster(error)) return isUnknownThere(error) ? OLDER : null;
  return [429, 502, 503, 504].includes(error.status)
    ? 'this is the answer of a proxy in front of the master: is the master up?'
    : 'check SODA_URL, or --url';
}

const OLDER = 'is the master older than this soda? soda doctor says its version';

/** Only routes that every master of this version has are called. */
function isUnknownThere({ status, message }: SodaError): boolean {
  return status === 405 || (status === 404 && message === 'There is no such route.');
}

/** An item of a batch has no words of its own, and its code is not the status. */
function isOfMaster({ problem, status, code }: SodaError): boolean {
  return problem !== null || status !== code;
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof SodaError)) return ExitCode.failed;
  const code = byCode[error.code] ?? ExitCode.failed;
  // What somebody else has not found may well be there.
  return isOfMaster(error) || code === ExitCode.unreachable ? code : ExitCode.failed;
}
