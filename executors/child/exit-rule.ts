/** What the exit code of a program says of the task. */
import { NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import { describeEnd, type ProgramEnd, type ProgramRun } from './run-program.ts';

const code = z.int().min(0).max(255);

export const exitRule = z.strictObject({
  success: z.array(code).min(1).max(256).default([0]),
  non_retryable: z.array(code).max(256).default([]),
});

export type ExitRule = z.output<typeof exitRule>;

/** Of what a program has written, in the details of an error. */
const DETAIL_LENGTH_MAX = 4_000;

/** @throws {NonRetryableError | RetryableError} unless it ended as it is to end. */
export function expectSuccess(
  what: string,
  run: ProgramRun,
  end: ProgramEnd,
  rule: ExitRule,
): void {
  const { why, code: exitCode, signal } = end;
  if (why === 'exited' && exitCode !== null && rule.success.includes(exitCode)) return;
  const message = `${what} ${describeEnd(end, run)}`;
  const stderr = end.stderr.slice(-DETAIL_LENGTH_MAX);
  const details = { exit_code: exitCode, signal, stderr };
  const isFinal = exitCode !== null && rule.non_retryable.includes(exitCode);
  if (isFinal || why === 'wrote_too_much') throw new NonRetryableError(message, { details });
  throw new RetryableError(message, { details });
}
