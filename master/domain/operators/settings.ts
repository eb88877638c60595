/**
 * What operators set for all tasks: a pause, how many may wait and run, how long they are kept. Written by the commit of
 * the step that takes them, so that nothing that was answered is forgotten, or comes too early.
 */
import { limitsChanged } from '../booking/planning.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event } from '../events.ts';
import { tell } from '../feed/tell.ts';
import { creditAbsence } from '../steps/absence.ts';
import type { Pause } from '../model/pause.ts';
import type { Settings, State } from '../state/state.ts';

/** From here on they hold. What is offered or runs already is left alone. */
export function settingsChanged(
  state: State,
  event: Extract<Event, { type: 'settingsChanged' }>,
  now: number,
  out: Output,
): void {
  const { request, paused, maxWaiting, maxRunning, retention } = event;
  const { paused: before, ...limits } = state.settings;
  if (before !== null && paused === null) pauseEnded(state, now, out);
  const at = before?.at ?? now;
  const pause = paused && { at, by: paused.by, reason: paused.reason, until: paused.until };
  set(state, { paused: pause, maxWaiting, maxRunning, retention }, out);
  watchPause(state);
  if (paused !== null && !isSame(before, paused)) {
    const { reason, until } = paused;
    tell(state, out, 'pause.set', now, {}, { scope: 'namespace', value: '', reason, until });
  }
  const isOther =
    limits.maxWaiting !== maxWaiting ||
    limits.maxRunning !== maxRunning ||
    limits.retention !== retention;
  if (limits.maxRunning !== maxRunning) limitsChanged(state);
  const told = { max_waiting: maxWaiting, max_running: maxRunning, retention };
  if (isOther) tell(state, out, 'namespace.changed', now, {}, told);
  const reply: CommandOutcome = { kind: 'done' };
  out.effects.push({ type: 'reply', request, reply });
}

function isSame(before: Pause | null, { by, reason, until }: Omit<Pause, 'at'>): boolean {
  return before?.by === by && before.reason === reason && before.until === until;
}

/** By itself, or because somebody said so. Its time is given back to whatever was to be started. */
export function pauseEnded(state: State, now: number, out: Output): void {
  const { paused } = state.settings;
  if (paused === null) return;
  set(state, { ...state.settings, paused: null }, out);
  tell(state, out, 'pause.ended', now, {}, { scope: 'namespace', value: '' });
  creditAbsence(state, paused.at, now, out);
}

/** It ends by itself then. */
export function watchPause(state: State): void {
  const at = state.settings.paused?.until ?? null;
  if (at !== null) state.deadlines.push({ at, kind: 'pause', pause: null });
}

function set(state: State, settings: Settings, out: Output): void {
  state.settings = settings;
  out.changes.push({ op: 'settings', settings });
}
