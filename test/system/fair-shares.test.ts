/** What is promised of groups that share a type: whoever waits, and wherever the tasks are. */
import { expect } from 'chai';
import { describeSystem, type Step, type System } from '../helpers/system/system.ts';
import { eventually } from '../helpers/system/wait.ts';

/** Most tasks of a group are in the store only. */
const SMALL_WINDOW = { SODA_LANE_WINDOW: '100' };

const shareOut = (system: System, weights: Readonly<Record<string, number>> = {}) =>
  system.client.types.put('work', { fair_by: 'group', group_weights: weights });

/** So long that hundreds of them are not over before others are there, on a machine however busy. */
const LONG: Step = { work: 50 };

/** Tasks named after their group, that end at once unless they have something to do. */
async function submit(
  system: System,
  group: string,
  count: number,
  ...steps: readonly Step[]
): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    const tasks = Array.from({ length: Math.min(100, count - first) }, (_, index) => {
      const task_id = `${group}-${first + index}`;
      return {
        task: { id: task_id, type: 'work', params: { attempts: [steps] } },
        user: { group },
      };
    });
    const { body } = await system.post('/task/submit-batch', { tasks });
    const results = body['results'] as { readonly code: number }[];
    expect(results.filter(({ code }) => code === 202)).to.have.length(tasks.length);
  }
}

/** The groups of the tasks that were started, in order. */
function started(system: System): string[] {
  const starts = system.marks.filter(({ mark }) => mark === 'start');
  return starts.sort((a, b) => a.at - b.at).map(({ task }) => task.replace(/-.*/, ''));
}

/** Once all of them have: what was started from the first one on. */
async function fromFirstToLast(system: System, group: string, count: number): Promise<string[]> {
  const countOf = () => started(system).filter((of) => of === group).length;
  await eventually(`${count} tasks of ${group} have started`, () => countOf() >= count, 60_000);
  const order = started(system);
  return order.slice(order.indexOf(group), order.lastIndexOf(group) + 1);
}

describeSystem(
  'fair shares',
  ({ start }) => {
    it('let ten tasks pass those of a group that has hundreds, with one executor', async () => {
      const system = await start();
      await shareOut(system);
      await submit(system, 'many', 500, LONG);
      await system.executor({ id: 'a' });
      await eventually('some have run', () => started(system).length > 30);
      await submit(system, 'few', 10);
      const order = await fromFirstToLast(system, 'few', 10);
      expect(order.join(' ')).to.equal(`${'few many '.repeat(9)}few`);
    });

    it('do so from the first task on after the master has died', async () => {
      const system = await start(SMALL_WINDOW);
      await shareOut(system);
      await submit(system, 'many', 300, LONG);
      await submit(system, 'few', 10);
      await system.master.end('SIGKILL');
      await system.startMaster();
      await system.executor({ id: 'a' });
      const order = await fromFirstToLast(system, 'few', 10);
      // A lane may be read before the other.
      expect(order.length).to.be.at.most(25);
    });

    it('delay each task by one of the others for each executor', async () => {
      const system = await start();
      await shareOut(system);
      await submit(system, 'many', 900, LONG);
      for (const id of ['a', 'b', 'c']) await system.executor({ id });
      await eventually('some have run', () => started(system).length > 30);
      await submit(system, 'few', 10);
      const order = await fromFirstToLast(system, 'few', 10);
      expect(order.filter((of) => of === 'many').length).to.be.at.most(10 + 3);
    });

    it('are as the weights', async () => {
      const system = await start();
      await shareOut(system, { two: 2, five: 5 });
      for (const group of ['one', 'two', 'five']) await submit(system, group, 300);
      for (const id of ['a', 'b']) await system.executor({ id });
      await eventually('enough have run', () => started(system).length >= 400, 60_000);
      const order = started(system).slice(0, 400);
      const countOf = (group: string) => order.filter((of) => of === group).length;
      expect(countOf('one')).to.be.within(45, 55);
      expect(countOf('two')).to.be.within(95, 105);
      expect(countOf('five')).to.be.within(240, 260);
    });
  },
  { sharesMaster: true, env: SMALL_WINDOW },
);
