/** The SDK, with its worker thread, against the real gateway; through a proxy where a fault is due. */
import { createExecutor } from '@soda-scheduler/executor-sdk';
import type { ExecutorEvent, ExecutorOptions } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { ScriptedMaster } from '../helpers/scripted-master.ts';

describe('executor SDK', () => {
  const closing: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startMaster(...args: Parameters<typeof ScriptedMaster.start>) {
    const master = await ScriptedMaster.start(...args);
    closing.push(() => master.close());
    return master;
  }

  function executor(url: string, options: Partial<ExecutorOptions> = {}) {
    const events: ExecutorEvent[] = [];
    const made = createExecutor({
      url,
      id: 'e1',
      handleSignals: false,
      onEvent: (event) => events.push(event),
      ...options,
    });
    closing.push(() => made.stop().catch(() => undefined));
    return Object.assign(made, { events });
  }

  it('runs a task and reports progress, checkpoint and result in order', async () => {
    const master = await startMaster();
    await executor(master.url, { labels: ['gpu'], reserve: ['urgent'] })
      .handle<{ n: number }>('test', (task, ctx) => {
        ctx.progress(10);
        ctx.progress(60, { frame: 6 });
        ctx.checkpoint({ at: 60, was: ctx.lastCheckpoint });
        return { doubled: task.params.n * 2, token: ctx.token, attempt: ctx.attempt };
      })
      .start();
    const connected = await master.nth('executorConnected');
    expect(connected).to.deep.include({
      executorId: 'e1',
      types: ['test'],
      labels: ['gpu'],
      reserve: ['urgent'],
      running: [],
      pid: process.pid,
    });

    master.assign(connected.sessionId, {
      id: 't1',
      params: '{"n":21}',
      checkpoint: '{"at":5}',
      attempt: 3,
    });
    const ended = await master.nth('attemptEnded');
    expect(ended).to.deep.include({
      taskId: 't1',
      attempt: 3,
      outcome: 'succeeded',
      result: '{"doubled":42,"token":"1.3","attempt":3}',
      error: null,
    });
    const reports = master.events.filter((event) => 'frameSeq' in event);
    expect(reports.map((event) => event.type)).to.deep.equal([
      'attemptAccepted',
      'progressReported',
      'progressReported',
      'progressReported',
      'attemptEnded',
    ]);
    expect(master.of('progressReported').map((event) => event.percent)).to.deep.equal([
      10,
      null,
      60,
    ]);
    expect(master.of('progressReported')[1]!.checkpoint).to.equal('{"at":60,"was":{"at":5}}');
  });
});
