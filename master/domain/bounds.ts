/**
 * What the master holds at most, with unit and default. Here stands what cannot be set; the settings
 * (windows, lanes, callbacks in flight) are in `defaultPolicy` of `state.ts`, and what both ends of
 * the wire agree on is in `protocol/limits.ts`. Beyond a bound something definite happens, and it is
 * said here what: nothing grows in silence.
 */

/** Bytes of ended tasks that go along with callbacks in flight; the rest is read when its turn comes. */
export const NOTIFYING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Tasks that a lane keeps in memory whatever the total, so that none is shut out by the others; up to
 * so many times `windowBytesMax`. Beyond, it keeps one for an idle executor, or none.
 */
export const LANE_COUNT_MIN = 16;
export const WINDOW_BYTES_FACTOR = 2;

/** Deadlines that one tick fires, and waiting tasks that one look at a lane expires: a turn each. */
export const FIRE_COUNT_MAX = 1_000;

/** Tasks that become ready to be offered from one tick to the next, where more are due at once. */
export const RELEASE_COUNT_MAX = 1_000;

/** Times that a task may be given back unasked, since its last new checkpoint, before that is a failure. */
export const RETURN_COUNT_MAX = 3;

/**
 * Events stepped in one turn, a batch counted by its tasks, the last one whole: bounds both the
 * transaction and the time without I/O.
 */
export const TURN_EVENT_COUNT_MAX = 1024;

/** Characters of params submitted in one turn, the last batch whole: they are written in one piece. */
export const TURN_PARAMS_LENGTH_MAX = 1024 * 1024;

/** Events waiting for a turn; beyond it requests are refused with 503. */
export const MAILBOX_COUNT_MAX = 20_000;

/**
 * How long requests may wait for their answer; beyond it submits are refused with 503, until the oldest of
 * those that wait is younger. A batch is one event, so that their number alone bounds no time.
 */
export const SUBMIT_DELAY_MS_MAX = 5_000;

/**
 * Bytes of frames that wait for a turn, of all executors together. Beyond it a frame is not taken and
 * its connection is closed: the executor dials again after its backoff, resumes, and sends it again.
 */
export const MAILBOX_FRAME_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Bytes of frames that executors have not acknowledged, of all sessions together. Beyond it the session
 * that is to send another ends, and what it was offered is taken back.
 */
export const SENT_BYTES_MAX = 256 * 1024 * 1024;

/** A body of so many bytes is small: commands, and most single submits. It overtakes larger ones. */
export const SMALL_BODY_BYTES_MAX = 64 * 1024;

/**
 * Bytes of all bodies whose requests are under way. What large ones (batches) leave is for those of up to
 * 256 KiB, and what both of these leave is for small ones. Beyond it a request is refused with 503.
 */
export const LARGE_BODIES_BYTES_MAX = 128 * 1024 * 1024;
export const MEDIUM_BODIES_BYTES_MAX = LARGE_BODIES_BYTES_MAX + 32 * 1024 * 1024;
export const BODIES_BYTES_MAX = MEDIUM_BODIES_BYTES_MAX + 16 * 1024 * 1024;

/** Contacts that a task may lose, since its last new checkpoint, before it is given up. */
export const CONTACT_COUNT_MAX = 10;

/** Attempts that are kept of a task: its newest, each new one takes the place of its oldest. */
export const ATTEMPT_COUNT_MAX = 200;

/**
 * Callbacks that the notifier knows to be delivered, the newest: what could not be written, and is handed
 * over once more, is not sent once more. Beyond it the oldest are forgotten, and may be sent again.
 */
export const DELIVERED_COUNT_MAX = 10_000;
