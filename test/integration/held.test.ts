/** Tasks that are held by `limits.concurrency` of their type, at a whole master. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../helpers/system/in-process.ts';

describe('a held task', () => {
  const { call, listTasks, restart, submit, getType: get, putType: put } = masterSuite();

  it('is shown, counted, changed and let go by the routes', async () => {
    const concurrency = { pointer: '/film', max: 1 };
    await put('video', { limits: { concurrency } });
    for (const id of ['a', 'b', 'c']) await submit({ id, type: 'video', params: { film: 1 } });
    expect((await submit({ id: 'd', type: 'video', params: { film: 2 } })).status).to.equal(202);
    const held = async () => (await listTasks('/tasks?state=held')).map(({ task_id }) => task_id);
    expect(await held()).to.deep.equal(['c', 'b']);
    expect((await get('video')).body).to.deep.include({
      limits: { concurrency },
      counts: { waiting: 2, running: 0, held: 2 },
    });
    const { counts } = (await call('GET', '/namespace/default')).body;
    expect(counts).to.deep.equal({ waiting: 2, running: 0, held: 2 });
    const { body } = await call('GET', '/task/c');
    expect(body)
      .to.deep.include({ state: 'held' })
      .and.nested.include({ 'waiting.reason': 'held' });
    expect((await call('POST', '/task/c/cancel')).status).to.equal(200);
    expect((await call('POST', '/task/c/retry')).status).to.equal(200);
    expect((await call('PATCH', '/task/c', { priority: 'urgent' })).status).to.equal(200);
    await put('video', { limits: { concurrency: { pointer: '/film', max: 2 } } });
    expect(await held()).to.have.length.at.most(1);
    await restart();
    const without = { limits: { concurrency: null }, reason: 'let them go' };
    expect((await call('PUT', '/type/video/override', without)).status).to.equal(200);
    expect((await get('video')).body['counts']).to.have.property('held');
    const refused = await put('video', {
      limits: { max_running: 1, concurrency: { pointer: '/a', max: 2 } },
    });
    expect(errorsOf(refused)).to.deep.equal([
      'limits.concurrency.max: 2 is above limits.max_running, which is 1: set 1 or less, or raise that',
    ]);
  });
});
