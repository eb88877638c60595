/**
 * What is set for a type: its definition, its pause, an operator's layer over its limits and its route. Each
 * lasts until it is taken back or ends by itself. What tasks were given when they were submitted stays.
 */
import { TYPES_LENGTH_MAX, TYPES_MAX, UNREGISTERED_TYPES_MAX } from '../bounds.ts';
import type { CommandOutcome, Output } from '../effects.ts';
import type { Event, TypeChange } from '../events.ts';
import { tell } from '../feed/tell.ts';
import {
  layerIn,
  type Route,
  settingsIn,
  type TaskType,
  unregistered,
} from '../model/task-type.ts';
import { limitsChanged } from '../booking/planning.ts';
import { concurrencyOf } from '../limits/places.ts';
import { waits } from '../model/task.ts';
import { shareOut } from '../queue/lanes.ts';
import { registeredCount, type State } from '../state/state.ts';
import { pauseEnd, windowsAt } from '../limits/windows.ts';
import { concurrencyChanged } from './concurrency.ts';
import { missingLimit } from './limits.ts';
import { quotaDue, typeChanged } from '../steps/limits.ts';
import { routeOf } from '../queue/route.ts';

type OnType = Extract<Event, { type: TypeChange['type'] }>;

/** A command on one type, and its answer. */
export function onType(state: State, event: OnType, now: number, out: Output): void {
  const wasPaused = state.quotas.get(event.name)?.open.isPaused ?? false;
  let reply = outcomeOf(state, event, now, out);
  if (!wasPaused && reply.kind === 'done') {
    reply = { ...reply, ...pauseByWindow(state, event.name, now, out) };
  }
  out.effects.push({ type: 'reply', request: event.request, reply });
}

function outcomeOf(state: State, event: OnType, now: number, out: Output): CommandOutcome {
  const { name } = event;
  const known = state.types.get(name);
  switch (event.type) {
    case 'typeSet':
      return typeSet(state, event, now, out);
    case 'typeRemoved':
      return typeRemoved(state, event, now, out);
    case 'typePaused': {
      const { reason, until, by } = event;
      const paused = { at: known?.paused?.at ?? now, reason, until, by };
      return decide(state, name, { paused }, now, out);
    }
    case 'typeResumed':
      return decide(state, name, { paused: null }, now, out);
    case 'typeOverridden': {
      const { layer } = event;
      const override = layer && { ...layer, ...layerIn(layer.text), at: now };
      return decide(state, name, { override }, now, out);
    }
  }
}

/**
 * A version is told at once and not by the commit: of two in one turn the second is to be refused. It is a
 * number that never comes again, also where the type was forgotten meanwhile.
 */
function typeSet(
  state: State,
  { name, text, expect, isTrial = false }: Extract<Event, { type: 'typeSet' }>,
  now: number,
  out: Output,
): CommandOutcome {
  const known = state.types.get(name) ?? unregistered(name);
  const isNew = known.version === 0;
  // Also where another version was expected: whoever has not got the answer asks again.
  if (!isNew && known.text === text) return { kind: 'done', taskType: known };
  const refusal = expectVersion(known, expect);
  if (refusal !== null) return refusal;
  const defined: TaskType = { ...known, ...settingsIn(text), text };
  const missing = missingLimit(state, defined.uses);
  if (missing !== undefined) return { kind: 'conflict', message: `there is no limit ${missing}` };
  if (isTrial) return lackOfRoom(state, defined, true) ?? { kind: 'done', taskType: defined };
  const row = { ...defined, version: ++state.lastSeq };
  return put(state, row, now, out) ?? { kind: 'done', taskType: row, isNew };
}

