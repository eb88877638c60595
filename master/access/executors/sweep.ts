/**
 * Looks again and again at who has been silent for too long, and knows when it was itself that could
 * not hear.
 */
import { CloseCode, SESSION_LIMITS } from '@soda-scheduler/protocol';
import type { Clock } from '../../application/ports.ts';
import { CLOSE_REASONS, type Connection, type ExecutorSession } from './session.ts';

/** Deadlines are looked at this often; they may be noticed so much late. */
const SWEEP_MS = 1_000;
/** A sweep that comes so much late was not held up by ordinary work. */
const LATE_MS = 1_000;

/**
 * Calls `sweep` every second. `hiddenMs`: this process stood still for so long since the last one; 0 where it
 * did not. Returns how to end it.
 */
export function sweeps(clock: Clock, sweep: (now: number, hiddenMs: number) => void): () => void {
  let callOff: () => void;
  const schedule = (): void => {
    const dueAt = clock.now() + SWEEP_MS;
    callOff = clock.wakeAt(dueAt, () => {
      const now = clock.now();
      sweep(now, now - dueAt > LATE_MS ? now - dueAt : 0);
      schedule();
    });
  };
  schedule();
  return () => callOff();
}

/** What was said while this process stood still lies unread, and is nobody's silence. */
export function forgive(
  connections: Iterable<Connection>,
  sessions: Iterable<ExecutorSession>,
  now: number,
  hiddenMs: number,
): void {
  // Some of it may have been read already.
  const moved = (at: number): number => Math.min(at + hiddenMs, now);
  for (const connection of connections) {
    connection.openedAt = moved(connection.openedAt);
    connection.lastHeardAt = moved(connection.lastHeardAt);
  }
  for (const session of sessions) {
    session.disconnectedAt = moved(session.disconnectedAt);
    session.lastHeardAt = moved(session.lastHeardAt);
  }
}

/** Why a connection is to be closed on which nothing has come for too long; null: it is not. */
export function silenceOf(
  { session, openedAt, lastHeardAt }: Connection,
  now: number,
): { readonly code: CloseCode; readonly reason: string } | null {
  if (session === null) {
    if (now - openedAt < SESSION_LIMITS.handshakeTimeoutMs) return null;
    return { code: CloseCode.handshakeTimeout, reason: 'no hello within 5 s' };
  }
  if (now - lastHeardAt < session.leaseMs) return null;
  return { code: CloseCode.silent, reason: CLOSE_REASONS.silent };
}
