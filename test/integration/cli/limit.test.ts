/** `soda limit`, and what tasks and types take of limits, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda limit', () => {
  const { run } = commandSuite();
  const soda = (line: string) => run(line.split(' '));

  it('sets what is named, leaves the rest, lists and deletes', async () => {
    expect((await soda('limit set encoder --per host')).err).to.match(/new limit needs --max/);
    expect((await soda('limit set encoder --max 3 --per label:rack')).out).to.equal(
      'set: encoder\n',
    );
    expect((await soda('limit set encoder --max 2')).out).to.equal('set: encoder\n');
    expect((await soda('limit list')).out).to.equal('encoder\t2\tlabel:rack\t0\t\n');
    expect((await soda('limit get encoder')).out).to.match(/^per: +label:rack$/m);
    expect((await soda('limit set encoder --per node')).code).to.equal(2);
    expect((await soda('limit delete encoder')).out).to.equal('deleted: encoder\n');
    expect((await soda('limit get encoder')).code).to.equal(3);
  });

  it('is what a task takes of', async () => {
    await soda('limit set encoder --max 3');
    const submit = 'task submit --type t --group g --id';
    expect((await soda(`${submit} a --use encoder=2`)).out).to.equal('a\n');
    expect((await soda('task get a --json')).out).to.include('"uses":[{"limit":"encoder","n":2}]');
    expect((await soda(`${submit} b --use encoder=x`)).code).to.equal(2);
    expect((await soda(`${submit} c --use encoders`)).err).to.match(/there is no limit encoders/);
  });
});