/** The definition goes; what operators have decided stays until they take it back. */
function typeRemoved(
  state: State,
  { name, expect, isForced }: Extract<Event, { type: 'typeRemoved' }>,
  now: number,
  out: Output,
): CommandOutcome {
  const known = state.types.get(name);
  if (known === undefined || known.version === 0) {
    return { kind: 'unknown', message: 'no such type is defined' };
  }
  const refusal = expectVersion(known, expect);
  if (refusal !== null) return refusal;
  const count = isForced ? 0 : liveCount(state, name);
  if (count > 0) {
    const message = `tasks of it wait or run (${count}): with force=true they go on without its settings`;
    return { kind: 'conflict', message };
  }
  const { paused, override } = known;
  return decide(state, name, { ...unregistered(name), paused, override }, now, out);
}

/** Whether or not it is registered: a row is kept while it says anything. */
function decide(
  state: State,
  name: string,
  change: Partial<TaskType>,
  now: number,
  out: Output,
): CommandOutcome {
  const row: TaskType = { ...(state.types.get(name) ?? unregistered(name)), ...change };
  if (saysNothing(row)) remove(state, name, now, out);
  else {
    const refusal = put(state, row, now, out);
    if (refusal !== null) return refusal;
    watchType(state, row);
  }
  return { kind: 'done', taskType: row };
}

/** Its pause and its override end by themselves then. */
export function watchType(state: State, { type: name, paused, override }: TaskType): void {
  for (const layer of [paused, override]) {
    const at = layer?.until ?? null;
    if (at !== null) state.deadlines.push({ at, kind: 'type', name });
  }
}

/** Who is said to have paused where a window did. */
const BY_WINDOW = 'limits.windows';

/** Another window of it may be open, or that of a rate over. One that pauses does so as an operator would. */
export function windowDue(state: State, name: string, now: number, out: Output): void {
  const quota = state.quotas.get(name);
  if (quota === undefined) return;
  const wasPaused = quota.open.isPaused;
  quotaDue(state, quota, now, out);
  if (!wasPaused) pauseByWindow(state, name, now, out);
}

/** Where one that is open says so, and nobody has paused it. */
function pauseByWindow(
  state: State,
  name: string,
  now: number,
  out: Output,
): CommandOutcome | null {
  const quota = state.quotas.get(name);
  if (!quota?.open.isPaused || quota.taskType.paused !== null) return null;
  const until = pauseEnd(quota.limits.windows, now);
  return decide(state, name, { paused: { at: now, reason: null, until, by: BY_WINDOW } }, now, out);
}

/** One may have begun to pause while there was no master: since its last commit. */
export function recallWindows(state: State, aliveAt: number, now: number, out: Output): void {
  for (const [name, { limits, open }] of state.quotas) {
    if (!open.isPaused || windowsAt(limits.windows, aliveAt).isPaused) continue;
    pauseByWindow(state, name, now, out);
  }
}

/** What was to last until now has ended. */
export function typeDue(state: State, name: string, now: number, out: Output): void {
  const known = state.types.get(name);
  if (known === undefined) return;
  const isOver = (layer: { readonly until: number | null } | null) =>
    layer !== null && layer.until !== null && layer.until <= now;
  if (isOver(known.paused)) decide(state, name, { paused: null }, now, out);
  if (isOver(known.override)) decide(state, name, { override: null }, now, out);
}

/** Whether something of it ends by itself at that instant. */
export function isTimed(taskType: TaskType | undefined, at: number): boolean {
  return taskType?.paused?.until === at || taskType?.override?.until === at;
}

/** Nobody would miss its row. */
export function saysNothing({ version, paused, override }: TaskType): boolean {
  return version === 0 && paused === null && override === null;
}

function expectVersion({ version }: TaskType, expect: number | null): CommandOutcome | null {
  if (expect === null || expect === version) return null;
  return { kind: 'stale', message: `the type is at version ${version}, not ${expect}` };
}

/** Waiting and running ones. */
function liveCount(state: State, type: string): number {
  let count = 0;
  for (const kind of state.kinds.values())
    if (kind.type === type) count += kind.waitingCount + kind.suspendedCount;
  for (const task of state.tasks.values()) {
    if (task.type === type && !waits(task)) count++;
  }
  return count;
}

