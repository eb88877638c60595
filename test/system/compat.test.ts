/** Clients, executors and receivers of 2.0.0, as they were packed, with the master of today. */
import { expect } from 'chai';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installReleased, type ReleasedClient, releasedClient } from '../helpers/released.ts';
import { EXECUTOR } from '../helpers/system/executors.ts';
import { Receiver } from '../helpers/system/receiver.ts';
import {
  describeSystem,
  outcomesOf,
  SECRET,
  type Step,
  type System,
  user,
} from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

const tokens = {
  SODA_ADMIN_TOKEN: 'the-token-of-the-admins',
  SODA_SUBMIT_TOKEN: 'the-token-of-the-clients',
  SODA_EXECUTOR_TOKEN: 'the-token-of-the-executors',
};

describeSystem(
  'what users of 2.0.0 have',
  ({ start }) => {
    let folder: string;
    let script: string;
    let released: ReleasedClient;
    let receiver: Receiver;
    before(async () => {
      folder = await installReleased('2.0.0');
      script = join(folder, 'executor.mjs');
      await copyFile(EXECUTOR, script);
      released = await releasedClient(folder);
      receiver = new Receiver(SECRET, released.verifyCallback);
      await receiver.listen();
    });
    after(async () => {
      await receiver.close();
      await rm(folder, { recursive: true });
    });

    const clientOf = (system: System, token?: string) =>
      released.createClient({ url: system.url, ...(token !== undefined && { token }) });
    const work = (id: string, ...attempts: Step[][]) => ({
      id,
      type: 'work',
      params: { attempts: attempts.length > 0 ? attempts : [[]] },
      retry: { interval: 1 },
      notify_url: receiver.url(id),
    });
    const callback = (path: string, count = 1) =>
      eventually(`callback ${count} at ${path}`, () => receiver.at(path)[count - 1]?.body);

    it('submit alone, in batches and with a key, and follow what they submitted', async () => {
      const system = await start();
      await system.executor({ id: 'old', script });
      const soda = clientOf(system);
      const [view] = await soda.executors();
      expect(view).to.include({ executor_id: 'old', state: 'idle', sdk: 'soda-node/2.0.0' });

      expect(await soda.submit(work('one', [{ work: 300 }]), user)).to.include({
        task_id: 'one',
        code: 202,
      });
      expect(await soda.submit(work('one', [{ work: 300 }]), user)).to.include({ code: 202 });
      const seen: (number | null | undefined)[] = [];
      const one = await soda.wait('one', {
        onProgress: (task) => seen.push(task.progress?.percent),
      });
      expect(one).to.include({ state: 'succeeded', executor_id: 'old', attempt: 1 });
      expect(one.result).to.deep.equal({ by: 'old', attempt: 1, checkpoint: null });
      expect(seen.some((percent) => (percent ?? 0) > 0)).to.equal(true);
      expect(await callback('one')).to.deep.include({ code: 200, state: 'succeeded', attempts: 1 });

      const refused = soda.submit({ type: 'not a type' }, user).catch((error: unknown) => error);
      const batch = await Promise.all(['a', 'b'].map((id) => soda.submit(work(id), user)));
      expect(batch.map(({ task_id }) => task_id)).to.deep.equal(['a', 'b']);
      expect(await refused).to.include({ code: 400 });
      const keyed = async (type: string) => {
        const answer = await fetch(`${system.url}/scheduler/v2/task/submit`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'order-17' },
          body: JSON.stringify({ task: { type }, user }),
        });
        const { task_id } = (await answer.json()) as { task_id?: string };
        return [answer.status, task_id];
      };
      const [status, id] = await keyed('work');
      expect([status, id]).to.deep.equal(await keyed('work'));
      expect(status).to.equal(202);
      expect((await keyed('other'))[0]).to.equal(422);
      for (const each of ['a', 'b', String(id)]) {
        expect(await soda.wait(each)).to.include({ state: 'succeeded' });
      }
      const listed: string[] = [];
      for await (const task of soda.list({ limit: 2, type: 'work' })) listed.push(task.task_id);
      expect(listed).to.deep.equal([id, 'b', 'a', 'one']);
    });

    it('go on from a checkpoint, fail, are canceled, and run again', async () => {
      const system = await start();
      const executor = await system.executor({ id: 'old', script });
      const soda = clientOf(system);

      await soda.submit(work('retried', [{ checkpoint: { at: 7 } }, { fail: {} }], []), user);
      const retried = await soda.wait('retried');
      expect(retried.result).to.deep.equal({ by: 'old', attempt: 2, checkpoint: { at: 7 } });
      expect(outcomesOf(retried)).to.deep.equal(['failed', 'succeeded']);
      expect(retried.timeline[0]?.error).to.include({ message: 'as told' });

      const final: Step = { fail: { retryable: false, message: 'no good' } };
      await soda.submit(work('failed', [final], []), user);
      expect(await soda.wait('failed')).to.deep.include({ state: 'failed' });
      const told = await callback('failed');
      expect(told).to.include({ code: 500, attempts: 1 });
      expect(told.error).to.include({ message: 'no good' });
      await soda.retry('failed');
      expect(await soda.wait('failed')).to.include({ state: 'succeeded', attempt: 2 });
      expect(await callback('failed', 2)).to.include({ code: 200, attempts: 2 });
      await soda.redeliver('failed');
      expect(await callback('failed', 3)).to.include({ code: 200 });

      await soda.submit(work('canceled', [{ hold: true }]), user);
      await system.started('canceled');
      await soda.submit(work('behind'), user);
      await soda.change('behind', { priority: 'high' });
      expect(await soda.get('behind')).to.include({ state: 'waiting', priority: 3600 });
      await soda.cancel('canceled', { reason: 'not needed' });
      expect(await soda.wait('canceled')).to.include({ state: 'canceled' });
      expect(await callback('canceled')).to.include({ code: 499, state: 'canceled' });
      expect(system.runs('canceled', 'end')).to.have.nested.property('[0].aborted', 'canceled');
      expect(await soda.wait('behind')).to.include({ state: 'succeeded' });

      const slow = {
        ...work('slow', [{ hold: true }]),
        execution_timeout: 1,
        retry: { max_attempts: 1 },
      };
      await soda.submit(slow, user);
      expect(await soda.wait('slow')).to.include({ failure_reason: 'attempts_exhausted' });
      expect(await callback('slow')).to.include({ code: 408, state: 'failed' });
      executor.expectAlive();
    });

    it('are drained and resumed, and outlast a restart of the master', async () => {
      // An executor of 2.0.0 lets go after three quarters of its lease, and slow machines start slowly.
      const system = await start({ SODA_LEASE: '30' });
      const executor = await system.executor({ id: 'old', script });
      const soda = clientOf(system);
      await soda.submit(work('held', [{ hold: true }]), user);
      await system.started('held');
      const waiting = soda.wait('held');

      await system.master.end('SIGKILL');
      await system.startMaster();
      await system.connected(executor);
      await system.executorIs('old', 'busy');
      await soda.drainExecutor('old', { timeout: 0.1 });
      await eventually(
        'it is given back',
        async () => (await soda.get('held')).state === 'waiting',
      );
      await system.executorIs('old', 'draining');
      expect(system.runs('held', 'end')).to.have.nested.property('[0].aborted', 'drain');
      await soda.resumeExecutor('old');
      await system.started('held', 2);

      // And one that ends as it should.
      await system.master.end('SIGTERM');
      await system.startMaster();
      executor.write('held');
      expect(await waiting).to.include({ state: 'succeeded', attempt: 2, attempts_used: 0 });
      expect(outcomesOf(await soda.get('held'))).to.deep.equal(['returned', 'succeeded']);
      expect(await callback('held')).to.include({ code: 200, attempts: 2 });
      expect(system.runs('held')).to.have.length(2);
      expect(await executor.end('SIGTERM')).to.include({ code: 0 });
      await eventually('it has left', async () => (await soda.executors()).length === 0);
    });

    it('are let in by their tokens, each to what is its own', async () => {
      const system = await start(tokens);
      const settings = { id: 'old', script, token: tokens.SODA_EXECUTOR_TOKEN };
      const executor = system.spawnExecutor(settings);
      await executor.said('that it is connected', ({ fields }) => fields['event'] === 'connected');
      const submitter = clientOf(system, tokens.SODA_SUBMIT_TOKEN);
      await submitter.submit(work('tokened'), user);
      expect(await submitter.wait('tokened')).to.include({ state: 'succeeded' });
      const denied = await submitter.executors().catch((error: unknown) => error);
      expect(denied).to.include({ code: 403 });
      expect(await clientOf(system, tokens.SODA_ADMIN_TOKEN).executors()).to.have.length(1);
      const wrong = system.spawnExecutor({
        id: 'wrong',
        script,
        token: 'not-the-token-of-anybody',
      });
      expect(await wrong.exited).to.include({ code: 1 });
    });
  },
  { stores: ['SQLite'] },
);
