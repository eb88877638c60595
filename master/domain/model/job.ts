/**
 * A job, what fires it, and what has become of each time at which it was to be fired. Data only: what follows from
 * what stands in `jobs/`, and which times there are in `schedule/`.
 */
import type { TaskJob } from './task-job.ts';
import type { TerminalState } from './task.ts';

/** What is submitted again and again. Only a page of them is ever in memory: a template may be large. */
export interface Job {
  readonly name: string;
  readonly version: number;
  readonly isEnabled: boolean;
  /** Canonical JSON of what was set, but for the template and whether it is enabled. */
  readonly spec: string;
  /** JSON of `{ task, user }`, as it was written. */
  readonly template: string;
  /** Of its tasks, as the template says. */
  readonly type: string;
  readonly group: string;
  readonly tags: readonly string[];
  readonly description: string | null;
  readonly createdAt: number;
  readonly changedAt: number;
  /** Since when its tasks are of this type and group: who may see only these sees nothing of what was before. */
  readonly ownedAt: number;
  /** Who has made this version; null: somebody who needs no token. */
  readonly by: string | null;
  /** When the run that has ended last was started; null: none has, or it never was. */
  readonly lastStartedAt: number | null;
  readonly lastEndedAt: number | null;
  /** How the newest runs have ended, newest first: a letter each (`RECENT_LETTERS`). */
  readonly recent: string;
}

/** How a run has ended, as a letter. */
export const RECENT_LETTERS: Readonly<Record<TerminalState, string>> = {
  succeeded: 's',
  failed: 'f',
  canceled: 'c',
  expired: 'e',
};

/** A version of a job, as it was set. */
export type JobVersion = Pick<Job, 'version' | 'spec' | 'template' | 'by'> & {
  readonly job: string;
  readonly at: number;
};

export type TriggerKind = 'cron' | 'every' | 'delay' | 'at' | 'rotate' | 'on';

/** Times that came one after another, none of which was run, for one reason: one record stands for all. */
export interface OpenRun {
  /** The first of them, by which the record is known. */
  readonly nominal: number;
  readonly state: OccurrenceState;
  readonly count: number;
  readonly reason: string | null;
  readonly calendar: string | null;
}

/** What fires a job. It costs nothing while it waits: memory knows only when the first of all is due. */
export interface Trigger {
  readonly job: string;
  readonly name: string;
  readonly kind: TriggerKind;
  /** JSON of what it is, with what it takes from its job. */
  readonly spec: string;
  /** It goes by calendars: when one is changed its next time is found anew. */
  readonly isCalendared: boolean;
  /** Of which job it waits for ends, with `on`; else null. */
  readonly source: string | null;
  /** Since when its times are what they are: what has no other beginning is counted from here. */
  readonly anchorAt: number;
  /** Since when it is as it is. */
  readonly changedAt: number;
  /** Of one that counts from ends of runs: the time that has come; null: none has. */
  readonly armedAt: number | null;
  /** When it is looked at next, jitter and shift in it; null: not by itself. */
  readonly nextAt: number | null;
  /** The nominal time that it is to fire for then; null where it is only looked at. */
  readonly nextNominal: number | null;
  /** Each nominal time up to this one has exactly one record: no instant that is yet to come. */
  readonly decidedUntil: number;
  /** Nominal times behind that which have their record already, ascending: they were moved to a day before theirs. */
  readonly decidedAhead: readonly number[];
  /** Runs that it has begun. */
  readonly firedCount: number;
  readonly lastFiredAt: number | null;
  /** Runs in a row that have not succeeded. */
  readonly failureCount: number;
  readonly paused: { readonly at: number; readonly reason: string } | null;
  /** Nominal times to come that somebody has skipped, ascending. */
  readonly skips: readonly number[];
  /** Those it was decided of last, where they go on. */
  readonly openRun: OpenRun | null;
}

/** All its runs have begun. */
export function isUsedUp(
  { firedCount }: Pick<Trigger, 'firedCount'>,
  maxRuns: number | null,
): boolean {
  return maxRuns !== null && firedCount >= maxRuns;
}

/** `pending` waits until the overlap policy lets it run. */
export type OccurrenceState = 'ran' | 'pending' | 'skipped' | 'merged' | 'replaced' | 'refused';

/** What has become of a nominal time, or of several that came one after another. */
export interface Occurrence {
  readonly job: string;
  readonly trigger: string;
  readonly nominal: number;
  /** 0; of a backfill its number. */
  readonly rerun: number;
  readonly state: OccurrenceState;
  readonly reason: string | null;
  /** The calendar or the black-out that has decided. */
  readonly calendar: string | null;
  /** The last that it stands for, and how many. */
  readonly until: number;
  readonly count: number;
  readonly taskId: string | null;
  readonly noticedAt: number;
}

/** The end of a run that nobody has looked at yet. */
export interface JobEnd extends Omit<TaskJob, 'backfill'> {
  readonly taskId: string;
  readonly state: TerminalState;
  readonly startedAt: number | null;
  readonly at: number;
  /** Cut; null: it has succeeded, or nobody knows. */
  readonly error: string | null;
}

/** Ends of one kind that nobody will look at: they came faster than that is done. */
export interface LostEnds extends Pick<JobEnd, 'state'> {
  readonly count: number;
  /** When the first and the last of them came. */
  readonly from: number;
  readonly to: number;
}

/** A nominal time that waits for a run to end. */
export interface PendingTime
  extends Pick<Occurrence, 'trigger' | 'nominal' | 'rerun' | 'noticedAt'> {
  /** What it waits for is told to end, also by a master that begins: tasks up to that one, and none that began since. */
  readonly endsSeqMax?: number;
}

/** Of a job that is busy; there is none of one that is not. */
export interface JobActivity {
  readonly job: string;
  /** Runs of it that have not ended, and the ids of the newest of them. */
  readonly liveCount: number;
  readonly liveIds: readonly string[];
  /** Nominal times that wait, in the order in which they are to be run. */
  readonly pending: readonly PendingTime[];
  readonly ends: readonly JobEnd[];
  /** Those before them that there was no room for, by their states; triggers that wait for them have a record that says so. */
  readonly lostEnds: readonly LostEnds[];
}

export const idleActivity = (job: string): JobActivity => ({
  job,
  liveCount: 0,
  liveIds: [],
  pending: [],
  ends: [],
  lostEnds: [],
});

export function isIdle({ liveCount, ends, pending }: JobActivity): boolean {
  return liveCount + ends.length + pending.length === 0;
}

/** A calendar; with an empty name: what holds for all jobs. */
export interface Calendar {
  readonly name: string;
  readonly version: number;
  /** Canonical JSON: its days and weekend, or the black-outs. */
  readonly text: string;
  readonly changedAt: number;
  readonly by: string | null;
  /** Of the nameless one: behind which trigger others are yet to find their next time; null: none are. */
  readonly replanAfter: string | null;
}

/** The name of the row that says what holds for all jobs. */
export const ALL_JOBS = '';

/** Of runs that somebody has asked for: no trigger has such a name. */
export const BY_HAND = '';
