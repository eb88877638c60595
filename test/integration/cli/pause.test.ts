/** `soda pause`, `resume` and `pauses`, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda pause', () => {
  const { run } = commandSuite();
  const soda = (line: string) => run(line.split(' '));

  it('holds groups, labels, namespaces and all of them, and resume ends that', async () => {
    await soda('namespace set live');
    for (const what of ['group news', 'label gpu', 'namespace live']) {
      expect((await soda(`pause ${what} --until 2099-01-31T06:00:00Z`)).out).to.equal(
        `paused: ${what}\n`,
      );
    }
    expect((await soda('pause all --reason moving')).out).to.equal('paused: all namespaces\n');
    expect((await soda('namespace get live')).out).to.match(
      /^paused: +with all namespaces, since/m,
    );
    const { out } = await soda('pauses');
    expect(out).to.match(
      /^all\t\t\tsince \S+: moving\ngroup\tnews\t\tuntil 2099\S+\nlabel\tgpu\t\tuntil \S+\n$/,
    );
    for (const what of ['group news', 'label gpu', 'namespace live']) {
      expect((await soda(`resume ${what}`)).out).to.equal(`resumed: ${what}\n`);
    }
    expect((await soda('resume all')).out).to.equal('resumed: all namespaces\n');
    expect((await soda('pauses')).out + (await soda('pauses --namespace live')).out).to.equal('');
  });

  it('says what is missing, and what is not paused', async () => {
    expect((await soda('pause group')).err).to.match(/say which group/);
    expect((await soda('pause all things')).err).to.match(/it takes no value/);
    expect((await soda('pause executor x')).code).to.equal(2);
    const { code, err } = await soda('resume group nwes');
    expect([code, err]).to.deep.equal([3, 'soda: group nwes is not paused: see "soda pauses"\n']);
  });
});
