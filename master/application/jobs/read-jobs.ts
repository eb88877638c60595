/** Reads rows of jobs that the state asks for. Whoever calls steps nothing else meanwhile. */
import {
  DUE_COUNT_MAX,
  JOBS_MAX,
  LATE_AT_ONCE_MAX,
  LISTENERS_MAX,
  MISFIRE_ALL_COUNT_MAX,
  TURN_MISSED_COUNT_MAX,
  TURN_READ_BYTES_MAX,
  TURN_REPLAN_COUNT_MAX,
  TURN_SETTLE_COUNT_MAX,
  TURN_TRIGGER_COUNT_MAX,
} from '../../domain/bounds.ts';
import type { Load } from '../../domain/effects.ts';
import type { Event } from '../../domain/events.ts';
import { activityOf } from '../../domain/jobs/activity.ts';
import type {
  DueTrigger,
  FoundJob,
  MissedTrigger,
  RunTask,
  SettledJob,
} from '../../domain/jobs/job-events.ts';
import { armedAtOf, renewedTriggers } from '../../domain/jobs/set.ts';
import { ALL_JOBS, BY_HAND, type Job, type Trigger } from '../../domain/model/job.ts';
import { type Due, dueOf, type DuePage } from '../../domain/schedule/due.ts';
import { timesOf } from '../../domain/schedule/times.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { Task } from '../../domain/model/task.ts';
import type { State } from '../../domain/state/state.ts';
import type { TaskStore } from '../ports.ts';
import { leftOutOf } from './left-out.ts';
import {
  aroundOf,
  isOpen,
  type JobSpec,
  keyOf,
  PIECE_COUNT,
  type Plan,
  planOf,
} from './planning.ts';
import { crowdOf, ringOf } from './ring.ts';
import type { Templates } from './templates.ts';

/** Jobs that are counted in one piece: some milliseconds. */
const COUNT_PAGE = 20_000;

/** What the state may ask for of jobs. */
type JobLoad = Extract<Load, { type: 'job' | 'triggers' | 'settled' | 'replan' }>;
type JobCommand = Extract<Load, { type: 'job' }>['event'];

export class JobReader {
  readonly #store: TaskStore;
  readonly #templates: Templates;
  readonly #breathe: () => Promise<void>;

  /** @param breathe lets whatever else is due run. */
  constructor(store: TaskStore, templates: Templates, breathe: () => Promise<void>) {
    this.#store = store;
    this.#templates = templates;
    this.#breathe = breathe;
  }

  async read(state: State, load: JobLoad, now: number): Promise<readonly Event[]> {
    switch (load.type) {
      case 'job':
        return this.#command(state, load.event, now);
      case 'triggers':
        return [await this.#due(state, now)];
      case 'settled':
        return [await this.#settled(state, now)];
      case 'replan':
        return this.#replanned(state);
    }
  }

  async #due(state: State, now: number): Promise<Event> {
    const { jobs } = this.#store;
    const { hereSince } = state.jobs;
    const limits = { dueCount: TURN_TRIGGER_COUNT_MAX, missedCount: TURN_MISSED_COUNT_MAX };
    // Those that were missed are read whatever is due now: times of theirs are among those that will be.
    const found = await jobs.loadDueTriggers({ now, since: hereSince, ...limits });
    const isFew = found.missed.length <= LATE_AT_ONCE_MAX;
    const looked = isFew ? [...found.due, ...found.missed] : found.due;
    const missed = isFew ? [] : await this.#missedOf(found.missed, now);
    const due = await this.#dueOf(state, looked, now, false);
    const isAll =
      found.due.length < limits.dueCount &&
      found.missed.length < limits.missedCount &&
      due.length === looked.length;
    return { type: 'triggersLoaded', due, missed, nextAt: isAll ? found.nextAt : now };
  }

  /** Without their jobs and calendars: these are asked when they have their turn. */
  async #missedOf(triggers: readonly Trigger[], now: number): Promise<readonly MissedTrigger[]> {
    const missed: MissedTrigger[] = [];
    for (const [at, trigger] of triggers.entries()) {
      if (at % PIECE_COUNT === PIECE_COUNT - 1) await this.#breathe();
      const spec = JSON.parse(trigger.spec) as TriggerSpec;
      missed.push({ trigger, nextNominal: timesOf(spec, trigger).next(now) });
    }
    return missed;
  }

