/** Networks that cut, swallow and lie, between executors, clients and the master. */
import { expect } from 'chai';
import { createClient } from '@soda-scheduler/client';
import { describeSystem, outcomesOf, type System } from '../helpers/system/system.ts';
import type { SystemProcess } from '../helpers/system/process.ts';
import { TcpProxy } from '../helpers/tcp-proxy.ts';
import { eventually } from '../helpers/system/wait.ts';

describeSystem('a network', ({ start }) => {
  let proxy: TcpProxy | null = null;
  afterEach(async () => {
    await proxy?.close();
    proxy = null;
  });

  /** `a` behind the proxy runs a task that holds; `b` has a straight way and nothing to do. */
  async function split(env: Readonly<Record<string, string>> = {}): Promise<{
    system: System;
    proxy: TcpProxy;
    a: SystemProcess;
    b: SystemProcess;
    taskId: string;
  }> {
    const system = await start(env);
    const between = await TcpProxy.start(system.port);
    proxy = between;
    const a = await system.executor({ id: 'a', url: `http://127.0.0.1:${between.port}` });
    const taskId = await system.submit([[{ hold: true }]]);
    await system.started(taskId);
    const b = await system.executor({ id: 'b' });
    return { system, proxy: between, a, b, taskId };
  }

  const isConnected = async (system: System, id: string, expected: boolean) =>
    eventually(`${id} is ${expected ? '' : 'not '}connected`, async () =>
      (await system.client.executors()).some(
        ({ executor_id, connected }) => executor_id === id && connected === expected,
      ),
    );

  it('that is cut does not undo a cancel, not even over a restart of the master', async () => {
    const { system, proxy, taskId } = await split({ SODA_CANCEL_GRACE: '1.5' });
    proxy.refuse();
    proxy.cut();
    await isConnected(system, 'a', false);
    await system.client.cancel(taskId);
    await system.master.end('SIGKILL');
    await system.startMaster();
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'canceled', attempt: 1 });
    expect(outcomesOf(task)).to.deep.equal(['canceled']);
    const end = await eventually('its handler has ended', () => system.runs(taskId, 'end')[0]);
    expect(end).to.include({ how: 'failed', aborted: 'lease_lost' });
    expect(system.runs(taskId)).to.have.length(1);
  });

  it('that swallows the answer to a submit does not make two tasks of it', async () => {
    const system = await start();
    const between = await TcpProxy.start(system.port);
    proxy = between;
    const client = createClient({ url: `http://127.0.0.1:${between.port}`, retryCount: 5 });
    between.cutAfter(20, 'down');
    const task = { id: 'once', type: 'nobody' };
    expect(await client.submit(task, { group: 'tests' })).to.include({
      task_id: 'once',
      code: 202,
    });
    expect(between.connectionCount).to.be.at.least(2);

    const same = await system.post('/task/submit', { task, user: { group: 'tests' } });
    expect(same.status).to.equal(409);
    expect(same.body).to.include({ task_id: 'once', same_request: true });
    const other = { task: { ...task, type: 'other' }, user: { group: 'tests' } };
    expect((await system.post('/task/submit', other)).body).to.include({ same_request: false });
    const page = [];
    for await (const listed of system.client.list()) page.push(listed.task_id);
    expect(page).to.deep.equal(['once']);
  });

  it('that brings one submit a hundred times makes one task', async () => {
    const system = await start();
    const body = { task: { id: 'one', type: 'nobody' }, user: { group: 'tests' } };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => system.post('/task/submit', body)),
    );
    expect(answers.filter(({ status }) => status === 202)).to.have.length(1);
    const conflicts = answers.filter(({ status }) => status === 409);
    expect(conflicts).to.have.length(99);
    expect(conflicts.every(({ body }) => body['same_request'] === true)).to.equal(true);
  });

  it('that is cut for less than the lease costs nothing: the session goes on', async () => {
    const { system, proxy, a, taskId } = await split();
    proxy.refuse();
    proxy.cut();
    await isConnected(system, 'a', false);
    // The result waits for the next connection.
    a.write(taskId);
    await eventually('the handler has ended', () => system.runs(taskId, 'end')[0]);
    proxy.heal();
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', attempt: 1, executor_id: 'a' });
    await a.said('that it resumed', ({ text }) => text.includes('resumed session'));
    expect(system.runs(taskId)).to.have.length(1);
  });

  for (const [kind, breaks] of [
    [
      'cut',
      (proxy: TcpProxy) => {
        proxy.refuse();
        proxy.cut();
      },
    ],
    ['half-open, and tells nobody,', (proxy: TcpProxy) => proxy.drop()],
  ] as const) {
    it(`that is ${kind} for longer than the lease: one ends, then the other begins`, async () => {
      const { system, proxy, a, b, taskId } = await split();
      breaks(proxy);
      const second = await system.started(taskId, 2);
      const end = await eventually('a has ended by itself', () =>
        system.runs(taskId, 'end').find(({ executor }) => executor === 'a'),
      );
      expect(end).to.include({ aborted: 'lease_lost' });
      expect(end.at).to.be.at.most(second.at);
      proxy.heal();
      expect(a.exit).to.equal(null);
      await system.executorIs('a', 'idle');

      b.write(taskId);
      const task = await system.ended(taskId);
      expect(task).to.include({ state: 'succeeded', attempt: 2, attempts_used: 0 });
      // The first where it is back within two leases, which a busy machine may not manage.
      expect(outcomesOf(task)[0]).to.be.oneOf(['lost_contact', 'lost']);
      expect(system.runs(taskId).map(({ executor }) => executor)).to.deep.equal(['a', 'b']);
    });
  }
});
