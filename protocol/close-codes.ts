/** Why a session's socket was closed, and what the other side should do about it. */
export const CloseCode = {
  /** The executor leaves for good: it holds no task. The master forgets it at once. */
  leaving: 4000,
  /** A frame was not valid. The executor reconnects after its backoff. */
  badFrame: 4400,
  /** The token was refused after the upgrade (it was revoked). Do not reconnect. */
  unauthorized: 4401,
  /** No `hello` in time. */
  handshakeTimeout: 4408,
  /**
   * Another process has taken over this executor id, after this one had been silent. Never sent to
   * a connection of the process that took over. Do not reconnect.
   */
  superseded: 4409,
  /** A sequence number was skipped: resume the session from the last one received. */
  gap: 4410,
  /** The master is a deposed one: its term is lower than one already seen. */
  staleTerm: 4412,
  /**
   * A sequenced frame can never be taken; the reason names task and field. The session is over and
   * the attempt has failed, once. Reconnect; a new session begins, without that frame.
   */
  frameRefused: 4422,
  /** Another living process uses this executor id. Reconnect after the backoff: it may end. */
  idInUse: 4423,
  /**
   * A window is full, or the master is behind with what it has. Reconnect after the backoff; the session
   * goes on, or a new one begins.
   */
  overflow: 4429,
  /** Nothing was heard for a lease. Reconnect and resume. */
  silent: 4440,
  /**
   * The master has rebuilt its state, or this connection was replaced by a newer one of the same
   * process: reconnect at once and say what is running, unless there is that newer one.
   */
  reattach: 4503,
} as const;
export type CloseCode = (typeof CloseCode)[keyof typeof CloseCode];

/** After these an executor must not dial again by itself: the same answer would follow. */
export function isFinalClose(code: number): boolean {
  return code === CloseCode.unauthorized || code === CloseCode.superseded;
}
