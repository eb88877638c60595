/** Masters that are killed, stopped and doubled: what was accepted stays, what runs goes on. */
import { expect } from 'chai';
import { describeOnEither, describeSystem, type System } from '../helpers/system/system.ts';
import { submitAllTheTime } from '../helpers/system/load.ts';
import { eventually } from '../helpers/system/wait.ts';

/** Long enough for a master to be started again within it on a busy machine. */
const PATIENT = { SODA_LEASE: '60' };

/** Every task that was accepted is there, and none of them twice. */
async function expectAllThere(system: System, accepted: readonly string[]): Promise<void> {
  const stored = new Set<string>();
  for await (const { task_id } of system.client.list({ group: 'load', limit: 200 })) {
    expect(stored, 'listed twice').not.to.include(task_id);
    stored.add(task_id);
  }
  expect(accepted.filter((taskId) => !stored.has(taskId))).to.deep.equal([]);
}

describeOnEither('a master', ({ start }) => {
  it('that is killed finds its executors again: nothing runs twice, and results wait for it', async () => {
    const system = await start(PATIENT);
    const executors = [await system.executor({ id: 'a' }), await system.executor({ id: 'b' })];
    const notify_url = system.receiver.url('restart');
    const taskIds: string[] = [];
    for (let count = 1; count <= 4; count++) {
      taskIds.push(await system.submit([[{ hold: true }]], { notify_url }));
    }
    const [meanwhile = '', after = ''] = taskIds;
    await Promise.all([system.started(meanwhile), system.started(after)]);

    await system.master.end('SIGKILL');
    for (const executor of executors) executor.write(meanwhile);
    await eventually('a handler ended without a master', () => system.runs(meanwhile, 'end')[0]);
    await system.startMaster();

    expect(await system.ended(meanwhile)).to.include({ state: 'succeeded', attempt: 1 });
    await eventually('the other one is known to run', async () => {
      const { state, attempt } = await system.task(after);
      return state === 'running' && attempt === 1;
    });
    for (const taskId of taskIds) for (const executor of executors) executor.write(taskId);
    for (const taskId of taskIds) {
      expect(await system.ended(taskId)).to.include({ state: 'succeeded', attempt: 1 });
      expect(system.runs(taskId)).to.have.length(1);
    }
    const deliveries = await system.delivered('restart', taskIds.length);
    expect(deliveries.map(({ body }) => body?.task_id)).to.have.members(taskIds);
  });

  it('that is killed while it accepts has every task that it answered 202', async () => {
    const system = await start();
    const load = submitAllTheTime(system, { type: 'nobody' });
    await eventually('a hundred tasks', () => load.accepted.length >= 100);
    await system.master.end('SIGKILL');
    const count = load.accepted.length;
    await system.startMaster();
    await eventually('the clients go on', () => load.accepted.length > count + 20);
    await load.stop();
    await expectAllThere(system, load.accepted);
  });

  it('that is told to stop answers what it has begun, refuses the rest, and exits with 0', async () => {
    const system = await start(PATIENT);
    const executor = await system.executor({ id: 'a' });
    const running = await system.submit([[{ hold: true }]]);
    await system.started(running);
    const load = submitAllTheTime(system, { type: 'nobody' });
    await eventually('a hundred tasks', () => load.accepted.length >= 100);

    // One that takes too long by its own clock exits with 1.
    expect(await system.master.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });

    await system.startMaster();
    await load.stop();
    expect(load.refused).not.to.deep.equal([]);
    for (const { status, retryAfter } of load.refused) {
      expect(status).to.equal(503);
      expect(Number(retryAfter)).to.be.at.least(1);
    }
    await expectAllThere(system, load.accepted);
    executor.write(running);
    expect(await system.ended(running)).to.include({ state: 'succeeded', attempt: 1 });
    expect(system.runs(running)).to.have.length(1);
  });
});

describeSystem('a master with a file', ({ start }) => {
  it('that stood still for less than the lease takes nothing from anybody', async () => {
    const system = await start(PATIENT);
    const executors = [await system.executor({ id: 'a' }), await system.executor({ id: 'b' })];
    const taskIds = [
      await system.submit([[{ hold: true }]]),
      await system.submit([[{ hold: true }]]),
    ];
    for (const taskId of taskIds) await system.started(taskId);
    const [meanwhile = '', after = ''] = taskIds;

    system.master.signal('SIGSTOP');
    const stoppedAt = Date.now();
    for (const executor of executors) executor.write(meanwhile);
    await eventually('a handler ended meanwhile', () => system.runs(meanwhile, 'end')[0]);
    await eventually('it is noticed as a gap', () => Date.now() - stoppedAt > 3_500);
    system.master.signal('SIGCONT');

    expect(await system.ended(meanwhile)).to.include({ state: 'succeeded', attempt: 1 });
    for (const executor of executors) executor.write(after);
    expect(await system.ended(after)).to.include({ state: 'succeeded', attempt: 1 });
    expect(system.runs(after)).to.have.length(1);
  });

  it('is refused the file of another one, with a word on why', async () => {
    const system = await start();
    const second = system.spawnMaster({ SODA_PORT: '0' });
    const { code } = await second.exited;
    expect(code).to.equal(1);
    expect(second.tail()).to.include('another master owns this file');
    expect(await system.ended(await submitAndRun(system))).to.include({ state: 'succeeded' });
  });
});

async function submitAndRun(system: System): Promise<string> {
  await system.executor({ id: 'a' });
  return system.submit();
}
