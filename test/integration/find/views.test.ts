/** Saved views over HTTP, on a whole master: saved, shown, changed and deleted, and who sees which. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('saved views', () => {
  const { call, restart } = masterSuite();
  const put = (name: string, query: object, token?: string) =>
    call('PUT', `/view/${name}`, { query }, token === undefined ? {} : by(token));
  const by = (token: string) => ({ authorization: `Bearer ${token}` });
  const names = async (query = '', token?: string) => {
    const { body } = await call('GET', `/views${query}`, undefined, token ? by(token) : {});
    const views = body['views'] as { name: string }[];
    return [views.map(({ name }) => name).join(' '), body['next_cursor']];
  };

  it('are saved, listed by name, changed and deleted, and outlive the master', async () => {
    const query = { state: 'failed', error: 'moov atom', min_attempts: 3, from: 1, sort: 'newest' };
    const made = await put('broken', query);
    expect(made).to.deep.include({ status: 201, body: { name: 'broken', query } });
    expect((await put('a', { state: 'waiting', sort: 'order' })).status).to.equal(201);
    expect((await put('broken', { state: 'failed' })).status).to.equal(200);
    await restart();
    expect((await call('GET', '/views')).body).to.deep.equal({
      views: [
        { name: 'a', query: { state: 'waiting', sort: 'order' } },
        { name: 'broken', query: { state: 'failed' } },
      ],
      next_cursor: null,
    });
    expect(await names('?limit=1')).to.deep.equal(['a', 'a']);
    expect(await names('?limit=1&cursor=a')).to.deep.equal(['broken', null]);
    expect((await call('DELETE', '/view/a')).body).to.deep.equal({ name: 'a', code: 200 });
    expect((await call('DELETE', '/view/a')).status).to.equal(404);
    await call('PUT', '/namespace/live', {});
    expect((await call('GET', '/ns/live/views')).body['views']).to.deep.equal([]);
  });

  it('are refused where no list could be asked so', async () => {
    const refused = async (name: string, query: object) =>
      errorsOf(await put(name, query)).join('; ');
    expect(await refused('a%20b', {})).to.match(/^name: expected 1 to 64/);
    expect(await refused('a', { limit: 5, stat: 'failed' })).to.match(
      /query.limit: .*query.stat: .*state/,
    );
    expect(await refused('a', { state: 'lost', type: 'a b' })).to.match(
      /^query.state: .*; query.type: /,
    );
    expect(await refused('a', { from: 2, to: 1 })).to.equal(
      'query.to: expected later than `query.from`',
    );
    expect(await refused('a', { sort: 'order', state: 'held' })).to.match(
      /^query.state: expected waiting/,
    );
    expect((await call('PUT', '/view/a', {})).status).to.equal(400);
    expect((await call('GET', '/views?cursor=a%20b')).status).to.equal(400);
  });

  it('are seen within a scope where they ask for nothing else, and changed by who operates all', async () => {
    const tokenOf = async (name: string, role: string, scope?: object) =>
      (await call('POST', '/tokens', { name, role, scope })).body['token'] as string;
    await put('all', { state: 'failed' });
    await put('news', { group: 'news', type: 'pay' });
    await put('cash', { group: 'cash', label: 'of-cash' });
    const reader = await tokenOf('ann', 'read', { groups: ['news'] });
    expect(await names('', reader)).to.deep.equal(['news', null]);
    expect(await names('', await tokenOf('bea', 'read', { types: ['pay'] }))).to.deep.equal([
      'news',
      null,
    ]);
    expect(await names('', await tokenOf('cid', 'read'))).to.deep.equal(['all cash news', null]);
    expect((await put('x', { group: 'news' }, reader)).status).to.equal(403);
    const partly = await tokenOf('dan', 'operate', { groups: ['news'] });
    expect((await put('x', { group: 'news' }, partly)).status).to.equal(403);
    expect((await call('DELETE', '/view/cash', undefined, by(partly))).status).to.equal(403);
    const operator = await tokenOf('eve', 'operate');
    expect((await put('x', { group: 'news' }, operator)).status).to.equal(201);
  });
});
