/** Times to come, found one by one: what came before decides of those after it. */
import { expect } from 'chai';
import { firesAgain } from '../../../master/application/jobs/planning.ts';
import type { Trigger } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { MINUTE } from '../../helpers/domain.ts';
import { JobMaster } from '../../helpers/jobs/job-master.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';

const DAY = 86_400_000;

describe('the times to come of a job', () => {
  let master: JobMaster;
  beforeEach(() => {
    master = new JobMaster();
  });
  afterEach(() => master.stop());

  async function next(spec: Partial<TriggerSpec>, trigger: Partial<Trigger>, count: number) {
    await master.start(master.rows('a', spec, {}, trigger));
    const jobs = master.harness.master.jobs(ALL);
    const shown = await jobs.show('a');
    if (shown === null) return expect.fail('it is there');
    return jobs.next(shown.job, shown.triggers, master.begin, count);
  }

  it('are as many as it has runs left', async () => {
    expect(await next({ maxRuns: 5 }, { firedCount: 3 }, 9)).to.have.lengthOf(2);
  });

  async function fires(spec: Partial<TriggerSpec>, trigger: Partial<Trigger>, days: object[]) {
    const text = JSON.stringify({ days, weekend: [0, 1, 2, 3, 4, 5, 6] });
    const none = { version: 1, changedAt: master.begin, by: null, replanAfter: null };
    const row = { name: 'office', text, ...none };
    const calendar = { op: 'put', table: 'calendar', key: 'office', row } as const;
    await master.start([...master.rows('a', spec, {}, trigger), calendar]);
    const jobs = master.harness.master.jobs(ALL);
    const shown = await jobs.show('a');
    if (shown === null) return expect.fail('it is there');
    const found = await jobs.fires(shown.job, shown.triggers, master.harness.clock.now());
    return found.map(({ coming }) => coming);
  }

  it('have one that fires, however many are left out before it', async () => {
    const skips = Array.from({ length: 9 }, (_, at) => master.begin + (at + 1) * MINUTE);
    const shown = await next({}, { skips }, 5);
    expect(shown.map(({ coming }) => coming.at)).to.deep.equal([null, null, null, null, null]);
    const jobs = master.harness.master.jobs(ALL);
    const job = await jobs.show('a');
    if (job === null) return expect.fail('it is there');
    const [first] = await jobs.fires(job.job, job.triggers, master.begin);
    await master.pass(11 * MINUTE);
    const ran = (await master.records('a')).filter(({ state }) => state === 'ran').at(-1);
    expect(ran?.nominal).to.equal(master.begin + 10 * MINUTE);
    expect(first?.coming).to.include({ nominal: ran?.nominal, at: ran?.noticedAt });
  });

  it('are looked through for years for one that fires', async () => {
    const dayAt = (at: number) =>
      new Date(master.begin + at * 86_400_000).toISOString().slice(0, 10);
    // Each has another reason, and so stands for itself.
    const off = Array.from({ length: 700 }, (_, at) => {
      return { date: dayAt(at), kind: 'off', label: `day ${at}` };
    });
    const days = [...off, { date: dayAt(700), kind: 'work' }];
    const onlyOn = { calendar: 'office', days: 'work', label: null } as const;
    const timing = { kind: 'cron', expression: '0 3 * * *' } as const;
    const found = await fires({ timing, onlyOn }, { kind: 'cron' }, days);
    expect(found.map(({ at }) => new Date(at).toISOString())).to.deep.equal([
      `${dayAt(700)}T03:00:00.000Z`,
    ]);
  });

  it('are not looked for anew until what decides of them has changed, or they have come', () => {
    const onlyOn = { calendar: 'office', days: 'work', label: null } as const;
    const timing = { kind: 'cron', expression: '0 3 * * *' } as const;
    const text = JSON.stringify(sampleSpec({ timing, onlyOn, zone: 'America/New_York' }));
    const trigger = { ...sampleTrigger({ spec: text }), nextAt: null, nextNominal: null };
    const job = sampleJob();
    const officeOf = (days: readonly object[]) => {
      const spec = JSON.stringify({ days, weekend: [0, 1, 2, 3, 4, 5, 6] });
      const row = { name: 'office', version: 1, text: spec, changedAt: 1, by: null };
      return new Map([['office', { ...row, replanAfter: null }]]);
    };
    const pieceCount = (...asked: Parameters<typeof firesAgain>) =>
      [...firesAgain(...asked)].length;
    const never = officeOf([]);
    const at = master.begin;
    expect(pieceCount(never, trigger, job, at)).to.be.above(5);
    expect(pieceCount(never, { ...trigger }, { ...job }, at + MINUTE)).to.equal(0);
    expect(pieceCount(never, { ...trigger, firedCount: 9 }, job, at)).to.be.above(5);
    expect(pieceCount(new Map(), trigger, job, at)).to.be.above(5);
    expect(pieceCount(never, trigger, job, at - 1)).to.be.above(5);
    expect(pieceCount(never, trigger, job, at + 2 * DAY)).to.be.above(5);

    const date = new Date(at + 900 * DAY).toISOString().slice(0, 10);
    const once = officeOf([{ date, kind: 'work' }]);
    expect(pieceCount(once, trigger, job, at)).to.be.above(0);
    expect(pieceCount(once, trigger, job, at + 800 * DAY)).to.equal(0);
    const found = atOnce(firesAgain(once, trigger, job, at + 800 * DAY));
    expect(new Date(found?.at ?? 0).toISOString()).to.equal(`${date}T07:00:00.000Z`);
    expect(atOnce(firesAgain(once, trigger, job, at + 901 * DAY))).to.equal(null);
  });

  it('have none that fires where there is no such calendar', async () => {
    const onlyOn = { calendar: 'plant', days: 'work', label: null } as const;
    expect(await fires({ onlyOn }, {}, [])).to.deep.equal([]);
  });

  it('have the one that was moved, although its own day has passed', async () => {
    const timing = { kind: 'every', everyMs: 7 * 86_400_000 } as const;
    const date = new Date(master.begin + 3 * 86_400_000).toISOString().slice(0, 10);
    const onlyOn = { calendar: 'office', days: 'work', label: null } as const;
    const spec = { timing, onlyOn, shift: 'next' } as const;
    const nominal = master.begin - 86_400_000;
    const at = master.begin + 3 * 86_400_000;
    const trigger = {
      ...{ anchorAt: nominal - 7 * 86_400_000, changedAt: nominal - 1, decidedUntil: nominal - 1 },
      ...{ nextNominal: nominal, nextAt: at },
    };
    const moved = await fires(spec, trigger, [{ date, kind: 'work' }]);
    expect(moved[0]).to.include({ nominal, outcome: 'shifted', at });
  });

  it('do not overtake one another, whatever their jitter', async () => {
    const timing = { kind: 'every', everyMs: 1_000 } as const;
    const times = await next({ timing, jitterMs: MINUTE }, {}, 50);
    const ats = times.map(({ coming }) => coming.at ?? 0);
    expect(ats).to.have.lengthOf(50);
    expect(ats).to.deep.equal(ats.toSorted((a, b) => a - b));
  });
});
