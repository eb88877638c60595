/** What the access layer may ask about jobs. Implemented by `jobs.ts`. */
import type { CommandOutcome } from '../../domain/effects.ts';
import type { CalendarChange, JobChange } from '../../domain/jobs/job-events.ts';
import type {
  Calendar,
  Job,
  JobActivity,
  JobVersion,
  Occurrence,
  Trigger,
} from '../../domain/model/job.ts';
import type { Backfill } from '../../domain/long-work/work.ts';
import type { Coming } from '../../domain/schedule/coming.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { Task } from '../../domain/model/task.ts';
import type { Firing } from './planning.ts';
import type { JobQuery, ListedJob, OccurrencePage, OccurrenceQuery } from './job-store.ts';

/** A job in a list. */
export interface SeenJob {
  readonly job: ListedJob;
  readonly triggers: readonly Trigger[];
  readonly activity: JobActivity;
}

/** With its template. */
export interface SeenJobInDetail extends SeenJob {
  readonly job: Job;
}

/** With what is known of its task. */
export interface SeenRun {
  readonly occurrence: Occurrence;
  readonly task: Task | null;
}

/** A time to come, of one of its triggers. */
export interface NextTime {
  readonly trigger: string;
  readonly spec: TriggerSpec;
  readonly coming: Coming;
}

/** One that is fired. */
export interface FireTime extends NextTime {
  readonly coming: Firing;
}

export interface BegunBackfill extends Omit<Backfill, 'action' | 'within'> {
  readonly by: string | null;
  readonly count: number;
  readonly isExact: boolean;
}

/** What a backfill would do. */
export interface PreviewedBackfill extends Pick<Backfill, 'until'> {
  readonly count: number;
  /** False: `count` is of those that may be run. */
  readonly isExact: boolean;
  readonly first: number | null;
  readonly last: number | null;
  readonly coveredCount: number;
  readonly leftOutCount: number;
  /** There are more times than one may go through: the last of these. Null: that was all. */
  readonly cutAt: number | null;
}

export interface JobsHandle {
  list(query: Omit<JobQuery, 'within'>): Promise<{
    readonly jobs: readonly SeenJob[];
    readonly after: string | null;
  }>;
  /** Null: there is none that may be seen. */
  show(name: string): Promise<SeenJobInDetail | null>;
  /** The newest. */
  runs(job: Pick<Job, 'name' | 'ownedAt'>): Promise<readonly SeenRun[]>;
  versions(name: string): Promise<readonly JobVersion[] | null>;
  /** Null: there is none that may be seen. */
  version(name: string, version: number): Promise<JobVersion | null>;
  occurrences(query: Omit<OccurrenceQuery, 'noticedFrom'>): Promise<OccurrencePage | null>;
  /** Times of these triggers after that instant, in order, `count` at most. */
  next(
    job: Pick<Job, 'spec'>,
    triggers: readonly Trigger[],
    after: number,
    count: number,
  ): Promise<readonly NextTime[]>;
  /** Of each of these triggers the first after that instant which is fired, whatever is left out before: by when they are. */
  fires(
    job: Pick<Job, 'spec'>,
    triggers: readonly Trigger[],
    after: number,
  ): Promise<readonly FireTime[]>;
  /** Changes nothing. A text: why times of the trigger cannot be told. @throws {Unavailable} also where too many ask. */
  previewBackfill(
    job: Job,
    trigger: Trigger,
    asked: Pick<Backfill, 'from' | 'until' | 'which'>,
  ): Promise<PreviewedBackfill | string>;
  /** One with that id is begun once. Resolves once it is durable. @throws {Unavailable} */
  backfill(workId: string, asked: BegunBackfill): Promise<CommandOutcome>;
  /** @throws {Unavailable} */
  change(change: JobChange): Promise<CommandOutcome>;
  /** By name. @throws {Unavailable} nothing is known yet. */
  calendars(): readonly Calendar[];
  calendar(name: string): Calendar | null;
  changeCalendar(change: Omit<CalendarChange, 'type' | 'isUsed'>): Promise<CommandOutcome>;
}
