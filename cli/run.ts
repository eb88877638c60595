/** Runs the command it is given, and turns how it ends into an exit code. */
import { SodaError } from '@soda-scheduler/client';
import { type Command, CommanderError } from 'commander';
import { asTyped, inOptions } from './refusal/as-typed.ts';
import { adviceOn, ExitCode, exitCodeOf, Failure, Interrupted } from './exit-code.ts';
import { plain } from './output.ts';
import { program } from './program.ts';

/** `argv`: as `process.argv`. Only what runs a master ends this process. */
export async function run(argv: readonly string[]): Promise<number> {
  let command: Command | null = null;
  try {
    await program()
      .hook('preAction', (_soda, acting) => void (command = acting))
      .parseAsync(argv);
    return ExitCode.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (error instanceof Interrupted) return ExitCode.interrupted;
    if (!(error instanceof Failure && error.message === '')) {
      const said = wordsOf(error, command);
      const advice = adviceOn(error);
      const message = advice === null ? said : `${said}\n${advice}`;
      for (const line of message.split('\n')) process.stderr.write(`soda: ${plain(line)}\n`);
    }
    return exitCodeOf(error);
  }
}

/** What the master says of fields is told of the options that stand for them. */
function wordsOf(error: unknown, command: Command | null): string {
  if (!(error instanceof SodaError) || command === null) {
    return error instanceof Error ? error.message : String(error);
  }
  const { message, problem } = error;
  const errors = problem?.errors ?? [];
  const of = command;
  const told = errors.map((one) => `${one.field}: ${one.message}`).join('; ');
  const typed = errors.map((one) => asTyped(one, of)).join('; ');
  return errors.length > 0 && message.includes(told)
    ? message.replace(told, () => typed)
    : inOptions(message, of);
}
