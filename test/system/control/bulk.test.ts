/** Operations on many tasks that are paused, steered and outlive their master: no task is done twice, left out or out of order. */
import { expect } from 'chai';
import type { Bulk, OperationView } from '@soda-scheduler/client';
import { describeSystem, type System } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const TASK_COUNT = 5_000;
const BATCH_COUNT = 500;

async function submitMany(system: System): Promise<void> {
  for (let first = 0; first < TASK_COUNT; first += BATCH_COUNT) {
    const tasks = Array.from({ length: BATCH_COUNT }, (_, n) => ({
      task: { id: `task-${first + n}`, type: 'nobody' },
      user: { group: 'many' },
    }));
    expect((await system.post('/task/submit-batch', { tasks })).status).to.equal(200);
  }
}

/** How many of its tasks it has come to. */
const cameTo = ({ done, asked, skipped, failed }: OperationView): number =>
  done + asked + skipped + failed;

async function begin({ client }: System, bulk: Bulk, wanted: number): Promise<string> {
  const { count, token } = await client.operations.preview(bulk);
  expect(count).to.equal(wanted);
  return client.operations.begin(bulk, token);
}

describeSystem(
  'an operation on many tasks',
  ({ start }) => {
    it('is ended, paused, resumed, goes on after the master was killed, and comes to each task once', async () => {
      const system = await start({ SODA_LEASE: '60' });
      const { client } = system;
      const { operations } = client;
      await system.executor({ id: 'a' });
      const { task_id: running } = await client.submit(
        { type: 'work', params: { attempts: [[{ hold: true }]] } },
        { group: 'many' },
      );
      await system.started(running);
      await submitMany(system);

      const aside = { action: 'suspend', filter: { type: 'nobody' } } as const;
      const other = await begin(system, aside, TASK_COUNT);
      const canceled = await operations.cancel(other);
      expect(canceled.state).to.equal('canceled');
      expect(cameTo(canceled)).to.be.below(TASK_COUNT);

      const front = { action: 'first', filter: { id_prefix: 'task-3' } } as const;
      const moved = await operations.wait(await begin(system, front, 1_111));
      expect(moved).to.include({ state: 'done', done: 1_111 });
      // On a busy machine a page ends before it is full.
      const order = async () => {
        const found: number[] = [];
        for await (const { task_id } of client.list({
          type: 'nobody',
          sort: 'order',
          limit: 200,
        })) {
          found.push(Number(task_id.replace('task-', '')));
          if (found.length === 200) break;
        }
        return found;
      };

      const all = { action: 'cancel', filter: { group: 'many' } } as const;
      const id = await begin(system, all, TASK_COUNT + 1);
      const paused = await operations.pause(id);
      expect(paused.state).to.equal('paused');
      expect(cameTo(paused)).to.be.below(TASK_COUNT);
      const before = await order();
      expect(before).to.have.length(200);
      expect(before.every((n) => String(n).startsWith('3'))).to.equal(true);
      expect(before).to.deep.equal(before.toSorted((a, b) => a - b));
      await system.master.end('SIGKILL');
      await system.startMaster();
      expect(await operations.get(id)).to.deep.equal(paused);
      expect(await order()).to.deep.equal(before);

      await operations.resume(id);
      await eventually('a slice more', async () => {
        return cameTo(await operations.get(id)) > cameTo(paused);
      });
      await system.master.end('SIGKILL');
      await system.startMaster();
      expect(await operations.wait(id)).to.deep.include({
        state: 'done',
        total: TASK_COUNT + 1,
        done: TASK_COUNT,
        asked: 1,
        skipped: 0,
        failed: 0,
        problems: [],
      });
      expect(await system.ended(running)).to.include({ state: 'canceled' });
      const ended = new Set<string>();
      for await (const { task_id } of client.list({ state: 'canceled', limit: 200 })) {
        expect(ended, 'ended twice').not.to.include(task_id);
        ended.add(task_id);
      }
      expect(ended.size).to.equal(TASK_COUNT + 1);
    });
  },
  { stores: ['SQLite'] },
);
