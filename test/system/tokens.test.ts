/** Named tokens across processes: what a killed master keeps of them, and what becomes of revoked executors. */
import { expect } from 'chai';
import { createClient } from '@soda-scheduler/client';
import { describeSystem, outcomesOf } from '../helpers/system/system.ts';

describeSystem('named tokens', ({ start }) => {
  it('hold after a master that was killed right behind the answer, and so does who has changed what', async () => {
    const system = await start();
    const { token } = await system.client.createToken({ name: 'ann', role: 'submit' });
    await system.master.end('SIGKILL');
    await system.startMaster();
    const ann = createClient({ url: system.url, token, retryCount: 0 });
    expect(await ann.whoami()).to.include({ name: 'ann', role: 'submit' });
    await system.client.revokeToken('ann');
    await system.master.end('SIGKILL');
    await system.startMaster();
    const refused = await ann.whoami().catch((error: unknown) => error);
    expect(refused).to.include({ status: 401 });
    await system.client.types.pause('encode', { reason: 'storage is full' });
    await system.master.end('SIGKILL');
    await system.startMaster();
    const kept: string[] = [];
    for await (const { action, target } of system.client.audit.list()) {
      kept.push(`${action} ${target}`);
    }
    expect(kept).to.deep.equal(['type.pause encode', 'token.revoke ann', 'token.create ann']);
    expect(await system.client.audit.verify()).to.include({ count: 3, misfit: null });
  });

  it('that are revoked send their executor away for good; its task runs elsewhere after its lease', async () => {
    const system = await start();
    const { token } = await system.client.createToken({ name: 'render', role: 'executor' });
    const revoked = await system.executor({ id: 'a', token });
    const taskId = await system.submit([[{ hold: true }], [{ work: 1 }]]);
    await system.started(taskId);
    await system.executor({ id: 'b' });
    const revokedAt = Date.now();
    await system.client.revokeToken('render');
    await revoked.exited;
    const task = await system.ended(taskId);
    expect(task).to.include({ state: 'succeeded', executor_id: 'b', attempt: 2 });
    expect(outcomesOf(task)).to.have.length(2);
    const [first, second] = system.runs(taskId, 'start');
    expect(first?.executor).to.equal('a');
    expect((second?.at ?? 0) - revokedAt, 'not before its lease').to.be.at.least(3_000);
    const again = system.spawnExecutor({ id: 'a', token });
    await again.exited;
    expect(again.tail()).to.include('This master does not know the token.');
  });
});
