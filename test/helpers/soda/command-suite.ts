/** The `soda` command beside a whole master. */
import { masterSuite } from '../system/in-process.ts';
import { SodaCommand } from './command.ts';

/** For the suite that calls this: a new master for each of its tests, and commands that go to it. */
export function commandSuite(flags: Readonly<Record<string, string>> = {}) {
  let command: SodaCommand;
  // Before the master stops.
  afterEach(() => command.killAll());
  const { folder, url, restart } = masterSuite(flags);
  beforeEach(() => {
    command = new SodaCommand(folder());
  });
  return {
    folder,
    url,
    restart,
    run: (args: readonly string[], env: Record<string, string> = {}, input = '') =>
      command.run([...args], { SODA_URL: url(), ...env }, input),
  };
}
