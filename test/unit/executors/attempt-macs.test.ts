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
    mac = macs.of(own, 1, 2);
    signedCount = 0;
  });

  it('sign nothing for attempts that are not its own', () => {
    const proof = macs.proofOf(own, attemptOf);
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
    const proof = others.proofOf(own, attemptOf);
    expect(proof({ task_id: 'own', attempt: 2, mac }), 'of the same names').to.equal(false);
    const theirs = others.of(own, 1, 2);
    expect(proof({ task_id: 'own', attempt: 2, mac: theirs })).to.equal(true);
  });

  it('sign once for its own, until the secrets change', () => {
    const proof = macs.proofOf(own, attemptOf);
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
});
