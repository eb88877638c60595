/** Offers that are answered late: after their session, or after the executor was told to stop. */
import { expect } from 'chai';
import { ScriptedMaster } from '../../helpers/scripted-master.ts';
import { deferred, watchedExecutor } from '../../helpers/sdk/watched-executor.ts';

describe('executor SDK, an offer', () => {
  let master: ScriptedMaster;

  beforeEach(async () => {
    master = await ScriptedMaster.start();
  });

  afterEach(() => master.close());

  /**
   * `t1` was offered in a session that is over, and its answer is still being thought about;
   * `t2` is offered in the next one, and about to be accepted.
   */
  async function twoOffers() {
    const answers = { t1: deferred<true | string>(), t2: deferred<true | string>() };
    const asked = { t1: deferred(), t2: deferred() };
    const ran: string[] = [];
    const sdk = watchedExecutor(master.url, {
      drainTimeoutMs: 0,
      canAccept: ({ id }) => {
        asked[id as 't1' | 't2'].resolve();
        return answers[id as 't1' | 't2'].promise;
      },
    }).handle('test', async ({ id }, { signal }) => {
      ran.push(id);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw signal.reason;
    });
    await sdk.start();
    const before = await master.nth('executorConnected');
    master.assign(before.sessionId, { id: 't1' });
    await asked.t1.promise;
    master.sessions.reattachAll();
    const after = await master.nth('executorConnected', 2);
    master.assign(after.sessionId, { id: 't2' });
    await asked.t2.promise;
    return { sdk, answers, ran, sessionId: after.sessionId };
  }

  for (const late of ['no room', true] as const) {
    it(`of an old session changes nothing for the next task: ${String(late)}`, async () => {
      const { sdk, answers, ran, sessionId } = await twoOffers();
      answers.t1.resolve(late);
      answers.t2.resolve(true);
      await sdk.told('task_started');
      expect(ran).to.deep.equal(['t2']);
      const cancel = { type: 'cancel', taskId: 't2', attempt: 1, graceMs: 5_000 } as const;
      master.sessions.send(sessionId, { ...cancel, reason: 'canceled' }, 1);
      expect(await master.nth('attemptEnded')).to.include({ taskId: 't2', outcome: 'canceled' });
      expect(master.of('attemptRejected'), 'nothing was said of t1').to.deep.equal([]);
      await sdk.stop();
    });
  }

  it('of an old session does not keep an executor from stopping', async () => {
    const { sdk, answers } = await twoOffers();
    answers.t1.resolve('no room');
    answers.t2.resolve(true);
    await sdk.told('task_started');
    await sdk.stop();
    expect(await master.nth('attemptEnded')).to.include({ taskId: 't2', outcome: 'returned' });
    expect((await master.nth('executorDisconnected', 2)).left).to.equal(true);
  });

  it('that is never answered does not keep an executor from stopping', async () => {
    const { sdk } = await twoOffers();
    await sdk.stop();
    expect((await master.nth('executorDisconnected', 2)).left).to.equal(true);
  });

  it('is refused when the answer is neither true nor text', async () => {
    const canAccept = () => false as unknown as string;
    const sdk = watchedExecutor(master.url, { canAccept }).handle('test', () => null);
    await sdk.start();
    const { sessionId } = await master.nth('executorConnected');
    master.assign(sessionId, { id: 't1' });
    expect(await master.nth('attemptRejected')).to.include({
      code: 400,
      message: 'canAccept answered boolean',
    });
    await sdk.stop();
  });
});
