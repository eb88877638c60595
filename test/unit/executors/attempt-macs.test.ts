/** What it costs to know whose an attempt is: nothing for those of others, one signature for its own. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect } from 'chai';
import { AttemptMacs } from '../../../master/access/executors/attempt-macs.ts';
import { sampleTask } from '../../helpers/task.ts';

describe('proofs of attempts', () => {
  const { createHmac } = crypto;
  let signedCount = 0;
  before(() => {
    crypto.createHmac = (...all: Parameters<typeof createHmac>) => {
      signedCount += 1;
      return createHmac(...all);
    };
    syncBuiltinESMExports();
  });
  after(() => {
    crypto.createHmac = createHmac;
    syncBuiltinESMExports();
  });

  const own = { executorId: 'x', incarnation: 'one', usesMac: true };
  const held = { state: 'running', attempt: 2 } as const;
  const tasks = [
    sampleTask({ id: 'own', seq: 1, ...held, executorId: 'x', incarnation: 'one' }),
    sampleTask({ id: 'other', seq: 2, ...held, executorId: 'y', incarnation: 'two' }),
    sampleTask({ id: 'elder', seq: 3, ...held, executorId: 'x', incarnation: 'zero' }),
  ];
  const attemptOf = (taskId: string) => tasks.find(({ id }) => id === taskId) ?? null;
  const wrong = Buffer.alloc(16).toString('base64url');
  let macs: AttemptMacs;
  let mac: string | undefined;
  beforeEach(() => {
    macs = new AttemptMacs('default');
    macs.use(['bmV3']);
    mac = macs.proofsOf(own, attemptOf).macOf(1, 2);
    signedCount = 0;
  });

  it('sign nothing for attempts that are not its own', () => {
    const proof = macs.proofsOf(own, attemptOf).holds;
    for (const task_id of ['other', 'elder', 'unknown']) {
      expect(proof({ task_id, attempt: 2, mac: wrong }), 'stale all the same').to.equal(true);
    }
    expect(proof({ task_id: 'own', attempt: 1, mac: wrong }), 'an older one').to.equal(true);
    expect(proof({ task_id: 'own', attempt: 2 })).to.equal(false);
    expect(signedCount).to.equal(0);
  });

  it('are those of one namespace', () => {
    const others = new AttemptMacs('live');
    others.use(['bmV3']);
    const { macOf, holds } = others.proofsOf(own, attemptOf);
    expect(holds({ task_id: 'own', attempt: 2, mac }), 'of the same names').to.equal(false);
    expect(holds({ task_id: 'own', attempt: 2, mac: macOf(1, 2) })).to.equal(true);
  });

  it('sign once for its own, until the secrets change', () => {
    const proof = macs.proofsOf(own, attemptOf).holds;
    for (let times = 0; times < 100; times++) {
      expect(proof({ task_id: 'own', attempt: 2, mac })).to.equal(true);
      expect(proof({ task_id: 'own', attempt: 2, mac: wrong })).to.equal(false);
    }
    expect(signedCount).to.equal(1);
    macs.use(['bmV3ZXI', 'bmV3']);
    expect(proof({ task_id: 'own', attempt: 2, mac })).to.equal(true);
    macs.use(['bmV3ZXI']);
    expect(proof({ task_id: 'own', attempt: 2, mac })).to.equal(false);
    expect(signedCount).to.equal(4);
  });

  it('are of one attempt of one task', () => {
    const { macOf, holds } = macs.proofsOf(own, attemptOf);
    const given = [macOf(1, 2), macOf(1, 3), macOf(2, 2), macOf(1, 2)];
    expect(new Set(given)).to.have.property('size', 3);
    for (const [at, one] of given.entries())
      expect(holds({ task_id: 'own', attempt: 2, mac: one })).to.equal(at === 0 || at === 3);
  });

  it('are signed with the newest secret, which stays where an older one goes', () => {
    macs.use(['bmV3ZXI', 'bmV3']);
    const offered = macs.proofsOf(own, attemptOf).macOf(1, 2);
    macs.use(['bmV3ZXI']);
    const { holds } = macs.proofsOf(own, attemptOf);
    expect(holds({ task_id: 'own', attempt: 2, mac: offered })).to.equal(true);
  });

  it('sign once for an offer and all that is said of it', () => {
    const { macOf, holds } = macs.proofsOf(own, attemptOf);
    const offered = macOf(1, 2);
    expect(offered).to.equal(mac);
    expect(holds({ task_id: 'own', attempt: 2, mac: offered })).to.equal(true);
    expect(holds({ task_id: 'own', attempt: 2, mac: wrong })).to.equal(false);
    expect(signedCount).to.equal(1);
  });

  it('are none for one that knows no MAC, nor before there is a secret', () => {
    expect(macs.proofsOf({ ...own, usesMac: false }, attemptOf).macOf(1, 2)).to.equal(undefined);
    expect(new AttemptMacs('default').proofsOf(own, attemptOf).macOf(1, 2)).to.equal(undefined);
    expect(signedCount).to.equal(0);
  });
});
