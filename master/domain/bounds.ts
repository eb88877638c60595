/**
 * What the master holds at most, with its unit. What can be set (`SODA_MAX_WAITING`, `SODA_LANE_WINDOW`)
 * is in `defaultPolicy` of `state/policy.ts`, and what both ends of the wire agree on is in
 * `protocol/limits.ts`. Beyond a bound something definite happens, and it is said here what: nothing
 * grows in silence. What fills up shows in the metrics by its name there (`Fill`).
 */

export * from './feed/feed-bounds.ts';
export * from './jobs/job-bounds.ts';
export * from './session-bounds.ts';

/** How full one of these is, in the unit that its name ends with. */
export interface Fill {
  readonly bound: string;
  readonly used: number;
  readonly limit: number;
}

/** Bytes that are held for all namespaces together. */
export interface Tally {
  bytes: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Waiting tasks in memory, and the bytes of what they hold; the rest is read when its turn comes. Of all
 * namespaces together: each that is led has the same share.
 */
export const WINDOW_COUNT_MAX = 100_000;
export const WINDOW_BYTES_MAX = 256 * MiB;

/**
 * Bytes of what offered and running tasks hold (params, checkpoint, the details of their last error).
 * Beyond it nothing is offered until one of them ends, the last one whole.
 */
export const RUNNING_BYTES_MAX = 1024 * MiB;

/**
 * Combinations of type, required labels and labels with waiting tasks, and such combinations with their
 * groups; beyond it submits are refused, with the type that has most of them.
 */
export const KINDS_MAX = 10_000;
export const LANES_MAX = 20_000;

/**
 * Values of `limits.concurrency` of which a task waits in memory, is with an executor, or is held; beyond it a task
 * with another value is refused. Those that wait in memory are `WINDOW_COUNT_MAX` at most. Beyond as many tasks with
 * a place, one that is left to the store gives it up, and asks again when it is read.
 */
export const GATES_MAX = 300_000;

/**
 * Types of a namespace that are registered, and characters of all their definitions; beyond it no other is
 * registered, and none becomes longer. Others of which operators have decided something have places of their
 * own, as many as there may be lanes: so each type of which a task waits can be paused.
 */
export const TYPES_MAX = 10_000;
export const UNREGISTERED_TYPES_MAX = 20_000;
export const TYPES_LENGTH_MAX = 32 * MiB;

/** Groups and labels of a namespace that are paused; beyond it no other is. Types have places of their own. */
export const PAUSES_MAX = 200;

/** Characters of how something was before a change, or is after it, that are kept; what is beyond it is left out. */
export const AUDIT_STATE_LENGTH_MAX = 4 * KiB;

/** Rows of changes that were refused, in a minute; beyond it they are counted, and the next row says how many. */
export const AUDIT_REFUSALS_PER_MINUTE_MAX = 10;

/** Logins at the console; beyond it the one that was idle for longest ends. */
export const LOGINS_MAX = 1_000;
/** Of one token, so that whoever has it logs nobody else out. */
export const TOKEN_LOGINS_MAX = 20;

/** Shared limits of a namespace; beyond it no other is set. */
export const SHARED_LIMITS_MAX = 1_000;

/** Saved views of a namespace; beyond it no other is set. */
export const VIEWS_MAX = 200;

/** Characters of the definitions on one page of types: they are read in about 10 ms. */
export const TYPES_PAGE_LENGTH_MAX = MiB;

/**
 * Types whose defaults are kept as values, and whose schemas are kept compiled, of all namespaces; beyond it the
 * oldest are made anew when a task of theirs is submitted.
 */
export const TYPE_RULES_MAX = 1_000;

/**
 * Operations on many tasks of a namespace that are not over; beyond it none is begun. So many take turns, the others
 * wait. A slice has so many tasks, a page of a search looks at so many rows for them, and of what was
 * not done so many are named.
 */
export const WORK_OPEN_COUNT_MAX = 32;
export const WORK_AT_ONCE_COUNT = 4;
export const WORK_SLICE_COUNT_MAX = 500;
export const WORK_LOOK_COUNT_MAX = 4_000;
export const WORK_PROBLEM_COUNT_MAX = 100;

/**
 * Operations that are over: the newest are kept, and for so long; and all for as long as the preview of each might begin
 * it once more, of which there are so many: beyond it none is begun.
 */
export const WORK_KEPT_COUNT_MAX = 200;
export const WORK_KEPT_MS_MAX = 7 * 86_400_000;
export const WORK_KEPT_MS_MIN = 10 * 60_000;
export const WORK_KNOWN_COUNT_MAX = 2_000;

/** Rows that a preview looks at one by one; by as many others it estimates all that follow, and after so long a search by few. */
export const PREVIEW_LOOK_COUNT_MAX = 100_000;
export const PREVIEW_MS_MAX = 3_000;

/** Lanes whose tasks one list has in order; beyond it the list is refused, and is to name a type or a group. */
export const ORDERED_LANES_MAX = 1_000;

/**
 * Tasks that are counted as coming before another, and combinations of waiting tasks and executors that are looked
 * at for that; beyond it the answer is that there are so many at least.
 */
export const AHEAD_COUNT_MAX = 10_000;
export const AHEAD_LOOK_COUNT = 50_000;

/**
 * Lanes whose first task is asked what keeps it when somebody asks how the work flows, of one type and in all: the
 * oldest. Of the others it is told how many tasks wait in them.
 */
export const HEADS_OF_TYPE_MAX = 8;
export const HEADS_MAX = 64;

/**
 * Ends of attempts and of tries of callbacks that are remembered of each type and group, the newest, and pairs of these
 * of which some are: some 10 MiB. They are looked at as long as they are younger than `OUTCOME_MS_MAX`.
 */
export const OUTCOME_COUNT_MAX = 20;
export const OUTCOME_PAIRS_MAX = 2_000;
export const OUTCOME_MS_MAX = 15 * 60_000;

/** Types of which it is counted in a minute how busy they are, and of these the busiest that are told apart later on. */
export const LOAD_COUNTED_MAX = 2_000;
export const LOAD_TYPES_MAX = 100;

/** What one answer to how the work flows has found, the worst first. */
export const FINDINGS_MAX = 20;

/**
 * Run times that are remembered of each type, the newest, and types of which some are, the newest of these: some 420 KiB.
 * Estimates of starts are made of them, by so many steps and rounds at most.
 */
export const RUN_TIME_COUNT_MAX = 64;
export const RUN_TIME_TYPES_MAX = 1_000;
export const ESTIMATE_STEP_COUNT_MAX = 20_000;
export const ESTIMATE_ROUND_COUNT_MAX = 40;

/** Points of its progress that are remembered of each attempt that runs: beyond it every second one is forgotten. */
export const PACE_POINT_COUNT_MAX = 32;

/** Empty lanes that are looked at to make room for another. */
export const LANE_LOOK_COUNT = 100;

/** Callbacks in flight; the others are read when there is room again. */
export const NOTIFYING_COUNT_MAX = 10_000;

/** Bytes of ended tasks that go along with callbacks in flight; the rest is read when its turn comes. */
export const NOTIFYING_BYTES_MAX = 32 * MiB;

/**
 * Tasks that a lane keeps in memory whatever the total, so that none is shut out by the others; up to
 * so many times `windowBytesMax`. Beyond, it keeps one for an idle executor, or none.
 */
export const LANE_COUNT_MIN = 16;
export const WINDOW_BYTES_FACTOR = 2;

/** Deadlines that one tick fires, and waiting tasks that one look at a lane expires: a turn each. */
export const FIRE_COUNT_MAX = 1_000;

/** Limits for starts whose timers one tick sets anew, after they have moved. */
export const WATCH_COUNT_MAX = 2_000;

/** Lanes and kinds that one tick looks at for pauses that have come to their ends, the last pause whole. */
export const PAUSE_LOOK_COUNT_MAX = 100_000;

/** Lanes that one tick opens again, after a pause. */
export const RESUME_COUNT_MAX = 1_000;

/** Lanes that begin to take turns in one tick, where the groups of their type begin to; the rest follow with the next. */
export const SHARE_LANE_COUNT_MAX = 1_000;

/** Tasks that become ready to be offered from one tick to the next, where more are due at once. */
export const RELEASE_COUNT_MAX = 1_000;

/** Times that a task may be given back unasked, since its last new checkpoint, before that is a failure. */
export const RETURN_COUNT_MAX = 3;

/** Idle executors of a pool, those that have been so for longest, of which a route chooses one. */
export const ROUTE_LOOK_COUNT = 256;

/**
 * Executors that a value of a sticky route passes over because they may not have its tasks now; where fewer than
 * one in hundreds may, some values are kept for nobody.
 */
export const ROUTE_MISS_COUNT = 1024;

/** Tasks of a lane that are kept for other executors while one idles: of more, it takes the first. */
export const ROUTE_KEEP_COUNT = 512;

/** Tasks of which is known since when they are kept, in memory and left to the store: of more, the oldest begin anew. */
export const PASSED_OVER_COUNT_MAX = 500_000;

/**
 * Events stepped in one turn, a batch counted by its tasks, and for how long, the last one whole: bounds both the
 * transaction and the time without I/O. What was stepped takes about as long again to be written.
 */
export const TURN_EVENT_COUNT_MAX = 1024;
export const TURN_STEP_MS_MAX = 5;

/**
 * Reports of callbacks in one turn whose rows are long, or may be: what tells of a callback stands in the row with
 * the result, which is written anew. The others wait for the next turn, and hold up nobody.
 */
export const TURN_LONG_REPORT_COUNT_MAX = 16;

/**
 * Read for one turn: tasks of commands that are not in memory, and the bytes of these, about (or one
 * of them), since their rows are written in one piece; lanes, a page for all together, and so for gates, and for bookings whose tasks are to end. What is
 * beyond waits for the next turn.
 */
export const TURN_COMMAND_COUNT_MAX = 340;
export const TURN_READ_BYTES_MAX = MiB;
export const TURN_LANE_COUNT_MAX = 64;
export const TURN_GATE_COUNT_MAX = 64;
export const TURN_BOOKING_COUNT_MAX = 64;

/**
 * What is known of the ids of history: bits for each, and bytes for each day and for all. Beyond it there
 * are fewer bits for each, and a day is asked more often for ids that it has not.
 */
export const SEGMENT_ID_BITS_MIN = 16;
export const SEGMENT_IDS_BYTES_MAX = 8 * MiB;
export const SEGMENT_IDS_TOTAL_BYTES_MAX = 64 * MiB;

/** Characters of params submitted in one turn, the last batch whole: they are written in one piece. */
export const TURN_PARAMS_LENGTH_MAX = MiB;

/** Characters of the params that a batch hands to the engine at a time, the last task whole. */
export const PART_PARAMS_LENGTH_MAX = 512 * KiB;

/** Rows of one transaction for commits of several namespaces: what does not fit goes with the next. A lone commit may have more. */
export const SHARED_WRITE_COUNT_MAX = 1_024;

/** Events waiting for a turn; beyond it requests are refused with 503. */
export const MAILBOX_COUNT_MAX = 20_000;

/**
 * How long requests may wait for their answer; beyond it submits are refused with 503, until the oldest of
 * those that wait is younger. A batch is one event, so that their number alone bounds no time.
 */
export const SUBMIT_DELAY_MS_MAX = 5_000;

/** A body of so many bytes is small: commands, and most single submits. It overtakes larger ones. */
export const SMALL_BODY_BYTES_MAX = 64 * KiB;

/**
 * Bytes of all bodies whose requests are under way. What large ones (batches) leave is for those of up to
 * 256 KiB, and what both of these leave is for small ones. Beyond it a request is refused with 503.
 */
export const LARGE_BODIES_BYTES_MAX = 128 * MiB;
export const MEDIUM_BODIES_BYTES_MAX = LARGE_BODIES_BYTES_MAX + 32 * MiB;
export const BODIES_BYTES_MAX = MEDIUM_BODIES_BYTES_MAX + 16 * MiB;

/**
 * Connections of clients and executors: ten thousand of these, and whoever submits; three quarters of the files that the
 * process may have open, where these are fewer. Beyond it a new one is closed after one answer: how the process is, or
 * 503. So many have their turn at that; others are closed at once.
 */
export const CONNECTION_COUNT_MAX = 12_000;
export const SPARE_CONNECTION_COUNT_MAX = 16;

/** Requests of one connection that are not answered; beyond it the connection is destroyed. */
export const PIPELINED_COUNT_MAX = 16;

/**
 * Bytes of answers that nobody has read yet, of all connections together. One has one of them at most.
 * Beyond it those are destroyed that have not read for longest.
 */
export const UNREAD_ANSWER_BYTES_MAX = 64 * MiB;

/**
 * Lists that are made at a time, and that wait for that, of one token as many as are free for others; beyond it a request is refused with
 * 503. As many wait to be told how work flows, and as many for reports, one at a time.
 */
export const LIST_COUNT_MAX = 2;
export const LISTS_WAITING_MAX = 100;

/** Events of its own that an executor tells at once, and in a second from then on; what is beyond it is left out, and counted. */
export const TOLD_AT_ONCE_MAX = 256;
export const TOLD_PER_SECOND_MAX = 10;

/** Bytes of ended tasks that are read at a time, about, for an export or the archive (or one task). */
export const HISTORY_PAGE_BYTES_MAX = 512 * KiB;

/** Ended tasks that one request counts; where there are more it says so. */
export const ENDED_COUNT_MAX = 10_000;

/** Namespaces that there are at one time; beyond it none is made, until one is deleted. */
export const NAMESPACES_AT_ONCE_MAX = 1_000;
/** Of those that read their state at one time. */
export const REBUILD_COUNT_MAX = 4;

/** Named tokens, and characters of all their scopes; beyond it none is made, until one is revoked. */
export const TOKENS_MAX = 10_000;
export const TOKEN_SCOPES_LENGTH_MAX = 8 * MiB;

/** Tokens of which it is written, in a second, when they were used last. */
export const TOKEN_USES_COUNT_MAX = 200;

/** Contacts that a task may lose, since its last new checkpoint, before it is given up. */
export const CONTACT_COUNT_MAX = 10;

/** Attempts that are kept of a task: its newest, each new one takes the place of its oldest. */
export const ATTEMPT_COUNT_MAX = 200;

/** Attempts that are remembered of an executor, those that have ended there last; the oldest are forgotten. */
export const PAST_ATTEMPT_COUNT_MAX = 10;

/**
 * Callbacks of which the notifier knows how their newest try went: what could not be written, and is handed
 * over once more, is not sent once more. Beyond it the older half is forgotten, and may be sent again.
 */
export const TRIED_COUNT_MAX = 10_000;

/**
 * Callbacks under way. To receivers that have answered before, and to all others: tries that have just
 * begun, those and the ones that wait aside for their answer, and the bytes of the latter. 32 that begin
 * and leave within half a second are 64 hosts a second, and at the 15 s that each may hang no more than
 * 960 at a time. What waits for a receiver that has not answered is put off beyond these.
 */
export const RECEIVER_LIMITS = {
  proven: { begunMax: 224, inFlightMax: 1024, asideBytesMax: 64 * MiB },
  unproven: { begunMax: 32, inFlightMax: 1024, asideBytesMax: 64 * MiB },
  inFlightPerOriginMax: 32,
  unprovenWaitingMax: 4_000,
  failingHostWaitingMax: 100,
  knownOriginsMax: 10_000,
} as const;

/** Of what a receiver answers, so much is read. */
export const RECEIVER_ANSWER_BYTES_MAX = 64 * KiB;

/**
 * Names of receivers that are known, and that are being asked for, more than there may be connections that
 * wait for one. Beyond it the oldest are forgotten, or the try fails.
 */
export const KNOWN_NAMES_MAX = 5_000;
export const ASKED_NAMES_MAX = 2_000;

/** Bytes of log that nobody has read yet; beyond it lines are lost, and counted. */
export const LOG_BYTES_MAX = 16 * MiB;

/** Characters of a text in the log, which is cut there. */
export const LOG_TEXT_LENGTH_MAX = 4_000;

/** Prepared statements that SQLite keeps; beyond it all are prepared again. */
export const STATEMENT_COUNT_MAX = 200;
