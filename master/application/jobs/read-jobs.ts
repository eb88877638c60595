/** Reads rows of jobs that the state asks for. Whoever calls steps nothing else meanwhile. */
import {
  AHEAD_MAX,
  JOBS_MAX,
  TURN_READ_BYTES_MAX,
  TURN_REPLAN_COUNT_MAX,
} from '../../domain/bounds.ts';
import type { Load } from '../../domain/effects.ts';
import type { Event } from '../../domain/events.ts';
import { activityOf } from '../../domain/jobs/activity.ts';
import type { BrokenTrigger, FoundJob, RunTask } from '../../domain/jobs/job-events.ts';
import { changesNothing, renewedTriggers } from '../../domain/jobs/set.ts';
import { BY_HAND, isIdle, type Job, type Trigger } from '../../domain/model/job.ts';
import { firstArmedAt } from '../../domain/schedule/times.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { Task } from '../../domain/model/task.ts';
import type { State } from '../../domain/state/state.ts';
import { leftOutOf } from './left-out.ts';
import { aroundOf, isOpen, type JobSpec, keyOf, planOf, unlessBroken } from './planning.ts';
import { DueReader, type JobSources, loadAll, typesOf } from './read-due.ts';
import { SettledReader } from './read-settled.ts';
import { crowdOf, ringOf, twinOf } from './ring.ts';

/** Jobs that are counted in one piece: some milliseconds. */
const COUNT_PAGE = 20_000;

/** Records that are looked at, at a time. */
const RECORD_COUNT = 100;

/** What the state may ask for of jobs. */
type JobLoad = Extract<Load, { type: 'job' | 'triggers' | 'settled' | 'replan' }>;
type JobCommand = Extract<Load, { type: 'job' }>['event'];

export class JobReader {
  readonly #sources: JobSources;
  readonly #due: DueReader;

  constructor(sources: JobSources) {
    this.#sources = sources;
    this.#due = new DueReader(sources);
  }

