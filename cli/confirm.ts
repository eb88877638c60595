/** Asks the person at the terminal whether to go on. */
import { createInterface } from 'node:readline/promises';
import { ExitCode, Failure, Interrupted } from './exit-code.ts';
import type { Output } from './output.ts';

/**
 * @param what would be done. @throws {Failure} nobody could be asked: nothing was done.
 * @throws {Interrupted} by Ctrl-C, or Ctrl-D, in place of an answer.
 */
export async function isConfirmed(
  output: Output,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!output.isTerminal || !process.stdin.isTTY) {
    throw new Failure(`${what}. Nothing was done: --yes does it.`, ExitCode.usage);
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Not every Node says so of a question that is left.
  const left = new Promise<never>((_, reject) => lines.once('close', reject));
  try {
    const question = lines.question(`${what}. Go on? [y/N] `, { signal });
    return /^y(es)?$/i.test(await Promise.race([question, left]));
  } catch {
    // What comes next begins on a line of its own.
    process.stderr.write('\n');
    throw new Interrupted();
  } finally {
    lines.close();
  }
}
