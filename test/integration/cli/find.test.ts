/** `soda task list`, `count`, `errors` and `soda view`, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda finds tasks', () => {
  const { run } = commandSuite();
  const soda = (line: string) => run(line.split(' '));
  const ids = async (line: string) =>
    (await soda(`task list ${line}`)).out
      .split('\n')
      .map((row) => row.split('\t')[0])
      .join(' ')
      .trim();

  it('by filters, in order, by views, and counts them', async () => {
    const submit = (id: string, rest: string) =>
      soda(`task submit --id ${id} --type encode ${rest}`);
    await submit('a', '--group news --project p --user ann');
    await submit('b', '--group cash --priority high --requires gpu');
    await submit('c', '--group news --label gold');
    expect(await ids('--project p')).to.equal('a');
    expect(await ids('--user ann --env prod')).to.equal('');
    expect(await ids('--requires gpu')).to.equal('b');
    expect(await ids('--id-prefix c --from 2000-01-01T00:00:00Z')).to.equal('c');
    expect(await ids('--from +1min')).to.equal('');
    expect((await soda('view set recent --from -1d')).code).to.equal(2);
    expect(await ids('--from -1min --to +1min')).to.equal('c b a');
    expect(await ids('--executor x-1 --min-attempts 1')).to.equal('');
    expect(await ids('--sort order')).to.equal('b a c');
    expect((await soda('task list --sort first')).code).to.equal(2);
    expect((await soda('task list --failure-reason bad')).code).to.equal(2);
    expect((await soda('task list --from 5 --to 4')).err).to.match(
      /--to: expected later than --from/,
    );

    expect((await soda('task count')).out).to.match(
      /^waiting: +3\nheld: +0\nsuspended: +0\noffered: +0\nrunning: +0\n$/,
    );
    expect((await soda('task count --state waiting --group news')).out).to.equal('waiting: 2\n');
    expect((await soda('task count --state failed --type encode')).err).to.match(/by state alone/);
    expect(JSON.parse((await soda('task count --state failed --json')).out)).to.deep.equal({
      count: 0,
      exact: true,
      states: { failed: 0 },
    });
    expect((await soda('task errors --type encode')).out).to.equal('');

    expect((await soda('view set mine')).code).to.equal(2);
    expect((await soda('view set mine --group news --sort order')).out).to.equal('set: mine\n');
    expect((await soda('view list')).out).to.equal('mine\tgroup=news sort=order\n');
    expect(await ids('--view mine')).to.equal('a c');
    expect(await ids('--view mine --label gold')).to.equal('c');
    expect((await soda('task list --view yours')).code).to.equal(3);
    expect((await soda('view delete mine')).out).to.equal('deleted: mine\n');
    expect((await soda('view delete mine')).code).to.equal(3);
  });
});
