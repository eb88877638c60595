/** An executor that cannot work says so, over the real gateway. */
import { expect } from 'chai';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { deferred, watchedExecutor } from '../../helpers/sdk/watched-executor.ts';

describe('executor SDK: ready', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startMaster() {
    // Longer than a busy machine stands still: what is sent to a session that is over goes nowhere.
    const master = await ScriptedMaster.start({ leaseMs: 60_000 });
    closing.push(() => master.close());
    return master;
  }

  function executor(...args: Parameters<typeof watchedExecutor>) {
    const made = watchedExecutor(...args);
    closing.push(() => made.stop().catch(() => undefined));
    return made.handle('test', () => Promise.reject(new Error('it broke')));
  }

  it('is not said where nobody asks for it', async () => {
    const master = await startMaster();
    await executor(master.url).start();
    const { ready } = await master.nth('executorConnected');
    expect(ready).to.deep.equal({ ok: true, reason: null, diskBytes: null });
    expect((await master.nth('heartbeatReceived')).ready).to.equal(undefined);
  });

  it('is not asked of a booking that comes while the executor stops', async () => {
    const master = await startMaster();
    const made = watchedExecutor(master.url);
    const end = deferred();
    let prepared = 0;
    const prepare = (): void => {
      prepared += 1;
    };
    await made.handle('test', () => end.promise, { prepare }).start();
    closing.push(() => made.stop());
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1' });
    await made.told('task_started');
    const stopped = made.stop();
    const booking = { id: 'bk-1', type: 'test', from: 0, to: 1, tasks: [] };
    master.sessions.send(sessionId, { type: 'booking', booking }, 1);
    // Its handlers hear of this after the booking.
    const key = { taskId: 't1', attempt: 1, graceMs: 9_000, reason: 'canceled' } as const;
    master.sessions.send(sessionId, { type: 'cancel', ...key }, 1);
    await made.told('task_aborted');
    end.resolve();
    await stopped;
    expect(prepared).to.equal(0);
  });

  it('is not before the first answer, and is told at once when it changes', async () => {
    const master = await startMaster();
    const first = deferred<true>();
    let answer: () => Promise<true | string> = () => first.promise;
    const made = executor(master.url, { ready: () => answer() });
    await made.start();
    const { ready, sessionId } = await master.nth('executorConnected');
    expect(ready.ok).to.equal(false);
    first.resolve(true);
    await master.find('heartbeatReceived', (beat) => beat.ready?.ok === true);

    answer = () => Promise.resolve('no space left');
    // The attempt fails, so that it is asked again.
    master.assign(sessionId, { id: 't1' });
    const beat = await master.find(
      'heartbeatReceived',
      (one) => one.ready?.reason === 'no space left',
    );
    expect(beat.ready?.ok).to.equal(false);
    expect((await made.told('not_ready')).message).to.equal('not ready: no space left');

    // This offer has crossed with the word.
    master.assign(sessionId, { id: 't2' });
    const refusal = await master.find('attemptRejected', ({ taskId }) => taskId === 't2');
    expect(refusal).to.include({ code: 406, message: 'not ready: no space left' });

    answer = () => Promise.resolve(true);
    made.checkReady();
    const seen = master.events.length;
    await master.find('heartbeatReceived', (one) => {
      return one.ready?.ok === true && master.events.indexOf(one) >= seen;
    });
  });
});
