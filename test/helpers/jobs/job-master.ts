/** A master with jobs, held by the test: rows are put before it begins, and nobody executes its runs. */
import type { CommandOutcome } from '../../../master/domain/effects.ts';
import type { JobChange } from '../../../master/domain/jobs/job-events.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { Job, JobActivity, Occurrence, Trigger } from '../../../master/domain/model/job.ts';
import { ALL, type Sight } from '../../../master/domain/model/task-filter.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { commit } from '../../contract/sample.ts';
import { createEngine } from '../engine.ts';
import { settled } from '../manual-clock.ts';
import { sampleJob, sampleSpec, sampleTrigger } from './sample-job.ts';

export const activityRow = (row: JobActivity): RowWrite => {
  return { op: 'put', table: 'jobActivity', key: row.job, row };
};

export class JobMaster {
  readonly harness: ReturnType<typeof createEngine> = createEngine();
  readonly begin = this.harness.clock.now();

  /** A job of one trigger, that is set now. */
  rows(
    name: string,
    spec: Partial<TriggerSpec>,
    job: Partial<Job> = {},
    trigger: Partial<Trigger> = {},
  ): RowWrite[] {
    const text = JSON.stringify(sampleSpec(spec));
    const { timing } = sampleSpec(spec);
    const source = timing.kind === 'on' ? timing.job : null;
    const set = { anchorAt: this.begin, changedAt: this.begin, decidedUntil: this.begin };
    const nextAt = source === null ? this.begin + 60_000 : null;
    const of = { job: name, spec: text, kind: timing.kind, source, nextAt, nextNominal: nextAt };
    const row = sampleTrigger({ ...set, ...of, ...trigger });
    return [
      { op: 'put', table: 'job', key: name, row: sampleJob({ name, ...job }) },
      { op: 'put', table: 'trigger', key: [name, row.name], row },
    ];
  }

  async start(writes: readonly RowWrite[]): Promise<void> {
    const { store, engine } = this.harness;
    const { term } = await store.takeTerm('test', this.begin);
    await store.commit(commit(term, { writes }));
    store.commits.length = 0;
    await engine.start();
    await this.looked();
  }

  stop(): Promise<void> {
    return this.harness.engine.stop();
  }

  /** All that is to be looked at has been; or it does not come to an end. */
  async looked(): Promise<void> {
    const { engine } = this.harness;
    const isBusy = () =>
      (['triggers', 'settled', 'replan'] as const).some((one) => engine.state?.loading.has(one));
    for (let times = 0; times < 200; times++) {
      await settled();
      if (!isBusy()) return;
    }
    throw new Error('it looks at the same for ever');
  }

  /** Stops at each alarm. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.harness;
    const until = clock.now() + ms;
    while (clock.now() < until) {
      const next = Math.min(until, Math.max(clock.nextAlarmAt, clock.now() + 1));
      clock.advance(next - clock.now());
      await this.looked();
    }
  }

  async change(change: JobChange, sight: Sight = ALL): Promise<CommandOutcome> {
    const outcome = await this.harness.master.jobs(sight).change(change);
    await this.looked();
    return outcome;
  }

  get live(): readonly Task[] {
    return [...(this.harness.engine.state?.tasks.values() ?? [])];
  }

  /** As an operator ends it. */
  async end(job: string): Promise<void> {
    const task = this.live.find((one) => one.job?.name === job);
    if (task === undefined) throw new Error(`no run of ${job} lives`);
    await this.harness.master.cancel(task.id);
    await this.looked();
  }

  async trigger(job: string, name = 'default'): Promise<Trigger | undefined> {
    const triggers = await this.harness.store.jobs.loadTriggers([job]);
    return triggers.find((one) => one.name === name);
  }

  /** Runs that each commit began, of those that began any. */
  get begun(): readonly number[] {
    const counts = this.harness.store.commits.map(
      ({ writes }) => writes.filter(({ table, op }) => table === 'task' && op === 'insert').length,
    );
    return counts.filter((count) => count > 0);
  }

  /** The newest first. */
  async records(job: string): Promise<readonly Occurrence[]> {
    const query = { job, trigger: null, state: null, from: null, to: null, after: null };
    const asked = { ...query, noticedFrom: null, limit: 200 };
    return (await this.harness.store.jobs.listOccurrences(asked)).occurrences;
  }
}
