/** What every store must do with tokens: they are of the database, and of no namespace. */
import { expect } from 'chai';
import type { Store, TokenRecord } from '../../../master/application/ports.ts';
import { NOW } from '../../helpers/task.ts';
import { describeStores } from '../subjects.ts';

const tokenOf = (name: string, change: Partial<TokenRecord> = {}): TokenRecord => ({
  name,
  digest: `digest of ${name}`,
  role: 'read',
  scope: null,
  createdAt: NOW,
  createdBy: null,
  expiresAt: null,
  lastUsedAt: null,
  ...change,
});
const everything = tokenOf('Ann.1', {
  role: 'executor',
  scope: { namespaces: ['default', 'live'], groups: null, types: ['a:b'] },
  createdBy: 'config:admin',
  expiresAt: NOW + 5,
  lastUsedAt: NOW + 1,
});

describeStores('tokens', (open) => {
  let store: Store;
  const list = async () => (await store.tokens.list()).sort((a, b) => (a.name < b.name ? -1 : 1));

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
  });

  it('are kept as they are, until they are removed', async () => {
    expect(await list()).to.deep.equal([]);
    const groups = ['news ', 'news', 'späti', '"'];
    const scoped = tokenOf('b', { scope: { namespaces: null, groups, types: null } });
    for (const one of [everything, scoped]) expect(await store.tokens.add(one)).to.equal(true);
    expect(await list()).to.deep.equal([everything, scoped]);
    await store.tokens.remove('b');
    await store.tokens.remove('nobody');
    expect(await list()).to.deep.equal([everything]);
  });

  it('have names that are given once, by the letter', async () => {
    expect(await store.tokens.add(everything)).to.equal(true);
    expect(await store.tokens.add(tokenOf('Ann.1'))).to.equal(false);
    expect(await store.tokens.add(tokenOf('ann.1'))).to.equal(true);
    expect((await list())[0]).to.deep.equal(everything);
  });

  it('say when they were used last, of those that are there', async () => {
    for (const name of ['a', 'b']) await store.tokens.add(tokenOf(name));
    await store.tokens.noteUses([
      { name: 'b', lastUsedAt: NOW + 1 },
      { name: 'gone', lastUsedAt: NOW + 2 },
    ]);
    expect((await list()).map(({ lastUsedAt }) => lastUsedAt)).to.deep.equal([null, NOW + 1]);
  });
});
