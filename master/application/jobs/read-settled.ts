/** Reads the rows of jobs of which runs have ended. Whoever calls steps nothing else meanwhile. */
import {
  LISTENERS_MAX,
  TURN_READ_BYTES_MAX,
  TURN_RUN_COUNT_MAX,
  TURN_SETTLE_COUNT_MAX,
} from '../../domain/bounds.ts';
import type { Event } from '../../domain/events.ts';
import { activityOf } from '../../domain/jobs/activity.ts';
import type {
  BrokenTrigger,
  DueTrigger,
  RunTask,
  SettledJob,
} from '../../domain/jobs/job-events.ts';
import type { Job, JobActivity, JobEnd, Trigger } from '../../domain/model/job.ts';
import { type Due, dueOf } from '../../domain/schedule/due.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { State } from '../../domain/state/state.ts';
import { jobsByTaskId, withFreeId } from './free-ids.ts';
import { aroundOf, type JobSpec, keyOf, unlessBroken } from './planning.ts';
import { type DueReader, type JobSources, loadAll, typesOf } from './read-due.ts';

/** What has no time of its own. */
const NEVER = { nextAt: null, nextNominal: null, isMore: false };

export class SettledReader {
  readonly #sources: JobSources;
  readonly #due: DueReader;

  constructor(sources: JobSources, due: DueReader) {
    this.#sources = sources;
    this.#due = due;
  }

