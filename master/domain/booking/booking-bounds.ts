/** What there may be of bookings in a namespace. */

/** Bookings that are not over; and of those that are, the newest are kept for a week. */
export const BOOKINGS_MAX = 2_000;
export const OVER_BOOKINGS_MAX = 1_000;
export const OVER_BOOKING_KEPT_MS = 7 * 24 * 3_600_000;

/** Windows of one booking that are planned, and with them admitted: what recurs further on is planned as these pass. */
export const WINDOWS_MAX = 30;
/** Windows to come of one booking that are left out. */
export const SKIPS_MAX = 100;

/** Tasks of one booking that have not ended, and as many of them as are ended in one turn. */
export const BOOKED_TASKS_MAX = 1_000;
export const BOOKED_TASK_PAGE = 200;

/** For how long its tasks have run is written so often: what ended since counts as idle where a master is killed. */
export const RAN_WRITTEN_MS = 60_000;

/** Tasks that wait of which an executor is told as it is bound, and characters of their params: what fits into a frame. */
export const ANNOUNCED_COUNT_MAX = 16;
export const ANNOUNCED_LENGTH_MAX = 256 * 1024;

/** Executors that have gone count for so long, and so many of them are known. */
export const GONE_MS = 600_000;
export const GONE_EXECUTORS_MAX = 10_000;
/** What is planned follows the executors there are so often. */
export const PLAN_EVERY_MS = 5_000;
/** And at once where it is known that something has changed, but not more often. */
export const PLAN_AGAIN_MS = 1_000;
/** Windows that are planned anew in one tick; the next one, which comes at once, goes on. */
export const REPLANNED_WINDOWS_MAX = 50;

/**
 * Executors whose bookings begin to keep them, bind or release them in one tick: a turn of a few milliseconds. What is
 * due beyond that is due at once, in the next one.
 */
export const ADVANCED_COUNT_MAX = 64;

/** Of a booking that does not say. */
export const LEAD_MS = 30_000;
export const HOLD_MS = 900_000;

/** Free windows are looked for so far from the one that was refused. */
export const FREE_BEFORE_MS = 24 * 3_600_000;
export const FREE_AFTER_MS = 7 * 24 * 3_600_000;

/**
 * Free windows that a refused booking is told of; times near to it at which what is booked changes that are looked at
 * for that, of each pool, before it and after it; and how often it is asked how much room there is in a pool.
 */
export const BOOKING_FREE_MAX = 20;
export const BOOKING_CHANGES_MAX = 500;
export const BOOKING_LOOK_COUNT = 2_500;

/**
 * The same for one that recurs: for which other windows of it do not fit either, and for all windows of it as it would
 * be at other times. What was found until then is told, in pieces.
 */
export const OTHERS_LOOK_COUNT = 2_500;
export const MOVED_LOOK_COUNT = 4_500;
