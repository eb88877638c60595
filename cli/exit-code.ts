/** How a command ends, for scripts. These numbers are part of the interface: docs/cli.md. */
import { SodaError } from '@soda-scheduler/client';

export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  unreachable: 5,
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

/** Ctrl-C while the command waited. */
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
  413: ExitCode.usage,
  502: ExitCode.unreachable,
  503: ExitCode.unreachable,
  504: ExitCode.unreachable,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  if (error instanceof SodaError) return byCode[error.code] ?? ExitCode.failed;
  return ExitCode.failed;
}
