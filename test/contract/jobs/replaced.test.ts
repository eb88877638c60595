/** A time that replaces all live runs of its job, however many of them only the store knows. */
import { expect } from 'chai';
import type { Store, TaskStore } from '../../../master/application/ports.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { createEngineOn } from '../../helpers/engine.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { NOW } from '../../helpers/task.ts';
import { commit } from '../sample.ts';
import { describeStores, ofDefault } from '../subjects.ts';

/** More than are known by heart, and more than one page of them. */
const RUN_COUNT = 600;

describeStores('a time that replaces runs', (open) => {
  let store: Store & TaskStore;
  let led: ReturnType<typeof createEngineOn>;
  let turned: () => void = () => undefined;

  beforeEach(async () => {
    store = ofDefault(await open());
    await store.open(NOW);
    const { term } = await store.takeTerm('m-1', NOW);
    const spec = JSON.stringify(sampleSpec({ overlap: { kind: 'replace' } }));
    const of = { name: 'nightly', job: 'nightly' };
    const trigger = { ...sampleTrigger({ job: of.job, spec }), name: 'default' };
    const writes = [
      { op: 'put', table: 'job', key: of.name, row: sampleJob({ name: of.name }) },
      { op: 'put', table: 'trigger', key: [of.job, trigger.name], row: trigger },
    ] as const;
    await store.commit(commit(term, { writes }));
  });

  afterEach(() => led.engine.stop());

  async function lead(): Promise<void> {
    led = createEngineOn(store, {});
    led.clock.advance(NOW - led.clock.now());
    led.recorder.turned = () => turned();
    await led.engine.start();
  }

  /** Looked at after each turn. */
  function once(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      turned = () => isSo() && resolve();
      turned();
    });
  }

  const activity = () => led.engine.state?.jobs.activities.get('nightly');

  async function runByHand(count: number): Promise<void> {
    const jobs = led.master.jobs(ALL);
    const keys = Array.from({ length: count }, (_, at) => `key-${at}`);
    await Promise.all(
      keys.map((key) => jobs.change({ type: 'jobRun', name: 'nightly', key, params: null })),
    );
  }

  const fired = () => once(() => activity()?.liveCount === 1 && activity()?.pending.length === 0);

  it('ends those too that a master has not read', async () => {
    await lead();
    await runByHand(RUN_COUNT);
    await led.engine.stop();
    await lead();
    expect(led.engine.state?.tasks.size, 'they are only in the store').to.equal(0);
    led.clock.advance(60_000);
    await fired();
    expect(activity()?.liveIds).to.deep.equal([`nightly.default.${idTime(NOW + 60_000)}`]);
  });

  it('ends those too that are left when the master that began it dies', async () => {
    await lead();
    await runByHand(40);
    await led.engine.stop();
    await lead();
    led.clock.advance(60_000);
    await once(() => (activity()?.pending.length ?? 0) > 0);
    await led.engine.stop();
    await lead();
    await fired();
    expect(activity()?.liveIds).to.deep.equal([`nightly.default.${idTime(NOW + 60_000)}`]);
  });

  it('leaves those that began after it, also where its master dies', async () => {
    await lead();
    await runByHand(2);
    const [first, later] = [...(led.engine.state?.tasks.values() ?? [])];
    const before = activity();
    if (first === undefined || later === undefined || before === undefined) {
      return expect.fail('they run');
    }
    await led.engine.stop();
    const endsSeqMax = first.seq;
    const time = { trigger: 'default', nominal: NOW, rerun: 0, noticedAt: NOW, endsSeqMax };
    const row = { ...before, liveIds: [later.id, first.id], pending: [time] };
    const { term } = await store.takeTerm('m-2', NOW);
    const write = { op: 'put', table: 'jobActivity', key: 'nightly', row } as const;
    await store.commit(commit(term, { writes: [write] }));
    await lead();
    await once(() => activity()?.liveCount === 1);
    expect(activity()?.liveIds).to.deep.equal([later.id]);
  });
});

const idTime = (at: number): string => new Date(at).toISOString().replaceAll(/[-:]|\.000/g, '');
