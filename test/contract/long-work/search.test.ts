/** What every store must do for long work: come to each task that is asked for, once, and tell how many there are. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { TaskSearch } from '../../../master/application/ports.ts';
import { ANY_TASK, matches } from '../../../master/domain/model/task-filter.ts';
import { isTerminal, type Task } from '../../../master/domain/model/task.ts';
import { NOW } from '../../helpers/task.ts';
import { commit, DAY_MS, finish, finished, task } from '../sample.ts';
import { type DefaultStore, describeStores } from '../subjects.ts';

/** Each on a store of its own. */
const RUNS = 2;
const LIMITS = { lookMax: 100_000, msMax: 60_000, sampleCount: 3 };
const live = ['waiting', 'held', 'offered', 'running'] as const;
const over = ['succeeded', 'failed', 'canceled', 'expired'] as const;

const row = fc.record({
  gap: fc.constantFrom(1, 1, 50_000),
  /** Live, or ended so many days ago. */
  place: fc.constantFrom('waiting', 'running', 0, 1, 2),
  state: fc.constantFrom(...over),
  retention: fc.constantFrom('normal', 'short'),
  type: fc.constantFrom('a', 'b'),
});
const question = fc.record({
  states: fc.constantFrom<TaskSearch['states'][]>(live, ['waiting'], over, ['failed']),
  type: fc.constantFrom(null, 'a'),
  groups: fc.constantFrom(null, ['media'], ['other']),
  seqMax: fc.constantFrom(20, 1_000_000_000),
  endedBefore: fc.constantFrom(NOW + 1, NOW, NOW - DAY_MS),
  isBackwards: fc.boolean(),
});

describeStores('searches of long work', (open) => {
  let store: DefaultStore;
  let term: number;

  async function keep(tasks: readonly Task[]): Promise<void> {
    store = await open();
    ({ term } = await store.takeTerm('m-1', NOW));
    const inserts = tasks.filter(({ state }) => !isTerminal(state));
    const ended = tasks.filter(({ state }) => isTerminal(state));
    const finishes = ended.map((one) => finish(one, null, false));
    await store.commit(commit(term, { inserts, finishes }));
  }

  /** Every page to the end. */
  async function all(search: TaskSearch, limit: number, bytesMax = 1e9): Promise<Task[]> {
    const found: Task[] = [];
    for (let cursor: string | null = null; ; ) {
      const page = await store.searchTasks(search, cursor, limit, bytesMax);
      expect(page.tasks.length).to.be.at.most(limit);
      found.push(...page.tasks.map((one) => one.task));
      if (page.cursor === null) return found;
      expect(page.cursor).not.to.equal(cursor);
      ({ cursor } = page);
    }
  }

  it('bring all that is asked for, page by page, each once, and as many are counted', async () => {
    const property = fc.asyncProperty(
      fc.array(row, { minLength: 60, maxLength: 60 }),
      fc.array(fc.tuple(question, fc.integer({ min: 1, max: 7 })), {
        minLength: 15,
        maxLength: 15,
      }),
      async (rows, questions) => {
        let seq = 0;
        const tasks = rows.map(({ gap, place, state, retention, type }): Task => {
          const one = task((seq += gap), { type });
          if (place === 'waiting') return one;
          if (place === 'running') return { ...one, state: place, executorId: 'x', attempt: 1 };
          const finishedAt = NOW - Number(place) * DAY_MS;
          return finished(one, { state, retention: retention as 'normal', finishedAt });
        });
        await keep(tasks);
        for (const [{ type, groups, isBackwards: isDown, ...question }, limit] of questions) {
          const { states, seqMax, endedBefore } = question;
          const isBackwards = isDown && states.every((state) => !isTerminal(state));
          const filter = { ...ANY_TASK, type, within: { types: null, groups } };
          const search = { filter, states, seqMax, endedBefore, isBackwards };
          const wanted = tasks.filter(
            (one) =>
              states.includes(one.state) &&
              one.seq <= seqMax &&
              (one.finishedAt ?? 0) < endedBefore &&
              matches(filter, one, null),
          );
          const found = await all(search, limit);
          const seqs = found.map((one) => one.seq);
          expect(seqs).to.have.members(wanted.map((one) => one.seq));
          const inOrder = wanted.map((one) => one.seq);
          if (states === live)
            expect(seqs).to.deep.equal(isBackwards ? inOrder.toReversed() : inOrder);
          const counted = await store.countTasks(search, LIMITS);
          expect(counted).to.include({ count: wanted.length, isExact: true });
          expect(counted.sample).to.have.length(Math.min(3, wanted.length));
          for (const { task: one } of counted.sample) expect(seqs).to.include(one.seq);
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });

  it('bring tasks whole, and end a page before they are too many bytes', async () => {
    const params = JSON.stringify('x'.repeat(1_000));
    const tasks = Array.from({ length: 5 }, (_, index) => task(index + 1, { params }));
    await keep(tasks);
    const frozen = { filter: ANY_TASK, states: live, seqMax: 1_000, endedBefore: NOW };
    const search = { ...frozen, isBackwards: false };
    const page = await store.searchTasks(search, null, 100, 2_500);
    expect(page.tasks.map((one) => one.task.params)).to.deep.equal([params, params]);
    expect((await all(search, 100, 1)).map((one) => one.seq)).to.deep.equal([1, 2, 3, 4, 5]);
  });
});

describeStores('counts of long work', (open) => {
  it('are estimates where there are more than are counted', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const inserts = Array.from({ length: 3_000 }, (_, index) => task(index + 1, { params: '0' }));
    await store.commit(commit(term, { inserts }));
    const frozen = { filter: ANY_TASK, states: live, seqMax: 1e9, endedBefore: NOW };
    const search = { ...frozen, isBackwards: false };
    const { count, isExact } = await store.countTasks(search, { ...LIMITS, lookMax: 500 });
    expect(count).to.equal(3_000);
    expect(isExact).to.equal(false);
  });

  it('look also at rows behind those that are looked at one by one', async () => {
    const store = await open();
    const { term } = await store.takeTerm('m-1', NOW);
    const inserts = Array.from({ length: 8_000 }, (_, index) =>
      task(index + 1, { params: '0', type: index < 4_000 ? 'old' : 'new' }),
    );
    await store.commit(commit(term, { inserts }));
    const filter = { ...ANY_TASK, type: 'new' };
    const search = { filter, states: live, seqMax: 1e9, endedBefore: NOW, isBackwards: false };
    const { count, isExact, sample } = await store.countTasks(search, {
      ...LIMITS,
      lookMax: 3_000,
    });
    expect(count).to.be.closeTo(4_000, 1_000);
    expect(isExact).to.equal(false);
    for (const one of sample) expect(one.task.type).to.equal('new');
  });
});
