/** Several namespaces of one master, seen from outside: by HTTP, by frames, and over its death. */
import {
  type CallbackBody,
  createClient,
  type ListQuery,
  type TaskView,
} from '@soda-scheduler/client';
import { apiBaseOf } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { answerWith } from '../helpers/system/receiver.ts';
import { describeOnEither, describeSystem, type System } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the master says
  readonly body: any;
}

async function ask(system: System, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${system.url}${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, body: await response.json() };
}

const put = (system: System, name: string, settings = {}) =>
  ask(system, 'PUT', `/scheduler/v2/namespace/${name}`, settings);

async function submit(system: System, namespace: string, task: object): Promise<Answer> {
  const body = { task: { type: 'test', ...task }, user: { group: 'g' } };
  return ask(system, 'POST', `${apiBaseOf(namespace)}/task/submit`, body);
}

const taskOf = async (system: System, namespace: string, id: string): Promise<TaskView> =>
  (await ask(system, 'GET', `${apiBaseOf(namespace)}/task/${id}`)).body;

/** Newest first, in as many pages as it takes. */
async function tasksOf(system: System, namespace: string, query: ListQuery = {}) {
  const found = [];
  const client = createClient({ url: system.url, namespace });
  for await (const task of client.list(query)) found.push(task);
  return found;
}

/** Takes the next offer, and ends it well. */
async function run(executor: RawExecutor, seq = 1): Promise<string> {
  const { task } = await executor.next('assign');
  const about = { ack: 1, task_id: task.id, attempt: task.attempt, mac: task.mac };
  executor.send({ type: 'accept', seq, ...about });
  executor.send({
    type: 'result',
    seq: seq + 1,
    outcome: 'succeeded',
    result: task.params,
    ...about,
  });
  return task.id;
}

const hello = { executor_id: 'same', features: ['mac'], lasting_id: true };

describeOnEither('namespaces', ({ start }) => {
  it('go on after the master was killed, each with what it had', async () => {
    const system = await start();
    const names = ['default', 'live', 'vod'];
    for (const name of names.slice(1)) await put(system, name);
    for (const name of names) {
      const notify_url = system.receiver.url(`late-${name}`);
      await submit(system, name, { id: 'late', params: name, notify_url });
      await submit(system, name, { id: 'runs', type: 'other' });
      const executor = await RawExecutor.join(system.port, { ...hello, types: ['other'] }, name);
      const { task } = await executor.next('assign');
      executor.send({
        type: 'accept',
        seq: 1,
        ack: 1,
        task_id: task.id,
        attempt: 1,
        mac: task.mac,
      });
      await eventually('it runs', async () => (await taskOf(system, name, 'runs')).started_at);
    }
    await system.master.end('SIGKILL');
    await system.startMaster();
    for (const name of names) {
      const executor = await RawExecutor.join(system.port, { executor_id: 'new' }, name);
      expect(await run(executor)).to.equal('late');
      const [delivery] = await system.delivered(`late-${name}`);
      expect(delivery?.body).to.include({ namespace: name, result: name });
      // Nobody has come back for it: it waits again once its lease is over.
      await eventually(
        'it is lost',
        async () => (await taskOf(system, name, 'runs')).state === 'waiting',
      );
    }
  });
});

