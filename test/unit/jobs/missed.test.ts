/** What was due while there was no master: by and by, behind what is due now, and each time has its record. */
import { expect } from 'chai';
import { MADE_UP_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { Occurrence, Trigger } from '../../../master/domain/model/job.ts';
import { HOUR, MINUTE, SECOND } from '../../helpers/domain.ts';
import { createEngine } from '../../helpers/engine.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { commit } from '../../contract/sample.ts';

describe('jobs that were missed', () => {
  let harness: ReturnType<typeof createEngine>;
  let begin: number;
  beforeEach(() => {
    harness = createEngine();
    begin = harness.clock.now();
  });
  afterEach(() => harness.engine.stop());

  /** Jobs of a trigger each, that nobody has looked at since. */
  async function startWith(
    count: number,
    spec: Parameters<typeof sampleSpec>[0],
    of: (at: number) => Partial<Trigger>,
  ): Promise<void> {
    const { store, engine } = harness;
    const { term } = await store.takeTerm('test', begin);
    const writes: RowWrite[] = [];
    for (let at = 0; at < count; at++) {
      const name = `job-${at}`;
      const text = JSON.stringify(sampleSpec(spec));
      const row = sampleTrigger({ job: name, spec: text, isCalendared: false, ...of(at) });
      writes.push({ op: 'put', table: 'job', key: name, row: sampleJob({ name }) });
      writes.push({ op: 'put', table: 'trigger', key: [name, row.name], row });
    }
    await store.commit(commit(term, { writes }));
    store.commits.length = 0;
    await engine.start();
    await looked();
  }

  /** All that was due has been read, and what follows from it is written. */
  async function looked(): Promise<void> {
    do await settled();
    while (harness.engine.state?.loading.has('triggers') === true);
  }

  /** Stops at each alarm, and lets all that follows be done. */
  async function pass(ms: number): Promise<void> {
    const until = harness.clock.now() + ms;
    while (harness.clock.now() < until) {
      const next = Math.min(until, Math.max(harness.clock.nextAlarmAt, harness.clock.now() + 1));
      harness.clock.advance(next - harness.clock.now());
      await looked();
    }
  }

  const written = (): readonly RowWrite[] => harness.store.commits.flatMap(({ writes }) => writes);
  const runs = (): readonly RowWrite[] =>
    written().filter(({ table, op }) => table === 'task' && op === 'insert');
  const records = (job: string): readonly Occurrence[] =>
    written().flatMap((one) =>
      one.table === 'occurrence' && one.op === 'put' && one.row.job === job ? [one.row] : [],
    );

  const missedFor = (ms: number) => ({
    anchorAt: begin - ms,
    changedAt: begin - ms,
    decidedUntil: begin - ms,
    nextAt: begin - ms + MINUTE,
    nextNominal: begin - ms + MINUTE,
  });

  it('runs 200 a second of more than can be run at once, in time or late, and writes one row of each until then', async () => {
    const every = { timing: { kind: 'every', everyMs: MINUTE } } as const;
    await startWith(300, every, () => missedFor(HOUR + 30 * SECOND));
    expect(written()).to.have.length(300);
    await pass(SECOND / 2);
    expect(runs().length).to.be.within(95, 125);
    await pass(2 * SECOND);
    expect(runs()).to.have.length(300);
    const nominals = records('job-299').map(({ state, nominal, until, count }) => {
      return { state, count, from: nominal - begin, to: until - begin };
    });
    const first = MINUTE - HOUR - 30 * SECOND;
    expect(nominals).to.deep.equal([
      { state: 'merged', count: 59, from: first, to: -90 * SECOND },
      { state: 'ran', count: 1, from: -30 * SECOND, to: -30 * SECOND },
    ]);
  });

  it('runs what comes meanwhile at its time, and that stands for what was missed', async () => {
    // The last of them would have their turns in two seconds.
    await startWith(400, { timing: { kind: 'every', everyMs: MINUTE } }, (at) =>
      at < 340 ? missedFor(HOUR) : { ...missedFor(HOUR + 59 * SECOND), nextAt: begin - 1 },
    );
    const last = Array.from({ length: 60 }, (_, at) => `job-${340 + at}`);
    await pass(SECOND - 1);
    expect(last.flatMap(records)).to.deep.equal([]);
    await pass(1);
    const ofTime = (at: number) =>
      last.flatMap(records).filter(({ until }) => until === begin + at);
    expect(ofTime(SECOND)).to.have.length(60);
    const missed = ofTime(-59 * SECOND).map(({ state, reason }) => `${state} ${reason}`);
    expect(missed).to.have.length(60);
    expect(missed.filter((said) => said === 'merged misfire').length).to.be.within(35, 59);
  });

  it('runs at once what is few', async () => {
    const every = { timing: { kind: 'every', everyMs: MINUTE } } as const;
    await startWith(20, every, () => missedFor(HOUR));
    expect(runs()).to.have.length(20);
  });

  it('makes up by `all` for 10,000 times in all, and says of each other that it is skipped', async () => {
    const count = 12;
    const every = { timing: { kind: 'every', everyMs: MINUTE } } as const;
    const spec = { ...every, misfire: 'all', overlap: { kind: 'allow' } } as const;
    await startWith(count, spec, () => missedFor(100 * MINUTE + 30 * SECOND));
    const { jobs } = harness.engine.state ?? expect.fail('it has not begun');
    const already = runs().length;
    expect(jobs.madeUpCount).to.equal(already);
    // All but a thousand, as if others had run.
    jobs.madeUpCount = MADE_UP_COUNT_MAX - 1_000 + already;
    await pass(20 * SECOND);
    const own = Array.from({ length: count }, (_, at) => records(`job-${at}`)).flat();
    const newest = new Map(own.map((row) => [`${row.job} ${row.nominal}`, row]));
    const missed = [...newest.values()].filter(({ nominal }) => nominal < begin - MINUTE);
    const ran = missed.filter(({ state }) => state === 'ran');
    expect(ran).to.have.length(1_000);
    const others = missed.filter(({ state }) => state !== 'ran');
    const said = new Set(others.map(({ state, reason }) => `${state} ${reason}`));
    expect([...said]).to.deep.equal(['skipped overflow']);
    expect(missed.reduce((sum, one) => sum + one.count, 0)).to.equal(count * 99);
    // What comes from now on is no matter of that.
    await pass(MINUTE);
    const later = records('job-0').filter(({ nominal }) => nominal > begin);
    expect(later.map(({ state }) => state)).to.deep.equal(['ran']);
  });

  it('loses none that counts from the end of a run', async () => {
    const delay = { timing: { kind: 'delay', delayMs: MINUTE } } as const;
    await startWith(60, delay, () => ({
      ...missedFor(HOUR),
      kind: 'delay',
      armedAt: begin - HOUR + MINUTE,
    }));
    await pass(SECOND);
    expect(runs()).to.have.length(60);
  });
});
