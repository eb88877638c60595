/**
 * Pauses of a group, of a label and of all namespaces: they begin, and end by themselves or because somebody says so.
 * That of a namespace is one of its settings, that of a type one of what is set for it.
 */
import { PAUSES_MAX, RESUME_COUNT_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import type { Pause, PauseRow } from '../model/pause.ts';
import { isPausedBy, lanesOf, rejoin } from '../queue/lanes.ts';
import { creditAbsence } from '../steps/absence.ts';
import { pauseCount, pauseKey, type State } from '../state/state.ts';
import { pauseEnded } from './settings.ts';

type OnPause = Extract<Event, { type: 'pauseSet' }>;

/** From here on it holds, or does so no more. What is offered or runs already is left alone. */
export function pauseSet(state: State, event: OnPause, now: number, out: Output): void {
  const { request, scope, value, pause } = event;
  const known = state.pauses.get(pauseKey(scope, value));
  let reply: CommandOutcome = { kind: 'done' };
  if (pause === null) {
    if (known !== undefined) end(state, known, now, out);
  } else if (known === undefined && scope !== 'all' && pauseCount(state) >= PAUSES_MAX) {
    const message = `${PAUSES_MAX} groups and labels are paused: end one of these pauses`;
    reply = { kind: 'full', message };
  } else begin(state, { ...pause, ...begunAs(state, known, now), scope, value }, now, out);
  out.effects.push({ type: 'reply', request, reply });
}

/** As a row says: before there are lanes. */
export function takePause(state: State, row: PauseRow): void {
  const key = pauseKey(row.scope, row.value);
  state.pauses.set(key, row);
  if (row.until !== null) state.deadlines.push({ at: row.until, kind: 'pause', pause: key });
}

/** All namespaces were paused, or resumed, while nobody led this one, or before this one was told of it. */
export function followPauseOfAll(
  state: State,
  pause: Pause | null,
  now: number,
  out: Output,
): void {
  const known = state.pauses.get(pauseKey('all', ''));
  if (pause === null) {
    if (known !== undefined) end(state, known, now, out);
    return;
  }
  const { by, reason, until } = pause;
  const isKnown = known?.by === by && known.reason === reason && known.until === until;
  if (isKnown) return;
  // What was before now is part of the absence.
  const begun = begunAs(state, known, now);
  begin(state, { ...begun, scope: 'all', value: '', by, reason, until }, now, out);
}

function begunAs(state: State, known: PauseRow | undefined, now: number) {
  return { id: known?.id ?? ++state.lastSeq, at: known?.at ?? now };
}

/** When it ends by itself. @param key null: that of the namespace. */
export function pauseEndsAt({ settings, pauses }: State, key: string | null): number | null {
  return (key === null ? settings.paused : pauses.get(key))?.until ?? null;
}

/** It was to last until now. */
export function pauseDue(state: State, key: string | null, now: number, out: Output): void {
  if (key === null) return pauseEnded(state, now, out);
  const row = state.pauses.get(key);
  if (row !== undefined) end(state, row, now, out);
}

function begin(state: State, row: PauseRow, now: number, out: Output): void {
  takePause(state, row);
  // Those that may be offered leave their kinds when they come to the front there.
  const { scope, value, by: actor, reason, until } = row;
  if (scope !== 'all') for (const lane of lanesOf(state, { scope, value })) lane.isPaused = true;
  out.changes.push({ op: 'put', table: 'pause', key: row.id, row });
  const about = { actor, group: scope === 'group' ? value : null };
  tell(state, out, 'pause.set', now, about, { scope, value, reason, until });
}

/** Its time is given back to whatever was to be started. */
function end(state: State, { id, scope, value, at }: PauseRow, now: number, out: Output): void {
  state.pauses.delete(pauseKey(scope, value));
  out.changes.push({ op: 'remove', table: 'pause', key: id, expect: 'any' });
  const group = scope === 'group' ? value : null;
  tell(state, out, 'pause.ended', now, { group }, { scope, value });
  if (scope === 'all') return creditAbsence(state, at, now, out);
  creditAbsence(state, at, now, out, { scope, value, at });
  state.resumed.push(...lanesOf(state, { scope, value }));
  rejoinResumed(state);
}

/** Some of the lanes that no pause keeps any more, others in each tick: there may be thousands. */
export function rejoinResumed(state: State): void {
  for (const lane of state.resumed.splice(-RESUME_COUNT_MAX)) {
    if (state.lanes.get(lane.id) !== lane) continue;
    lane.isPaused = isPausedBy(state, lane);
    if (rejoin(state, lane)) state.roused.add(lane);
  }
}