/** @param isRegistered Whether somebody defines it, or operators decide something of one that nobody has. */
function lackOfRoom(state: State, row: TaskType, isRegistered: boolean): CommandOutcome | null {
  const known = state.types.get(row.type);
  if (isRegistered && (known?.version ?? 0) === 0 && registeredCount(state) >= TYPES_MAX) {
    return { kind: 'full', message: `${TYPES_MAX} types are registered: delete one` };
  }
  const isAnother = !isRegistered && known?.version !== 0;
  if (isAnother && state.types.size - registeredCount(state) >= UNREGISTERED_TYPES_MAX) {
    const message = `${UNREGISTERED_TYPES_MAX} types that are not registered are paused or have an override: end one of these`;
    return { kind: 'full', message };
  }
  const moreLength = row.text.length - (known?.text.length ?? 0);
  if (moreLength > 0 && definitionsLength(state) + moreLength > TYPES_LENGTH_MAX) {
    const message = `the definitions of all types would have more than ${TYPES_LENGTH_MAX} characters`;
    return { kind: 'full', message };
  }
  return null;
}

/** Null, or why there is no room for it. */
function put(state: State, row: TaskType, now: number, out: Output): CommandOutcome | null {
  const refusal = lackOfRoom(state, row, row.version > 0);
  if (refusal !== null) return refusal;
  const { type: key } = row;
  tellChange(state, state.types.get(key) ?? unregistered(key), row, now, out);
  set(state, key, row, now, out);
  out.changes.push({ op: 'put', table: 'type', key, row });
  return null;
}

function remove(state: State, key: string, now: number, out: Output): void {
  const known = state.types.get(key);
  if (known === undefined) return;
  tellChange(state, known, unregistered(key), now, out);
  set(state, key, null, now, out);
  out.changes.push({ op: 'remove', table: 'type', key, expect: 'any' });
}

function tellChange(
  state: State,
  before: TaskType,
  { type, version, paused, override }: TaskType,
  now: number,
  out: Output,
): void {
  const about = { type };
  if (version === 0 && before.version > 0) tell(state, out, 'type.deleted', now, about);
  else if (version !== before.version) tell(state, out, 'type.changed', now, about, { version });
  if (paused !== before.paused) {
    if (paused === null) tell(state, out, 'type.resumed', now, about);
    else {
      const { by: actor, reason, until } = paused;
      tell(state, out, 'type.paused', now, { type, actor }, { reason, until });
    }
  }
  if (override === before.override) return;
  if (override === null) tell(state, out, 'type.override_ended', now, about);
  else {
    const { by: actor, reason, until } = override;
    tell(state, out, 'type.overridden', now, { type, actor }, { reason, until });
  }
}

/** From here on it is so, for all that waits and runs; null: nothing is set. */
function set(state: State, key: string, row: TaskType | null, now: number, out: Output): void {
  const route = routeOf(state, key);
  const concurrency = concurrencyOf(state, key);
  if (row === null) state.types.delete(key);
  else state.types.set(key, row);
  shareOut(state, key, row);
  typeChanged(state, key, row, now, out);
  concurrencyChanged(state, key, concurrency);
  routeChanged(state, key, route);
  limitsChanged(state);
  // What is to give way for bookings may be another now.
  if (state.bookings.active.size > 0) state.bookings.isUnsettled = true;
}

/** What was kept for one executor need not be any more, or for another one. */
function routeChanged(state: State, type: string, before: Route | null): void {
  if (before?.rule !== 'sticky' || routeOf(state, type) === before) return;
  for (const kind of state.kinds.values()) {
    if (kind.type === type) for (const lane of kind.lanes.values()) state.roused.add(lane);
  }
}

function definitionsLength({ types }: State): number {
  let length = 0;
  for (const { text } of types.values()) length += text.length;
  return length;
}
