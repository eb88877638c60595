/** Jobs and calendars, put to the engine and the store. Holds no state of its own. */
import type { CommandOutcome } from '../../domain/effects.ts';
import type { Command } from '../../domain/events.ts';
import { activityOf } from '../../domain/jobs/activity.ts';
import type { CalendarChange, JobChange } from '../../domain/jobs/job-events.ts';
import type { Backfill } from '../../domain/long-work/work.ts';
import {
  ALL_JOBS,
  type Calendar,
  type Job,
  type Occurrence,
  type Trigger,
} from '../../domain/model/job.ts';
import { isSeen, sees, seesAll, type Sight } from '../../domain/model/task-filter.ts';
import type { Pieces } from '../../domain/pieces.ts';
import { behind, comingOf } from '../../domain/schedule/coming.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { State } from '../../domain/state/state.ts';
import type { Clock, TaskStore } from '../ports.ts';
import { inPieces } from '../turnstile.ts';
import type { JobQuery, OccurrenceQuery } from './job-store.ts';
import { backfillWork, previewBackfill } from './backfill.ts';
import type {
  BegunBackfill,
  FireTime,
  JobsHandle,
  NextTime,
  PreviewedBackfill,
  SeenJob,
  SeenJobInDetail,
  SeenRun,
} from './jobs-handle.ts';
import { recordsToCome, withRecordsToCome } from './left-out.ts';
import { firesAgain, keyOf, surroundingsOf, unlessBroken } from './planning.ts';

/** Runs that are shown with a job. */
const RUN_COUNT = 10;
/** Triggers that are looked at, at a time, for one that names a calendar. */
const LOOK_COUNT = 500;

/** How to ask, as a master does. Each rejects where there is no answer in time. */
interface Asking {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly known: () => State;
  readonly read: <T>(work: (gone: AbortSignal) => Promise<T>) => Promise<T>;
  /** In a line of its own: it takes long. */
  readonly preview: <T>(work: (gone: AbortSignal) => Promise<T>) => Promise<T>;
  readonly command: (command: Command) => Promise<CommandOutcome>;
}

export class Jobs implements JobsHandle {
  readonly #asking: Asking;
  readonly #sight: Sight;

  /** @param sight of whoever asks. */
  constructor(asking: Asking, sight: Sight) {
    this.#asking = asking;
    this.#sight = sight;
  }

