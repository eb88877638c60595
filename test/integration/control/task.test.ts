/** What is asked of one task, at a whole master: another of its fields, a copy, its deletion. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('control of one task', () => {
  const { call, listTasks, restart, submit, putType } = masterSuite();
  const get = async (id: string) => (await call('GET', `/task/${id}`)).body;
  const patch = (id: string, body: object, etag?: string) =>
    call('PATCH', `/task/${id}`, body, etag === undefined ? {} : { 'if-match': etag });

  it('changes every field of a submit, which outlives the master', async () => {
    await call('PUT', '/limit/encoder', { max: 2 });
    await putType('video', { params_schema: { type: 'object', required: ['film'] } });
    const deadline = '2030-01-01T00:00:00.000Z';
    await submit({ id: 'a', type: 'video', params: { film: 1 }, deadline, execution_timeout: 9 });
    const changed = await patch('a', {
      params: { film: 2, cut: [1] },
      notify_url: 'https://example.org/done',
      priority: 'high',
      labels: ['urgent', 'urgent'],
      requires: ['gpu'],
      run_at: '2029-01-01T00:00:00Z',
      retry: { max_attempts: 3 },
      assign_timeout: 1.5,
      execution_timeout: null,
      stall_timeout: 60,
      start_timeout: 600,
      start_timeout_action: 'alert',
      needs: { disk_bytes: 5_000_000 },
      uses: [{ limit: 'encoder' }],
      deadline: '2031-01-01T00:00:00Z',
      user: { group: 'sports', project: 'cup' },
    });
    expect(changed).to.deep.include({ status: 200, etag: '"2"' });
    expect(changed.body).to.deep.equal({ task_id: 'a', code: 200, version: 2 });
    await restart();
    expect(await get('a')).to.deep.include({
      state: 'waiting',
      version: 2,
      params: { film: 2, cut: [1] },
      priority: 3600,
      labels: ['urgent'],
      requires: ['gpu'],
      due_at: '2029-01-01T00:00:00.000Z',
      retry: { max_attempts: 3, interval: 600 },
      assign_timeout: 1.5,
      execution_timeout: null,
      stall_timeout: 60,
      start_timeout: 600,
      start_timeout_action: 'alert',
      needs: { disk_bytes: 5_000_000 },
      uses: [{ limit: 'encoder', n: 1 }],
      deadline: '2031-01-01T00:00:00.000Z',
      user: { group: 'sports', project: 'cup' },
    });
    // It stands in the lane of its group, and is the same request still.
    expect(await listTasks('/tasks?group=sports')).to.have.length(1);
    const again = { id: 'a', type: 'video', params: { film: 1 }, deadline, execution_timeout: 9 };
    expect((await submit(again)).body).to.include({ code: 409, same_request: true });
  });

  it('refuses a change that cannot be, and one of another version', async () => {
    await putType('video', { params_schema: { type: 'object', required: ['film'] } });
    await submit({ id: 'a', type: 'video', params: { film: 1 } });
    const { etag } = await call('GET', '/task/a');
    expect(etag).to.match(/^"1\.[\w-]{16}"$/);
    expect((await patch('a', { priority: 1 }, etag ?? '')).etag).to.equal('"2"');
    const stale = await patch('a', { priority: 2 }, etag ?? '');
    expect([stale.status, stale.body['detail']]).to.deep.equal([
      412,
      'the task is at version 2, not 1',
    ]);
    // Each of these is of the version that it names, or one alone of them.
    const both = [patch('a', { priority: 3 }, '"2"'), patch('a', { priority: 4 }, '"2"')];
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses).to.have.members([200, 412]);
    for (const etag of ['3', '"3', '*']) {
      expect((await patch('a', { priority: 5 }, etag)).status, etag).to.equal(400);
    }
    expect(errorsOf(await patch('a', { params: {} }))).to.deep.equal(['params.film: required']);
    const fixed = 'a task keeps it: POST /task/{task_id}/copy makes another task';
    expect(errorsOf(await patch('a', { type: 'audio', id: 'b', priority: 1 }))).to.deep.equal([
      `id: ${fixed}`,
      `type: ${fixed}`,
    ]);
    expect(errorsOf(await patch('a', {}))[0]).to.match(/expected `priority`/);
    const refused = async (body: object) => (await patch('a', body)).body;
    expect(await refused({ deadline: '2020-01-01T00:00:00Z' })).to.include({
      code: 400,
      detail: 'deadline: expected later than now',
    });
    expect(errorsOf(await patch('a', { deadline: '2020-01-01T00:00:00Z' }))).to.deep.equal([
      'deadline: expected later than now',
    ]);
    expect(await refused({ uses: [{ limit: 'none' }] })).to.include({
      code: 400,
      detail: 'uses: there is no limit none',
    });
    await patch('a', { deadline: '2030-01-01T00:00:00Z' });
    expect(await refused({ run_at: '2031-01-01T00:00:00Z' })).to.include({ code: 409 });
    await putType('video', { limits: { per_group: { max_waiting: 0 } } });
    expect(await refused({ user: { group: 'sports' } })).to.include({
      code: 429,
      limit: 'limits.per_group.max_waiting',
    });
    const conditional = await call('POST', '/task/a/cancel', undefined, { 'if-match': '"77"' });
    expect(conditional.body).to.deep.include({
      errors: [
        {
          field: 'If-Match',
          message: 'POST /scheduler/v2/task/{task_id}/cancel takes no condition',
        },
      ],
    });
    await call('POST', '/task/a/cancel');
    expect(await refused({ priority: 1 })).to.include({
      code: 409,
      detail: 'the task is canceled: only a waiting task can be changed',
    });
    expect((await patch('b', { priority: 1 })).status).to.equal(404);
  });

  it('copies a task, changed, and knows the same request again', async () => {
    const params = { film: 12 };
    await submit({
      id: 'a',
      type: 'video',
      params,
      labels: ['x'],
      priority: 5,
      retry: { interval: 1 },
    });
    await patch('a', { labels: ['y'] });
    const copy = (body?: object, headers = {}) => call('POST', '/task/a/copy', body, headers);
    const made = await copy();
    expect(made.status).to.equal(202);
    expect(await get(made.body['task_id'] as string)).to.deep.include({
      state: 'waiting',
      version: 1,
      type: 'video',
      params,
      labels: ['y'],
      priority: 5,
      retry: { max_attempts: 10, interval: 1 },
      user: { group: 'news' },
    });
    const other = { id: 'b', task: { params: { film: 13 }, user: { env: 'test' } } };
    expect((await copy(other)).body).to.deep.equal({ task_id: 'b', code: 202 });
    expect(await get('b')).to.deep.include({
      params: { film: 13 },
      user: { group: 'news', env: 'test' },
    });
    expect((await copy(other)).body).to.include({ code: 409, same_request: true });
    expect((await copy({ id: 'b' })).body).to.include({ code: 409, same_request: false });
    const key = { 'idempotency-key': 'k' };
    const keyed = await copy({ task: { priority: 1 } }, key);
    expect((await copy({ task: { priority: 1 } }, key)).body).to.deep.equal(keyed.body);
    expect((await copy({ task: { priority: 2 } }, key)).status).to.equal(422);
    expect((await call('POST', '/task/none/copy')).status).to.equal(404);
    expect(errorsOf(await copy({ task: { uses: [{ limit: 'none' }] } }))).to.deep.equal([
      'task.uses: there is no limit none',
    ]);
  });

  it('sets a task aside and puts it back, through a restart', async () => {
    const concurrency = { pointer: '/film', max: 1 };
    await putType('video', { limits: { concurrency, max_waiting: 2 } });
    for (const id of ['a', 'b']) await submit({ id, type: 'video', params: { film: 1 } });
    const suspend = (id: string) => call('POST', `/task/${id}/suspend`, { reason: 'disk' });
    expect((await suspend('a')).body).to.deep.equal({ task_id: 'a', code: 200 });
    expect(await get('a')).to.deep.include({ state: 'suspended' });
    expect(await get('a')).to.have.nested.property('waiting.reason', 'suspended');
    const { suspended } = await get('a');
    expect(suspended).to.include({ by: null, reason: 'disk' });
    expect(await get('b')).to.deep.include({ suspended: null });
    expect((await suspend('a')).status).to.equal(409);
    // It takes no place: that of its value goes to the other, and another may be submitted.
    expect(await get('b')).to.deep.include({ state: 'waiting' });
    expect((await submit({ id: 'c', type: 'video', params: { film: 1 } })).status).to.equal(202);
    expect((await call('DELETE', '/type/video')).status).to.equal(409);
    await restart();
    const states = async () =>
      Promise.all(['a', 'b', 'c'].map(async (id) => (await get(id))['state']));
    const tasks = await listTasks('/tasks?state=suspended');
    expect(tasks).to.have.length(1).and.to.have.deep.nested.property('[0].suspended', suspended);
    expect(await call('POST', '/task/a/resume')).to.deep.include({ status: 200 });
    expect((await call('POST', '/task/a/resume')).status).to.equal(409);
    expect((await states()).filter((state) => state === 'suspended')).to.deep.equal([]);
    expect(await get('a')).to.deep.include({ suspended: null });
    // Whoever comes first has the place, and that is the one that was suspended.
    await call('POST', '/task/b/suspend');
    await call('POST', '/task/b/cancel');
    expect(await get('b')).to.deep.include({ state: 'canceled' });
  });

  it('deletes a task that has ended, whose id is free then', async () => {
    await submit({ id: 'a', type: 'video' });
    const gone = () => call('DELETE', '/task/a');
    expect((await gone()).body).to.include({
      code: 409,
      detail: 'the task is waiting: cancel it first, only an ended task can be deleted',
    });
    await call('POST', '/task/a/cancel');
    expect((await gone()).body).to.deep.equal({ task_id: 'a', code: 200 });
    expect((await call('GET', '/task/a')).status).to.equal(404);
    expect(await listTasks('/tasks')).to.deep.equal([]);
    expect((await gone()).status).to.equal(404);
    expect((await call('POST', '/task/a/retry')).status).to.equal(404);
    await restart();
    expect((await call('GET', '/task/a')).status).to.equal(404);
    expect((await submit({ id: 'a', type: 'audio' })).status).to.equal(202);
    expect(await get('a')).to.deep.include({ type: 'audio', version: 1 });
    // What it owes is not lost.
    await submit({ id: 'b', type: 'video', notify_url: 'http://127.0.0.1:9/' });
    await call('POST', '/task/b/cancel');
    expect((await call('DELETE', '/task/b')).body).to.include({
      code: 409,
      detail: 'its callback is pending: it is still to be delivered, or given up',
    });
  });
});
