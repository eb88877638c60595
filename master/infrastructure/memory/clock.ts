/** What becomes of rows in memory when the wall clock was set back, as `namespace/clock.ts` has it of a database. */
import { pauseMoved } from '../../domain/model/pause.ts';
import type { Rows } from './rows.ts';

/** A retry that waits no longer than this was to follow at once. */
const SOON_MS = 1_000;

/** @param aliveAt when the newest commit was made, by the clock as it was. */
export function followClock(rows: Rows, aliveAt: number, now: number): void {
  const backMs = aliveAt - now;
  const follows = (at: number): number => Math.max(now, at - backMs);
  const types = rows.of('type');
  for (const [name, row] of types) {
    types.set(name, { ...row, paused: pauseMoved(row.paused, backMs) });
  }
  const pauses = rows.of('pause');
  for (const [id, row] of pauses) pauses.set(id, { ...row, at: row.at - backMs });
  const live = rows.of('task');
  for (const [seq, task] of live) {
    const { dueAt, orderTime, lastOutcome } = task;
    const isRetry =
      (dueAt === orderTime || dueAt <= aliveAt + SOON_MS) &&
      (lastOutcome === 'failed' || lastOutcome === 'timed_out');
    const isFollowing = dueAt > now && (dueAt <= aliveAt || isRetry);
    const startBy =
      task.startBy !== null && dueAt <= aliveAt ? task.startBy - backMs : task.startBy;
    live.set(seq, { ...task, startBy, dueAt: isFollowing ? follows(dueAt) : dueAt });
  }
  const history = rows.of('history');
  for (const [key, { task, notification }] of history) {
    if (notification?.state !== 'pending' || notification.nextTryAt <= now) continue;
    const nextTryAt = follows(notification.nextTryAt);
    history.set(key, { task, notification: { ...notification, nextTryAt } });
  }
}
