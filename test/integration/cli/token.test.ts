/** `soda token` and `soda whoami`, against a whole master. */
import { expect } from 'chai';
import { commandSuite } from '../../helpers/soda/command-suite.ts';

describe('soda token', () => {
  const { run: runWith } = commandSuite();
  const run = (args: readonly string[], token = '') =>
    runWith(args, token === '' ? {} : { SODA_TOKEN: token });

  it('makes one, which says whose it is, lists and revokes it', async () => {
    const scope = ['--group', 'news', '--group', 'sport', '--type', 'encode'];
    const expires = ['--expires', '2090-01-01T00:00:00Z'];
    const made = await run(['token', 'create', 'cms', '--role', 'submit', ...scope, ...expires]);
    expect(made.out).to.match(/^soda_[\w-]{43}\n$/);
    expect(made.err).to.equal('Keep it: nobody is told it again.\n');
    const me = await run(['whoami'], made.out.trim());
    expect(me.out).to.match(/^token: +cms$/m);
    expect(me.out).to.match(/^scope: +groups: news sport; types: encode$/m);
    const json = JSON.parse((await run(['whoami', '--json'], made.out.trim())).out) as object;
    expect(json).to.deep.equal({
      name: 'cms',
      role: 'submit',
      scope: { groups: ['news', 'sport'], types: ['encode'] },
      expires_at: '2090-01-01T00:00:00.000Z',
    });
    expect((await run(['doctor'], made.out.trim())).out).to.include(
      'the token cms of the role submit, limited to some groups, types',
    );
    expect((await run(['token', 'list'])).out).to.match(
      /^cms\tsubmit\tgroups: news sport; types: encode\t2090-01-01T00:00:00.000Z\t\t2/,
    );
    expect((await run(['token', 'revoke', 'cms'])).out).to.equal('revoked: cms\n');
    expect((await run(['whoami'], made.out.trim())).code).to.equal(2);
    expect((await run(['token', 'revoke', 'cms'])).code).to.equal(3);
  });

  it('says what is wrong', async () => {
    expect((await run(['token', 'create', 'a', '--role', 'boss'])).code).to.equal(2);
    expect((await run(['token', 'create', 'a'])).code).to.equal(2);
    const made = await run(['token', 'create', 'a', '--role', 'read', '--json']);
    expect(JSON.parse(made.out)).to.include({ name: 'a', role: 'read', scope: null });
    const taken = await run(['token', 'create', 'a', '--role', 'read']);
    expect(taken).to.include({ code: 4 });
    expect(taken.err).to.include('There is a token a: revoke it first, or choose another name.');
  });
});