describeSystem('namespaces beside one another', ({ start }) => {
  it('have tasks and executors of their own, whatever these are called', async () => {
    const system = await start();
    const names = ['default', 'live', 'vod'];
    for (const name of names.slice(1)) expect((await put(system, name)).status).to.equal(201);
    for (const name of names) {
      const notify_url = system.receiver.url(`done-${name}`);
      const answer = await submit(system, name, { id: 'same', params: name, notify_url });
      expect(answer).to.deep.equal({ status: 202, body: { task_id: 'same', code: 202 } });
      expect((await submit(system, name, { id: 'same' })).status).to.equal(409);
    }
    for (const name of names) {
      const executor = await RawExecutor.join(system.port, hello, name);
      const { task } = await executor.next('assign');
      expect(task.params, 'its own').to.equal(name);
      const about = { ack: 1, task_id: task.id, attempt: 1, mac: task.mac };
      executor.send({ type: 'result', seq: 1, outcome: 'succeeded', result: name, ...about });
      const { body } = await ask(system, 'GET', `${apiBaseOf(name)}/executors`);
      expect(body.executors).to.have.length(1);
    }
    const ids = new Set<string>();
    for (const name of names) {
      const [delivery] = await system.delivered(`done-${name}`);
      const { namespace, task_id, result } = delivery!.body as CallbackBody;
      expect({ namespace, task_id, result }).to.deep.equal({
        namespace: name,
        task_id: 'same',
        result: name,
      });
      ids.add(String(delivery?.id));
      const task = await taskOf(system, name, 'same');
      expect(task).to.include({ namespace: name, state: 'succeeded', result: name });
      const listed = await tasksOf(system, name);
      expect(listed.map((each) => each.namespace)).to.deep.equal([name]);
    }
    expect(ids.size, 'an id for each callback').to.equal(3);
    expect([...ids].filter((id) => !id.includes('@'))).to.have.length(1);
  });

  it('give none of their tasks to executors of others', async () => {
    const system = await start();
    await put(system, 'live');
    const stranger = await RawExecutor.join(system.port, { executor_id: 'stranger' });
    await submit(system, 'live', { id: 'waits' });
    await submit(system, 'default', { id: 'runs' });
    expect(await run(stranger), 'the one of its own').to.equal('runs');
    await eventually(
      'it has ended',
      async () => (await taskOf(system, 'default', 'runs')).finished_at,
    );
    await stranger.settled();
    expect(stranger.frames.filter(({ type }) => type === 'assign')).to.deep.equal([]);
    expect(await taskOf(system, 'live', 'waits')).to.deep.include({ state: 'waiting' });
    const own = await RawExecutor.join(system.port, { executor_id: 'own' }, 'live');
    expect(await run(own)).to.equal('waits');
  });

  it('send after a restart what they had to send, also where nobody asks for them', async () => {
    const system = await start();
    await put(system, 'live');
    const notify_url = system.receiver.url('owed', answerWith(503));
    await submit(system, 'live', { id: 'a', notify_url });
    const executor = await RawExecutor.join(system.port, hello, 'live');
    await run(executor);
    await system.delivered('owed');
    executor.socket.close(4000);
    await system.master.end('SIGKILL');
    await system.startMaster();
    const [, again] = await system.delivered('owed', 2);
    expect(again?.body).to.include({ namespace: 'live', task_id: 'a' });
  });

  it('keep to what operators set, each by itself, also after a restart', async () => {
    const system = await start();
    await put(system, 'live', { paused: { reason: 'moving' }, max_waiting: 2 });
    for (const name of ['default', 'live']) await submit(system, name, { id: 'a' });
    const first = await RawExecutor.join(system.port, hello, 'live');
    expect(await run(await RawExecutor.join(system.port, hello)), 'of default').to.equal('a');
    await first.settled();
    expect(first.frames.filter(({ type }) => type === 'assign')).to.deep.equal([]);
    expect((await taskOf(system, 'live', 'a')).waiting?.reason).to.equal('paused');

    await system.master.end('SIGKILL');
    await system.startMaster();
    const { body: view } = await ask(system, 'GET', '/scheduler/v2/namespace/live');
    expect(view.paused).to.include({ reason: 'moving', until: null });
    expect(view.counts).to.deep.equal({ waiting: 1, running: 0, held: 0 });
    await submit(system, 'live', { id: 'b' });
    expect((await submit(system, 'live', { id: 'c' })).status).to.equal(429);
    const second = await RawExecutor.join(system.port, { executor_id: 'new' }, 'live');
    expect((await put(system, 'live', { paused: null })).body.paused).to.equal(null);
    expect(await run(second)).to.equal('a');
  });

  it('are held back all at once or in part, also by a master that takes the place of one that was killed', async () => {
    const system = await start();
    const said = async (command: 'pause' | 'resume', namespace: string, body: object) =>
      expect(
        (await ask(system, 'POST', `${apiBaseOf(namespace)}/${command}`, body)).status,
      ).to.equal(200);
    const killed = async () => {
      await system.master.end('SIGKILL');
      await system.startMaster();
    };
    await put(system, 'live');
    const group = { scope: 'group', value: 'g' };
    const label = { scope: 'label', value: 'gpu' };
    await said('pause', 'default', group);
    await said('pause', 'live', label);
    for (const name of ['default', 'live']) {
      await submit(system, name, { id: 'a', labels: ['gpu'] });
      await submit(system, name, { id: 'b' });
    }
    await said('pause', 'live', { scope: 'all', reason: 'moving' });
    await killed();
    await put(system, 'later');
    await submit(system, 'later', { id: 'a' });
    const names = ['default', 'live', 'later'];
    const join = (id: string, among: readonly string[]) =>
      Promise.all(among.map((name) => RawExecutor.join(system.port, { executor_id: id }, name)));
    const [first, live, later] = await join('first', names);
    for (const executor of [first!, live!, later!]) {
      await executor.settled();
      expect(executor.frames.filter(({ type }) => type === 'assign')).to.deep.equal([]);
    }
    for (const name of names) {
      const { waiting } = await taskOf(system, name, 'a');
      expect(waiting?.pauses?.[0]).to.include({ scope: 'all', reason: 'moving' });
    }
    await said('resume', 'default', { scope: 'all' });
    expect(await run(live!), 'has no such label').to.equal('b');
    expect(await run(later!)).to.equal('a');
    await first!.settled();
    expect(first!.frames.filter(({ type }) => type === 'assign')).to.deep.equal([]);

    await killed();
    const [third, fourth] = await join('second', names);
    await said('resume', 'default', group);
    expect(await run(third!)).to.equal('a');
    expect((await taskOf(system, 'live', 'a')).waiting?.reason).to.equal('paused');
    await said('resume', 'live', label);
    expect(await run(fourth!)).to.equal('a');
  });

  it('keep what ends from now on as long as they say, and find what ended before, also after a restart', async () => {
    const system = await start();
    const setTo = async (retention: string): Promise<void> => {
      const { body } = await put(system, 'vod', { retention });
      expect(body.retention).to.equal(retention);
    };
    await setTo('short');
    let executor = await RawExecutor.join(system.port, { executor_id: 'x' }, 'vod');
    const end = async (id: string, seq: number): Promise<void> => {
      const notify_url = system.receiver.url(id, answerWith(503));
      await submit(system, 'vod', { id, notify_url });
      expect(await run(executor, seq)).to.equal(id);
      await system.delivered(id);
    };
    await end('a', 1);
    await setTo('long');
    await end('b', 3);
    const listed = await tasksOf(system, 'vod', { state: 'succeeded' });
    expect(listed.map(({ task_id }) => task_id)).to.deep.equal(['b', 'a']);

    await system.master.end('SIGKILL');
    await system.startMaster();
    expect((await ask(system, 'GET', '/scheduler/v2/namespace/vod')).body.retention).to.equal(
      'long',
    );
    await system.delivered('a', 2);
    for (const id of ['a', 'b']) {
      expect((await submit(system, 'vod', { id, params: 1 })).status, `${id} is taken`).to.equal(
        409,
      );
    }
    const retried = await ask(system, 'POST', `${apiBaseOf('vod')}/task/a/retry`);
    expect(retried.status).to.equal(200);
    executor = await RawExecutor.join(system.port, { executor_id: 'y' }, 'vod');
    expect(await run(executor)).to.equal('a');
    await eventually('it has ended again', async () => {
      const { state, timeline } = await taskOf(system, 'vod', 'a');
      return state === 'succeeded' && timeline.length;
    });
  });

  it('are made, changed, listed and deleted; what is not there is told', async () => {
    const system = await start();
    const nobody = await submit(system, 'nobody', {});
    expect(nobody.status).to.equal(404);
    expect(nobody.body.detail).to.contain('PUT /scheduler/v2/namespace/nobody');
    const upgrade = await RawExecutor.dial(system.port, 'nobody').catch(String);
    expect(upgrade).to.contain('404');

    const made = await put(system, 'vod', { retention: 'normal', max_running: 5 });
    const view = {
      name: 'vod',
      paused: null,
      pauses: 0,
      retention: 'normal',
      max_waiting: null,
      max_running: 5,
      counts: { waiting: 0, running: 0, held: 0 },
    };
    expect(made).to.deep.equal({ status: 201, body: view });
    const changed = await put(system, 'vod', { max_waiting: 10, max_running: null });
    const now = { ...view, max_waiting: 10, max_running: null };
    expect(changed).to.deep.equal({ status: 200, body: now });
    expect((await put(system, 'Not-A-Name')).status).to.equal(400);
    expect((await put(system, 'vod', { retention: 'forever' })).status).to.equal(400);

    await submit(system, 'vod', { id: 'a' });
    const busy = { ...now, counts: { waiting: 1, running: 0, held: 0 } };
    const { body: first } = await ask(system, 'GET', '/scheduler/v2/namespaces?limit=1');
    expect(first).to.deep.include({ next_cursor: 'default' });
    const { body: rest } = await ask(system, 'GET', '/scheduler/v2/namespaces?cursor=default');
    expect(rest).to.deep.equal({ namespaces: [busy], next_cursor: null });

    const refused = await ask(system, 'DELETE', '/scheduler/v2/namespace/vod');
    expect(refused.status, 'it has a task').to.equal(409);
    await ask(system, 'POST', `${apiBaseOf('vod')}/task/a/cancel`);
    const executor = await RawExecutor.join(system.port, {}, 'vod');
    const connected = await ask(system, 'DELETE', '/scheduler/v2/namespace/vod');
    expect(connected.body.detail).to.contain('executors');
    executor.socket.close(4000);
    await executor.closed;
    await eventually(
      'it is deleted',
      async () => (await ask(system, 'DELETE', '/scheduler/v2/namespace/vod')).status === 200,
    );
    expect((await ask(system, 'GET', '/scheduler/v2/namespace/vod')).status).to.equal(404);
    expect((await ask(system, 'DELETE', '/scheduler/v2/namespace/default')).status).to.equal(409);

    // The same name has its history again, and no id twice.
    await put(system, 'vod');
    expect(await taskOf(system, 'vod', 'a')).to.include({ state: 'canceled', namespace: 'vod' });
    expect((await submit(system, 'vod', { id: 'a' })).status).to.equal(409);
  });
});
