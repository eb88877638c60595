/** What happens to jobs: what is asked of them, and what has been read of their rows. */
import type { Job, Trigger } from '../model/job.ts';
import type { Sight } from '../model/task-filter.ts';
import type { Task } from '../model/task.ts';
import type { NewTask } from '../model/new-task.ts';
import type { Due } from '../schedule/due.ts';
import type { TriggerSpec } from '../schedule/trigger-spec.ts';

/** A job as somebody wants it. */
export type JobDefinition = Pick<
  Job,
  'spec' | 'template' | 'type' | 'group' | 'tags' | 'description'
> & {
  /** Null: as it is; of a new one: it is. */
  readonly isEnabled: boolean | null;
};

/** A trigger of it. */
export type DefinedTrigger = Pick<Trigger, 'name' | 'kind' | 'isCalendared' | 'source'> & {
  readonly spec: TriggerSpec;
};

/** To a job. `expect`: the version that it must have; null: whatever it has, or that there is none. */
export type JobChange =
  | {
      readonly type: 'jobSet';
      readonly name: string;
      readonly definition: JobDefinition;
      readonly triggers: readonly DefinedTrigger[];
      readonly expect: number | null;
      /** Only to tell what would become of it. */
      readonly isTrial: boolean;
      readonly by: string | null;
    }
  | { readonly type: 'jobEnabled'; readonly name: string; readonly isEnabled: boolean }
  | { readonly type: 'jobRemoved'; readonly name: string; readonly expect: number | null }
  /** Now, beside what its triggers say. */
  | {
      readonly type: 'jobRun';
      readonly name: string;
      /** The same never makes two runs. */
      readonly key: string;
      /** JSON text in place of those of the template; null: those. */
      readonly params: string | null;
    }
  | {
      readonly type: 'occurrenceSkipped';
      readonly name: string;
      readonly trigger: string;
      readonly nominal: number;
      readonly isSkipped: boolean;
    };

/** To a calendar, or with an empty name to the black-outs of all jobs; null: there is to be none. */
export interface CalendarChange {
  readonly type: 'calendarSet';
  readonly name: string;
  readonly text: string | null;
  readonly expect: number | null;
  /** Also where triggers name it. */
  readonly isForced: boolean;
  readonly by: string | null;
  /** Whether triggers name it: read just before. */
  readonly isUsed: boolean;
}

/** What is read with a command on a job. */
export interface FoundJob {
  /** Null: there is none. */
  readonly job: Job | null;
  readonly triggers: readonly Trigger[];
  /** Its triggers as they are to be, with their next times. */
  readonly renewed: readonly Trigger[];
  /** What would be run now; a text: why that would be refused. Null: nothing is to be run. */
  readonly run: RunTask | null;
  /** From now on the first instant that no run by hand of it has: a clock may have been set back. Null: none is asked for. */
  readonly byHandAt: number | null;
  /** The task that has its id already; null: none has, as far as the store knows. */
  readonly taken: Task | null;
  /** Why it may not wait for ends of the jobs that it is to wait for. Null: it may. */
  readonly refusal: string | null;
  /** How many jobs there are, where that had to be counted; null: it is known, or no matter. */
  readonly jobCount: number | null;
}

/** A run, before it is accepted. */
export interface RunTask {
  readonly base: NewTask | string;
  /** That its task is to have. */
  readonly taskId: string;
  /** There is such a task already. */
  readonly isTaken: boolean;
}

/** A nominal time that is due, and the task that it would make. */
export interface DueTime extends Due, Omit<RunTask, 'base'> {}

/** A trigger with what of it is due, and its next time behind that. */
export interface DueTrigger extends Pick<Trigger, 'nextAt' | 'nextNominal'> {
  readonly trigger: Trigger;
  readonly spec: TriggerSpec;
  readonly version: number;
  readonly base: NewTask | string;
  readonly due: readonly DueTime[];
  /** There are further ones that are due. */
  readonly isMore: boolean;
  /** It is run now, however late it is, and whatever else is: somebody waits for it. */
  readonly isAwaited?: boolean;
}

/** A trigger that has its turn by and by, and at its next time that is yet to come at the latest; null: none is. */
export interface MissedTrigger {
  readonly trigger: Trigger;
  readonly nextNominal: number | null;
}

/** A trigger whose times cannot be told here: it is paused. */
export interface BrokenTrigger {
  readonly trigger: Trigger;
  /** For people. */
  readonly reason: string;
}

/** A job of which runs have ended, or that has nominal times that wait. */
export interface SettledJob {
  readonly name: string;
  /** Null: it was deleted. */
  readonly job: Job | null;
  readonly pauseAfter: number | null;
  readonly triggers: readonly { readonly trigger: Trigger; readonly spec: TriggerSpec }[];
  /** So many of its ends are looked at, the oldest. */
  readonly endCount: number;
  /** Of other jobs: they wait for these ends. */
  readonly listeners: readonly DueTrigger[];
  /** The first of its nominal times that wait; null: none does. */
  readonly pending: RunTask | null;
}

/** A nominal time that a backfill runs. */
export interface BackfillTime extends Pick<Due, 'nominal' | 'calendar'>, Omit<RunTask, 'base'> {
  /** 1 or more: no record of that time has it. */
  readonly rerun: number;
}

/** The next slice of a backfill. */
export interface BackfillPage extends Pick<RunTask, 'base'> {
  readonly workId: string;
  readonly version: number;
  /** So many as may be begun now, at most. */
  readonly times: readonly BackfillTime[];
  readonly cursor: string;
  /** Why there can be no more of it; null: it goes on. */
  readonly gone: string | null;
}

export type JobHappening =
  | (JobChange & {
      readonly request: number;
      readonly found?: FoundJob;
      /** What whoever asks may see and touch. */
      readonly within: Sight;
    })
  | (CalendarChange & { readonly request: number })
  | {
      readonly type: 'triggersLoaded';
      readonly due: readonly DueTrigger[];
      /** What was to be looked at while there was no master, where that is more than can be run at once. */
      readonly missed?: readonly MissedTrigger[];
      readonly broken?: readonly BrokenTrigger[];
      /** When the first of the others is to be looked at; null: none is. Absent: nobody has asked. */
      readonly nextAt?: number | null;
    }
  /** A run of a job, for which the next one comes, unless it is behind `seqMax`; `task` as in a command: absent at first. */
  | {
      readonly type: 'runReplaced';
      readonly taskId: string;
      readonly seqMax: number;
      readonly task?: Task | null;
    }
  /** Live tasks of a job, its backfills in them, none submitted behind `seqMax`. */
  | {
      readonly type: 'runsFound';
      readonly job: string;
      readonly seqMax: number;
      readonly tasks: readonly Task[];
      /** Where the next page begins; null: that was all. */
      readonly cursor: string | null;
    }
  | { readonly type: 'settledLoaded'; readonly jobs: readonly SettledJob[] }
  | {
      readonly type: 'replanLoaded';
      readonly triggers: readonly Trigger[];
      /** Behind which the next ones are; null: that was all. */
      readonly after: string | null;
    };
