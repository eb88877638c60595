/** The `soda` command beside a whole master. */
import { masterSuite } from '../system/in-process.ts';
import { SodaCommand } from './command.ts';

/** For the suite that calls this: a new master for each of its tests, and commands that go to it. */
export function commandSuite() {
  let command: SodaCommand;
  // Before the master stops.
  afterEach(() => command.killAll());
  const { folder, url } = masterSuite();
  beforeEach(() => {
    command = new SodaCommand(folder());
  });
  return {
    folder,
    url,
    run: (args: readonly string[], env: Record<string, string> = {}, input = '') =>
      command.run([...args], { SODA_URL: url(), ...env }, input),
  };
}
