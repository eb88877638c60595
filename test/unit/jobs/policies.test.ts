/** Each policy of overlap and of misfire once, as the rows of the engine tell it: what was run, and what became of the rest. */
import { expect } from 'chai';
import type { RowWrite } from '../../../master/domain/changes.ts';
import { ALL_JOBS, type Job, type Trigger } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { Misfire, Overlap } from '../../../master/domain/schedule/trigger-spec.ts';
import { MINUTE, SECOND } from '../../helpers/domain.ts';
import { createEngine } from '../../helpers/engine.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { commit } from '../../contract/sample.ts';

describe('a job that is fired', () => {
  let harness: ReturnType<typeof createEngine>;
  let begin: number;
  beforeEach(() => {
    harness = createEngine();
    begin = harness.clock.now();
  });
  afterEach(() => harness.engine.stop());

  /** Of a trigger each minute, that was looked at last so long ago. */
  async function startWith(
    spec: Parameters<typeof sampleSpec>[0],
    awayMs: number,
    job: Partial<Job> = {},
    trigger: Partial<Trigger> = {},
  ): Promise<void> {
    const { store, engine } = harness;
    const { term } = await store.takeTerm('test', begin);
    const since = begin - awayMs;
    const times = { anchorAt: since, changedAt: since, decidedUntil: since };
    const row = sampleTrigger({
      ...times,
      spec: JSON.stringify(sampleSpec(spec)),
      nextAt: since + MINUTE,
      nextNominal: since + MINUTE,
      ...trigger,
    });
    const writes: RowWrite[] = [
      { op: 'put', table: 'job', key: 'nightly', row: sampleJob(job) },
      { op: 'put', table: 'trigger', key: [row.job, row.name], row },
    ];
    await store.commit(commit(term, { writes }));
    await engine.start();
    await looked();
  }

  async function looked(): Promise<void> {
    const { engine } = harness;
    const isBusy = () =>
      (['triggers', 'settled', 'replan'] as const).some((one) => engine.state?.loading.has(one));
    do await settled();
    while (isBusy());
  }

  /** Stops at each alarm. */
  async function pass(ms: number): Promise<void> {
    const { clock } = harness;
    const until = clock.now() + ms;
    while (clock.now() < until) {
      const next = Math.min(until, Math.max(clock.nextAlarmAt, clock.now() + 1));
      clock.advance(next - clock.now());
      await looked();
    }
  }

  /** As an operator ends what waits: nobody executes anything here. */
  async function end(minute: number): Promise<void> {
    const { engine, master } = harness;
    const task = [...(engine.state?.tasks.values() ?? [])].find(
      ({ job }) => job?.nominal === begin + minute * MINUTE,
    );
    if (task === undefined) throw new Error(`no run of minute ${minute} lives`);
    await master.cancel(task.id);
    await looked();
  }

  const alive = (): number[] =>
    [...(harness.engine.state?.tasks.values() ?? [])]
      .map(({ job }) => ((job?.nominal ?? 0) - begin) / MINUTE)
      .sort((a, b) => a - b);

  /** `minute state reason`, of several that went the same way `first-last`; the oldest first. */
  async function told(): Promise<string[]> {
    const query = { job: 'nightly', trigger: null, state: null, from: null, to: null, after: null };
    const found = await harness.master.jobs(ALL).occurrences({ ...query, limit: 200 });
    const minute = (at: number) => (at - begin) / MINUTE;
    return (found?.occurrences ?? []).toReversed().map(({ nominal, until, state, reason }) => {
      const times =
        nominal === until ? `${minute(nominal)}` : `${minute(nominal)} to ${minute(until)}`;
      return [times, state, ...(reason === null ? [] : [reason])].join(' ');
    });
  }

  const onOverlap = (overlap: Overlap) => startWith({ overlap }, 0);

  it('with `skip` leaves out what comes while a run has not ended', async () => {
    await onOverlap({ kind: 'skip' });
    await pass(3 * MINUTE);
    await end(1);
    await pass(MINUTE);
    expect(await told()).to.deep.equal(['1 ran', '2 to 3 skipped overlap', '4 ran']);
    expect(alive()).to.deep.equal([4]);
  });

  it('with `queue` runs all of them, one after another', async () => {
    await onOverlap({ kind: 'queue' });
    await pass(3 * MINUTE);
    expect(await told()).to.deep.equal(['1 ran', '2 pending overlap', '3 pending overlap']);
    await end(1);
    expect(alive()).to.deep.equal([2]);
    await end(2);
    expect(alive()).to.deep.equal([3]);
    expect(await told()).to.deep.equal(['1 ran', '2 ran overlap', '3 ran overlap']);
  });

  it('with `queue_one` runs one of those that came meanwhile', async () => {
    await onOverlap({ kind: 'queue_one' });
    await pass(4 * MINUTE);
    const others = ['3 to 4 merged overlap'];
    expect(await told()).to.deep.equal(['1 ran', '2 pending overlap', ...others]);
    await end(1);
    expect(await told()).to.deep.equal(['1 ran', '2 ran overlap', ...others]);
    expect(alive()).to.deep.equal([2]);
  });

  it('with `replace` ends what runs, and runs the newest', async () => {
    await onOverlap({ kind: 'replace' });
    await pass(MINUTE);
    expect(alive()).to.deep.equal([1]);
    await pass(MINUTE);
    expect(alive()).to.deep.equal([2]);
    expect(await told()).to.deep.equal(['1 ran', '2 ran overlap']);
  });

  it('with `replace` ends all that runs, also what somebody has begun', async () => {
    await onOverlap({ kind: 'replace' });
    for (let count = 0; count < 40; count++) {
      const key = `${count}`;
      await harness.master.jobs(ALL).change({ type: 'jobRun', name: 'nightly', key, params: null });
    }
    expect(alive()).to.have.length(40);
    const { tasks } = harness.engine.state ?? expect.fail('it leads');
    const values = tasks.values.bind(tasks);
    let lookCount = 0;
    tasks.values = () => {
      lookCount += 1;
      return values();
    };
    await pass(MINUTE);
    expect(lookCount, 'looks at all tasks, also of others').to.equal(0);
    expect(alive()).to.deep.equal([1]);
  });

  it('with `allow` runs all of them beside each other', async () => {
    await onOverlap({ kind: 'allow' });
    await pass(3 * MINUTE);
    expect(alive()).to.deep.equal([1, 2, 3]);
    expect(await told()).to.deep.equal(['1 ran', '2 ran', '3 ran']);
  });

  it('with `max:2` runs two beside each other, and leaves out the others', async () => {
    await onOverlap({ kind: 'max', max: 2 });
    await pass(3 * MINUTE);
    expect(alive()).to.deep.equal([1, 2]);
    await end(1);
    await pass(MINUTE);
    expect(await told()).to.deep.equal(['1 ran', '2 ran', '3 skipped overlap', '4 ran']);
  });

  /** Five minutes without a master; all but the newest are late. */
  const onMisfire = (misfire: Misfire, overlap: Overlap = { kind: 'allow' }) =>
    startWith({ misfire, overlap, graceMs: 10 * SECOND }, 5 * MINUTE + 30 * SECOND);
  const at = (...nominals: number[]) => nominals.map((minute) => minute - 0.5);

  it('with misfire `skip` leaves out what is late', async () => {
    await onMisfire('skip');
    expect(await told()).to.deep.equal([`-4.5 to -0.5 skipped misfire`]);
    await pass(MINUTE);
    expect(alive()).to.deep.equal(at(1));
  });

  it('with `once` runs the newest for all of them', async () => {
    await onMisfire('once');
    expect(await told()).to.deep.equal(['-4.5 to -1.5 merged misfire', '-0.5 ran']);
    expect(alive()).to.deep.equal(at(0));
  });

  it('with `all` runs each', async () => {
    await onMisfire('all');
    expect(alive()).to.deep.equal(at(-4, -3, -2, -1, 0));
    expect(await told()).to.deep.equal(at(-4, -3, -2, -1, 0).map((minute) => `${minute} ran`));
  });

  it('with `after_current` runs the newest once what runs has ended', async () => {
    await onMisfire('after_current', { kind: 'queue_one' });
    expect(await told()).to.deep.equal(['-4.5 to -1.5 merged misfire', '-0.5 ran']);
    await pass(MINUTE);
    expect((await told()).at(-1)).to.equal('0.5 pending overlap');
    await end(-0.5);
    expect(alive()).to.deep.equal(at(1));
  });

  const change = (name: string, spec: object) =>
    harness.master.jobs(ALL).changeCalendar({
      name,
      text: JSON.stringify(spec),
      expect: null,
      isForced: false,
      by: null,
    });
  const blackOut = (from: number, to: number) => {
    const at = (minute: number) => begin + minute * MINUTE;
    return change(ALL_JOBS, { blackouts: [{ from: at(from), to: at(to), reason: null }] });
  };
  const OFF = { days: [], weekend: [0, 1, 2, 3, 4, 5, 6] };
  const WORK = { days: [], weekend: [] };

  for (const misfire of ['once', 'all'] as const) {
    it(`with misfire \`${misfire}\` runs nothing of a black-out that is taken away`, async () => {
      await startWith({ misfire, overlap: { kind: 'allow' } }, 0);
      await blackOut(2, 60);
      await pass(5 * MINUTE);
      // Before that is written.
      expect(await told()).to.deep.equal(['1 ran', '2 to 5 skipped black-out']);
      await change(ALL_JOBS, { blackouts: [] });
      await looked();
      await pass(MINUTE);
      expect(await told()).to.deep.equal(['1 ran', '2 to 5 skipped black-out', '6 ran']);
    });
  }

  it('runs nothing of days that were off when they came', async () => {
    await startWith({ onlyOn: { calendar: 'office', days: 'work', label: null } }, 0);
    await change('office', OFF);
    await pass(3 * MINUTE);
    await change('office', WORK);
    await pass(2 * MINUTE);
    const said = await told();
    expect(said[0]).to.match(/^1 to 3 skipped/);
    expect(said.slice(1)).to.deep.equal(['4 ran', '5 pending overlap']);
  });

  it('runs nothing of a black-out of its own that is taken away', async () => {
    const at = (minute: number) => begin + minute * MINUTE;
    const blackouts = [{ from: at(1), to: at(60), reason: null }];
    await startWith({}, 0, { spec: JSON.stringify({ blackouts }) });
    await pass(3 * MINUTE);
    const { master } = harness;
    const trigger = { name: 'default', kind: 'every', isCalendared: true, source: null } as const;
    const definition = { ...sampleJob(), spec: '{}' };
    await master.jobs(ALL).change({
      type: 'jobSet',
      name: 'nightly',
      definition,
      triggers: [{ ...trigger, spec: sampleSpec() }],
      expect: null,
      isTrial: false,
      by: null,
    });
    await pass(MINUTE);
    expect(await told()).to.deep.equal(['1 to 3 skipped black-out', '4 ran']);
  });

  it('fires again after a delay, where its run has ended while it was disabled', async () => {
    const spec = { timing: { kind: 'delay', delayMs: MINUTE } } as const;
    await startWith(spec, 0, {}, { kind: 'delay', armedAt: begin + MINUTE });
    const enable = (isEnabled: boolean) =>
      harness.master.jobs(ALL).change({ type: 'jobEnabled', name: 'nightly', isEnabled });
    await pass(MINUTE);
    await enable(false);
    await end(1);
    await pass(5 * MINUTE);
    expect(alive()).to.deep.equal([]);
    await enable(true);
    await pass(MINUTE);
    expect(alive()).to.deep.equal([7]);
  });

  for (const [why, spec] of [
    ['jitter', { jitterMs: 30 * SECOND }],
    ['a time before which it does not begin', { startAt: 'soon' }],
  ] as const) {
    it(`goes on after a delay that is looked at before it is due, for ${why}`, async () => {
      const delay = { timing: { kind: 'delay', delayMs: MINUTE } } as const;
      const startAt = 'startAt' in spec ? begin + 3.5 * MINUTE : null;
      const armed = { kind: 'delay', armedAt: begin + MINUTE } as const;
      await startWith({ ...delay, ...spec, startAt }, 0, {}, armed);
      const firstFiredAt = async () => {
        for (let count = 0; count < 5 && alive().length === 0; count++) await pass(MINUTE);
        return alive();
      };
      const [first = 0] = await firstFiredAt();
      await end(first);
      const [second = 0] = await firstFiredAt();
      expect([first, second].every((minute) => minute > 0)).to.equal(true);
      if (startAt !== null) expect(first).to.be.at.least(3.5);
    });
  }

  it('runs a time that is skipped no more, though it was to be passed over', async () => {
    await startWith({ overlap: { kind: 'allow' } }, 0);
    const skip = (isSkipped: boolean) => {
      const of = { name: 'nightly', trigger: 'default', nominal: begin + 2 * MINUTE, isSkipped };
      return harness.master.jobs(ALL).change({ type: 'occurrenceSkipped', ...of });
    };
    await skip(true);
    await pass(MINUTE);
    await skip(false);
    await pass(MINUTE);
    expect(alive()).to.deep.equal([1, 2]);
  });

  it('leaves nothing that waits to another job of its name', async () => {
    await onOverlap({ kind: 'queue' });
    await pass(3 * MINUTE);
    await harness.master.jobs(ALL).change({ type: 'jobRemoved', name: 'nightly', expect: null });
    await looked();
    expect(harness.engine.state?.jobs.activities.get('nightly')?.pending).to.deep.equal([]);
    const { occurrences } = await harness.store.jobs.listOccurrences({
      ...{ job: 'nightly', trigger: null, state: 'skipped', from: null, to: null },
      ...{ noticedFrom: null, after: null, limit: 9 },
    });
    expect(occurrences.map(({ reason }) => reason)).to.deep.equal(['deleted', 'deleted']);
  });
});
