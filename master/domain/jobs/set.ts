/** Jobs as people set them: made, changed, run by hand, and deleted. */
import { JOB_VERSIONS_MAX, JOBS_MAX, SKIPS_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import { tell } from '../feed/tell.ts';
import type { Event } from '../events.ts';
import { ANY_JOB, isAsked } from '../model/job-query.ts';
import { BY_HAND, type Job, type JobVersion, type Trigger } from '../model/job.ts';
import type { Task } from '../model/task.ts';
import { recordOne } from './record.ts';
import { firstArmedAt } from '../schedule/times.ts';
import { haveSameTimes, type TriggerSpec } from '../schedule/trigger-spec.ts';
import type { State } from '../state/state.ts';
import { activityOf, putActivity } from './activity.ts';
import { putTrigger, run } from './fire.ts';
import type { DefinedTrigger, FoundJob, JobChange, RunTask } from './job-events.ts';

type OnJob = Extract<Event, { type: JobChange['type'] }>;
type Ask<T extends OnJob['type']> = Extract<OnJob, { type: T }> & { readonly found: FoundJob };

const NO_JOB: CommandOutcome = { kind: 'unknown', message: 'There is no such job.' };

/** A command on a job, with its rows: these are asked for first. */
export function onJob(state: State, event: OnJob, now: number, out: Output): void {
  if (event.found === undefined) {
    out.loads.push({ type: 'job', event });
    return;
  }
  const { found, within } = event;
  const isSeenByAll = found.job === null || isAsked(found.job, { ...ANY_JOB, within });
  const reply = isSeenByAll ? decide(state, { ...event, found }, now, out) : NO_JOB;
  out.effects.push({ type: 'reply', request: event.request, reply });
}

function decide(
  state: State,
  event: OnJob & { readonly found: FoundJob },
  now: number,
  out: Output,
): CommandOutcome {
  switch (event.type) {
    case 'jobSet':
      return jobSet(state, event, now, out);
    case 'jobEnabled':
      return jobEnabled(state, event, now, out);
    case 'jobRemoved':
      return jobRemoved(state, event, now, out);
    case 'jobRun':
      return jobRun(state, event, now, out);
    case 'occurrenceSkipped':
      return occurrenceSkipped(state, event, now, out);
  }
}

/** It leaves the job as it is, whatever comes of its triggers: it is refused, or as asked for already. */
export function changesNothing(
  event: OnJob,
  { job, triggers, refusal }: Pick<FoundJob, 'job' | 'triggers' | 'refusal'>,
): boolean {
  if (job === null || !isAsked(job, { ...ANY_JOB, within: event.within })) return true;
  switch (event.type) {
    case 'jobSet':
      return event.isTrial || refusal !== null || staleness(job, event.expect) !== null;
    case 'jobEnabled':
      return isEnabledSo(job, triggers, event.isEnabled);
    case 'jobRemoved':
      return staleness(job, event.expect) !== null;
    case 'jobRun':
    case 'occurrenceSkipped':
      return true;
  }
}

/** One that is enabled again has no trigger that is paused. */
function isEnabledSo(job: Job, triggers: readonly Trigger[], isEnabled: boolean): boolean {
  const isPaused = triggers.some(({ paused }) => paused !== null);
  return job.isEnabled === isEnabled && !(isEnabled && isPaused);
}

function staleness(job: Job | null, expect: number | null): CommandOutcome | null {
  if (expect === null || expect === (job?.version ?? 0)) return null;
  const now = job === null ? 'there is none' : `it has version ${job.version}`;
  return { kind: 'stale', message: `The job is not at version ${expect}: ${now}.` };
}

function jobSet(state: State, event: Ask<'jobSet'>, now: number, out: Output): CommandOutcome {
  const { name, definition, found, expect, isTrial, by } = event;
  const stale = staleness(found.job, expect);
  if (stale !== null) return stale;
  const { job: before, triggers, renewed, refusal } = found;
  if (refusal !== null) return { kind: 'misfit', message: refusal };
  const jobCount = state.jobs.jobCount ?? found.jobCount;
  if (before === null && jobCount !== null && jobCount >= JOBS_MAX) {
    return { kind: 'full', message: `there are ${JOBS_MAX} jobs: delete one` };
  }
  const { isEnabled: wanted, ...rest } = definition;
  const isEnabled = wanted ?? before?.isEnabled ?? true;
  const isSame = before !== null && before.spec === rest.spec && before.template === rest.template;
  if (isTrial || (isSame && before.isEnabled === isEnabled)) {
    const version = isSame ? before.version : (before?.version ?? 0) + 1;
    return { kind: 'done', version, isNew: before === null, triggers: renewed };
  }
  const version = isSame ? before.version : (before?.version ?? 0) + 1;
  const isMoved = before === null || before.type !== rest.type || before.group !== rest.group;
  const begun = { ownedAt: now, lastStartedAt: null, lastEndedAt: null, recent: '' };
  const kept = isMoved ? { createdAt: now, ...before, ...begun } : before;
  const job: Job = { ...kept, ...rest, name, version, isEnabled, changedAt: now, by };
  out.changes.push({ op: 'put', table: 'job', key: name, row: job });
  if (before === null && jobCount !== null) state.jobs.jobCount = jobCount + 1;
  if (!isSame) putVersion(job, out);
  putTriggers(state, triggers, isMoved ? renewed.map(forgetful) : renewed, out);
  tell(state, out, 'job.changed', now, {}, { job: name, version });
  return { kind: 'done', version, isNew: before === null, triggers: renewed };
}

/** Of a job of another type or group: it tells nothing of how the runs before went. */
function forgetful(trigger: Trigger): Trigger {
  const paused = trigger.paused && {
    ...trigger.paused,
    reason: 'by runs of another type or group',
  };
  return { ...trigger, lastFiredAt: null, failureCount: 0, paused, openRun: null };
}

function putVersion({ name, version, spec, template, by, changedAt: at }: Job, out: Output): void {
  const row: JobVersion = { job: name, version, spec, template, at, by };
  out.changes.push({ op: 'put', table: 'jobVersion', key: [name, version], row });
  const key = [name, version - JOB_VERSIONS_MAX] as const;
  if (key[1] > 0) out.changes.push({ op: 'remove', table: 'jobVersion', key, expect: 'any' });
}

/** What is as it was is not written. */
function putTriggers(
  state: State,
  before: readonly Trigger[],
  after: readonly Trigger[],
  out: Output,
): void {
  for (const row of after) if (!before.includes(row)) putTrigger(state, row, out);
  const names = new Set(after.map(({ name }) => name));
  for (const { job, name } of before) {
    if (names.has(name)) continue;
    out.changes.push({ op: 'remove', table: 'trigger', key: [job, name], expect: 'any' });
  }
}

function jobEnabled(
  state: State,
  { name, isEnabled, found }: Ask<'jobEnabled'>,
  now: number,
  out: Output,
): CommandOutcome {
  const { job, triggers, renewed } = found;
  if (job === null) return NO_JOB;
  if (!isEnabledSo(job, triggers, isEnabled)) {
    out.changes.push({ op: 'put', table: 'job', key: name, row: { ...job, isEnabled } });
    putTriggers(state, triggers, renewed, out);
    tell(state, out, isEnabled ? 'job.enabled' : 'job.disabled', now, {}, { job: name });
  }
  return { kind: 'done', version: job.version };
}

/** What runs goes on; what waits for it is not run. */
function jobRemoved(
  state: State,
  { name, expect, found }: Ask<'jobRemoved'>,
  now: number,
  out: Output,
): CommandOutcome {
  const stale = staleness(found.job, expect);
  const { job, triggers } = found;
  if (job === null) return NO_JOB;
  if (stale !== null) return stale;
  out.changes.push({ op: 'remove', table: 'job', key: name, expect: 'any' });
  if (state.jobs.jobCount !== null) state.jobs.jobCount -= 1;
  for (let at = Math.max(1, job.version - JOB_VERSIONS_MAX + 1); at <= job.version; at++) {
    out.changes.push({ op: 'remove', table: 'jobVersion', key: [name, at], expect: 'any' });
  }
  putTriggers(state, triggers, [], out);
  dropPending(state, name, now, out);
  tell(state, out, 'job.deleted', now, {}, { job: name });
  return { kind: 'done' };
}

/** Another job of that name has nothing to do with them. */
function dropPending(state: State, job: string, now: number, out: Output): void {
  const { pending, ...activity } = activityOf(state, job);
  for (const { trigger, nominal, rerun } of pending) {
    const said = { state: 'skipped', reason: 'deleted', calendar: null, rerun } as const;
    recordOne({ job, name: trigger }, nominal, said, now, out);
  }
  if (pending.length > 0) putActivity(state, { ...activity, pending: [] }, out);
}

/** Beside what its triggers say, and whatever runs already. */
function jobRun(
  state: State,
  { name, found }: Ask<'jobRun'>,
  now: number,
  out: Output,
): CommandOutcome {
  const { job, run: asked, byHandAt: nominal } = found;
  if (job === null || asked === null || nominal === null) return NO_JOB;
  const { taskId } = asked;
  const taken = state.tasks.get(taskId) ?? found.taken;
  if (taken !== null && taken.job?.name !== name) {
    return { kind: 'conflict', message: `There is a task ${taskId} that is no run of this job.` };
  }
  if (taken !== null && isOtherThan(taken, asked, job.version)) {
    return { kind: 'conflict', message: `Task ${taskId} is a run by that key with other params.` };
  }
  if (taken !== null) return { kind: 'done', run: { taskId, nominal: null } };
  state.jobs.lastByHandAt = nominal;
  const of = { reason: null, calendar: null, rerun: 0 };
  const begun = { name, version: job.version, trigger: BY_HAND };
  const refusal = run(state, asked, { ...begun, nominal, backfill: null }, of, now, out);
  if (refusal !== null) return { kind: 'misfit', message: refusal };
  return { kind: 'done', run: { taskId, nominal } };
}

/** Of another version it cannot be told: what it runs may be read from another template. */
function isOtherThan({ job, params }: Task, { base }: RunTask, version: number): boolean {
  return job?.version === version && typeof base !== 'string' && base.params !== params;
}

function occurrenceSkipped(
  state: State,
  { trigger: name, nominal, isSkipped, found }: Ask<'occurrenceSkipped'>,
  now: number,
  out: Output,
): CommandOutcome {
  const trigger = found.triggers.find((one) => one.name === name);
  if (found.job === null) return NO_JOB;
  if (trigger === undefined) return { kind: 'unknown', message: `The job has no trigger ${name}.` };
  const { decidedUntil, decidedAhead } = trigger;
  if (nominal <= Math.max(decidedUntil, now) || decidedAhead.includes(nominal)) {
    return { kind: 'conflict', message: 'That time has passed: it has been decided.' };
  }
  const others = trigger.skips.filter((one) => one !== nominal);
  if (isSkipped && others.length >= SKIPS_MAX) {
    return { kind: 'full', message: `${SKIPS_MAX} times of it are skipped already` };
  }
  const skips = isSkipped ? [...others, nominal].sort((a, b) => a - b) : others;
  if (skips.length === trigger.skips.length) return { kind: 'done' };
  // It may have been passed over: looked at now, the trigger finds its next time anew.
  const isPassedOver = !isSkipped && trigger.nextAt !== null;
  const next = isPassedOver ? { nextAt: now, nextNominal: null } : {};
  putTrigger(state, { ...trigger, skips, ...next }, out);
  return { kind: 'done' };
}

/** The rows of its triggers as they are to be, without their next times where these are to be found anew. */
export function renewedTriggers(
  job: string,
  before: readonly Trigger[],
  wanted: readonly DefinedTrigger[],
  now: number,
): readonly Trigger[] {
  return wanted.map(({ spec, ...named }): Trigger => {
    const text = JSON.stringify(spec);
    const known = before.find(({ name }) => name === named.name);
    if (known?.spec === text) return known;
    const begun = { firedCount: 0, lastFiredAt: null, failureCount: 0, decidedAhead: [] };
    const isTimedAlike =
      known !== undefined && haveSameTimes(JSON.parse(known.spec) as TriggerSpec, spec);
    const times = isTimedAlike
      ? known
      : { anchorAt: now, skips: [], armedAt: awaitsEnd(known) ? null : firstArmedAt(spec, now) };
    const { anchorAt, skips, armedAt } = times;
    // The clock may have been set back. One that was held back has not decided its times up to now: it had none.
    const decidedUntil = Math.max(now, known?.decidedUntil ?? now);
    const kept = { anchorAt, decidedUntil, skips, armedAt };
    const fresh = { paused: null, openRun: null, nextAt: null, nextNominal: null };
    return { ...begun, ...known, ...kept, ...fresh, job, ...named, spec: text, changedAt: now };
  });
}

/** It counts from the end of a run, and that has not come. */
const awaitsEnd = (known: Trigger | undefined): boolean =>
  known?.kind === 'delay' && known.armedAt === null;
