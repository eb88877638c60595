/** The client package against a real master: that both mean the same by the same words. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { createClient, type SodaClient, SodaError } from '@soda-scheduler/client';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { loadConfig, runMaster } from '@soda-scheduler/master';

const user = { group: 'video' };
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof SodaError ? error.code : error),
  );

describe('client and master', () => {
  let folder: string;
  let master: Awaited<ReturnType<typeof runMaster>>;
  let client: SodaClient;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-client-'));
    await start('0');
    client = createClient({ url: master.url });
  });

  async function start(port: string): Promise<void> {
    const outcome = loadConfig({ env: {}, flags: { port, dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
  }

  async function restart(): Promise<void> {
    const { port } = new URL(master.url);
    await master.stop();
    await start(port);
  }

  after(async () => {
    await master.stop();
    await rm(folder, { recursive: true });
  });

  it('submits alone and in batches, each with its own outcome', async () => {
    const results = await Promise.allSettled([
      client.submit({ id: 'one', type: 'transcode' }, user),
      client.submit({ id: 'not an id', type: 'transcode' }, user),
      client.submit({ type: 'transcode', params: { input: 'a.mov' } }, user),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(results[1]).to.have.nested.property('reason.code', 400);
    expect(await client.submit({ id: 'one', type: 'transcode' }, user)).to.include({ code: 202 });
    expect(await codeOf(client.submit({ id: 'one', type: 'other' }, user))).to.equal(409);
    expect(await codeOf(client.submit({ type: 'transcode' }))).to.equal(400);
  });

  it('reads, lists and changes', async () => {
    const { task_id } = await client.submit({ type: 'listed', params: [1] }, user);
    await client.submit({ type: 'listed' }, user);
    await client.change(task_id, { priority: 'high' });
    expect(await client.get(task_id)).to.deep.include({
      state: 'waiting',
      priority: 3600,
      params: [1],
      user,
    });
    const listed: string[] = [];
    for await (const task of client.list({ type: 'listed', limit: 1 })) listed.push(task.task_id);
    expect(listed).to.have.length(2).and.to.include(task_id);
    expect(await codeOf(client.get('none'))).to.equal(404);
  });

  it('cancels, waits, runs again', async () => {
    const { task_id } = await client.submit({ type: 'steered' }, user);
    await client.cancel(task_id, { reason: 'not needed' });
    expect((await client.wait(task_id)).state).to.equal('canceled');
    expect(await codeOf(client.redeliver(task_id)), 'it has no callback').to.equal(404);
    await client.retry(task_id);
    expect((await client.get(task_id)).state).to.equal('waiting');
    expect(await codeOf(client.retry(task_id))).to.equal(409);
  });

  it('keeps the id of an ended task taken while the task is retained', async () => {
    const task = { id: 'ended', type: 'steered' };
    await client.submit(task, user);
    await client.cancel('ended');
    expect((await client.wait('ended')).state).to.equal('canceled');
    expect(await client.submit(task, user), 'a repetition').to.include({ code: 202 });
    expect((await client.get('ended')).state, 'begins nothing').to.equal('canceled');
    expect(await codeOf(client.submit({ ...task, params: 2 }, user))).to.equal(409);
  });

  it('knows the fleet', async () => {
    expect(await client.executors()).to.deep.equal([]);
    expect(await codeOf(client.drainExecutor('none', { timeout: 1 }))).to.equal(404);
    expect(await codeOf(client.resumeExecutor('none'))).to.equal(404);
    expect(await codeOf(client.changeExecutor('none', { labels: [] }))).to.equal(404);
    expect(await codeOf(client.changeExecutor('none', {}))).to.equal(400);
  });

  it('keeps namespaces apart, holds them and deletes them', async () => {
    const namespace = 'video';
    const video = createClient({ url: master.url, namespace, retryCount: 0 });
    const task = { id: 'in-both', type: 'apart', params: 1 };
    const unknown = await video.submit(task, user).catch((error: unknown) => error);
    expect(unknown).to.be.instanceOf(SodaError).and.to.include({ code: 404 });
    expect((unknown as Error).message).to.include('namespace');
    expect(await client.setNamespace(namespace, { max_running: 2 })).to.deep.include({
      name: namespace,
      max_running: 2,
      paused: null,
    });
    const executor = createExecutor({ url: master.url, namespace, handleSignals: false }).handle(
      'apart',
      ({ params }) => params,
    );
    await executor.start();
    await client.submit(task, user);
    await video.submit({ ...task, params: 2 }, user);
    expect(await video.wait(task.id)).to.include({ state: 'succeeded', result: 2 });
    expect((await client.get(task.id)).waiting).to.include({ reason: 'no_executor' });
    expect([await client.executors(), (await video.executors()).length]).to.deep.equal([[], 1]);

    await client.setNamespace(namespace, { paused: { reason: 'storage is full' } });
    const { task_id } = await video.submit({ type: 'apart' }, user);
    expect((await video.get(task_id)).waiting).to.include({ reason: 'paused' });
    expect(await codeOf(client.deleteNamespace(namespace))).to.equal(409);
    expect((await client.namespace(namespace)).counts).to.deep.equal({
      waiting: 1,
      running: 0,
      held: 0,
    });
    await client.setNamespace(namespace, { paused: null });
    expect((await video.wait(task_id)).state).to.equal('succeeded');
    await executor.stop();
    const names: string[] = [];
    for await (const { name } of client.namespaces()) names.push(name);
    expect(names).to.deep.equal(['default', namespace]);
    await client.cancel(task.id);
  });

  it('gives an executor what fits the labels that were set, also after a restart', async () => {
    const executor = createExecutor({
      url: master.url,
      id: 'e1',
      labels: ['cpu'],
      handleSignals: false,
    }).handle('relabelled', () => 'done');
    await executor.start();
    const submitted = async () =>
      (await client.submit({ type: 'relabelled', requires: ['gpu'] }, user)).task_id;
    const first = await submitted();
    expect((await client.get(first)).waiting).to.include({ reason: 'labels_unmatched' });
    expect(await client.changeExecutor('e1', { labels: ['gpu'] })).to.deep.equal({ lasting: true });
    expect((await client.wait(first)).state).to.equal('succeeded');
    await restart();
    expect((await client.wait(await submitted())).state).to.equal('succeeded');
    expect((await client.executors())[0]).to.deep.include({
      labels: ['gpu'],
      own: { labels: ['cpu'], reserve: [] },
      override: { labels: ['gpu'], reserve: null, by: null },
    });
    await client.changeExecutor('e1', { labels: null });
    expect((await client.get(await submitted())).waiting).to.include({
      reason: 'labels_unmatched',
    });
    await executor.stop();
  });
});
