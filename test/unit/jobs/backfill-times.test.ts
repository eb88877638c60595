/** Which past times of a trigger a backfill runs, by what is recorded of them. */
import { expect } from 'chai';
import { findTimes } from '../../../master/application/jobs/backfill-times.ts';
import { BACKFILL_RECORD_COUNT, RERUN_MAX } from '../../../master/domain/bounds.ts';
import type { BackfillWhich } from '../../../master/domain/long-work/work.ts';
import type { Occurrence } from '../../../master/domain/model/job.ts';
import type { TaskState } from '../../../master/domain/model/task.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';

const MINUTE = 60_000;
const NO_STATES: Readonly<Record<string, TaskState>> = {};

describe('times of a backfill', () => {
  const spec = sampleSpec({ timing: { kind: 'cron', expression: '* * * * *' } });
  const trigger = sampleTrigger({ spec: JSON.stringify(spec) });
  const blackouts = [{ from: 3 * MINUTE, to: 5 * MINUTE, reason: null }];
  const job = sampleJob({ spec: JSON.stringify({ blackouts }) });
  const planned = { job, trigger, calendars: new Map() };

  function record(minute: number, change: Partial<Occurrence> = {}): Occurrence {
    const nominal = minute * MINUTE;
    const of = { job: 'nightly', trigger: 'default', nominal, rerun: 0, until: nominal, count: 1 };
    const said = { state: 'ran', reason: null, calendar: null, taskId: `t-${minute}` } as const;
    return { ...of, ...said, noticedAt: 0, ...change };
  }

  /** `minute rN` of all, and in how many pages they came. */
  async function find(
    minutes: number,
    which: BackfillWhich,
    records: readonly Occurrence[],
    { countMax = 1_000, states = NO_STATES, statesMax = 1_000 } = {},
  ) {
    const inOrder = records.toSorted((a, b) => a.nominal - b.nominal || a.rerun - b.rerun);
    const reads = {
      records: async (_: unknown, from: number, to: number, limit: number) => [
        ...inOrder.filter(({ nominal, rerun }) => nominal < from && rerun === 0).slice(-1),
        ...inOrder.filter(({ nominal }) => nominal >= from && nominal <= to).slice(0, limit),
      ],
      states: async (ids: readonly string[]) =>
        new Map(ids.slice(0, statesMax).map((id) => [id, states[id] ?? null])),
    };
    const found: string[] = [];
    const counts = { pages: 0, covered: 0, leftOut: 0 };
    for (let after: number | null = MINUTE - 1; after !== null; ) {
      const until = (minutes + 1) * MINUTE;
      const page = await findTimes(planned, { which, until }, after, countMax, reads);
      if (typeof page === 'string') return expect.fail(page);
      if (page.reached !== null) expect(page.reached).to.be.greaterThan(after);
      found.push(...page.times.map(({ nominal, rerun }) => `${nominal / MINUTE} r${rerun}`));
      counts.pages += 1;
      counts.covered += page.coveredCount;
      counts.leftOut += page.leftOutCount;
      after = page.reached;
    }
    return { found, ...counts };
  }

  it('are those without a run, that the schedule lets run', async () => {
    const records = [
      record(1),
      record(2, { state: 'merged', taskId: null, until: 6 * MINUTE, count: 5 }),
      record(7, { state: 'pending', taskId: null }),
      record(8, { state: 'skipped', reason: 'skipped by hand', taskId: null }),
      record(9, { state: 'refused', taskId: null }),
      record(9, { rerun: 1, state: 'refused', taskId: null }),
      record(10, { state: 'skipped', taskId: null }),
      record(10, { rerun: 1 }),
    ];
    const missing = await find(11, 'missing', records);
    expect(missing.found).to.deep.equal(['2 r1', '5 r1', '6 r1', '9 r2', '11 r1']);
    expect(missing).to.include({ covered: 3, leftOut: 3, pages: 1 });
    expect((await find(11, 'missing', records, { countMax: 2 })).found).to.deep.equal(
      missing.found,
    );
  });

  it('are those whose newest run has not succeeded, and of all none that goes on', async () => {
    const records = [1, 2, 5, 6, 7].map((minute) => record(minute));
    records.push(record(6, { rerun: 1, taskId: 'again' }));
    const states = {
      't-1': 'failed',
      't-2': 'succeeded',
      't-5': 'running',
      't-6': 'failed',
    } as const;
    const known = { states: { ...states, again: 'succeeded' } as const };
    expect((await find(7, 'missing_failed', records, known)).found).to.deep.equal(['1 r1']);
    const all = await find(7, 'all', records, known);
    expect(all.found).to.deep.equal(['1 r1', '2 r1', '6 r2', '7 r1']);
    const slowly = await find(7, 'all', records, { ...known, statesMax: 1 });
    expect(slowly.found).to.deep.equal(all.found);
    expect(slowly.pages).to.be.greaterThan(4);
  });

  it('are found page by page, however many records there are of each', async () => {
    const again = Array.from({ length: 40 }, (_, rerun) => rerun);
    const minutes = Array.from({ length: 60 }, (_, minute) => minute + 10);
    const records = minutes.flatMap((minute) =>
      again.map((rerun) => record(minute, { rerun, state: 'refused', taskId: null })),
    );
    expect(records.length).to.be.greaterThan(2 * BACKFILL_RECORD_COUNT);
    const { found } = await find(69, 'missing', records);
    expect(found.slice(7)).to.deep.equal(minutes.map((minute) => `${minute} r40`));
    const spent = record(1, { rerun: RERUN_MAX, state: 'refused', taskId: null });
    expect((await find(1, 'all', [spent])).found).to.deep.equal([]);
  });
});
