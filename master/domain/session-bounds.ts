/** What sessions of executors may send, and leave unread: part of `bounds.ts`. */

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Bytes of frames that wait for a turn, of all executors together. Beyond it a frame is not taken and
 * its connection is closed: the executor dials again after its backoff, resumes, and sends it again.
 */
export const MAILBOX_FRAME_BYTES_MAX = 64 * MiB;

/**
 * Bytes of frames that executors have not acknowledged, of all sessions together. Beyond it the session
 * that is to send another ends, and what it was offered is taken back.
 */
export const SENT_BYTES_MAX = 256 * MiB;

/** Bytes of the first frame of a connection: anybody may have as many as he likes that have not said who they are. */
export const HELLO_BYTES_MAX = 64 * KiB;

/** Heartbeats of a connection in a second: they need no ack, so that nothing else bounds them. Beyond it it is closed. */
export const HEARTBEAT_COUNT_MAX = 256;

/**
 * Frames of a connection in a second, of whatever kind, and their bytes: several times what may be unacknowledged
 * and comes again at once after a reconnect. Beyond it it is closed.
 */
export const FRAME_COUNT_MAX = 4_096;
export const FRAME_BYTES_MAX = 16 * MiB;

/** Characters of a value in a frame that is read with it; longer ones are read only by whoever keeps them. */
export const FRAME_VALUE_LENGTH_MAX = 16 * KiB;

/**
 * Members of a longer frame, or of its error. Any may be sent, and those that are not known are left out; but to look
 * through tens of thousands takes a tenth of a second. Beyond it it is a bad frame.
 */
export const FRAME_MEMBER_COUNT_MAX = 256;

/** Time for frames of executors in a turn of the event loop; who sends more then waits for the next one. */
export const FRAMES_MS_MAX = 8;

/** Answers to pings that the peer has not read; beyond it its connection is closed. */
export const PONGS_UNSENT_MAX = 60;
