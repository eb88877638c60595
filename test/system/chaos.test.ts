/**
 * Everything is killed in turn while work goes on: executors, masters and, where it is ours, the
 * database. In the end every accepted task has run to its end, once as far as anybody can tell.
 */
import { expect } from 'chai';
import { randomInt } from 'node:crypto';
import { createClient, type TaskView } from '@soda-scheduler/client';
import { eitherStore } from '../helpers/system/either-store.ts';
import { describeSystem, type Mark, type System, user } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';
import { numbersOf } from '../sim/random.ts';

const TASK_COUNT = 120;
const FAULT_COUNT = 6;
/** Tasks that end between one fault and the next. */
const PACE_COUNT = 8;
const EXECUTORS = ['a', 'b', 'c'];

/** Starts an executor again under its id whenever it has ended, until told to stop. */
function supervise(system: System): { kill(id: string): void; stop(): void } {
  const running = new Map<string, ReturnType<System['spawnExecutor']>>();
  let over = false;
  const start = (id: string): void => {
    if (over || system.isOver) return;
    const executor = system.spawnExecutor({ id });
    running.set(id, executor);
    void executor.exited.then(() => start(id));
  };
  for (const id of EXECUTORS) start(id);
  return {
    kill: (id) => running.get(id)?.signal('SIGKILL'),
    stop: () => {
      over = true;
    },
  };
}

/** An attempt that ended by itself did so before the next one began. */
function overlapsOf(marks: readonly Mark[]): string[] {
  return marks.flatMap((end) => {
    if (end.mark !== 'end') return [];
    const next = marks.find(
      ({ mark, task, attempt }) =>
        mark === 'start' && task === end.task && attempt === end.attempt + 1,
    );
    const overlaps = next !== undefined && next.at < end.at;
    return overlaps ? [`${end.task}: ${end.attempt} ended ${end.at - next.at} ms late`] : [];
  });
}

describeSystem(
  'a system in which everything is killed',
  ({ start, mariadb }) => {
    it('runs every accepted task to its end', async function () {
      const seed = randomInt(2 ** 31);
      console.log(`      seed ${seed}`);
      const random = numbersOf(seed);
      const system = await start({ SODA_CRASH_BUDGET: '1000', SODA_ASSIGN_TIMEOUT: '1' });
      const notify_url = system.receiver.url('chaos');
      const supervisor = supervise(system);

      const client = createClient({ url: system.url, retryCount: 20 });
      const taskIds = Array.from({ length: TASK_COUNT }, (_, at) => `chaos-${at}`);
      const params = { attempts: [[{ work: 150 }]] };
      const submitted = (async () => {
        for (const id of taskIds)
          await client.submit({ id, type: 'work', params, notify_url }, user);
      })();

      const endCount = () => system.marks.filter(({ mark }) => mark === 'end').length;
      const faults = [
        async () => supervisor.kill(EXECUTORS[Math.floor(random() * EXECUTORS.length)] ?? ''),
        async () => {
          await system.master.end('SIGKILL');
          await system.startMaster();
        },
        async () => {
          const server = mariadb();
          if (!server?.kill || !server.restart) return;
          await server.kill();
          await server.restart();
        },
      ];
      for (let count = 0; count < FAULT_COUNT; count++) {
        const enough = endCount() + PACE_COUNT;
        await eventually('work goes on', () => endCount() >= enough);
        await faults[Math.floor(random() * faults.length)]?.();
      }
      await submitted;
      const tasks: TaskView[] = [];
      for (const taskId of taskIds) tasks.push(await system.ended(taskId));
      supervisor.stop();

      expect(tasks.filter(({ state }) => state !== 'succeeded')).to.deep.equal([]);
      for (const { task_id, attempt, executor_id } of tasks) {
        const finished = system.runs(task_id, 'end').filter((end) => end.attempt === attempt);
        expect(finished, task_id).to.have.length(1);
        expect(finished[0]).to.include({ executor: executor_id, how: 'done' });
      }
      expect(overlapsOf(system.marks)).to.deep.equal([]);
      await eventually('every callback has come', () => {
        const called = new Set(system.receiver.at('chaos').map(({ body }) => body?.task_id));
        return called.size === TASK_COUNT;
      });
      const ids = new Set(system.receiver.at('chaos').map(({ id }) => id));
      expect(ids.size, 'webhook ids').to.equal(TASK_COUNT);
    });
  },
  { stores: [eitherStore()], harms: true },
);
