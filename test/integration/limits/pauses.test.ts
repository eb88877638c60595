/** Pauses over HTTP, on a whole master: what they keep, who may set them, and where they show. */
import { expect } from 'chai';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

interface Shown {
  readonly scope: string;
  readonly value: string | null;
  readonly by: string | null;
}

describe('pauses', () => {
  const suite = masterSuite();
  const { call } = suite;
  const by = (token: string) => ({ authorization: `Bearer ${token}` });
  const port = () => Number(new URL(suite.url()).port);

  const submit = (id: string, task: object = {}, group = 'news', path = '') =>
    call('POST', `${path}/task/submit`, { task: { id, type: 'encode', ...task }, user: { group } });
  const pausesIn = async (path = '', headers = {}) => {
    const { body } = await call('GET', `${path}/pauses`, undefined, headers);
    return (body['pauses'] as Shown[]).map(({ scope, value }) => [scope, value].join(' '));
  };
  async function tokenOf(name: string, role: string, scope?: object) {
    const { body } = await call('POST', '/tokens', { name, role, ...(scope && { scope }) });
    return by(body['token'] as string);
  }

  it('keep what is submitted, also after a restart, until they end; all of them are listed', async () => {
    await call('PUT', '/namespace/live', {});
    const reason = 'disk full';
    const until = '2099-01-31T06:00:00.000Z';
    const { status, body } = await call('POST', '/pause', {
      scope: 'group',
      value: 'news',
      reason,
    });
    expect(status).to.equal(200);
    const [made] = body['pauses'] as Shown[];
    expect(made).to.deep.include({ scope: 'group', value: 'news', by: null, reason, until: null });
    await call('POST', '/pause', { scope: 'label', value: 'gpu', until });
    await call('POST', '/pause', { scope: 'namespace', reason });
    await call('POST', '/ns/live/pause', { scope: 'namespace', value: 'live' });
    await call('POST', '/type/encode/pause', {});
    await call('POST', '/pause', { scope: 'all' });
    await submit('a', { labels: ['gpu'] });
    await submit('b', {}, 'news', '/ns/live');
    for (const isAgain of [false, true]) {
      if (isAgain) await suite.restart();
      expect(await pausesIn()).to.deep.equal([
        'all ',
        'namespace ',
        'group news',
        'label gpu',
        'type encode',
      ]);
      expect(await pausesIn('/ns/live')).to.deep.equal(['all ', 'namespace ']);
      const { waiting } = (await call('GET', '/task/a')).body as {
        waiting: { reason: string; pauses: (Shown & { until: string | null })[] };
      };
      expect(waiting.reason).to.equal('paused');
      expect(waiting.pauses.map(({ scope }) => scope)).to.deep.equal([
        'all',
        'namespace',
        'type',
        'group',
        'label',
      ]);
      expect(waiting.pauses.at(-1)?.until).to.equal(until);
    }
    expect((await call('GET', '/namespace/default')).body).to.deep.include({ pauses: 2 });
    expect((await call('GET', '/namespace/live')).body['paused']).to.include({ scope: 'all' });
    const made2 = (await call('PUT', '/namespace/later', {})).body;
    expect(made2['paused']).to.include({ scope: 'all' });
    expect(await pausesIn('/ns/later')).to.deep.equal(['all ']);

    const page = (await call('GET', '/pauses?limit=2')).body;
    expect((page['pauses'] as Shown[]).map(({ scope }) => scope)).to.deep.equal([
      'all',
      'namespace',
    ]);
    const next = encodeURIComponent(page['next_cursor'] as string);
    const rest = (await call('GET', `/pauses?limit=4&cursor=${next}`)).body;
    expect(rest['pauses']).to.have.length(3);
    expect(rest['next_cursor']).to.equal(null);

    const executor = await RawExecutor.join(port(), { executor_id: 'x', types: ['encode'] });
    await call('POST', '/resume', { scope: 'all' });
    await call('POST', '/resume', { scope: 'namespace' });
    await call('POST', '/type/encode/resume');
    expect((await call('POST', '/resume', { scope: 'label', value: 'gpu' })).body).to.deep.equal({
      pauses: [],
    });
    await executor.settled();
    expect(executor.frames.filter(({ type }) => type === 'assign')).to.deep.equal([]);
    await call('POST', '/resume', { scope: 'group', value: 'news' });
    expect((await executor.next('assign')).task.id).to.equal('a');
    expect(await pausesIn()).to.deep.equal([]);
    expect(await pausesIn('/ns/live')).to.deep.equal(['namespace ']);
    expect((await call('GET', '/namespace/live')).body['paused']).to.include({
      scope: 'namespace',
    });
    executor.socket.terminate();
  });

  it('are refused where the request is wrong, by field', async () => {
    const refused = async (body: object) => errorsOf(await call('POST', '/pause', body));
    expect(await refused({})).to.deep.equal(['scope: expected group, label, namespace or all']);
    expect(await refused({ scope: 'group' })).to.deep.equal(['value: expected the group']);
    expect(await refused({ scope: 'label', value: 'a b' })).to.deep.equal([
      'value: expected 1 to 64 characters of A-Z a-z 0-9 _ . : = / -',
    ]);
    expect(await refused({ scope: 'all', value: 'x' })).to.deep.equal([
      'value: expected none: all is all',
    ]);
    expect(await refused({ scope: 'namespace', value: 'live' })).to.deep.equal([
      'value: expected default, which the path names, or nothing',
    ]);
    for (const scope of ['group', 'all']) {
      const value = scope === 'group' ? { value: 'g' } : {};
      expect(await refused({ scope, ...value, until: '2020-01-01T00:00:00Z' })).to.deep.equal([
        'until: expected an instant that is yet to come',
      ]);
    }
    expect(await refused({ scope: 'group', value: 'g', untill: 1 })).to.deep.equal([
      'untill: not a known field; did you mean until?',
    ]);
    for (const cursor of ['x', '0group/a', '9group/a', 'group/a'])
      expect(errorsOf(await call('GET', `/pauses?cursor=${cursor}`)), cursor).to.deep.equal([
        'cursor: expected the `next_cursor` of a page',
      ]);
  });

  it('take null for what may be left out, as other routes do', async () => {
    const nothing = { reason: null, until: null };
    const all = await call('POST', '/pause', { scope: 'all', value: null, ...nothing });
    expect(all.body['pauses']).to.have.length(1);
    expect((await call('POST', '/resume', { scope: 'all', value: null })).body).to.deep.equal({
      pauses: [],
    });
    for (const [method, path, body] of [
      ['POST', '/pause', { scope: 'group', value: 'g', ...nothing }],
      ['POST', '/type/encode/pause', nothing],
      ['PUT', '/namespace/live', { paused: nothing }],
      ['PUT', '/type/encode/override', { limits: { max_running: 1 }, reason: 'x', until: null }],
    ] as const)
      expect((await call(method, path, body)).status, path).to.be.oneOf([200, 201]);
    // It is asked for by the id: there is none, but what was asked is read.
    for (const path of ['/task/none/cancel', '/task/none/suspend', '/executor/none/drain'])
      expect((await call('POST', path, { reason: null })).status, path).to.equal(404);
  });

  it('are set by who may: groups by operators of these, all by admins of everything', async () => {
    const ann = await tokenOf('ann', 'operate', { groups: ['news'] });
    const ben = await tokenOf('ben', 'operate');
    const cat = await tokenOf('cat', 'operate', { groups: ['news'], types: ['encode'] });
    const dan = await tokenOf('dan', 'admin', { namespaces: ['default'] });
    const eve = await tokenOf('eve', 'read', { groups: ['news'] });
    const may = async (who: object, scope: string, value?: string) =>
      (await call('POST', '/pause', { scope, ...(value && { value }) }, who as never)).status;
    expect(await may(ann, 'group', 'news')).to.equal(200);
    expect(await may(ann, 'group', 'sport')).to.equal(403);
    expect(await may(ann, 'label', 'gpu')).to.equal(403);
    expect(await may(ann, 'namespace')).to.equal(403);
    expect(await may(cat, 'group', 'news'), 'of types that it has not').to.equal(403);
    expect(await may(eve, 'group', 'news')).to.equal(403);
    expect(await may(ben, 'group', 'sport')).to.equal(200);
    expect(await may(ben, 'namespace')).to.equal(200);
    expect(await may(ben, 'all')).to.equal(403);
    expect(await may(dan, 'all')).to.equal(403);
    expect(await may(dan, 'label', 'gpu')).to.equal(200);
    // Of a label whoever has a task that it keeps: it may say whose else it is, and why.
    expect(await pausesIn('', ann)).to.deep.equal(['namespace ', 'group news']);
    const task = { id: 'film', type: 'encode', labels: ['gpu'] };
    await call('POST', '/task/submit', { task, user: { group: 'film' } });
    expect(await pausesIn('', ann)).to.deep.equal(['namespace ', 'group news']);
    await call('POST', '/task/submit', { task: { ...task, id: 'cup' }, user: { group: 'news' } });
    expect(await pausesIn('', ann)).to.deep.equal(['namespace ', 'group news', 'label gpu']);
    expect(await pausesIn('', cat)).to.deep.equal(['namespace ', 'group news', 'label gpu']);
    const answer = await call('POST', '/resume', { scope: 'group', value: 'sport' }, ann);
    expect(answer.body['detail']).to.equal(
      'The scope of the token ann does not include the group sport.',
    );
    const listed = (await call('GET', '/pauses')).body['pauses'] as Shown[];
    expect(listed.map((one) => one.by)).to.deep.equal(['ben', 'ann', 'ben', 'dan']);
  });
});
