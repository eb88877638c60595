/**
 * Times that have passed and are left out, of which no record is written yet: that is done when the next one fires. As
 * they will be told, so that people need not wait for that.
 */
import { DUE_COUNT_MAX } from '../../domain/bounds.ts';
import { recordWith } from '../../domain/jobs/record.ts';
import type { Job, Occurrence, Trigger } from '../../domain/model/job.ts';
import { dueOf } from '../../domain/schedule/due.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { OccurrenceQuery } from './job-store.ts';
import { aroundOf, type Calendars, isOpen } from './planning.ts';

/** Some hundred at most of each trigger, the oldest: there are no more where days, or black-outs, are few. */
export function undecidedOf(
  job: Job,
  triggers: readonly Trigger[],
  calendars: Calendars,
  now: number,
): readonly Occurrence[] {
  const rows = new Map<string, Occurrence>();
  for (const trigger of triggers) {
    if (!isOpen(trigger, now)) continue;
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const around = aroundOf(calendars, trigger, spec, job);
    const limits = { countMax: DUE_COUNT_MAX, lateCountMax: 0, isOfLeftOut: true };
    let { openRun } = trigger;
    for (const time of dueOf(spec, around, trigger.decidedUntil, now, limits).due) {
      const { state, reason, calendar } = time;
      if (state === 'run') break;
      const record = recordWith({ ...trigger, openRun }, time, { state, reason, calendar }, now);
      ({ openRun } = record);
      rows.set(`${trigger.name}/${record.row.nominal}`, record.row);
    }
  }
  return [...rows.values()];
}

/** A page of both: what is not written yet goes on where a record ends, and stands in its place. */
export function withUndecided(
  page: readonly Occurrence[],
  undecided: readonly Occurrence[],
  query: Omit<OccurrenceQuery, 'noticedFrom' | 'job'>,
): readonly Occurrence[] {
  const { trigger, state, from, to, after, limit } = query;
  const asked = undecided.filter((one) => {
    const isWithin = (from === null || one.until >= from) && (to === null || one.nominal < to);
    const isOf = (trigger ?? one.trigger) === one.trigger && (state ?? one.state) === one.state;
    return isWithin && isOf && (after === null || isBehind(placeOf(one), after));
  });
  const known = new Set(asked.map((one) => placeOf(one).join('/')));
  const others = page.filter((one) => !known.has(placeOf(one).join('/')));
  return [...asked, ...others]
    .sort((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1))
    .slice(0, limit);
}

type Place = NonNullable<OccurrenceQuery['after']>;

const placeOf = ({ nominal, trigger, rerun }: Occurrence): Place => [nominal, trigger, rerun];

/** The newest come first. */
function isBehind(
  [at, trigger, rerun]: Place,
  [otherAt, otherTrigger, otherRerun]: Place,
): boolean {
  if (at !== otherAt) return at < otherAt;
  return trigger === otherTrigger ? rerun < otherRerun : trigger < otherTrigger;
}
