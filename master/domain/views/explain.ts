/** Why a waiting task does not run yet: the question that every other scheduler leaves open. */
import type { Gate } from '../limits/gate.ts';
import { reachedBy, reachedByGroup, type ReachedLimit } from '../limits/quota.ts';
import { usedAt } from '../limits/supply.ts';
import { nameOfPlace } from '../model/shared-limit.ts';
import { type Lack, lackOf } from '../limits/supplies.ts';
import { diskOf, type Executor, hasDisk, mayRun } from '../model/executor.ts';
import { valueAt } from '../model/params-value.ts';
import { concurrencyOf, gateKeyOf } from '../limits/places.ts';
import { positionOf } from '../queue/agenda.ts';
import type { ScopedPause } from '../model/pause.ts';
import type { State } from '../state/state.ts';
import { pausesOn } from './pauses.ts';
import { type Kept, keptFor } from '../queue/route.ts';
import type { Task } from '../model/task.ts';

export interface WaitingReason {
  readonly reason:
    | 'not_due'
    | 'no_executor'
    | 'labels_unmatched'
    | 'all_busy'
    | 'draining'
    | 'paused'
    | 'limited'
    | 'held'
    | 'suspended'
    | 'not_ready'
    | 'cooling_down'
    | 'about_to_start';
  readonly message: string;
  /**
   * Waiting tasks of the same kind that come first, of its group alone where the groups of the type take
   * turns; null where that is not known from memory.
   */
  readonly ahead: number | null;
  /** Of `paused`: all that concern it. */
  readonly pauses?: readonly ScopedPause[];
  /** Of `limited`. */
  readonly limit?: ReachedLimit;
}

/** Of a waiting task; the first reason that applies, in words for people. `isNaming`: also which tasks come first. */
export function explain(state: State, task: Task, now: number, isNaming = true): WaitingReason {
  const ahead = countAhead(state, task);
  const because = (reason: WaitingReason['reason'], message: string) => ({
    reason,
    message,
    ahead,
  });

  if (task.state === 'suspended') {
    return { reason: 'suspended', message: suspendedInWords(task), ahead: null };
  }
  if (task.state === 'held')
    return { ...because('held', heldInWords(state, task, isNaming)), ahead: null };
  if (task.dueAt > now) {
    const why = task.attempt === 0 ? 'It is to run later' : 'It is retried later';
    return because('not_due', `${why}: in ${inWords(task.dueAt - now)}.`);
  }
  if (!state.accepting) {
    return because('draining', 'The master is shutting down: the next one takes it up.');
  }
  const pauses = pausesOn(state, task);
  if (pauses.length > 0) return { ...because('paused', pausedInWords(pauses, now)), pauses };
  const online = [...state.executors.values()].filter((executor) => executor.connected);
  const capable = online.filter((executor) => executor.types.includes(task.type));
  if (capable.length === 0) {
    return because('no_executor', nobodyInWords(task.type));
  }
  const fitting = capable.filter((executor) => mayRun(executor, task));
  if (fitting.length === 0) {
    return because(
      'labels_unmatched',
      `${count(capable, 'executor')} of type ${task.type}, but none has the labels it requires ` +
        `(${task.requires.join(', ') || 'none'}) and is free for its labels ` +
        `(${task.labels.join(', ') || 'none'}).`,
    );
  }
  const serving = fitting.filter((executor) => !executor.drainRequested && !executor.leaving);
  if (serving.length === 0) {
    return because('draining', `${count(fitting, 'fitting executor')}, all draining.`);
  }
  const ready = serving.filter(({ readiness }) => readiness.ok);
  if (ready.length === 0) return because('not_ready', unreadyInWords(serving));
  const kind = state.lanes.get(task.lane)?.kind ?? task;
  const roomy = ready.filter((executor) => hasDisk(executor, kind));
  if (roomy.length === 0) return because('not_ready', diskInWords(ready, task));
  const reached = limitOn(state, task) ?? lackOn(state, task, roomy, now);
  if (reached !== null) {
    return { ...because('limited', reached.message), limit: reached.limit };
  }
  const idle = roomy.filter((executor) => executor.occupation === null);
  if (idle.length === 0) {
    const unready = serving.length - roomy.length;
    return because('all_busy', `${busyInWords(roomy, unready)}.${inLine(state, task, ahead)}`);
  }
  const [reason, message] = idleBeside(state, task, idle, now);
  return because(reason, message);
}

/** Of a type of which no task that waits is in memory: what holds for all of them, or null. */
export function explainType(state: State, type: string, now: number): WaitingReason | null {
  const pauses = pausesOn(state, { type });
  if (pauses.length > 0) {
    return { reason: 'paused', message: pausedInWords(pauses, now), ahead: null, pauses };
  }
  for (const { connected, types } of state.executors.values()) {
    if (connected && types.includes(type)) return null;
  }
  return { reason: 'no_executor', message: nobodyInWords(type), ahead: null };
}

