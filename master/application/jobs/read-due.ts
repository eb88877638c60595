/** Reads what of triggers is due, and what it would make. Whoever calls steps nothing else meanwhile. */
import {
  DUE_COUNT_MAX,
  LATE_AT_ONCE_MAX,
  MISFIRE_ALL_COUNT_MAX,
  TURN_MISSED_COUNT_MAX,
  TURN_READ_BYTES_MAX,
  TURN_RUN_COUNT_MAX,
  TURN_TRIGGER_COUNT_MAX,
} from '../../domain/bounds.ts';
import type { Event } from '../../domain/events.ts';
import type { BrokenTrigger, DueTrigger, MissedTrigger } from '../../domain/jobs/job-events.ts';
import type { Job, Trigger } from '../../domain/model/job.ts';
import { dueOf, type DuePage } from '../../domain/schedule/due.ts';
import { timesOf } from '../../domain/schedule/times.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { State } from '../../domain/state/state.ts';
import type { TaskStore } from '../ports.ts';
import { jobsByTaskId, withFreeId } from './free-ids.ts';
import { aroundOf, type Plan, planOf, unlessBroken } from './planning.ts';
import type { Templates } from './templates.ts';
import type { TriggerFaults } from './trigger-faults.ts';

/** What is read, and how. */
export interface JobSources {
  readonly store: TaskStore;
  readonly templates: Templates;
  readonly faults: TriggerFaults;
  /** Asked again and again: lets others have their turn where they have waited for long. */
  readonly breathe: () => Promise<void>;
}

export class DueReader {
  readonly #sources: JobSources;

  constructor(sources: JobSources) {
    this.#sources = sources;
  }

  async read(state: State, now: number): Promise<Event> {
    const { jobs } = this.#sources.store;
    const { hereSince } = state.jobs;
    const limits = { dueCount: TURN_TRIGGER_COUNT_MAX, missedCount: TURN_MISSED_COUNT_MAX };
    // Those that were missed are read whatever is due now: times of theirs are among those that will be.
    const found = await jobs.loadDueTriggers({ now, since: hereSince, ...limits });
    const isFew = found.missed.length <= LATE_AT_ONCE_MAX;
    const broken: BrokenTrigger[] = [];
    const missed = isFew ? [] : await this.#missedOf(found.missed, now, broken);
    const looked = isFew ? [...found.due, ...found.missed] : found.due;
    const { due, isAll } = await this.dueOf(state, looked, now, false, broken);
    const isLast =
      found.due.length < limits.dueCount && found.missed.length < limits.missedCount && isAll;
    return { type: 'triggersLoaded', due, missed, broken, nextAt: isLast ? found.nextAt : now };
  }

  /** Without their jobs and calendars: these are asked when they have their turn. */
  async #missedOf(
    triggers: readonly Trigger[],
    now: number,
    broken: BrokenTrigger[],
  ): Promise<readonly MissedTrigger[]> {
    const missed: MissedTrigger[] = [];
    for (const trigger of triggers) {
      await this.#sources.breathe();
      const one = unlessBroken(
        trigger,
        broken,
        () => {
          const spec = JSON.parse(trigger.spec) as TriggerSpec;
          return { trigger, nextNominal: timesOf(spec, trigger).next(now) };
        },
        this.#sources.faults.at('missed'),
      );
      if (one !== null) missed.push(one);
    }
    return missed;
  }

  /** @returns As many as one turn begins runs of; false: there are others. @param broken Those that are join it. */
  async dueOf(
    state: State,
    triggers: readonly Trigger[],
    now: number,
    isEdited: boolean,
    broken: BrokenTrigger[],
  ): Promise<{ readonly due: readonly DueTrigger[]; readonly isAll: boolean }> {
    const { store, breathe, faults } = this.#sources;
    const names = [...new Set(triggers.map(({ job }) => job))];
    const { jobs, rest } = await store.jobs.loadJobs(names, TURN_READ_BYTES_MAX);
    const byName = new Map(jobs.map((job) => [job.name, job]));
    const due: DueTrigger[] = [];
    let runsLeft = TURN_RUN_COUNT_MAX;
    for (const trigger of triggers) {
      await breathe();
      const job = byName.get(trigger.job);
      if (job === undefined) continue;
      if (runsLeft <= 0) return { due: await this.withTaken(due), isAll: false };
      const one = unlessBroken(
        trigger,
        broken,
        () => {
          return this.#dueOne(state, trigger, job, now, isEdited, runsLeft);
        },
        faults.at('due'),
      );
      if (one === null) continue;
      due.push({ ...one, isAwaited: isEdited });
      runsLeft -= one.due.filter((time) => time.state === 'run').length;
    }
    return { due: await this.withTaken(due), isAll: rest.length === 0 };
  }

  #dueOne(
    state: State,
    trigger: Trigger,
    job: Job,
    now: number,
    isEdited: boolean,
    runCountMax: number,
  ): DueTrigger {
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const around = aroundOf(state.jobs.calendars, trigger, spec, job);
    const limits = { countMax: DUE_COUNT_MAX, lateCountMax: MISFIRE_ALL_COUNT_MAX, isEdited };
    const page = cutTo(dueOf(spec, around, trigger.decidedUntil, now, limits), runCountMax);
    const last = page.due.at(-1)?.to ?? trigger.decidedUntil;
    return this.dueTrigger(state, trigger, spec, job, { ...page, ...planOf(spec, around, last) });
  }

  /** With what it would run. */
  dueTrigger(
    state: State,
    trigger: Trigger,
    spec: TriggerSpec,
    job: Job,
    { due, ...next }: DuePage & Plan,
  ): DueTrigger {
    const { templates } = this.#sources;
    const times = due.map((time) => {
      const taskId = templates.taskIdOf(trigger.job, trigger.name, time.nominal, 0);
      return { ...time, taskId, isTaken: false };
    });
    const base = times.length === 0 ? '' : templates.taskOf(job, typesOf(state), null);
    return { trigger, spec, version: job.version, base, due: times, ...next };
  }

  /** Ids that other tasks have are not for them. */
  async withTaken(due: readonly DueTrigger[]): Promise<readonly DueTrigger[]> {
    const ids = due.flatMap((one) => one.due.map(({ taskId }) => taskId));
    const { store, templates } = this.#sources;
    const byTaskId = await jobsByTaskId(store, ids);
    if (byTaskId.size === 0) return due;
    return due.map((one) => ({
      ...one,
      due: one.due.map((time) => withFreeId(time, one.trigger.job, byTaskId, templates)),
    }));
  }
}

/** Up to so many that are run: what comes behind them is for the next turn. */
function cutTo(page: DuePage, runCountMax: number): DuePage {
  let runCount = 0;
  const end = page.due.findIndex(({ state }) => state === 'run' && ++runCount > runCountMax);
  return end < 0 ? page : { due: page.due.slice(0, end), isMore: true };
}

/** All of these jobs that there are. */
export async function loadAll({ store }: JobSources, names: readonly string[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let rest = names; rest.length > 0; ) {
    const read = await store.jobs.loadJobs(rest, TURN_READ_BYTES_MAX);
    jobs.push(...read.jobs);
    ({ rest } = read);
  }
  return jobs;
}

export const typesOf = (state: State) => (name: string) => state.types.get(name) ?? null;
