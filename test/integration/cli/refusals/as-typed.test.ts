/** What the master refuses is told of the options and arguments that were typed, and no field or expression is named. */
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { HttpFace } from '../../../helpers/http-face.ts';
import { runInProcess } from '../../../helpers/soda/in-process.ts';

const LONG = 'x'.repeat(300);
const task = 'task submit --type t --group g';

/** A command, and the beginning of what it says. */
const wrong: readonly (readonly [string, string, string?])[] = [
  [task, '--id', '?'],
  [task, '--project', LONG],
  [task, '--label', 'a b'],
  [task, '--max-attempts', '-1'],
  [task, '--retry-interval', '1e12'],
  [task, '--disk-bytes', '-1'],
  [task, '--run-at', 'soon'],
  [task, '--use', 'a b'],
  [task, '--execution-timeout', '-1'],
  ['task list', '--executor', '?'],
  ['task list', '--id-prefix', '?'],
  ['task change a --priority high', '--at-version', '-1'],
  ['bulk cancel --yes', '--from', 'then'],
  ['namespace set n --pause', '--until', 'then'],
  ['token create n --role read', '--expires', 'then'],
  ['token create n --role read', '--in-namespace', '?'],
  ['events', '--task', '?'],
  ['logs --type t', '--executor', '?'],
  ['alert rules set n --kind backlog', '--in-namespace', '?'],
  ['alert rules set n --kind backlog', '--window', '-1'],
  ['alert receivers set r --channel slack', '--hook', 'ftp://there'],
  ['audit', '--action', '?'],
  ['type pause t', '--until', 'then'],
  ['type set t', '--file', 'no-such-file'],
];

const wrongArguments = [
  ['task get ?', '<id>'],
  ['task copy ?', '<id>'],
  ['executor get ?', '<id>'],
  ['namespace get ?', '<name>'],
  ['type export ?', '<types>'],
  ['logs --text a', '--executor: expected this, or --type, or both'],
  ['events --after 99', 'Begin without --after.'],
] as const;

describe('what soda says of what is wrong', () => {
  const face = new HttpFace();
  before(() => face.open());
  after(() => face.close());

  const said = async (args: readonly string[]) => {
    const env = { SODA_URL: `http://127.0.0.1:${face.port}` };
    return (await runInProcess(args, { env, folder: tmpdir(), input: '' })).err;
  };

  for (const [command, option, value = ''] of wrong) {
    it(`names ${option} of ${command}`, async () => {
      const err = await said([...command.split(' '), `${option}=${value}`]);
      expect(err).to.match(new RegExp(`^soda: ${option}( [a-z]+)?: `));
      expect(err).not.to.match(/\/\^|`/);
    });
  }

  for (const [command, words] of wrongArguments) {
    it(`says ${words} of ${command}`, async () => {
      const err = await said(command.split(' '));
      expect(err)
        .to.include(words)
        .and.not.match(/\/\^|`/);
    });
  }
});
