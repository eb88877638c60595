/** Asks the person at the terminal whether to go on. */
import { createInterface } from 'node:readline/promises';
import { ExitCode, Failure } from './exit-code.ts';
import type { Output } from './output.ts';

/** @param what would be done. @throws {Failure} nobody could be asked: nothing was done. */
export async function isConfirmed(
  output: Output,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!output.isTerminal || !process.stdin.isTTY) {
    throw new Failure(`${what}. Nothing was done: --yes does it.`, ExitCode.usage);
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await lines.question(`${what}. Go on? [y/N] `, { signal }));
  } finally {
    lines.close();
  }
}