  async list(query: Omit<JobQuery, 'within'>) {
    const { store, read, known } = this.#asking;
    const found = await read(() => store.jobs.listJobs({ ...query, within: this.#sight }));
    const state = known();
    const triggersOf = new Map(found.jobs.map(({ name }): [string, Trigger[]] => [name, []]));
    for (const trigger of found.triggers) triggersOf.get(trigger.job)?.push(trigger);
    const jobs = found.jobs.map((job): SeenJob => {
      const triggers = triggersOf.get(job.name) ?? [];
      return { job, triggers, activity: activityOf(state, job.name) };
    });
    return { jobs, after: found.after };
  }

  async show(name: string): Promise<SeenJobInDetail | null> {
    const found = await this.#found(name);
    return found && { ...found, activity: activityOf(this.#asking.known(), name) };
  }

  runs(job: Pick<Job, 'name' | 'ownedAt'>): Promise<readonly SeenRun[]> {
    const { store, read } = this.#asking;
    const of = {
      job: job.name,
      trigger: null,
      state: 'ran',
      noticedFrom: this.#since(job),
    } as const;
    return read(async () => {
      const query = { ...of, from: null, to: null, after: null, limit: RUN_COUNT };
      const runs: SeenRun[] = [];
      const { occurrences } = await store.jobs.listOccurrences(query);
      for (const one of occurrences) runs.push(await this.#runOf(one));
      return runs;
    });
  }

  async #runOf(occurrence: Occurrence): Promise<SeenRun> {
    const { taskId } = occurrence;
    const live = taskId === null ? undefined : this.#asking.known().tasks.get(taskId);
    const stored =
      live === undefined && taskId !== null ? await this.#asking.store.readTask(taskId) : null;
    const task = live ?? stored?.task ?? null;
    return { occurrence, task: task !== null && isSeen(task, this.#sight) ? task : null };
  }

  async versions(name: string) {
    const { store, read } = this.#asking;
    const found = await this.#found(name);
    if (found === null) return null;
    const since = this.#since(found.job) ?? Number.NEGATIVE_INFINITY;
    const versions = await read(() => store.jobs.listVersions(name));
    return versions.filter(({ at }) => at >= since);
  }

  async version(name: string, version: number) {
    const { store, read } = this.#asking;
    const found = await this.#found(name);
    if (found === null) return null;
    const since = this.#since(found.job) ?? Number.NEGATIVE_INFINITY;
    const kept = await read(() => store.jobs.readVersion(name, version));
    return kept !== null && kept.at >= since ? kept : null;
  }

  async occurrences(query: Omit<OccurrenceQuery, 'noticedFrom'>) {
    const { store, read, known, clock } = this.#asking;
    const found = await this.#found(query.job);
    if (found === null) return null;
    const asked = { ...query, noticedFrom: this.#since(found.job) };
    const page = await read(() => store.jobs.listOccurrences(asked));
    const triggers = found.triggers.filter(({ name }) => (query.trigger ?? name) === name);
    const era = { until: clock.now(), calendars: known().jobs.calendars };
    const toCome = await inPieces(recordsToCome(found.job, triggers, era), clock);
    return withRecordsToCome(page, toCome, asked);
  }

  /** From when on its history may be seen: before, it was perhaps another's. Null: from its beginning. */
  #since({ ownedAt }: Pick<Job, 'ownedAt'>): number | null {
    return seesAll(this.#sight) ? null : ownedAt;
  }

  /** Null: there is none that may be seen. */
  async #found(name: string) {
    const { store, read } = this.#asking;
    const found = await read(() => store.jobs.showJob(name));
    return found !== null && sees(this.#sight, found.job.type, found.job.group) ? found : null;
  }

  next(job: Pick<Job, 'spec'>, triggers: readonly Trigger[], after: number, count: number) {
    return inPieces(this.#next(job, triggers, after, count), this.#asking.clock);
  }

  *#next(
    job: Pick<Job, 'spec'>,
    triggers: readonly Trigger[],
    after: number,
    count: number,
  ): Generator<undefined, readonly NextTime[]> {
    const { calendars } = this.#asking.known().jobs;
    const { blackouts = [] } = JSON.parse(job.spec) as { blackouts?: [] };
    const times: NextTime[] = [];
    for (const trigger of triggers) {
      const spec = JSON.parse(trigger.spec) as TriggerSpec;
      if (!spec.isEnabled || trigger.paused !== null) continue;
      let around = surroundingsOf(calendars, trigger, spec, blackouts);
      let from = Math.max(after, trigger.decidedUntil);
      for (let found = 0; found < count; ) {
        const [asked, since] = [around, from];
        // One may have cost a look at each day of a year.
        const page = unlessBroken(trigger, [], () => comingOf(spec, asked, since, 1));
        // It is paused once it is due.
        if (page === null) break;
        const { coming, until } = page;
        for (const one of coming) times.push({ trigger: trigger.name, spec, coming: one });
        found += coming.length;
        yield undefined;
        if (until === null || coming.length === 0) break;
        from = until;
        around = behind(around, coming);
      }
    }
    return times.sort((a, b) => a.coming.nominal - b.coming.nominal).slice(0, count);
  }

  fires(job: Pick<Job, 'spec'>, triggers: readonly Trigger[], after: number) {
    return inPieces(this.#fires(job, triggers, after), this.#asking.clock);
  }

  *#fires(
    job: Pick<Job, 'spec'>,
    triggers: readonly Trigger[],
    after: number,
  ): Pieces<readonly FireTime[]> {
    const { calendars } = this.#asking.known().jobs;
    const times: FireTime[] = [];
    for (const trigger of triggers) {
      yield;
      const spec = JSON.parse(trigger.spec) as TriggerSpec;
      if (!spec.isEnabled || trigger.paused !== null) continue;
      const coming = yield* firesAgain(calendars, trigger, job, after);
      if (coming !== null) times.push({ trigger: trigger.name, spec, coming });
    }
    return times.sort((a, b) => a.coming.at - b.coming.at);
  }

  change(change: JobChange): Promise<CommandOutcome> {
    return this.#asking.command({ ...change, within: this.#sight });
  }

  previewBackfill(
    job: Job,
    trigger: Trigger,
    asked: Pick<Backfill, 'from' | 'until' | 'which'>,
  ): Promise<PreviewedBackfill | string> {
    const { store, clock, known, preview } = this.#asking;
    const { calendars } = known().jobs;
    return preview((gone) =>
      previewBackfill({ job, trigger, calendars }, asked, store, clock, gone),
    );
  }

  backfill(workId: string, asked: BegunBackfill): Promise<CommandOutcome> {
    const work = backfillWork(workId, asked, this.#sight);
    return this.#asking.command({ type: 'workRequested', work });
  }

  calendars(): readonly Calendar[] {
    const all = [...this.#asking.known().jobs.calendars.values()];
    return all.filter(({ name }) => name !== ALL_JOBS).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  calendar(name: string): Calendar | null {
    return this.#asking.known().jobs.calendars.get(name) ?? null;
  }

  async changeCalendar(change: Omit<CalendarChange, 'type' | 'isUsed'>): Promise<CommandOutcome> {
    const isUsed = change.text === null && !change.isForced && (await this.#isNamed(change.name));
    return this.#asking.command({ type: 'calendarSet', ...change, isUsed });
  }

  async #isNamed(name: string): Promise<boolean> {
    const { store, read } = this.#asking;
    for (let after = ''; ; ) {
      const page = await read(() => store.jobs.loadCalendared(after, LOOK_COUNT));
      const isFound = page.some(({ spec }) => {
        const { onlyOn, except } = JSON.parse(spec) as TriggerSpec;
        return onlyOn?.calendar === name || except?.calendar === name;
      });
      const last = page.at(-1);
      if (isFound) return true;
      if (last === undefined || page.length < LOOK_COUNT) return false;
      after = keyOf(last);
    }
  }
}