  async read(state: State, now: number): Promise<readonly Event[]> {
    const { store, breathe } = this.#sources;
    const asked = [...state.jobs.unsettled].slice(0, TURN_SETTLE_COUNT_MAX);
    const found = await store.jobs.loadJobs(asked, TURN_READ_BYTES_MAX);
    const triggers = await store.jobs.loadTriggers(asked);
    const names = asked.filter((name) => !found.rest.includes(name));
    const jobs: SettledJob[] = [];
    const broken: BrokenTrigger[] = [];
    const changed = new Set<string>();
    let runsLeft = TURN_RUN_COUNT_MAX;
    for (const name of names) {
      await breathe();
      const own = triggers.filter((trigger) => trigger.job === name);
      const { ends, lostEnds } = activityOf(state, name);
      const waiting = ends.length === 0 ? [] : await store.jobs.loadListeners(name, LISTENERS_MAX);
      const keys = [...own, ...waiting].map(keyOf);
      const awake = awakeAmong(waiting);
      // What another job of the page changes is read again for the next one.
      if (awake.length > runsLeft || keys.some((key) => changed.has(key))) continue;
      for (const key of keys) changed.add(key);
      const { endCount, pairCount } = withinRuns(ends, awake, runsLeft);
      runsLeft -= pairCount;
      const heard = { ends: ends.slice(0, endCount), lostEnds };
      const listeners = await this.#heard(state, awake, heard, now, broken);
      const job = found.jobs.find((one) => one.name === name) ?? null;
      jobs.push({ ...(await this.#settled(state, name, job, own)), endCount, listeners });
    }
    const settled = { type: 'settledLoaded', jobs } as const;
    return broken.length === 0 ? [settled] : [{ type: 'triggersLoaded', due: [], broken }, settled];
  }

  async #settled(state: State, name: string, job: Job | null, own: readonly Trigger[]) {
    const triggers = own.map((trigger) => {
      return { trigger, spec: JSON.parse(trigger.spec) as TriggerSpec };
    });
    const { pause_after: pauseAfter = null } =
      job === null ? {} : (JSON.parse(job.spec) as JobSpec);
    return { name, job, pauseAfter, triggers, pending: job && (await this.#pendingOf(state, job)) };
  }

  /** With a time for each end that one of them waits for. */
  async #heard(
    state: State,
    awake: readonly Listener[],
    heard: Heard,
    now: number,
    broken: BrokenTrigger[],
  ): Promise<readonly DueTrigger[]> {
    const called = awake.flatMap(({ trigger, spec, awaits }) => {
      const ends = heard.ends.filter(({ state: how }) => how === awaits);
      const lostEnds = heard.lostEnds.filter(({ state: how }) => how === awaits);
      return ends.length + lostEnds.length === 0
        ? []
        : [{ trigger, spec, own: { ends, lostEnds } }];
    });
    const names = [...new Set(called.map(({ trigger }) => trigger.job))];
    const jobs = new Map((await loadAll(this.#sources, names)).map((job) => [job.name, job]));
    const due: DueTrigger[] = [];
    for (const { trigger, spec, own } of called) {
      await this.#sources.breathe();
      const job = jobs.get(trigger.job);
      if (job?.isEnabled !== true) continue;
      const one = unlessBroken(
        trigger,
        broken,
        () => {
          const times = timesOfEnds(state, trigger, spec, job, own, now);
          return this.#due.dueTrigger(state, trigger, spec, job, { due: times, ...NEVER });
        },
        this.#sources.faults.at('heard'),
      );
      if (one !== null) due.push(one);
    }
    return this.#due.withTaken(due);
  }

  /** What the first of its times that wait would make. */
  async #pendingOf(state: State, job: Job): Promise<RunTask | null> {
    const { store, templates } = this.#sources;
    const [first] = activityOf(state, job.name).pending;
    if (first === undefined) return null;
    const taskId = templates.taskIdOf(job.name, first.trigger, first.nominal, first.rerun);
    const byTaskId = await jobsByTaskId(store, [taskId]);
    const base = templates.taskOf(job, typesOf(state), null);
    return withFreeId({ base, taskId }, job.name, byTaskId, templates);
  }
}

/** Ends of a job that are looked at, behind those that were lost. */
type Heard = Pick<JobActivity, 'ends' | 'lostEnds'>;

/** A trigger that waits for ends of another job, and for which. */
interface Listener {
  readonly trigger: Trigger;
  readonly spec: TriggerSpec;
  readonly awaits: string;
}

/** Those that may fire. */
function awakeAmong(triggers: readonly Trigger[]): readonly Listener[] {
  return triggers.flatMap((trigger) => {
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const { timing, isEnabled } = spec;
    if (timing.kind !== 'on' || !isEnabled || trigger.paused !== null) return [];
    return [{ trigger, spec, awaits: timing.state }];
  });
}

/** As many ends, the oldest first, as begin so many runs at most; an end that nobody waits for begins none. */
function withinRuns(
  ends: readonly JobEnd[],
  listeners: readonly Listener[],
  runCountMax: number,
): { readonly endCount: number; readonly pairCount: number } {
  let pairCount = 0;
  for (const [endCount, { state }] of ends.entries()) {
    const count = listeners.filter(({ awaits }) => awaits === state).length;
    if (pairCount + count > runCountMax) return { endCount, pairCount };
    pairCount += count;
  }
  return { endCount: ends.length, pairCount };
}

/** A time for each end. What was heard is never late: it is dealt with as soon as it can be. */
function timesOfEnds(
  { jobs }: State,
  trigger: Trigger,
  spec: TriggerSpec,
  job: Job,
  { ends, lostEnds }: Heard,
  now: number,
): readonly Due[] {
  const around = aroundOf(jobs.calendars, trigger, spec, job);
  const limits = { countMax: 1, lateCountMax: 1, isEdited: true };
  let last = trigger.decidedUntil;
  const dueAt = (endedAt: number): readonly Due[] => {
    const armedAt = Math.max(endedAt, last + 1);
    const { due } = dueOf(spec, { ...around, armedAt }, last, Math.max(now, armedAt), limits);
    last = armedAt;
    return due.map((one) => ({ ...one, at: now, isLate: false }));
  };
  const lost = lostEnds.flatMap(({ from, to, count }) => {
    const nominal = Math.max(from, last + 1);
    const said = { state: 'skipped', reason: 'overflow', calendar: null } as const;
    return dueAt(to).map((one): Due => {
      const of = { ...one, nominal: Math.min(nominal, one.nominal), count };
      return one.state === 'run' ? { ...of, ...said } : of;
    });
  });
  return [...lost, ...ends.flatMap(({ at }) => dueAt(at))];
}