  async read(state: State, load: JobLoad, now: number): Promise<readonly Event[]> {
    switch (load.type) {
      case 'job':
        return this.#command(state, load.event, now);
      case 'triggers':
        return [await this.#due.read(state, now)];
      case 'settled':
        return new SettledReader(this.#sources, this.#due).read(state, now);
      case 'replan':
        return this.#replanned(state);
    }
  }

  async #replanned(state: State): Promise<readonly Event[]> {
    const { store, breathe } = this.#sources;
    const { after: reached = '' } = state.jobs.replan ?? {};
    const page = await store.jobs.loadCalendared(reached, TURN_REPLAN_COUNT_MAX);
    const names = [...new Set(page.map(({ job }) => job))];
    const jobs = new Map((await loadAll(this.#sources, names)).map((job) => [job.name, job]));
    const again = { type: 'replanLoaded', triggers: [], after: reached } as const;
    const broken: BrokenTrigger[] = [];
    for (const era of state.jobs.eras) {
      const due = await leftOutOf(jobs, page, era, this.#sources, broken);
      if (due.length + broken.length > 0) return [{ type: 'triggersLoaded', due, broken }, again];
    }
    const triggers: Trigger[] = [];
    for (const trigger of page) {
      await breathe();
      const job = jobs.get(trigger.job);
      const isWaiting = trigger.nextAt !== null || trigger.kind !== 'delay';
      if (job === undefined || !isWaiting) continue;
      const after = this.#planned(state, trigger, job, trigger.decidedUntil, broken);
      if (after.nextAt !== trigger.nextAt) triggers.push(after);
    }
    if (broken.length > 0) return [{ type: 'triggersLoaded', due: [], broken }, again];
    const last = page.at(-1);
    const isLast = page.length < TURN_REPLAN_COUNT_MAX || last === undefined;
    return [{ type: 'replanLoaded', triggers, after: isLast ? null : keyOf(last) }];
  }

  /** With the rows of its job; times that were to come by now are decided first, as it is now. */
  async #command(state: State, event: JobCommand, now: number): Promise<readonly Event[]> {
    const { jobs } = this.#sources.store;
    const [job = null] = (await jobs.loadJobs([event.name], TURN_READ_BYTES_MAX)).jobs;
    const triggers = job === null ? [] : await jobs.loadTriggers([event.name]);
    const refusal = event.type === 'jobSet' ? await this.#refusalOf(event, triggers) : null;
    if (job !== null && !changesNothing(event, { job, triggers, refusal })) {
      const first = await this.#decided(state, event, job, triggers, now);
      if (first !== null) return [first, event];
    }
    const renewed = await this.#renewed(state, event, job, triggers, now);
    const run = this.#runOf(state, event, job);
    const taken = await this.#takenBy(run);
    const byHandAt = run === null ? null : await this.#byHandAt(state, event.name, now);
    const isCounted = event.type !== 'jobSet' || job !== null || state.jobs.jobCount !== null;
    const jobCount = isCounted ? null : await this.#countJobs();
    const asked = { run, byHandAt, taken };
    const found: FoundJob = { job, triggers, renewed, ...asked, refusal, jobCount };
    return [{ ...event, found }];
  }

  /** What is decided before it is changed: some of it, where there is much. Null: there is nothing. */
  async #decided(
    state: State,
    event: JobCommand,
    job: Job,
    triggers: readonly Trigger[],
    now: number,
  ): Promise<Event | null> {
    const open = triggers.filter((one) => isOpen(one, now) && isChanged(one, event));
    const broken: BrokenTrigger[] = [];
    const found = await this.#due.dueOf(state, open, now, true, broken);
    const due = found.due.filter((one) => one.due.length > 0);
    if (due.length + broken.length > 0) return { type: 'triggersLoaded', due, broken };
    if (event.type !== 'jobSet' || sameBlackouts(job, event.definition)) return null;
    // It is to have other black-outs.
    const era = { until: now, calendars: state.jobs.calendars };
    const ofJob = new Map([[job.name, job]]);
    const leftOut = await leftOutOf(ofJob, triggers, era, this.#sources, broken);
    const isAny = leftOut.length + broken.length > 0;
    return isAny ? { type: 'triggersLoaded', due: leftOut, broken } : null;
  }

  async #countJobs(): Promise<number> {
    let count = 0;
    const { store, breathe } = this.#sources;
    for (let after = ''; ; await breathe()) {
      const page = await store.jobs.countJobs(after, COUNT_PAGE);
      count += page.count;
      if (page.last === null || page.count < COUNT_PAGE || count >= JOBS_MAX) return count;
      after = page.last;
    }
  }

  async #refusalOf(
    { name, triggers, within }: Extract<JobCommand, { type: 'jobSet' }>,
    { length: ownCount }: readonly Trigger[],
  ): Promise<string | null> {
    const { jobs } = this.#sources.store;
    const twin = twinOf(triggers);
    if (twin !== null) return twin;
    const ring = await ringOf(name, triggers, within, (names) => jobs.loadTriggers(names));
    return ring ?? crowdOf(name, triggers, ownCount, (...of) => jobs.loadListeners(...of));
  }

  /** Its triggers as they are to be, with their next times. */
  async #renewed(
    state: State,
    event: JobCommand,
    job: Job | null,
    triggers: readonly Trigger[],
    now: number,
  ): Promise<readonly Trigger[]> {
    const to = renewalOf(event, job, triggers, now);
    if (to === null) return triggers;
    const broken: BrokenTrigger[] = [];
    const renewed: Trigger[] = [];
    for (const { row: wanted, isKept } of to.rows) {
      await this.#sources.breathe();
      const isNew = !triggers.some(({ name }) => name === wanted.name);
      const row = isNew ? await this.#withAhead(wanted) : wanted;
      const { decidedUntil } = row;
      const again = () =>
        this.#planned(state, rearmed(state, row, now), to.job, decidedUntil, broken);
      renewed.push(isKept ? row : again());
    }
    const reasons = new Map(broken.map(({ trigger, reason }) => [trigger.name, reason]));
    return renewed.map((row) => {
      const reason = reasons.get(row.name);
      return reason === undefined ? row : { ...row, paused: { at: now, reason } };
    });
  }

  /** With its next time, where it has one. @param broken It joins them where that cannot be told. */
  #planned(
    { jobs }: State,
    trigger: Trigger,
    job: Job,
    after: number,
    broken: BrokenTrigger[],
  ): Trigger {
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const never = { ...trigger, nextAt: null, nextNominal: null };
    if (!job.isEnabled || !spec.isEnabled || trigger.paused !== null) return never;
    const find = () => planOf(spec, aroundOf(jobs.calendars, trigger, spec, job), after);
    const plan = unlessBroken(trigger, broken, find, this.#sources.faults.at('plan'));
    return plan === null ? never : { ...trigger, ...plan };
  }

  /** One of its name that was deleted may have run ahead of times that are yet to come: these have their records. */
  async #withAhead(row: Trigger): Promise<Trigger> {
    const { job, name: trigger, decidedUntil } = row;
    const from = decidedUntil + 1;
    const { jobs } = this.#sources.store;
    const of = { job, trigger };
    const found = await jobs.loadRecords(of, from, Number.MAX_SAFE_INTEGER, RECORD_COUNT);
    const ahead = found.filter(({ nominal, rerun }) => nominal >= from && rerun === 0);
    return { ...row, decidedAhead: ahead.slice(0, AHEAD_MAX).map(({ nominal }) => nominal) };
  }