  /** May be fewer: the rest is read with the next page. */
  async #dueOf(
    state: State,
    triggers: readonly Trigger[],
    now: number,
    isEdited: boolean,
  ): Promise<readonly DueTrigger[]> {
    const names = [...new Set(triggers.map(({ job }) => job))];
    const jobs = await this.#store.jobs.loadJobs(names, TURN_READ_BYTES_MAX);
    const byName = new Map(jobs.map((job) => [job.name, job]));
    const due: DueTrigger[] = [];
    for (const [at, trigger] of triggers.entries()) {
      if (at % PIECE_COUNT === PIECE_COUNT - 1) await this.#breathe();
      const job = byName.get(trigger.job);
      if (job === undefined) continue;
      const spec = JSON.parse(trigger.spec) as TriggerSpec;
      const around = this.#around(state, trigger, spec, job);
      const limits = { countMax: DUE_COUNT_MAX, lateCountMax: MISFIRE_ALL_COUNT_MAX, isEdited };
      const page = dueOf(spec, around, trigger.decidedUntil, now, limits);
      const last = page.due.at(-1)?.to ?? trigger.decidedUntil;
      const next = planOf(spec, around, last);
      const one = this.#dueTrigger(state, trigger, spec, job, { ...page, ...next });
      due.push({ ...one, isAwaited: isEdited });
    }
    return this.#withTaken(due);
  }

  #around(state: State, trigger: Trigger, spec: TriggerSpec, job: Job) {
    return aroundOf(state.jobs.calendars, trigger, spec, job);
  }

  #dueTrigger(
    state: State,
    trigger: Trigger,
    spec: TriggerSpec,
    job: Job,
    { due, ...next }: DuePage & Plan,
  ): DueTrigger {
    const times = due.map((time) => {
      const taskId = this.#templates.taskIdOf(trigger.job, trigger.name, time.nominal, 0);
      return { ...time, taskId, isTaken: false };
    });
    const base = times.length === 0 ? '' : this.#templates.taskOf(job, typesOf(state), null);
    return { trigger, spec, version: job.version, base, due: times, ...next };
  }

  /** Whether there are tasks with the ids that they are to have. */
  async #withTaken(due: readonly DueTrigger[]): Promise<readonly DueTrigger[]> {
    const ids = due.flatMap((one) => one.due.map(({ taskId }) => taskId));
    if (ids.length === 0) return due;
    const taken = await this.#store.findIds(ids);
    if (taken.size === 0) return due;
    return due.map((one) => ({
      ...one,
      due: one.due.map((time) => ({ ...time, isTaken: taken.has(time.taskId) })),
    }));
  }

  async #settled(state: State, now: number): Promise<Event> {
    const names = [...state.jobs.unsettled].slice(0, TURN_SETTLE_COUNT_MAX);
    const found = await this.#store.jobs.loadJobs(names, TURN_READ_BYTES_MAX);
    const triggers = await this.#store.jobs.loadTriggers(names);
    const jobs: SettledJob[] = [];
    for (const name of names) {
      const job = found.find((one) => one.name === name) ?? null;
      // One that was not read for want of room comes with the next page.
      if (job === null && found.length < names.length && jobs.length >= found.length) continue;
      const own = triggers
        .filter((trigger) => trigger.job === name)
        .map((trigger) => ({ trigger, spec: JSON.parse(trigger.spec) as TriggerSpec }));
      const { pause_after: pauseAfter = null } =
        job === null ? {} : (JSON.parse(job.spec) as JobSpec);
      const listeners = await this.#listeners(state, name, now);
      const pending = job && (await this.#pendingOf(state, job));
      jobs.push({ name, job, pauseAfter, triggers: own, listeners, pending });
    }
    return { type: 'settledLoaded', jobs };
  }

  /** With a time for each end that one of them may wait for. */
  async #listeners(state: State, name: string, now: number): Promise<readonly DueTrigger[]> {
    const { ends } = activityOf(state, name);
    if (ends.length === 0) return [];
    const listeners = await this.#store.jobs.loadListeners(name, LISTENERS_MAX);
    if (listeners.length === 0) return [];
    const jobs = await this.#store.jobs.loadJobs(
      [...new Set(listeners.map(({ job }) => job))],
      TURN_READ_BYTES_MAX,
    );
    const due: DueTrigger[] = [];
    for (const trigger of listeners) {
      const job = jobs.find((one) => one.name === trigger.job);
      const spec = JSON.parse(trigger.spec) as TriggerSpec;
      if (job?.isEnabled !== true || !spec.isEnabled || trigger.paused !== null) continue;
      const { timing } = spec;
      let last = trigger.decidedUntil;
      const times = ends.flatMap(({ at: endedAt, state: how }) => {
        if (timing.kind !== 'on' || timing.state !== how) return [];
        const armedAt = Math.max(endedAt, last + 1);
        const around = this.#around(state, { ...trigger, armedAt }, spec, job);
        const limits = { countMax: 1, lateCountMax: 1, isEdited: true };
        const { due: found } = dueOf(spec, around, last, Math.max(now, armedAt), limits);
        last = armedAt;
        // What was heard is never late: it is dealt with as soon as it can be.
        return found.map((one): Due => ({ ...one, at: now, isLate: false }));
      });
      const never = { nextAt: null, nextNominal: null, isMore: false };
      due.push(this.#dueTrigger(state, trigger, spec, job, { due: times, ...never }));
    }
    return this.#withTaken(due);
  }

  /** What the first of its times that wait would make. */
  async #pendingOf(state: State, job: Job): Promise<RunTask | null> {
    const [first] = activityOf(state, job.name).pending;
    if (first === undefined) return null;
    const taskId = this.#templates.taskIdOf(job.name, first.trigger, first.nominal, first.rerun);
    const isTaken = (await this.#store.findIds([taskId])).size > 0;
    return { base: this.#templates.taskOf(job, typesOf(state), null), taskId, isTaken };
  }

  async #replanned(state: State): Promise<readonly Event[]> {
    const { replanAfter } = state.jobs.calendars.get(ALL_JOBS) ?? {};
    const page = await this.#store.jobs.loadCalendared(replanAfter ?? '', TURN_REPLAN_COUNT_MAX);
    const names = [...new Set(page.map(({ job }) => job))];
    const jobs = new Map((await this.#loadAll(names)).map((job) => [job.name, job]));
    for (const era of state.jobs.eras) {
      const due = await leftOutOf(jobs, page, era, this.#breathe);
      const again = { type: 'replanLoaded', triggers: [], after: replanAfter ?? '' } as const;
      if (due.length > 0) return [{ type: 'triggersLoaded', due }, again];
    }
    const triggers: Trigger[] = [];
    for (const [at, trigger] of page.entries()) {
      if (at % PIECE_COUNT === PIECE_COUNT - 1) await this.#breathe();
      const job = jobs.get(trigger.job);
      const isWaiting = trigger.nextAt !== null || trigger.kind !== 'delay';
      if (job === undefined || !isWaiting) continue;
      const after = this.#planned(state, trigger, job, trigger.decidedUntil);
      if (after.nextAt !== trigger.nextAt) triggers.push(after);
    }
    const last = page.at(-1);
    const isLast = page.length < TURN_REPLAN_COUNT_MAX || last === undefined;
    return [{ type: 'replanLoaded', triggers, after: isLast ? null : keyOf(last) }];
  }

  async #loadAll(names: readonly string[]): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let rest = names; rest.length > 0; ) {
      const some = await this.#store.jobs.loadJobs(rest, TURN_READ_BYTES_MAX);
      if (some.length === 0) break;
      jobs.push(...some);
      const read = new Set(some.map(({ name }) => name));
      rest = rest.filter((name) => !read.has(name));
    }
    return jobs;
  }

  /** With its next time, where it has one. */
  #planned(state: State, trigger: Trigger, job: Job, after: number): Trigger {
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const isOff = !job.isEnabled || !spec.isEnabled || trigger.paused !== null;
    if (isOff) return { ...trigger, nextAt: null, nextNominal: null };
    const around = this.#around(state, trigger, spec, job);
    return { ...trigger, ...planOf(spec, around, after) };
  }

  /** With the rows of its job; times that were to come by now are decided first, as it is now. */
  async #command(state: State, event: JobCommand, now: number): Promise<readonly Event[]> {
    const [job = null] = await this.#store.jobs.loadJobs([event.name], TURN_READ_BYTES_MAX);
    const triggers = job === null ? [] : await this.#store.jobs.loadTriggers([event.name]);
    if (event.type !== 'jobRun' && event.type !== 'occurrenceSkipped') {
      const open = triggers.filter((one) => isOpen(one, now) && isChanged(one, event));
      const due = (await this.#dueOf(state, open, now, true)).filter((one) => one.due.length > 0);
      if (due.length > 0) return [{ type: 'triggersLoaded', due }, event];
      const leftOut = await this.#leftOutBefore(state, event, job, triggers, now);
      if (leftOut.length > 0) return [{ type: 'triggersLoaded', due: leftOut }, event];
    }
    const renewed = this.#renewed(state, event, job, triggers, now);
    const run = this.#runOf(state, event, job);
    const taken = await this.#takenBy(run);
    const refusal = event.type === 'jobSet' ? await this.#refusalOf(event, triggers) : null;
    const isCounted = event.type !== 'jobSet' || job !== null || state.jobs.jobCount !== null;
    const jobCount = isCounted ? null : await this.#countJobs();
    const found: FoundJob = { job, triggers, renewed, run, taken, refusal, jobCount };
    return [{ ...event, found }];
  }

  /** Of a job that is to have other black-outs. To try it decides nothing. */
  async #leftOutBefore(
    state: State,
    event: JobCommand,
    job: Job | null,
    triggers: readonly Trigger[],
    now: number,
  ): Promise<readonly DueTrigger[]> {
    if (job === null || event.type !== 'jobSet' || event.isTrial) return [];
    if (sameBlackouts(job, event.definition)) return [];
    const era = { until: now, calendars: state.jobs.calendars };
    return leftOutOf(new Map([[job.name, job]]), triggers, era, this.#breathe);
  }

  async #countJobs(): Promise<number> {
    let count = 0;
    for (let after = ''; ; await this.#breathe()) {
      const page = await this.#store.jobs.countJobs(after, COUNT_PAGE);
      count += page.count;
      if (page.last === null || page.count < COUNT_PAGE || count >= JOBS_MAX) return count;
      after = page.last;
    }
  }

  async #refusalOf(
    { name, triggers, within }: Extract<JobCommand, { type: 'jobSet' }>,
    { length: ownCount }: readonly Trigger[],
  ): Promise<string | null> {
    const { jobs } = this.#store;
    const ring = await ringOf(name, triggers, within, (names) => jobs.loadTriggers(names));
    return ring ?? crowdOf(name, triggers, ownCount, (...of) => jobs.loadListeners(...of));
  }

  #renewed(
    state: State,
    event: JobCommand,
    job: Job | null,
    triggers: readonly Trigger[],
    now: number,
  ): readonly Trigger[] {
    if (event.type === 'jobSet') {
      const { name, definition } = event;
      const isEnabled = definition.isEnabled ?? job?.isEnabled ?? true;
      const { spec, template } = definition;
      const wanted = { ...job, name, spec, template, isEnabled } as Job;
      const isAsBefore = job?.isEnabled === isEnabled && sameBlackouts(job, wanted);
      return renewedTriggers(name, triggers, event.triggers, now).map((row) => {
        if (isAsBefore && triggers.includes(row)) return row;
        // Of a job that was disabled no time has come meanwhile.
        const wasOff = job?.isEnabled === false;
        const decidedUntil = wasOff ? Math.max(now, row.decidedUntil) : row.decidedUntil;
        const armed = rearmed(state, { ...row, decidedUntil }, now);
        return this.#planned(state, armed, wanted, decidedUntil);
      });
    }
    if (event.type !== 'jobEnabled' || job === null) return triggers;
    const wanted = { ...job, isEnabled: event.isEnabled };
    return triggers.map((row) => {
      const freed = event.isEnabled ? { ...row, paused: null, failureCount: 0 } : row;
      const decidedUntil = Math.max(now, row.decidedUntil);
      const armed = rearmed(state, { ...freed, decidedUntil }, now);
      return this.#planned(state, armed, wanted, decidedUntil);
    });
  }

  #runOf(state: State, event: JobCommand, job: Job | null): RunTask | null {
    if (event.type !== 'jobRun' || job === null) return null;
    const taskId = this.#templates.taskIdOf(job.name, BY_HAND, event.key, 0);
    const base = this.#templates.taskOf(job, typesOf(state), event.params);
    return { base, taskId, isTaken: false };
  }

  /** What has the id that a run by hand is to have; null: nothing has. */
  async #takenBy(run: RunTask | null): Promise<Task | null> {
    if (run === null) return null;
    const found = await this.#store.findTasks([run.taskId], TURN_READ_BYTES_MAX);
    return found.get(run.taskId)?.task ?? null;
  }
}

/** One that counts from the end of a run, and that had an end while it could not fire, would wait for another for ever. */
function rearmed(state: State, trigger: Trigger, now: number): Trigger {
  const isWaiting = trigger.armedAt !== null || activityOf(state, trigger.job).liveCount > 0;
  if (trigger.kind !== 'delay' || isWaiting) return trigger;
  return { ...trigger, armedAt: armedAtOf(JSON.parse(trigger.spec) as TriggerSpec, now) };
}

/** What it was is not what it is to be. */
function isChanged(trigger: Trigger, event: JobCommand): boolean {
  if (event.type !== 'jobSet') return true;
  if (event.isTrial) return false;
  if (event.definition.isEnabled === false) return true;
  const wanted = event.triggers.find(({ name }) => name === trigger.name);
  return wanted === undefined || JSON.stringify(wanted.spec) !== trigger.spec;
}

function sameBlackouts(a: Pick<Job, 'spec'>, b: Pick<Job, 'spec'>): boolean {
  const textOf = ({ spec }: Pick<Job, 'spec'>) =>
    JSON.stringify((JSON.parse(spec) as JobSpec).blackouts);
  return textOf(a) === textOf(b);
}

const typesOf = (state: State) => (name: string) => state.types.get(name) ?? null;
