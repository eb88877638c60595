/** Runs the command it is given, and turns how it ends into an exit code. */
import { CommanderError } from 'commander';
import { adviceOn, ExitCode, exitCodeOf, Failure, Interrupted } from './exit-code.ts';
import { plain } from './output.ts';
import { program } from './program.ts';

/** `argv`: as `process.argv`. Only what runs a master ends this process. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return ExitCode.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (error instanceof Interrupted) return ExitCode.interrupted;
    if (!(error instanceof Failure && error.message === '')) {
      const said = error instanceof Error ? error.message : String(error);
      const advice = adviceOn(error);
      const message = advice === null ? said : `${said}\n${advice}`;
      for (const line of message.split('\n')) process.stderr.write(`soda: ${plain(line)}\n`);
    }
    return exitCodeOf(error);
  }
}
