/** What a store tells of jobs. What is written of them is part of commits. */
import type {
  Job,
  JobVersion,
  Occurrence,
  OccurrenceState,
  Trigger,
} from '../../domain/model/job.ts';
import type { OccurrencePlace } from '../../domain/model/job-query.ts';
import type { Sight } from '../../domain/model/task-filter.ts';

/** Without its template, which may be large. */
export type ListedJob = Omit<Job, 'template'>;

export interface JobQuery {
  /** By name, after this one. */
  readonly after: string;
  readonly limit: number;
  readonly tag: string | null;
  /** Somewhere in its name or description, whatever the case. */
  readonly text: string | null;
  readonly isEnabled: boolean | null;
  readonly within: Sight | null;
}

export interface JobPage {
  readonly jobs: readonly ListedJob[];
  /** Of all of these. */
  readonly triggers: readonly Trigger[];
  /** Where the next page begins; null: there is none. The page may be empty, and yet not be the last. */
  readonly after: string | null;
}

export interface OccurrenceQuery {
  readonly job: string;
  readonly trigger: string | null;
  readonly state: OccurrenceState | null;
  /** From this instant on: those too that have begun before and stand for times from then on, of triggers that there are. */
  readonly from: number | null;
  /** Before this instant. */
  readonly to: number | null;
  /** Decided not before this instant. */
  readonly noticedFrom: number | null;
  /** Behind this one. */
  readonly after: OccurrencePlace | null;
  readonly limit: number;
}

/** Jobs by name, as far as there was room. */
export interface LoadedJobs {
  readonly jobs: readonly Job[];
  /** Names that there was no room for; of the others there are no more jobs than these. */
  readonly rest: readonly string[];
}

export interface OccurrencePage {
  readonly occurrences: readonly Occurrence[];
  /** Nothing behind it was looked at: the next page goes on there, and this one may be empty. Null: all were, or it is full. */
  readonly lookedTo: OccurrencePlace | null;
}

export interface JobCount {
  readonly count: number;
  readonly last: string | null;
}

/** Triggers that are to be looked at up to `now`. */
export interface DueQuestion {
  readonly now: number;
  /** What was to be looked at by then is told apart. */
  readonly since: number;
  /** Of either, at most. */
  readonly dueCount: number;
  readonly missedCount: number;
}

/** In the order of their time. */
export interface DueTriggers {
  readonly due: readonly Trigger[];
  readonly missed: readonly Trigger[];
  /** When the first after `now` is to be looked at; null: none is. */
  readonly nextAt: number | null;
}

/** Of one namespace. */
export interface JobReads {
  /** When the first trigger is to be looked at after that instant; null: none is. */
  firstTriggerAt(after: number): Promise<number | null>;
  loadDueTriggers(question: DueQuestion): Promise<DueTriggers>;
  /** Ends before the jobs come to more than `bytesMax`, about, though not before the first. */
  loadJobs(names: readonly string[], bytesMax: number): Promise<LoadedJobs>;
  /** How many come behind that name, of the next `limit`, and which is the last of these; null: there is none. */
  countJobs(after: string, limit: number): Promise<JobCount>;
  loadTriggers(jobs: readonly string[]): Promise<readonly Trigger[]>;
  /** Triggers that wait for ends of this job, `limit` at most. */
  loadListeners(job: string, limit: number): Promise<readonly Trigger[]>;
  /** Those that go by calendars, by job and name, behind that place (`job/name`). */
  loadCalendared(after: string, limit: number): Promise<readonly Trigger[]>;
  /**
   * Records of nominal times of a trigger from `from` to `to`, both in it, by nominal and rerun, `limit` at most; before
   * them the one that has begun earlier, and may stand for these too.
   */
  loadRecords(
    of: { readonly job: string; readonly trigger: string },
    from: number,
    to: number,
    limit: number,
  ): Promise<readonly Occurrence[]>;

  // What follows is asked for by others than the engine.

  /** As `loadRecords`. */
  listRecords: JobReads['loadRecords'];
  /** Fewer than `limit` where they are large. */
  listJobs(query: JobQuery): Promise<JobPage>;
  showJob(
    name: string,
  ): Promise<{ readonly job: Job; readonly triggers: readonly Trigger[] } | null>;
  /** The newest first. */
  listVersions(job: string): Promise<readonly JobVersion[]>;
  /** Null: there is no such version of it. */
  readVersion(job: string, version: number): Promise<JobVersion | null>;
  /** The newest nominal time first. Where no index leads to what is asked for, it looks at so many at most. */
  listOccurrences(query: OccurrenceQuery): Promise<OccurrencePage>;
}

/** Of all namespaces. */
export interface JobUpkeep {
  /**
   * Removes of what has become of nominal times before that instant some thousand, but of those that wait; returns
   * how many.
   */
  dropOccurrences(before: number): Promise<number>;
}
