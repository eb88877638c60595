/** The routes about shared limits, at a whole master: what is set and refused, and what types and tasks use. */
import { expect } from 'chai';
import { errorsOf, masterSuite } from '../../helpers/system/in-process.ts';

describe('shared limits', () => {
  const { call, restart, submit, getType, putType, url } = masterSuite();
  const put = (name: string, body: object) => call('PUT', `/limit/${name}`, body);
  const get = (name: string) => call('GET', `/limit/${name}`);
  const encoder = [{ limit: 'encoder', n: 2 }];

  it('are set, shown, changed and deleted, and outlive the master', async () => {
    const made = await put('encoder', { max: 2 });
    const shown = { name: 'encoder', max: 2, per: 'cluster', used: 0 };
    expect(made).to.deep.include({ status: 201, body: shown });
    const rack = await put('rack', { max: 1, per: { label: 'rack' } });
    expect(rack.body).to.deep.include({ per: { label: 'rack' }, used: 0, places: [] });
    await restart();
    expect((await get('encoder')).body).to.deep.equal(shown);
    expect(await put('encoder', { max: 3, per: 'host' })).to.include({ status: 200 });
    expect((await get('encoder')).body).to.deep.include({ max: 3, per: 'host', places: [] });
    expect((await put('encoder', { max: 4 })).body, 'what is not named').to.include({
      per: 'host',
    });
    await put('encoder', { max: 3 });
    expect(await call('DELETE', '/limit/encoder')).to.deep.include({
      status: 200,
      body: { name: 'encoder', code: 200 },
    });
    expect((await get('encoder')).status).to.equal(404);
    expect((await call('DELETE', '/limit/encoder')).status).to.equal(404);
  });

  it('are refused with what is wrong', async () => {
    expect(errorsOf(await put('encoder', {}))).to.have.length(1);
    expect(errorsOf(await put('encoder', { max: -1, per: 'node' })).join('; ')).to.match(
      /max: .*; per: expected cluster, host, or/,
    );
    expect(errorsOf(await put('en%20coder', { max: 1 }))).to.deep.equal([
      'name: expected 1 to 64 characters of A-Z a-z 0-9 _ . : -',
    ]);
    expect((await put('encoder', { max: 1, per: { label: 'a b' } })).status).to.equal(400);
  });

  it('are listed by name, page by page', async () => {
    for (const name of ['c', 'a', 'b']) await put(name, { max: 1 });
    const namesOf = async (query: string) => {
      const { body } = await call('GET', `/limits?${query}`);
      const limits = body['limits'] as { name: string }[];
      return [limits.map(({ name }) => name).join(), body['next_cursor']];
    };
    expect(await namesOf('limit=2')).to.deep.equal(['a,b', 'b']);
    expect(await namesOf('limit=2&cursor=b')).to.deep.equal(['c', null]);
  });

  it('are named by types, which are refused where there is none or not so much', async () => {
    const missing = await putType('video', { uses: encoder });
    expect(errorsOf(missing)).to.deep.equal(['uses[0].limit: there is no limit encoder']);
    await put('encoder', { max: 1 });
    expect(errorsOf(await putType('video', { uses: encoder }))).to.deep.equal([
      'uses[0].n: above the max of limit encoder, which is 1',
    ]);
    const twice = [...encoder, { limit: 'encoder', n: 1 }];
    expect(errorsOf(await putType('video', { uses: twice })).join()).to.match(/each limit once/);
    await put('encoder', { max: 2 });
    expect((await putType('video', { uses: encoder })).status).to.equal(201);
    expect((await getType('video')).body['uses']).to.deep.equal(encoder);
    const gone = await call('DELETE', '/limit/encoder');
    expect([gone.status, gone.body['detail']]).to.deep.equal([409, 'type video uses it']);
  });

  it('are used by tasks, which are refused where there is none, one by one in a batch', async () => {
    const uses = [{ limit: 'encoder' }];
    const refused = await submit({ id: 'a', type: 'video', uses });
    expect(errorsOf(refused)).to.deep.equal(['task.uses: there is no limit encoder']);
    const user = { group: 'news' };
    const tasks = [
      { task: { id: 'b', type: 'video', uses }, user },
      { task: { id: 'c', type: 'video' }, user },
    ];
    const { body } = await call('POST', '/task/submit-batch', { tasks });
    expect(body['results']).to.deep.equal([
      { task_id: 'b', code: 400, message: 'task.uses: there is no limit encoder' },
      { task_id: 'c', code: 202 },
    ]);
    await put('encoder', { max: 2 });
    await put('disk', { max: 2 });
    await putType('video', { uses: encoder });
    const task = { id: 'd', type: 'video', uses: [{ limit: 'disk', n: 2 }] };
    expect((await submit(task)).status).to.equal(202);
    const taken = [{ limit: 'disk', n: 2 }, ...encoder];
    await restart();
    const shown = await call('GET', '/task/d');
    expect(shown.body['uses']).to.deep.equal(taken);
    expect((await submit(task)).body).to.include({ code: 409, same_request: true });
    const other = { ...task, uses: [{ limit: 'disk', n: 1 }] };
    expect((await submit(other)).body).to.include({ code: 409, same_request: false });

    const words = 'uses: 2 are above the max of limit disk, which is 1';
    await put('disk', { max: 1 });
    expect((await submit(task)).body, 'taken before').to.include({ code: 409, same_request: true });
    expect(errorsOf(await submit({ ...task, id: 'e' }))).to.deep.equal([`task.${words}`]);
    const { id: _, ...unnamed } = task;
    expect(errorsOf(await submit(unnamed))).to.deep.equal([`task.${words}`]);
    expect(errorsOf(await call('POST', '/task/d/copy', {}))).to.deep.equal([`task.${words}`]);
    const { uses: more } = task;
    expect(errorsOf(await call('PATCH', '/task/d', { uses: more }))).to.deep.equal([words]);
    const many = { action: 'change', all: true, change: { uses: more } };
    expect(errorsOf(await call('POST', '/tasks/bulk', many))).to.deep.equal([`change.${words}`]);
  });

  it('are in the metrics, with how far they are used', async () => {
    await put('encoder', { max: 2 });
    const text = await (await fetch(`${url()}/metrics`)).text();
    expect(text)
      .to.include('scheduler_limit_max{namespace="default",limit="encoder"} 2')
      .and.to.include('scheduler_limit_used{namespace="default",limit="encoder"} 0');
  });
});