  #runOf(state: State, event: JobCommand, job: Job | null): RunTask | null {
    if (event.type !== 'jobRun' || job === null) return null;
    const taskId = this.#sources.templates.taskIdOf(job.name, BY_HAND, event.key, 0);
    const base = this.#sources.templates.taskOf(job, typesOf(state), event.params);
    return { base, taskId, isTaken: false };
  }

  async #byHandAt({ jobs }: State, job: string, now: number): Promise<number> {
    const { store, breathe } = this.#sources;
    let at = Math.max(now, jobs.lastByHandAt + 1);
    for (;;) {
      const of = { job, trigger: BY_HAND };
      const page = await store.jobs.loadRecords(of, at, Number.MAX_SAFE_INTEGER, RECORD_COUNT);
      for (const { nominal } of page) {
        if (nominal > at) return at;
        if (nominal === at) at += 1;
      }
      if (page.length < RECORD_COUNT) return at;
      await breathe();
    }
  }

  /** What has the id that a run by hand is to have; null: nothing has. */
  async #takenBy(run: RunTask | null): Promise<Task | null> {
    if (run === null) return null;
    const found = await this.#sources.store.findTasks([run.taskId], TURN_READ_BYTES_MAX);
    return found.get(run.taskId)?.task ?? null;
  }
}

interface Renewal {
  /** As it is to be. */
  readonly job: Job;
  /** Those that are not kept as they are find their next time. */
  readonly rows: readonly { readonly row: Trigger; readonly isKept: boolean }[];
}

/** Null: its triggers stay as they are. */
function renewalOf(
  event: JobCommand,
  job: Job | null,
  triggers: readonly Trigger[],
  now: number,
): Renewal | null {
  if (event.type === 'jobSet') {
    const { name, definition } = event;
    const isEnabled = definition.isEnabled ?? job?.isEnabled ?? true;
    const { spec, template } = definition;
    const wanted = { ...job, name, spec, template, isEnabled } as Job;
    const isAsBefore = job?.isEnabled === isEnabled && sameBlackouts(job, wanted);
    const rows = renewedTriggers(name, triggers, event.triggers, now).map((row) => {
      const isKept = isAsBefore && triggers.includes(row);
      // Of a job that was disabled no time has come meanwhile.
      const wasOff = !isKept && job?.isEnabled === false;
      return { row: wasOff ? decidedTo(now, row) : row, isKept };
    });
    return { job: wanted, rows };
  }
  if (event.type !== 'jobEnabled' || job === null) return null;
  const { isEnabled } = event;
  const rows = triggers.map((row) => {
    // Those that fire go on as they do.
    const isKept = isEnabled && job.isEnabled && row.paused === null;
    const freed = isEnabled ? { ...row, paused: null, failureCount: 0 } : row;
    return { row: isKept ? row : decidedTo(now, freed), isKept };
  });
  return { job: { ...job, isEnabled }, rows };
}

const decidedTo = (now: number, row: Trigger): Trigger => {
  return { ...row, decidedUntil: Math.max(now, row.decidedUntil) };
};

/** One that counts from the end of a run, and that had an end while it could not fire, would wait for another for ever. */
function rearmed(state: State, trigger: Trigger, now: number): Trigger {
  const isWaiting = trigger.armedAt !== null || !isIdle(activityOf(state, trigger.job));
  if (trigger.kind !== 'delay' || isWaiting) return trigger;
  return { ...trigger, armedAt: firstArmedAt(JSON.parse(trigger.spec) as TriggerSpec, now) };
}

/** What it was is not what it is to be. */
function isChanged(trigger: Trigger, event: JobCommand): boolean {
  if (event.type !== 'jobSet') return event.type !== 'jobEnabled' || !event.isEnabled;
  if (event.definition.isEnabled === false) return true;
  const wanted = event.triggers.find(({ name }) => name === trigger.name);
  return wanted === undefined || JSON.stringify(wanted.spec) !== trigger.spec;
}

function sameBlackouts(a: Pick<Job, 'spec'>, b: Pick<Job, 'spec'>): boolean {
  const textOf = ({ spec }: Pick<Job, 'spec'>) =>
    JSON.stringify((JSON.parse(spec) as JobSpec).blackouts);
  return textOf(a) === textOf(b);
}
