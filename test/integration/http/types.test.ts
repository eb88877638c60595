/** The routes about types, at a whole master: what is set, how it is refused, and what is seen. */
import { API_BASE } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('types', () => {
  const { call, restart, submit, url, getType: get, putType: put } = masterSuite();

  it('are defined, shown, changed at the version that was seen, and forgotten', async () => {
    const made = await put('video', { description: 'cuts videos', owner: 'media' });
    expect(made).to.include({ status: 201, etag: '"1"' });
    expect(made.body).to.deep.equal({
      type: 'video',
      registered: true,
      version: 1,
      description: 'cuts videos',
      owner: 'media',
      paused: null,
      overrides: [],
      counts: { waiting: 0, running: 0, held: 0 },
      executors: 0,
      constraint: null,
    });
    expect(await put('video', { owner: 'media', description: 'cuts videos' }, 1)).to.include({
      status: 200,
      etag: '"1"',
    });
    expect(await put('video', { description: 'cuts' }, 1)).to.include({ status: 200, etag: '"2"' });
    const late = await put('video', {}, 1);
    expect(late.status).to.equal(412);
    expect(late.body['detail']).to.equal('the type is at version 2, not 1');
    await restart();
    const kept = await get('video');
    expect(kept).to.include({ status: 200 });
    expect(kept.etag).to.match(/^"2\.[\w-]+"$/);
    expect(kept.body).to.include({ description: 'cuts' }).and.not.have.property('owner');
    expect((await call('DELETE', '/type/video', undefined, { 'if-match': '"1"' })).status).to.equal(
      412,
    );
    expect((await call('DELETE', '/type/video')).body).to.deep.equal({ type: 'video', code: 200 });
    expect((await get('video')).status).to.equal(404);
    expect((await call('DELETE', '/type/video')).status).to.equal(404);
  });

  it('are not sent again to whoever has them as they are', async () => {
    await put('video', { owner: 'media' });
    const { etag } = await get('video');
    const seen = async (tags: string, method = 'GET') => {
      const headers = { 'if-none-match': tags };
      const answer = await fetch(`${url()}${API_BASE}/type/video`, { method, headers });
      return { status: answer.status, etag: answer.headers.get('etag'), text: await answer.text() };
    };
    for (const tags of [etag!, `"other", W/${etag}`, '*']) {
      expect(await seen(tags), tags).to.deep.equal({ status: 304, etag, text: '' });
    }
    expect(await seen(etag!, 'HEAD')).to.include({ status: 304 });
    expect(await seen('"1"')).to.include({ status: 200, etag });
    // Not the definition alone: what waits of it is shown too.
    await submit({ id: '1', type: 'video' });
    expect(await seen(etag!)).to.include({ status: 200 });
    const now = await get('video');
    expect(now.etag).not.to.equal(etag);
    const change = await call('PUT', '/type/video', {}, { 'if-match': now.etag! });
    expect(change.status).to.equal(200);
    expect((await call('PUT', '/type/video', {}, { 'if-match': etag! })).status).to.equal(200);
    const late = await call('PUT', '/type/video', { owner: 'them' }, { 'if-match': etag! });
    expect(late.status).to.equal(412);
  });

  it('are listed by name and by pages, registered or only seen', async () => {
    await put('b', { description: 'two' });
    await put('d', {});
    await submit({ id: '1', type: 'c' });
    await submit({ id: '2', type: 'a' });
    await submit({ id: '3', type: 'a' });
    const first = await call('GET', '/types?limit=3');
    const types = first.body['types'] as Record<string, unknown>[];
    expect(types.map(({ type, registered, counts }) => [type, registered, counts])).to.deep.equal([
      ['a', false, { waiting: 2, running: 0, held: 0 }],
      ['b', true, { waiting: 0, running: 0, held: 0 }],
      ['c', false, { waiting: 1, running: 0, held: 0 }],
    ]);
    expect(first.body['next_cursor']).to.equal('c');
    const rest = await call('GET', '/types?limit=3&cursor=c');
    expect(rest.body['next_cursor']).to.equal(null);
    expect((rest.body['types'] as { type: string }[]).map(({ type }) => type)).to.deep.equal(['d']);
    expect((await get('a')).body).to.include({ registered: false, version: 0 });
  });

  it('are there with the first executor that names them', async () => {
    expect((await get('new')).status).to.equal(404);
    const port = Number(new URL(url()).port);
    const executor = await RawExecutor.join(port, { executor_id: 'x', types: ['new'] });
    const { types } = (await call('GET', '/types')).body as { types: { type: string }[] };
    expect(types.map(({ type }) => type)).to.deep.equal(['new']);
    expect((await submit({ id: '1', type: 'new' })).status).to.equal(202);
    expect((await executor.next('assign')).task.id).to.equal('1');
    executor.socket.terminate();
  });

  it('are of one namespace', async () => {
    await call('PUT', '/namespace/other');
    expect((await call('PUT', '/ns/other/type/video', { owner: 'them' })).status).to.equal(201);
    expect((await get('video')).status).to.equal(404);
    expect((await call('GET', '/ns/other/type/video')).body['owner']).to.equal('them');
  });

  it('are not forgotten while tasks of them wait, unless that is forced', async () => {
    await put('video', {});
    await submit({ id: '1', type: 'video' });
    const refused = await call('DELETE', '/type/video');
    expect(refused.status).to.equal(409);
    expect(refused.body['detail']).to.equal(
      'tasks of it wait or run (1): with force=true they go on without its settings',
    );
    expect((await call('DELETE', '/type/video?force=maybe')).status).to.equal(400);
    expect((await call('DELETE', '/type/video?force=true')).status).to.equal(200);
    expect((await get('video')).body).to.include({ registered: false });
  });

  it('are paused and resumed, registered or not', async () => {
    const paused = await call('POST', '/type/video/pause', {
      reason: 'storage is full',
      until: '2099-01-01T00:00:00Z',
    });
    expect(paused.status).to.equal(200);
    expect(paused.body['paused']).to.include({
      reason: 'storage is full',
      until: '2099-01-01T00:00:00.000Z',
      by: null,
    });
    await restart();
    expect((await get('video')).body['paused']).to.deep.equal(paused.body['paused']);
    const past = await call('POST', '/type/video/pause', { until: 1 });
    expect(errorsOf(past)).to.deep.equal(['until: expected an instant that is yet to come']);
    expect((await call('POST', '/type/video/resume')).body['paused']).to.equal(null);
    expect((await get('video')).status).to.equal(404);
  });

  it('know the names of the source', async () => {
    const made = await put('video', {
      max_retry_num: 4,
      max_retry_interval: [1, 10, 25],
      max_processing_time: 3600,
      schedule_limit: 100,
      schedule_interval: 2,
    });
    expect(made.body).to.deep.include({
      defaults: { retry: { max_attempts: 5, interval: [1, 10, 25] }, execution_timeout: 3600 },
      pull: { limit: 100, interval: 2 },
    });
    // In both ways the same.
    const again = { max_retry_num: 0, defaults: { retry: { max_attempts: 1 } } };
    expect((await put('video', again)).body['defaults']).to.deep.equal(again.defaults);
  });

  describe('give their tasks', () => {
    const defaults = {
      priority: 'high',
      notify_url: 'http://127.0.0.1:9/done',
      labels: ['eu'],
      requires: ['gpu'],
      retry: { max_attempts: 3, interval: -5 },
      assign_timeout: 2,
      execution_timeout: 60,
      stall_timeout: 30,
      start_timeout: 600,
      start_timeout_action: 'alert',
    };
    const cases: [string, object, object, object][] = [
      ['nothing where they are silent', {}, {}, { priority: 0, labels: [] }],
      ['what a task does not say', defaults, {}, { ...defaults, priority: 3600 }],
      [
        'nothing that it says, be it nothing',
        defaults,
        { priority: 0, labels: [], retry: { interval: [1] }, execution_timeout: 5 },
        { priority: 0, labels: [], requires: ['gpu'], execution_timeout: 5, stall_timeout: 30 },
      ],
      [
        'each part of the retry policy by itself',
        { retry: { max_attempts: 3 } },
        { retry: { interval: 7 } },
        { retry: { max_attempts: 3, interval: 7 } },
      ],
    ];
    for (const [name, given, asked, stored] of cases) {
      it(name, async () => {
        await put('video', { defaults: given });
        expect((await submit({ id: 'a', type: 'video', ...asked })).status).to.equal(202);
        const items = [{ task: { id: 'b', type: 'video', ...asked }, user: { group: 'news' } }];
        await call('POST', '/task/submit-batch', { tasks: items });
        await put('video', { defaults: { priority: 1, labels: ['later'] } });
        for (const id of ['a', 'b']) {
          const { body } = await call('GET', `/task/${id}`);
          const { notify_url: _, ...shown } = stored as Record<string, unknown>;
          expect(body).to.deep.include(shown);
        }
      });
    }

    it('and that makes no other request of one that comes again', async () => {
      const task = { id: 'a', type: 'video', params: { n: 1 } };
      await put('video', { defaults: { priority: 5 } });
      expect((await submit(task)).status).to.equal(202);
      for (const after of [{ defaults: { priority: 6 } }, {}]) {
        await put('video', after);
        expect((await submit(task)).body).to.include({ code: 409, same_request: true });
      }
      await restart();
      expect((await submit(task)).body).to.include({ code: 409, same_request: true });
      const other = await submit({ ...task, priority: 5 });
      expect(other.body).to.include({ code: 409, same_request: false });
      const headers = { 'idempotency-key': 'k' };
      const keyed = { task: { type: 'video' }, user: { group: 'news' } };
      const first = await call('POST', '/task/submit', keyed, headers);
      await put('video', { defaults: { priority: 7 } });
      const second = await call('POST', '/task/submit', keyed, headers);
      expect(second.body).to.deep.equal(first.body);
    });
  });

  it('say what is wrong, with the path of each field', async () => {
    const cases: [object, string[]][] = [
      [{ type: 'audio' }, ['type: differs from the one in the path']],
      [
        { schedule_limit: 1, pull: { limit: 2 }, schedule_interval: 3 },
        ['schedule_limit: differs from pull.limit'],
      ],
      [{ pull: { limit: 0 } }, ['pull.limit: expected a number of at least 1, given 0']],
      [{ group_weights: { news: 2 } }, ['group_weights: needs fair_by: "group"']],
      [
        { defaults: { retry: { max_attempts: -1 }, labels: ['a b'] } },
        [
          'defaults.labels[0]: expected 1 to 64 characters of A-Z a-z 0-9 _ . : = / -',
          'defaults.retry.max_attempts: expected a number of at least 0, given -1',
        ],
      ],
      [
        { defaults: { requires: Array.from({ length: 8 }, (_, i) => `${i}`.repeat(40)) } },
        ['defaults.requires: expected type, requires and labels of 255 characters together'],
      ],
      [
        { max_retry_num: 3, defaults: { retry: { max_attempts: 3 } }, max_processing_time: 1 },
        ['max_retry_num: differs from defaults.retry.max_attempts'],
      ],
      [
        {
          ownr: 'x',
          max_retry_num: 3,
          defaults: { retry: { max_attempts: 3 } },
          limits: { max_running: -1 },
          route: { rule: 'sticky' },
          params_schema: { tpye: 1 },
          hold: -1,
        },
        [
          'limits.max_running: expected a number of at least 0, given -1',
          'hold: expected a number of at least 0, given -1',
          'ownr: not a known field; did you mean owner?',
          'max_retry_num: differs from defaults.retry.max_attempts',
          'route.pointer: sticky needs one: where in the params to look',
          'params_schema.tpye: not a keyword that is known here',
        ],
      ],
      [
        {
          limits: {
            max_running: 2,
            per_group: { max_running: 3 },
            windows: [{ from: '08:00', to: '18:00', zone: 'Europe/Bielefeld', max_running: 3 }],
          },
        },
        [
          'limits.per_group.max_running: 3 is above limits.max_running, which is 2: set 2 or less, or raise that',
          'limits.windows[0].max_running: 3 is above limits.max_running, which is 2: set 2 or less, or raise that',
          'limits.windows[0].zone: expected a zone, as Europe/Berlin',
        ],
      ],
      [{ params_schema: { tpye: 1 } }, ['params_schema.tpye: not a keyword that is known here']],
      [
        { route: { rule: 'sticky' } },
        ['route.pointer: sticky needs one: where in the params to look'],
      ],
      [
        { route: { rule: 'random', pointer: '/id', wait: 1 } },
        ['route.pointer: for sticky alone', 'route.wait: for sticky alone'],
      ],
      [
        { needs: { disk_bytes: 0 } },
        ['needs.disk_bytes: expected a number of at least 1, given 0'],
      ],
      [{ ownr: 'x' }, ['ownr: not a known field; did you mean owner?']],
    ];
    for (const [body, errors] of cases) {
      const answer = await put('video', body);
      expect(answer.status).to.equal(400);
      expect(errorsOf(answer)).to.deep.equal(errors);
    }
    const noEtag = await call('PUT', '/type/video', {}, { 'if-match': '*' });
    expect(errorsOf(noEtag)).to.deep.equal(['If-Match: expected one ETag, in its quotes: "3"']);
    const long = await put('video', { params_schema: { description: 'x'.repeat(70_000) } });
    expect(long.status).to.equal(413);
    expect((await call('PUT', '/type/a%20b', {})).status).to.equal(400);
    expect((await get('video')).status).to.equal(404);
  });

  it('have limits over which an operator may lay others for a while', async () => {
    await put('video', { limits: { max_running: 5, max_waiting: 9 } });
    const until = '2099-01-01T00:00:00.000Z';
    const layer = { limits: { max_running: 1 }, reason: 'too hot', until };
    const laid = await call('PUT', '/type/video/override', layer);
    const [override] = laid.body['overrides'] as object[];
    expect(override).to.include({ reason: 'too hot', until, by: null });
    expect(override).to.deep.include({ limits: { max_running: 1 } });
    expect(laid.body['limits']).to.deep.equal({ max_running: 5, max_waiting: 9 });
    const redefined = await put('video', { limits: { max_running: 6 } });
    expect(redefined.body['overrides']).to.deep.equal([override]);
    await restart();
    expect((await get('video')).body['overrides']).to.deep.equal([override]);
    expect((await call('DELETE', '/type/video/override')).body['overrides']).to.deep.equal([]);
  });

  it('give their tasks what these need, unless they say so themselves', async () => {
    await put('video', { needs: { disk_bytes: 5e9 } });
    await submit({ id: '1', type: 'video' });
    await submit({ id: '2', type: 'video', needs: { disk_bytes: 7e12 } });
    await submit({ id: '3', type: 'audio' });
    const needsOf = async (id: string) => (await call('GET', `/task/${id}`)).body['needs'];
    expect(await needsOf('1')).to.deep.equal({ disk_bytes: 5e9 });
    expect(await needsOf('2')).to.deep.equal({ disk_bytes: 7e12 });
    expect(await needsOf('3')).to.deep.equal({ disk_bytes: null });
    const same = await submit({ id: '2', type: 'video', needs: { disk_bytes: 7e12 } });
    expect(same.body).to.include({ same_request: true });
    expect((await submit({ id: '2', type: 'video' })).body).to.include({ same_request: false });
    await restart();
    expect(await needsOf('2')).to.deep.equal({ disk_bytes: 7e12 });
  });

  it('are limited, and say what a task waits for', async () => {
    await put('video', { limits: { max_running: 0, per_group: { max_waiting: 1 } } });
    await submit({ id: '1', type: 'video' });
    await restart();
    expect((await get('video')).body['constraint']).to.deep.equal({
      reason: 'no_executor',
      message: 'No executor of type video is connected.',
    });
    await call('POST', '/type/video/pause', { reason: 'full' });
    const { constraint } = (await get('video')).body as { constraint: object };
    expect(constraint).to.include({ reason: 'paused' }).and.to.have.property('pauses');
    const [listed] = (await call('GET', '/types')).body['types'] as object[];
    expect(listed).to.not.have.property('constraint');
    const { body } = await submit({ id: '2', type: 'video' });
    expect(body).to.include({ status: 429, limit: 'limits.per_group.max_waiting' });
  });

  it('have names that can be parts of a path', async () => {
    for (const type of ['.', '..']) {
      expect(errorsOf(await submit({ type }))).to.deep.equal([
        'task.type: expected 1 to 64 characters of A-Z a-z 0-9 _ . : -, not . or ..',
      ]);
      expect(errorsOf(await put('x', { type }))).to.have.length(1);
    }
    expect((await submit({ type: '...' })).status).to.equal(202);
    expect((await put('...', {})).status).to.equal(201);
    expect((await call('GET', '/types?cursor=.')).status).to.equal(200);
  });

  it('refuse what nothing honours', async () => {
    const limits = { max_running: 5 };
    await call('PUT', '/namespace/default', { max_running: 4 });
    const errors = [
      'limits.max_running: 5 is above max_running of namespace default, which is 4: set 4 or less, or raise that (soda namespace set default --max-running 5)',
    ];
    expect(errorsOf(await put('video', { limits }))).to.deep.equal(errors);
    const above = await call('PUT', '/type/video/override', { reason: 'too hot', limits });
    expect(errorsOf(above)).to.deep.equal(errors);
    const empty = await call('PUT', '/type/video/override', { reason: 'too hot', limits: {} });
    expect(empty.status).to.equal(400);
    const layer = await call('PUT', '/type/video/override', { reason: 'too hot' });
    expect(errorsOf(layer)).to.deep.equal(['body: expected `limits`, `route` or both']);
  });
});
