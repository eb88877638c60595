/** What memory holds of jobs: little, however many there are. */
import { LATE_AT_ONCE_MAX, LATE_PER_SECOND_MAX } from '../bounds.ts';
import { Allowances } from '../state/allowances.ts';
import type { Calendar, JobActivity } from '../model/job.ts';

export interface JobsState {
  /** When the first trigger is to be looked at. */
  nextTriggerAt: number;
  /** Since when this master fires: what was due before was missed. */
  hereSince: number;
  /** Up to when those that are late, or were missed, have their turns; and how many may be run at once. */
  lateAt: number;
  readonly lateAllowances: Allowances;
  /** Times from before `hereSince` that `all` has run since. */
  madeUpCount: number;
  /** Of jobs that are busy. */
  readonly activities: Map<string, JobActivity>;
  /** Of these the ones that are to be looked at: a run has ended, or nothing keeps one that waits. */
  readonly unsettled: Set<string>;
  readonly calendars: Map<string, Calendar>;
  /** Calendars as they were before each change after which triggers are yet to find their next times; the oldest first. */
  eras: readonly EndedEra[];
  /** Null: they have all found theirs. */
  replan: Replan | null;
  /** How many there are; null: nobody has counted them since this master began. */
  jobCount: number | null;
  /** The newest instant that a run by hand has had: no other has the same. */
  lastByHandAt: number;
}

/** By these it is decided what becomes of nominal times up to `until`. A master that begins knows of none. */
export interface Era {
  readonly until: number;
  readonly calendars: ReadonlyMap<string, Calendar>;
}

export interface EndedEra extends Era {
  /** Characters of the calendar that was changed then, as it was. */
  readonly length: number;
}

/** A round of all triggers, which find their next times after calendars have changed. */
export interface Replan {
  /** The last that has, as `job/name`; empty: none has. */
  readonly after: string;
  /** Of the eras so many had ended before the round began, and are over with it. */
  readonly eraCount: number;
}

export const noJobs = (): JobsState => ({
  nextTriggerAt: Number.POSITIVE_INFINITY,
  hereSince: Number.NEGATIVE_INFINITY,
  lateAt: 0,
  lateAllowances: new Allowances(LATE_AT_ONCE_MAX, LATE_PER_SECOND_MAX),
  madeUpCount: 0,
  activities: new Map(),
  unsettled: new Set(),
  calendars: new Map(),
  eras: [],
  replan: null,
  jobCount: null,
  lastByHandAt: 0,
});
