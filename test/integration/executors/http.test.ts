/** Executors by HTTP and by `soda executor`, beside a whole master: whom it lists, what it tells, whom it forgets. */
import { expect } from 'chai';
import { createClient, type ExecutorView } from '@soda-scheduler/client';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { SodaCommand } from '../../helpers/soda/command.ts';
import { masterSuite } from '../../helpers/system/in-process.ts';

describe('executors', () => {
  const suite = masterSuite();
  const { call } = suite;
  const port = () => Number(new URL(suite.url()).port);
  const soda = (line: string) =>
    new SodaCommand(suite.folder()).run(line.split(' '), { SODA_URL: suite.url() });
  const join = (executor_id: string, fields: Parameters<typeof RawExecutor.join>[1] = {}) =>
    RawExecutor.join(port(), { executor_id, incarnation: `of ${executor_id}`, ...fields });
  const list = async (query = '', headers = {}) =>
    (await call('GET', `/executors${query}`, undefined, headers)).body as unknown as {
      executors: ExecutorView[];
      next_cursor: string | null;
    };
  const idsOf = async (query: string) =>
    (await list(query)).executors.map(({ executor_id }) => executor_id);
  const get = async (id: string) =>
    (await call('GET', `/executor/${id}`)).body as unknown as ExecutorView;

  /** It is offered the task, and ends it: the nth that it has. */
  async function work(executor: RawExecutor, task: string, nth = 1): Promise<void> {
    const { task: given, seq } = await executor.next('assign');
    expect(given.id).to.equal(task);
    const about = { task_id: task, attempt: given.attempt, ack: seq };
    executor.send({ type: 'accept', seq: 2 * nth - 1, ...about });
    executor.send({ type: 'result', seq: 2 * nth, outcome: 'succeeded', ...about });
    await executor.settled();
  }

  it('are listed by what they are, in pages', async () => {
    await join('b', { version: '1.4', labels: ['gpu'], types: ['encode', 'mux'], host: 'h1' });
    await join('a', { version: '1.4', host: 'h2' });
    await join('c', { version: '1.5', labels: ['gpu', 'zone:b'], host: 'h1' });
    await call('POST', '/executor/c/drain', { reason: 'worn' });
    const cases = {
      '': ['a', 'b', 'c'],
      '?version=1.4': ['a', 'b'],
      '?label=gpu': ['b', 'c'],
      '?host=h1&state=idle': ['b'],
      '?type=mux': ['b'],
      '?state=draining': ['c'],
      '?selector=version%3D1.4,label!%3Dgpu': ['a'],
      '?selector=label%3Dgpu,label%3Dzone:b&version=1.5': ['c'],
      '?version=': [],
      '?limit=2': ['a', 'b'],
    };
    for (const [query, ids] of Object.entries(cases)) {
      expect(await idsOf(query), query).to.deep.equal(ids);
    }
    const { next_cursor } = await list('?limit=2&label=gpu&version=1.4');
    expect(next_cursor).to.equal(null);
    const page = await list('?limit=2');
    expect(await idsOf(`?limit=2&cursor=${page.next_cursor}`)).to.deep.equal(['c']);
    expect((await soda('executor list --selector version=1.5')).out).to.match(
      /^c\tdraining\t.*\t1\.5\t\n$/,
    );
    expect((await soda('executor list --selector gpu')).code).to.equal(2);
  });

  it('tell what they are at, how their last attempts ended, and why they are drained', async () => {
    const x = await join('x', { version: '1.4' });
    await suite.submit({ id: 'one', type: 'test' });
    await work(x, 'one');
    await suite.submit({ id: 'two', type: 'test' });
    await x.next('assign');
    await call('POST', '/executor/x/drain', { reason: 'worn', timeout: 60 });
    const one = await get('x');
    expect(one.current).to.deep.include({ task_id: 'two', type: 'test', state: 'offered' });
    expect(one.last.map(({ task_id, state }) => [task_id, state])).to.deep.equal([
      ['one', 'succeeded'],
    ]);
    expect(one).to.include({ version: '1.4', drain_reason: 'worn', drained_by: null });
    expect(Date.parse(one.drain_deadline ?? '')).to.be.above(Date.parse(one.drained_at ?? ''));
    const { out } = await soda('executor get x');
    expect(out)
      .to.match(/^drained: +since .*: worn$/m)
      .and.match(/^ended: .* one \(test\) succeeded$/m);
    expect(await call('GET', '/executor/y')).to.include({ status: 404 });
  });

  it('have tasks by the rows, also when they and the master are gone', async () => {
    const x = await join('x');
    for (const id of ['one', 'two']) await suite.submit({ id, type: 'test' });
    await work(x, 'one');
    const { task: two } = await x.next('assign');
    expect(two.id).to.equal('two');
    await suite.submit({ id: 'three', type: 'test' });
    x.socket.close(1000);
    await suite.restart();
    const tasks = async (query: string) => {
      const found = await suite.listTasks(`/executor/x/tasks${query}`);
      return found.map(({ task_id }) => task_id);
    };
    expect(await tasks('')).to.deep.equal(['two', 'one']);
    expect(await tasks('?state=succeeded')).to.deep.equal(['one']);
    const { tasks: first } = (await call('GET', '/executor/x/tasks?limit=1')).body;
    expect(first).to.have.length.at.most(1);
    expect(await tasks('?limit=1')).to.deep.equal(['two', 'one']);
    expect((await call('GET', '/executor/nobody/tasks')).body).to.deep.equal({
      tasks: [],
      next_cursor: null,
    });
    expect((await soda('executor tasks x --state succeeded')).out).to.match(
      /^one\tsucceeded\ttest\t1\t/,
    );
    expect((await soda('executor tasks x --limit 1')).out).to.match(/^two\t[^\n]*\n$/);
  });

  it('are forgotten on request once they are gone, and what was set for them', async () => {
    const x = await join('x');
    expect((await soda('executor remove x')).code).to.equal(4);
    await soda('executor drain x --reason worn');
    await call('PATCH', '/executor/x', { labels: ['gpu'] });
    x.socket.close(1000);
    await x.closed;
    await suite.restart();
    const [gone] = (await list('?state=gone')).executors;
    expect(gone).to.deep.include({ executor_id: 'x', drain_reason: 'worn', labels: ['gpu'] });
    expect((await soda('executor remove x')).out).to.equal('removed: x\n');
    expect((await soda('executor remove x')).code).to.equal(3);
    await suite.restart();
    await join('x');
    expect(await get('x')).to.deep.include({ state: 'idle', labels: [], drained_at: null });
  });

  it('show a token whose scope is limited its own tasks only', async () => {
    const x = await join('x', { types: ['test', 'pay'] });
    await suite.submit({ id: 'secret', type: 'pay' });
    await work(x, 'secret');
    await suite.submit({ id: 'mine', type: 'test' });
    await work(x, 'mine', 2);
    const make = async (name: string, scope: object) => {
      const { body } = await call('POST', '/tokens', { name, role: 'operate', scope });
      return { authorization: `Bearer ${String(body['token'])}` };
    };
    const token = await make('one', { types: ['test'] });
    const { executors } = await list('', token);
    expect(executors[0]?.last.map(({ task_id }) => task_id)).to.deep.equal(['mine']);
    expect((await list('?type=pay', token)).executors).to.deep.equal([]);
    const tasks = await suite.listTasks('/executor/x/tasks', token);
    expect(JSON.stringify(tasks)).to.include('mine').and.not.include('secret');
    expect((await call('DELETE', '/executor/x', undefined, token)).status).to.equal(403);
    const elsewhere = await make('two', { types: ['other'] });
    expect((await call('GET', '/executor/x', undefined, elsewhere)).status).to.equal(404);
  });

  it('are resumed and drained by a selector', async () => {
    for (const id of ['a', 'b']) await join(id, { version: '1' });
    await join('c', { version: '2' });
    const drained = await soda('executor drain --selector version=1 --json');
    expect(drained.out.split('\n')[1]).to.equal('{"executor_id":"b","code":200,"lasting":true}');
    expect(await idsOf('?state=draining')).to.deep.equal(['a', 'b']);
    expect((await soda('executor resume --selector version=2')).err).to.match(
      /No executor .* drained/,
    );
    expect((await soda('executor resume --selector version=1')).out).to.equal(
      'resumed: a\nresumed: b\n',
    );
    expect(await idsOf('?state=draining')).to.deep.equal([]);
    const wait = await soda('executor drain --selector version=1 --max-unavailable 1 --wait');
    expect([
      wait.code,
      wait.out.split('\n').map((line) => line.split('\t').slice(0, 2).join(' ')),
    ]).to.deep.equal([0, ['draining a', 'empty a', 'draining b', 'empty b', '']]);
    const none = await soda('executor drain --selector version=3 --wait');
    expect([none.code, none.err]).to.deep.equal([0, 'There is no executor of version=3.\n']);
    for (const wrong of [
      'executor drain',
      'executor drain a --selector id=a',
      'executor drain a --max-unavailable 1',
      'executor drain --selector id=a --max-unavailable 1',
      'executor drain --selector id=a --max-unavailable 0 --wait',
      'executor drain --selector a --wait',
    ]) {
      expect((await soda(wrong)).code, wrong).to.equal(2);
    }
  });

  it('are not drained by a selector through a master that knows none', async () => {
    const client = createClient({ url: suite.url(), retryCount: 0 });
    const wrong = await client.executors({ selector: 'odd=1' }).catch((error: Error) => error);
    expect(wrong).to.have.property('status', 400);
  });
});