const nobodyInWords = (type: string) => `No executor of type ${type} is connected.`;

/** Somebody is idle that fits. */
function idleBeside(
  state: State,
  task: Task,
  idle: readonly Executor[],
  now: number,
): readonly [WaitingReason['reason'], string] {
  const kept = keptFor(state, task, now);
  if (kept !== null && state.passedOver.has(task.seq) && kept.until > now) {
    return ['all_busy', keptInWords(kept, now)];
  }
  const mayHave = (executor: Executor) =>
    executor.restUntil <= now && (executor.coolDowns.get(task.id) ?? 0) <= now;
  if (!idle.some(mayHave)) {
    return ['cooling_down', `${count(idle, 'idle executor')} refused it a moment ago.`];
  }
  return ['about_to_start', 'An executor is free: it is about to be offered.'];
}

function keptInWords({ executor, until }: Kept, now: number): string {
  return `Its route keeps it for executor ${executor.id}, which is busy, for another ${inWords(until - now)}; then any may have it.`;
}

function busyInWords(ready: readonly Executor[], unreadyCount: number): string {
  const others = unreadyCount === 0 ? '' : `, and ${unreadyCount} not ready`;
  return `${count(ready, 'fitting executor')}, all busy${others}`;
}

/** What one of them says stands for what the others say. */
function unreadyInWords(executors: readonly Executor[]): string {
  const [one] = executors;
  const says = `${one?.id} says: ${one?.readiness.reason ?? 'nothing of why'}`;
  if (executors.length === 1) return `1 fitting executor, which is not ready. ${says}.`;
  return `${executors.length} fitting executors, none of which is ready. ${says}.`;
}

/** The first of them, and that there are more. */
function pausedInWords([first, ...others]: readonly ScopedPause[], now: number): string {
  if (first === undefined) return '';
  const { scope, value, until, reason } = first;
  const isOfAll = scope === 'namespace' || scope === 'all';
  const what = isOfAll
    ? 'Nothing'
    : `Nothing ${scope === 'label' ? 'with' : 'of'} ${scope} ${value}`;
  const end = until === null ? 'until somebody ends it' : `for another ${inWords(until - now)}`;
  const why = reason === null ? '.' : `: ${reason}`;
  const more = others.length === 0 ? '' : ` (${count(others, 'other pause')} too)`;
  return `${what} is started ${end}${more}${why}`;
}

/** The first that is reached of the limits that hold for it. */
function limitOn(
  state: State,
  { type, user: { group } }: Task,
): { readonly message: string; readonly limit: ReachedLimit } | null {
  const { settings, attemptCount, open, policy, quotas } = state;
  const { maxRunning } = settings;
  if (maxRunning !== null && attemptCount >= maxRunning) {
    const message = `${attemptCount} of at most ${maxRunning} (max_running) run.`;
    return { message, limit: { name: 'max_running', max: maxRunning, used: attemptCount } };
  }
  const { bytes: used } = open;
  const max = policy.runningBytesMax;
  if (used >= max) {
    const message = `What runs holds ${used} bytes, and ${max} are allowed (running_task_bytes).`;
    return { message, limit: { name: 'running_task_bytes', max, used } };
  }
  const quota = quotas.get(type);
  if (quota === undefined) return null;
  const mine = quota.groups.get(group);
  const ofType = reachedBy(quota);
  const limit = ofType ?? (mine === undefined ? null : reachedByGroup(mine));
  if (limit === null) return null;
  const of = ofType === null ? `group ${group}` : `type ${type}`;
  const { name, max: atMost, used: count } = limit;
  const what = name.endsWith('.rate') ? 'have been offered in this window' : 'run';
  return { message: `${count} of at most ${atMost} of ${of} ${what} (${name}).`, limit };
}

/** As many are named. */
const HOLDER_COUNT = 5;
/** Characters of the value. */
const VALUE_LENGTH_MAX = 100;

/** Which value it shares, and with whom, or with how many. */
/** Of one of an earlier master nobody knows who it was. */
function suspendedInWords({ suspension }: Task): string {
  const { by = null, reason = null } = suspension ?? {};
  const who = by === null ? '' : ` by ${by}`;
  return `It is suspended${who}, until somebody resumes it${reason === null ? '.' : `: ${reason}`}`;
}

