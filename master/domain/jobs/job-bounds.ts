/** What the master holds of jobs at most; `bounds.ts` has the rest. */

/** Jobs of a namespace: their rows are on disk, and some of them are read when calendars change. */
export const JOBS_MAX = 200_000;
/** Bytes of what is kept of the jobs of one page of their list, beside templates: it ends before it has more, though not before the first. */
export const JOBS_PAGE_BYTES_MAX = 1024 * 1024;
/** Versions of a job that are kept: the oldest goes. */
export const JOB_VERSIONS_MAX = 30;

/** Calendars of a namespace, and characters of all of them: they are held in memory. */
export const CALENDARS_MAX = 100;
export const CALENDARS_LENGTH_MAX = 8 * 1024 * 1024;

/**
 * Changes of calendars and black-outs after which triggers are yet to find their times, each of which is asked of each
 * trigger, and characters of what they have changed: beyond it another is refused.
 */
export const ERAS_MAX = 64;
export const ERAS_LENGTH_MAX = 16 * 1024 * 1024;

/** Triggers that one turn reads because they are due, fires, and commits together. */
export const TURN_TRIGGER_COUNT_MAX = 128;
/**
 * Runs that one turn begins of what is due, at most; and pairs of an end and a trigger of another job that waits for ends
 * of that job: each may be a run.
 */
export const TURN_RUN_COUNT_MAX = 128;
/** Jobs of which one turn looks at the ends of runs. */
export const TURN_SETTLE_COUNT_MAX = 32;
/** Triggers of other jobs that wait for the ends of one. */
export const LISTENERS_MAX = 100;
/** How far it is looked whether a job would wait for itself by way of others: in a row, and in all. */
export const SOURCE_STEPS_MAX = 32;
export const SOURCE_JOBS_MAX = 256;
/** Triggers that find their next time anew in one turn, after a calendar has changed. */
export const TURN_REPLAN_COUNT_MAX = 100;

/** Nominal times of a trigger that one turn decides; and that are looked through for the next that fires. */
export const DUE_COUNT_MAX = 512;
export const PLAN_LOOK_COUNT = 128;
/** Triggers of which it is known that the master has failed at them. */
export const TRIGGER_FAULTS_MAX = 1_000;
/** How often people have so many looked through for it. */
export const FIRES_LOOKS_MAX = 22;
/** What was found so is kept of so many triggers, none of which says more than so many characters. */
export const FOUND_FIRES_MAX = 1_000;
export const FOUND_KEY_MAX = 8_192;

/** Of those that are noticed late, so many of one trigger are run by `all`. */
export const MISFIRE_ALL_COUNT_MAX = 100;
/** And of those that came while there was no master, so many of all triggers of a namespace: what is beyond is skipped. */
export const MADE_UP_COUNT_MAX = 10_000;
/** Late ones that a namespace runs at once, and in a second from then on: what is due now comes first. */
export const LATE_AT_ONCE_MAX = 20;
export const LATE_PER_SECOND_MAX = 200;
/** Triggers that were due while there was no master, and of which one turn says when they have theirs. */
export const TURN_MISSED_COUNT_MAX = 1_000;

/** Records of times that one page of their list looks at, where no index leads to those that are asked for. */
export const OCCURRENCE_LOOK_COUNT_MAX = 10_000;

/** Nominal times of a trigger that wait for a run to end; beyond it they are skipped. */
export const PENDING_COUNT_MAX = 100;
/** Nominal times to come of a trigger that somebody has skipped. */
export const SKIPS_MAX = 100;
/** Those that have run ahead of theirs, each of another version: beyond it none is decided of before the last of them. */
export const AHEAD_MAX = 32;
/**
 * Ids of live runs that are known by heart, and ends that wait to be looked at: of more, the newest. Ends before these
 * are counted, and what waits for them has a record of that.
 */
export const LIVE_IDS_MAX = 16;
export const ENDS_MAX = 1_000;
/** How so many runs of a job have ended is shown with it. */
export const RECENT_COUNT_MAX = 20;

/** Times that a backfill goes through, and how often one can be run again. */
export const BACKFILL_COUNT_MAX = 10_000;
export const RERUN_MAX = 99;
/** Previews that are made at a time, of all namespaces: each holds all else for some milliseconds at a time. */
export const PREVIEW_COUNT_MAX = 2;
/** Entries of a schedule, and records, that are looked at in one piece of a backfill. */
export const BACKFILL_LOOK_COUNT = 125;
export const BACKFILL_LOOKS_MAX = 1_000;
export const BACKFILL_RECORD_COUNT = 1_000;
/** By so many seconds of priority its runs stand behind others. */
export const BACKFILL_BEHIND_SECONDS = 86_400;

/** Characters of templates that are kept as they were read, of each namespace: the oldest are read anew. */
export const TEMPLATES_KEPT_LENGTH_MAX = 4 * 1024 * 1024;

/** Names of zones of which clocks are kept, and midnights of all of them of which it is known how far the clocks were ahead. */
export const ZONES_KEPT_MAX = 600;
export const MIDNIGHTS_KEPT_MAX = 100_000;
