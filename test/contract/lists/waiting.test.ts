/** What every store must do with lists of tasks that wait: bring them in their order, and tell who is first and last. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Position, WaitingPage } from '../../../master/application/ports.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { NOW } from '../../helpers/task.ts';
import { commit, everything, task } from '../sample.ts';
import { type DefaultStore, describeStores } from '../subjects.ts';

const RUNS = 25;
const kind = fc.constantFrom('a', 'b');

describeStores('lists of what waits', (open) => {
  let store: DefaultStore;
  let term: number;

  async function begin(): Promise<void> {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
  }

  const insert = (tasks: readonly Task[]): Promise<void> =>
    store.commit(commit(term, { inserts: tasks }));

  it('bring waiting tasks in their order, lane by lane, held and other ones left out', async () => {
    await begin();
    const property = fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 5 }), kind), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.integer({ min: 1, max: 9 }),
      async (wishes, limit) => {
        const base = (await store.listTasks({ ...everything, limit: 1 })).tasks[0]?.task.seq ?? 0;
        const tasks = wishes.map(([time, lane, project], index) =>
          task(base + index + 1, {
            orderTime: NOW - time,
            queueTime: base * 10 + time,
            lane: base * 10 + lane,
            user: { group: 'media', project, env: null, user: null },
            ...(time === 9 && { state: 'held' as const, gate: 7 }),
          }),
        );
        await insert(tasks);
        const lanes = [1, 2, 3, 4].map((lane) => base * 10 + lane);
        for (const project of [null, 'a']) {
          const found: number[] = [];
          for (let after: Position | null = null; ; ) {
            const page: WaitingPage = await store.listWaiting({
              ...ANY_TASK,
              project,
              lanes,
              after,
              limit,
            });
            expect(page.tasks.length).to.be.at.most(limit);
            found.push(...page.tasks.map((one) => one.task.seq));
            if (page.after === null) break;
            ({ after } = page);
          }
          const expected = tasks
            .filter(
              ({ state, lane, user }) =>
                state === 'waiting' &&
                lanes.includes(lane) &&
                (project === null || user.project === project),
            )
            .sort((a, b) => a.queueTime - b.queueTime || a.seq - b.seq)
            .map(({ seq }) => seq);
          expect(found).to.deep.equal(expected);
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  it('tell who is first and last of a lane, of those that are due', async () => {
    await begin();
    const wish = fc.record({
      time: fc.integer({ min: 0, max: 9 }),
      lane: fc.constantFrom(1, 2),
      state: fc.constantFrom('waiting', 'waiting', 'held', 'suspended'),
      isDue: fc.boolean(),
    });
    const property = fc.asyncProperty(
      fc.array(wish, { minLength: 1, maxLength: 80 }),
      async (wishes) => {
        const base = (await store.listTasks({ ...everything, limit: 1 })).tasks[0]?.task.seq ?? 0;
        const tasks = wishes.map(({ time, lane, state, isDue }, index) =>
          task(base + index + 1, {
            orderTime: NOW - time,
            queueTime: NOW + time,
            lane: base * 10 + lane,
            state,
            gate: state === 'held' ? 7 : null,
            dueAt: isDue ? NOW : NOW + 1,
          }),
        );
        await insert(tasks);
        const wanted = [1, 2, 3].flatMap((lane) =>
          (['waiting', 'held'] as const).map((state) => ({ lane: base * 10 + lane, state })),
        );
        const due = wanted.map(({ lane, state }) =>
          tasks
            .filter((one) => one.lane === lane && one.state === state && one.dueAt <= NOW)
            .sort((a, b) => a.queueTime - b.queueTime || a.seq - b.seq)
            .map(({ queueTime, seq }) => ({ time: queueTime, seq })),
        );
        const first = due.map((places) => places[0] ?? null);
        const last = due.map((places) => places.at(-1) ?? null);
        expect(await store.findEdges(wanted, 'first', NOW)).to.deep.equal(first);
        expect(await store.findEdges(wanted, 'last', NOW)).to.deep.equal(last);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
});
