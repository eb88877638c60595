/** Years of jobs, by calendars. `npm run sim -- --years 100` takes any number; a seed that fails is printed. */
import { expect } from 'chai';
import type { YearSabotage } from './master.ts';
import { simulateYear } from './year.ts';

/** Of the first ten the shortest in which there is all that is looked for. */
const SEED = 7;
const TRACE_LINES = 30;
/** A mutant is found within so many years. */
const YEAR_COUNT_MAX = 20;

const MUTANTS: readonly (YearSabotage & { readonly seed: number })[] = [
  {
    name: 'takes make-up days for days off',
    seed: 8,
    state: ({ jobs }) => {
      for (const [name, row] of jobs.calendars) {
        const { days = [], ...rest } = JSON.parse(row.text) as { days?: { kind: string }[] };
        const left = days.filter(({ kind }) => kind === 'off');
        if (left.length < days.length) {
          jobs.calendars.set(name, { ...row, text: JSON.stringify({ ...rest, days: left }) });
        }
      }
    },
  },
  {
    name: 'decides times before an edit once more',
    seed: 1,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.map((write) => {
        if (write.table !== 'trigger' || write.op !== 'put') return write;
        if (write.row.changedAt !== commit.now) return write;
        const decidedUntil = write.row.decidedUntil - 3 * 86_400_000;
        return { ...write, row: { ...write.row, decidedUntil } };
      }),
    }),
  },
  {
    name: 'finds no next time anew where a calendar was changed',
    seed: 35,
    state: ({ loading }) => void loading.add('replan'),
  },
  {
    name: 'forgets which times have run ahead of theirs',
    seed: 2,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.map((write) => {
        if (write.table !== 'trigger' || write.op === 'remove') return write;
        return { ...write, row: { ...write.row, decidedAhead: [] } };
      }),
    }),
  },
  {
    name: 'keeps no record of days off that are made up for with others',
    seed: 1,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.filter((write) => {
        const isPut = write.table === 'occurrence' && write.op === 'put';
        return !(isPut && write.row.state === 'merged' && write.row.calendar !== null);
      }),
    }),
  },
  {
    name: 'forgets how far a backfill has come',
    seed: 1,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.filter((write) => {
        const isPut = write.table === 'work' && write.op === 'put';
        return !(isPut && write.row.kind === 'backfill' && write.row.cursor !== null);
      }),
    }),
  },
  {
    name: 'goes on with a backfill that was canceled',
    seed: 2,
    state: ({ works }) => {
      for (const [id, work] of works.byId) {
        if (work.state === 'canceled') works.byId.set(id, { ...work, state: 'running' });
      }
    },
  },
  {
    name: 'writes what a backfill has run over what the trigger did',
    seed: 1,
    commit: (commit) => ({
      ...commit,
      writes: commit.writes.map((write) => {
        if (write.table !== 'occurrence' || write.op !== 'put') return write;
        const [job, trigger, nominal] = write.key;
        return { ...write, key: [job, trigger, nominal, 0], row: { ...write.row, rerun: 0 } };
      }),
    }),
  },
];

describe('a year of jobs', () => {
  it('has one record of each time, by calendars, whoever dies and whatever is changed', async () => {
    const { violation, trace, decidedCount, backfilledCount, killCount, seen } =
      await simulateYear(SEED);
    if (violation !== null) {
      expect.fail(`year ${SEED}: ${violation}\n${trace.slice(-TRACE_LINES).join('\n')}`);
    }
    expect(decidedCount).to.be.greaterThan(500);
    expect(backfilledCount).to.be.greaterThan(100);
    expect(killCount).to.be.greaterThan(10);
    expect([...seen.keys()]).to.include.members(['skip skipped', 'next merged', 'next ran']);
    expect([...seen.keys()]).to.include.members(['canceled', 'done, to the end']);
  });

  for (const mutant of MUTANTS) {
    it(`finds a master that ${mutant.name}`, async () => {
      for (let seed = mutant.seed; seed < mutant.seed + YEAR_COUNT_MAX; seed++) {
        if ((await simulateYear(seed, mutant)).violation !== null) return;
      }
      expect.fail(`not found in ${YEAR_COUNT_MAX} years`);
    });
  }
});
