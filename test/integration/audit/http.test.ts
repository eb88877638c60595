/** The audit over HTTP, on a whole master: what of every change is kept, what is not, and who may read it. */
import { expect } from 'chai';
import { rights } from '../../../master/access/rights.ts';
import { actionOf } from '../../../master/access/actions.ts';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { eventually } from '../../helpers/system/wait.ts';
import { masterSuite } from '../../helpers/system/in-process.ts';

interface Entry {
  readonly at: string;
  readonly actor: string | null;
  readonly role: string;
  readonly address: string;
  readonly action: string;
  readonly namespace: string | null;
  readonly target: string | null;
  readonly outcome: string;
  readonly filter: object | null;
  readonly count: number | null;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly reason: string | null;
}

describe('the audit', () => {
  const suite = masterSuite();
  const { call } = suite;
  const by = (token: string) => ({ authorization: `Bearer ${token}` });

  async function entries(query = ''): Promise<Entry[]> {
    return (await call('GET', `/audit${query}`)).body['changes'] as Entry[];
  }

  async function newest(): Promise<Entry> {
    const [entry] = await entries('?limit=1');
    if (entry === undefined) throw new Error('There is no change.');
    return entry;
  }

  /** Ends its connection, and waits until the master knows. */
  async function gone(executor: RawExecutor): Promise<void> {
    executor.socket.terminate();
    await eventually('the executor is gone', async () => {
      const { executors } = (await call('GET', '/executors')).body;
      return (executors as { connected: boolean }[]).every(({ connected }) => !connected);
    });
  }

  const JOB = {
    template: { task: { type: 'encode', params: { key: 's3cret' } }, user: { group: 'ops' } },
    triggers: [{ at: '2100-01-01T00:00:00Z' }],
  } as const;
  const BLACKOUT = { from: '2100-01-01T00:00:00Z', to: '2100-01-02T00:00:00Z' };

  /** Whatever a route takes, so that it changes something; in this order. */
  const CALLS: Readonly<Record<string, readonly [path: string, target: string, body?: object]>> = {
    'POST /tokens': ['/tokens', 'bob', { name: 'bob', role: 'read' }],
    'DELETE /token/{name}': ['/token/bob', 'bob'],
    'PUT /namespace/{namespace}': ['/namespace/live', 'live', { max_running: 2 }],
    'DELETE /namespace/{namespace}': ['/namespace/live', 'live'],
    'PATCH /task/{task_id}': ['/task/job', 'job', { priority: 5 }],
    'POST /task/{task_id}/cancel': ['/task/job/cancel', 'job', { reason: 'late' }],
    'POST /task/{task_id}/redeliver': ['/task/job/redeliver', 'job'],
    'POST /task/{task_id}/retry': ['/task/job/retry', 'job'],
    'POST /task/{task_id}/suspend': ['/task/job/suspend', 'job'],
    'POST /task/{task_id}/resume': ['/task/job/resume', 'job'],
    'POST /task/{task_id}/last': ['/task/job/last', 'job'],
    'POST /task/{task_id}/first': ['/task/job/first', 'job'],
    'POST /executor/{executor_id}/drain': ['/executor/gpu/drain', 'gpu'],
    'POST /executor/{executor_id}/resume': ['/executor/gpu/resume', 'gpu'],
    'PATCH /executor/{executor_id}': ['/executor/gpu', 'gpu', { labels: ['gold'] }],
    'DELETE /executor/{executor_id}': ['/executor/gpu', 'gpu'],
    'POST /pause': ['/pause', 'group:news', { scope: 'group', value: 'news', reason: 'hot' }],
    'POST /resume': ['/resume', 'group:news', { scope: 'group', value: 'news' }],
    'PUT /view/{name}': ['/view/late', 'late', { query: { state: 'failed' } }],
    'DELETE /view/{name}': ['/view/late', 'late'],
    'PUT /limit/{name}': ['/limit/licence', 'licence', { max: 3, per: 'host' }],
    'DELETE /limit/{name}': ['/limit/licence', 'licence'],
    'PUT /alert-rule/{name}': ['/alert-rule/full', 'full', { kind: 'disk', threshold: 5 }],
    'DELETE /alert-rule/{name}': ['/alert-rule/full', 'full'],
    'PUT /alert-receiver/{name}': [
      '/alert-receiver/ops',
      'ops',
      { channel: 'webhook', url: 'http://127.0.0.1:9/' },
    ],
    'DELETE /alert-receiver/{name}': ['/alert-receiver/ops', 'ops'],
    'PUT /type/{type}': ['/type/encode', 'encode', { owner: 'video' }],
    'POST /type/{type}/pause': ['/type/encode/pause', 'encode', { reason: 'hot' }],
    'POST /type/{type}/resume': ['/type/encode/resume', 'encode'],
    'PUT /type/{type}/override': [
      '/type/encode/override',
      'encode',
      { limits: { max_running: 1 }, reason: 'night' },
    ],
    'DELETE /type/{type}/override': ['/type/encode/override', 'encode'],
    'PUT /job/{name}': ['/job/nightly', 'nightly', { ...JOB, description: 'late' }],
    'POST /job/{name}/disable': ['/job/nightly/disable', 'nightly'],
    'POST /job/{name}/enable': ['/job/nightly/enable', 'nightly'],
    'POST /job/{name}/skip': ['/job/nightly/skip', 'nightly', { nominal: JOB.triggers[0].at }],
    'POST /job/{name}/unskip': ['/job/nightly/unskip', 'nightly', { nominal: JOB.triggers[0].at }],
    'POST /job/{name}/rollback': ['/job/nightly/rollback', 'nightly', { version: 1 }],
    'POST /job/{name}/run': ['/job/nightly/run', 'nightly'],
    'DELETE /job/{name}': ['/job/nightly', 'nightly'],
    'PUT /calendar/{name}': ['/calendar/china', 'china', { days: [] }],
    'DELETE /calendar/{name}': ['/calendar/china', 'china'],
    'PUT /blackouts': ['/blackouts', 'blackouts', { blackouts: [BLACKOUT] }],
    'DELETE /task/{task_id}': ['/task/done', 'done'],
    'DELETE /type/{type}': ['/type/encode?force=true', 'encode'],
  };

  /** Of operations on many tasks, which have no name before. */
  const ON_MANY = [
    'POST /tasks/bulk',
    'POST /job/{name}/backfill',
    'POST /operation/{operation_id}/cancel',
    'POST /operation/{operation_id}/pause',
    'POST /operation/{operation_id}/resume',
  ];

  /** Of what is raised: `alerts/http.test.ts` looks at these. */
  const ON_ALERTS = ['POST /alert/{alert_id}/silence'];

  /** Of windows that are to come, and need executors: `bookings/http.test.ts` looks at these. */
  const ON_BOOKINGS = [
    'POST /booking',
    'DELETE /booking/{booking_id}',
    'POST /booking/{booking_id}/skip',
  ];

  it('keeps of an operation on many tasks that it was begun, by which filter, and on how many', async () => {
    await suite.submit({ id: 'job', type: 'encode' });
    const from = '2026-01-01T00:00:00.000Z';
    const many = { action: 'change', filter: { type: 'encode', from }, change: { priority: 5 } };
    const { token } = (await call('POST', '/tasks/bulk', many)).body;
    expect(await entries(), 'of a preview').to.have.length(0);
    const begun = await call('POST', '/tasks/bulk', { ...many, reason: 'late', token });
    expect(begun.status).to.equal(202);
    const [entry, ...others] = await entries();
    expect(others).to.have.length(0);
    expect(entry).to.deep.include({
      action: 'task.bulk',
      target: begun.body['operation_id'],
      filter: { type: 'encode', from },
      count: 1,
      before: null,
      after: { action: 'change', change: { priority: 5 } },
      reason: 'late',
    });
  });

  it('keeps every change as one row, with who made it, what, and how it was before and after', async () => {
    const audited = Object.keys(rights).filter((route) => {
      const [method = '', path = ''] = route.split(' ');
      return actionOf(method, path) !== null;
    });
    expect(
      [...Object.keys(CALLS), ...ON_MANY, ...ON_ALERTS, ...ON_BOOKINGS],
      'each route that changes something',
    ).to.have.members(audited);
    const task = { id: 'job', type: 'encode', notify_url: 'http://127.0.0.1:9/?key=s3cret' };
    expect((await suite.submit(task)).status).to.equal(202);
    await suite.submit({ id: 'done', type: 'encode' });
    await call('POST', '/task/done/cancel', {});
    await suite.submit({ id: 'other', type: 'encode' });
    const gpu = await RawExecutor.join(Number(new URL(suite.url()).port), { executor_id: 'gpu' });
    const made = await call('POST', '/tokens', { name: 'root', role: 'admin' });
    expect(made.status).to.equal(201);
    const root = by(made.body['token'] as string);
    expect((await call('PUT', '/job/nightly', JOB)).status).to.equal(201);
    const seen = new Map<string, Entry>();
    let count = (await entries()).length;
    expect(count, 'of the cancel, the token and the job, and not of the tasks').to.equal(3);
    for (const [route, [path, target, body]] of Object.entries(CALLS)) {
      const [method = '', template = ''] = route.split(' ');
      if (route === 'DELETE /executor/{executor_id}') await gone(gpu);
      const answer = await call(method, path, body, root);
      expect(answer.status, `${route}: ${JSON.stringify(answer.body)}`).to.be.within(200, 202);
      const all = await entries();
      expect(all.length, route).to.equal(++count);
      const [entry] = all as [Entry];
      expect(entry, route).to.include({
        actor: 'root',
        role: 'admin',
        action: actionOf(method, template),
        target,
        outcome: 'done',
      });
      expect(entry.address).to.match(/127\.0\.0\.1$/);
      expect(Date.parse(entry.at)).to.be.closeTo(Date.now(), 60_000);
      seen.set(entry.action, entry);
    }
    const of = (action: string) => {
      const { namespace, before, after, reason } = seen.get(action) as Entry;
      return { namespace, before, after, reason };
    };
    const inDefault = { namespace: 'default', reason: null };
    expect(of('token.create').after).to.deep.equal({ role: 'read', created_by: 'root' });
    expect(of('token.revoke')).to.deep.include({ namespace: null, after: null });
    expect(of('namespace.set').after).to.deep.equal({ max_running: 2, retention: 'normal' });
    expect(of('task.change')).to.deep.equal({
      ...inDefault,
      before: { priority: 0 },
      after: { priority: 5 },
    });
    expect(of('task.cancel')).to.deep.include({
      reason: 'late',
      before: { state: 'waiting' },
      after: { state: 'canceled' },
    });
    expect(of('task.retry').after).to.include({ state: 'waiting' });
    expect(of('limit.set')).to.deep.equal({
      ...inDefault,
      before: null,
      after: { max: 3, per: 'host' },
    });
    expect(of('executor.change').after).to.deep.equal({ labels: ['gold'] });
    expect(of('executor.drain').after?.['drained_at']).to.match(/^20.*Z$/);
    expect(of('type.set').after).to.deep.equal({ owner: 'video' });
    expect(of('type.pause')).to.deep.include({ reason: 'hot' });
    expect(of('type.pause').after).to.include({ paused_reason: 'hot', paused_by: 'root' });
    expect(of('type.override').after).to.deep.equal({ override: { limits: { max_running: 1 } } });
    expect(JSON.stringify([...seen.values()])).to.not.match(/soda_|s3cret/);
    const verified = (await call('GET', '/audit/verify')).body;
    expect(verified).to.include({ count, misfit: null, next_cursor: null });
    await suite.restart();
    expect(await entries()).to.have.length(count);
  });

  it('keeps nothing of what changes nothing, nor of what was refused for what it says', async () => {
    await call('PUT', '/type/encode', { owner: 'video' });
    await call('PUT', '/limit/licence', { max: 3, per: 'host' });
    await call('PUT', '/view/late', { query: { state: 'failed' } });
    const { length } = await entries();
    for (const [method, path, body, status] of [
      ['PUT', '/type/encode', { owner: 'video' }, 200],
      ['POST', '/resume', { scope: 'namespace' }, 200],
      ['PUT', '/limit/licence', { max: 3, per: 'host' }, 200],
      ['PUT', '/view/late', { query: { state: 'failed' } }, 200],
      ['PUT', '/namespace/default', { max_running: null }, 200],
      ['PUT', '/type/encode?dry_run=true', { owner: 'audio' }, 200],
      ['PUT', '/type/encode', { owned: 'video' }, 400],
      ['DELETE', '/limit/none', undefined, 404],
      ['POST', '/task/none/cancel', {}, 404],
      ['POST', '/executor/none/drain', {}, 404],
    ] as const) {
      expect((await call(method, path, body)).status, path).to.equal(status);
    }
    expect(await entries()).to.have.length(length);
  });

  it('masks what is behind addresses, leaves out what is long, and keeps no params', async () => {
    const defaults = { notify_url: 'https://hooks.example/x?token=word' };
    const description = 'd'.repeat(900);
    const params_schema = { type: 'object', description: 'e'.repeat(5_000) };
    await call('PUT', '/type/encode', { defaults, description, params_schema });
    const { after } = await newest();
    expect(after).to.deep.include({
      defaults: { notify_url: 'https://hooks.example/x?***' },
      description,
    });
    expect(after?.['params_schema']).to.have.property('omitted_length').that.is.above(5_000);
    await suite.submit({ id: 'job', type: 'encode', params: { pass: 'word' } });
    await call('POST', '/task/job/cancel', {});
    expect(JSON.stringify(await newest())).to.not.include('word');
  });

  it('keeps what no database keeps as it is in a way that it does', async () => {
    for (const [n, reason] of ['x\ud800y', 'x\0y'].entries()) {
      await suite.submit({ id: `job-${n}`, type: 'encode' });
      await call('POST', `/task/job-${n}/cancel`, { reason });
      expect((await newest()).reason).to.equal('x\ufffdy');
    }
    const made = await call('POST', '/tokens', { name: 'ann', role: 'read' });
    const ann = by(made.body['token'] as string);
    expect((await call('POST', '/task/a%00b/cancel', {}, ann)).status).to.equal(403);
    await eventually('the refused try is kept', async () => (await newest()).target === 'a\ufffdb');
    expect((await call('GET', '/audit/verify')).body).to.include({ misfit: null });
  });

  it('keeps the removal of an executor that is away and has no row', async () => {
    const gpu = await RawExecutor.join(Number(new URL(suite.url()).port), { executor_id: 'gpu' });
    await gone(gpu);
    expect((await call('DELETE', '/executor/gpu')).status).to.equal(200);
    expect(await newest()).to.include({ action: 'executor.remove', target: 'gpu' });
  });

  it('is found by who, what and when, page by page, and only by those who may see all', async () => {
    const made = async (name: string, role: string) =>
      by((await call('POST', '/tokens', { name, role })).body['token'] as string);
    const [ann, bob] = [await made('ann', 'operate'), await made('bob', 'admin')];
    await call('POST', '/type/a/pause', {}, ann);
    await call('POST', '/ns/default/type/b/pause', {}, bob);
    await call('POST', '/type/a/resume', {}, ann);
    const actions = async (query: string) => (await entries(query)).map(({ action }) => action);
    expect(await actions('?actor=ann')).to.deep.equal(['type.resume', 'type.pause']);
    expect(await actions('?action=type.pause')).to.have.length(2);
    expect(await actions('?action=token')).to.have.length(2);
    expect(await actions('?target=a&action=type.resume')).to.have.length(1);
    expect(await actions(`?from=${Date.now() + 60_000}`)).to.deep.equal([]);
    expect(await actions('?to=2020-01-01T00:00:00Z')).to.deep.equal([]);
    const first = (await call('GET', '/audit?limit=3')).body;
    const rest = await actions(`?cursor=${String(first['next_cursor'])}`);
    expect(rest).to.deep.equal(['token.create', 'token.create']);
    for (const query of ['?cursor=x', '?action=a.b.c', '?from=now', '?limit=0', '?who=ann']) {
      expect((await call('GET', `/audit${query}`)).status, query).to.equal(400);
    }
    for (const path of ['/audit', '/audit/verify']) {
      expect((await call('GET', path, undefined, ann)).status).to.equal(403);
    }
  });

  it('keeps tries that were refused, so many in a minute, and says how many there were', async () => {
    const made = await call('POST', '/tokens', { name: 'ann', role: 'read' });
    const ann = by(made.body['token'] as string);
    for (let n = 0; n < 30; n += 1) {
      expect((await call('POST', `/type/t-${n}/pause`, {}, ann)).status).to.equal(403);
    }
    await call('GET', '/audit', undefined, ann);
    const refused = (await entries()).filter(({ outcome }) => outcome === 'refused');
    expect(refused.length, 'a minute may have begun meanwhile').to.be.within(10, 20);
    const { at: _, address: __, ...entry } = refused.at(-1) as Entry;
    expect(entry).to.deep.equal({
      actor: 'ann',
      role: 'read',
      action: 'type.pause',
      namespace: 'default',
      target: 't-0',
      outcome: 'refused',
      filter: null,
      count: 1,
      before: null,
      after: null,
      reason: null,
    });
    expect((await call('GET', '/audit/verify')).body).to.include({ misfit: null });
  });
});
