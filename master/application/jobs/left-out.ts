/**
 * Times that have passed and were left out, of which no record is written yet: that is done when the next one fires, or
 * before a calendar or a black-out is changed. Else one that is taken away would fire all that fell into it.
 */
import { DUE_COUNT_MAX } from '../../domain/bounds.ts';
import type { BrokenTrigger, DueTrigger } from '../../domain/jobs/job-events.ts';
import type { Era } from '../../domain/jobs/jobs-state.ts';
import { openRunBefore, recordWith } from '../../domain/jobs/record.ts';
import { comparePlaces, isTimeAsked, newestFirst, placeOf } from '../../domain/model/job-query.ts';
import type { Job, Occurrence, Trigger } from '../../domain/model/job.ts';
import type { Pieces } from '../../domain/pieces.ts';
import type { Surroundings } from '../../domain/schedule/coming.ts';
import { type Due, dueOf } from '../../domain/schedule/due.ts';
import { timesOf } from '../../domain/schedule/times.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { OccurrencePage, OccurrenceQuery } from './job-store.ts';
import { aroundOf, isOpen, planOf, unlessBroken } from './planning.ts';
import type { JobSources } from './read-due.ts';

/**
 * Of those triggers, up to the first time that is to run. Some, where there are many: none once all are decided.
 *
 * @param jobs of the triggers, by name. @param broken Those whose times cannot be told join it.
 */
export async function leftOutOf(
  jobs: ReadonlyMap<string, Job>,
  triggers: readonly Trigger[],
  { until, calendars }: Era,
  { breathe, faults }: Pick<JobSources, 'breathe' | 'faults'>,
  broken: BrokenTrigger[],
): Promise<readonly DueTrigger[]> {
  const leftOut: DueTrigger[] = [];
  for (const trigger of triggers) {
    await breathe();
    const job = jobs.get(trigger.job);
    if (job === undefined) continue;
    const find = () => leftOutOne(job, trigger, { until, calendars });
    const one = unlessBroken(trigger, broken, find, faults.at('left out'));
    if (one !== null) leftOut.push(one);
  }
  return leftOut;
}

function leftOutOne(job: Job, trigger: Trigger, { until, calendars }: Era): DueTrigger | null {
  const spec = JSON.parse(trigger.spec) as TriggerSpec;
  if (!hasPassed(trigger, spec, until)) return null;
  const around = aroundOf(calendars, trigger, spec, job);
  const found = timesLeftOut(spec, around, trigger, until);
  const last = found.at(-1);
  if (last === undefined) return null;
  const due = found.map((time) => ({ ...time, taskId: '', isTaken: false }));
  const next = { ...planOf(spec, around, last.to), isMore: false };
  return { trigger, spec, version: job.version, base: '', due, ...next };
}

/** The records of those times as they will be written, so that people need not wait for that. */
export function* recordsToCome(
  job: Job,
  triggers: readonly Trigger[],
  era: Era,
): Pieces<readonly Occurrence[]> {
  const rows: Occurrence[] = [];
  for (const trigger of triggers) {
    yield;
    rows.push(...(unlessBroken(trigger, [], () => recordsOfOne(job, trigger, era)) ?? []));
  }
  return rows;
}

function recordsOfOne(
  job: Job,
  trigger: Trigger,
  { until: now, calendars }: Era,
): readonly Occurrence[] {
  const spec = JSON.parse(trigger.spec) as TriggerSpec;
  if (!hasPassed(trigger, spec, now)) return [];
  // A record that goes on replaces the one that it goes on from.
  const own = new Map<number, Occurrence>();
  let { openRun } = trigger;
  const { decidedAhead } = trigger;
  const around = aroundOf(calendars, trigger, spec, job);
  for (const time of timesLeftOut(spec, around, trigger, now)) {
    if (time.state === 'run') break;
    const said = { state: time.state, reason: time.reason, calendar: time.calendar };
    const goesOn = openRunBefore({ openRun, decidedAhead }, time.nominal);
    const record = recordWith({ ...trigger, openRun: goesOn }, time, said, now);
    ({ openRun } = record);
    own.set(record.row.nominal, record.row);
  }
  return [...own.values()];
}

/** A page of both: what is to come goes on where a record ends, and stands in its place. */
export function withRecordsToCome(
  { occurrences: page, lookedTo }: OccurrencePage,
  toCome: readonly Occurrence[],
  query: OccurrenceQuery,
): OccurrencePage {
  const isInPage = (one: Occurrence) =>
    lookedTo === null || comparePlaces(placeOf(one), lookedTo) >= 0;
  const asked = toCome.filter((one) => isTimeAsked(one, query) && isInPage(one));
  const keyOf = (one: Occurrence) => placeOf(one).join('/');
  const replaced = new Set(asked.map(keyOf));
  const written = page.filter((one) => !replaced.has(keyOf(one)));
  const occurrences = [...asked, ...written].sort(newestFirst).slice(0, query.limit);
  return { occurrences, lookedTo };
}

/** A time of it has come that is not decided. */
function hasPassed(trigger: Trigger, spec: TriggerSpec, until: number): boolean {
  if (!isOpen(trigger, until)) return false;
  const next = timesOf(spec, trigger).next(trigger.decidedUntil);
  return next !== null && next <= until;
}

/** Some hundred at most, the oldest: there are no more where days, or black-outs, are few. */
function timesLeftOut(
  spec: TriggerSpec,
  around: Surroundings,
  { decidedUntil }: Trigger,
  until: number,
): readonly Due[] {
  const limits = { countMax: DUE_COUNT_MAX, lateCountMax: 0, isOfLeftOut: true };
  return dueOf(spec, around, decidedUntil, until, limits).due;
}
