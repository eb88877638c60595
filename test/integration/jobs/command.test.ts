/** `soda job backfill`, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

const JOB = `name: nightly
template: { task: { type: echo }, user: { group: news } }
triggers: [{ cron: 0 3 * * * }]`;
const DAYS = '--from 2026-03-01T00:00:00Z --to 2026-03-04T00:00:00Z';

describe('soda job backfill', function () {
  this.timeout(60_000);
  const { run } = commandSuite();
  const soda = (line: string, input = '') => run(line.split(' '), {}, input);

  it('shows how many times it would run, and begins with --yes alone where nobody is asked', async () => {
    const set = await soda('job set nightly -f -', JOB);
    expect(set.err).to.equal('');
    const seen = await soda(`job backfill nightly ${DAYS} --dry-run`);
    const words = 'backfill of nightly: 3 times of default, from 2026-03-01T03:00:00.000Z';
    expect(seen.out).to.equal(`${words} to 2026-03-03T03:00:00.000Z\n`);
    expect((await soda(`job backfill nightly ${DAYS}`)).code).to.equal(2);
    expect((await soda('task list --job nightly')).out).to.equal('');
    const begun = await soda(`job backfill nightly ${DAYS} --max-running 3 --yes --no-wait`);
    expect(begun.out).to.match(/^op-[0-9a-f]{24}\n$/);
    const listed = await soda('operation list');
    expect(listed.out).to.match(/\tbackfill\trunning\t3\t/);
    const refused = await soda('job backfill nightly --from 2026-03-05T00:00:00Z --to +1d');
    expect([refused.code, refused.err]).to.deep.equal([
      2,
      'soda: --to: expected a time that has passed: later ones come by themselves\n',
    ]);
  });
});