function heldInWords(state: State, task: Task, isNaming: boolean): string {
  const { type, gate: key, params } = task;
  const concurrency = concurrencyOf(state, type);
  const gate = state.gates.get(key ?? 0);
  if (concurrency === null || gate === undefined || gateKeyOf(state, task) !== key) {
    return 'What held it has changed: it is about to be let go.';
  }
  const { pointer, max } = concurrency;
  const value = valueAt(params, pointer) ?? '';
  const shown = value.length > VALUE_LENGTH_MAX ? `${value.slice(0, VALUE_LENGTH_MAX)}…` : value;
  const count = gate.attemptCount + gate.candidates.size;
  const who =
    count === 0
      ? 'it is about to be let in'
      : `${isNaming ? namesOf(state, gate) : count} ${count === 1 ? 'comes' : 'come'} first`;
  return `At most ${max} of type ${type} with ${shown} at ${pointer || 'the top'} of params at a time (limits.concurrency): ${who}.`;
}

function namesOf(state: State, gate: Gate): string {
  const holders = [...holdersOf(state, gate)];
  const names = holders.slice(0, HOLDER_COUNT).join(', ');
  const more = holders.length - HOLDER_COUNT;
  return more > 0 ? `${names} and ${more} more` : names;
}

/** Those that executors have, then those that wait with a place. */
function* holdersOf(state: State, gate: Gate): Generator<string> {
  for (const { occupation, id } of [...state.executors.values(), ...state.elders.values()]) {
    if (occupation?.gate === gate.key) yield `${occupation.taskId} (with executor ${id})`;
  }
  for (const { taskId } of gate.candidates) yield `${taskId} (waiting)`;
}

/** Why none of these executors may take now what the task uses of shared limits. */
function lackOn(
  state: State,
  task: Task,
  executors: readonly Executor[],
  now: number,
): { readonly message: string; readonly limit: ReachedLimit } | null {
  const kind = state.lanes.get(task.lane)?.kind;
  if (kind === undefined || task.uses.length === 0) return null;
  let lack: Lack | null = null;
  for (const executor of executors) {
    lack = lackOf(state, kind, executor, { now, first: task });
    if (lack === null) return null;
  }
  return lack && lackInWords(lack);
}

/** In the one place that was looked at last: it is as short in the others. */
function lackInWords({ supply, n, place, older }: Lack) {
  const { name, max, per } = supply.limit;
  const used = usedAt(supply, place ?? '');
  const limit = { name: `limit/${name}`, max, used };
  if (place === null) {
    const label = typeof per === 'string' ? per : per.label;
    return {
      message: `No fitting executor has a label ${label}:..., by which limit ${name} is counted.`,
      limit,
    };
  }
  const where = place === '' ? '' : ` on ${nameOfPlace(place)}`;
  if (older !== null) {
    const message = `A task that takes more came first, and waits until there is more of limit ${name} than ${max - used}${where}.`;
    return { message, limit };
  }
  const more = n > max ? ', more than there is' : '';
  return {
    message: `${used} of at most ${max} of limit ${name} are in use${where}, and it takes ${n}${more}.`,
    limit,
  };
}

/** None of them has enough of it. */
function diskInWords(executors: readonly Executor[], { diskBytes }: Task): string {
  const [first, ...others] = executors;
  let roomiest = first;
  for (const one of others) if (roomiest && diskOf(one) > diskOf(roomiest)) roomiest = one;
  const most = roomiest?.readiness.diskBytes ?? null;
  const room = most === null ? 'none says what it has' : `${roomiest?.id} has most, ${inMb(most)}`;
  return `${count(executors, 'fitting executor')}, without the free disk that it needs (${inMb(diskBytes ?? 0)}): ${room}.`;
}

function inMb(bytes: number): string {
  return `${Math.floor(bytes / 1e6)} MB`;
}

function countAhead({ lanes, shares }: State, task: Task): number | null {
  const own = lanes.get(task.lane);
  if (own === undefined) return null;
  const position = positionOf(task);
  let ahead = 0;
  for (const { ready } of shares.has(task.type) ? [own] : own.kind.lanes.values()) {
    if (!ready.covers(position)) return null;
    ahead += ready.countBefore(position);
  }
  return ahead;
}

/** What comes before it, in words. */
function inLine({ lanes, shares }: State, task: Task, ahead: number | null): string {
  if (!shares.has(task.type)) return ahead === null ? '' : ` ${ahead} of its kind come first.`;
  const own = lanes.get(task.lane);
  const others = [...(own?.kind.lanes.values() ?? [])].filter(
    (lane) => lane !== own && lane.waitingCount > 0,
  );
  const place = ahead === null ? '' : ` ${ahead} of its group come first.`;
  return `${place} Its group takes turns with ${count(others, 'other group')}.`;
}

/** `40 d 7 h`, `1 min 5 s`: two units are enough. */
function inWords(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  const shown = parts.slice(first, first + 2).filter(([value]) => value > 0);
  return shown.map(([value, unit]) => `${value} ${unit}`).join(' ');
}

function count(list: readonly unknown[], noun: string): string {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
}
