/** What keeps a task from being offered, whichever executors there are: that it is set aside, not due, held, or paused. */
import { freeOf, type Gate } from '../limits/gate.ts';
import { freeIn, gateKeyOf } from '../limits/places.ts';
import { valueAt } from '../model/params-value.ts';
import type { ScopedPause } from '../model/pause.ts';
import { isDue, type Task } from '../model/task.ts';
import { pauseKey, type State } from '../state/state.ts';
import { pausesOn } from '../views/pauses.ts';
import { type Asked, type Obstacle, type Remedy, withState } from './asked.ts';
import { ownBooking } from './by-booking.ts';
import { counted, inWords } from './words.ts';

/** In the order in which they are asked. */
export function* byItself(asked: Asked): Generator<Obstacle> {
  const { state, task, now } = asked;
  if (task.state === 'suspended') yield suspended(asked);
  if (task.state === 'held') yield held(asked);
  if (task.state !== 'waiting') return;
  if (!isDue(task, now)) yield beforeWindow(asked) ?? notDue(asked);
  if (!state.accepting) yield shuttingDown();
  const pauses = pausesFor(asked);
  for (const [index] of pauses.entries()) yield paused(asked, pauses, index);
}

function suspended(asked: Asked): Obstacle {
  const { cancelRequestedAt: since } = asked.task;
  return {
    reason: 'suspended',
    key: 'suspended',
    message: suspendedInWords(asked.task),
    facts: { since },
    remedies: () => [
      {
        change: { action: 'resume', target: 'task', value: null, message: 'Resume it.' },
        asked: { ...asked, task: resumed(asked) },
      },
    ],
  };
}

/** Of one of an earlier master nobody knows who it was. */
function suspendedInWords({ suspension }: Task): string {
  const { by = null, reason = null } = suspension ?? {};
  const who = by === null ? '' : ` by ${by}`;
  return `It is suspended${who}, until somebody resumes it${reason === null ? '.' : `: ${reason}`}`;
}

/** It may be held then. */
function resumed({ state, task }: Asked): Task {
  const key = gateKeyOf(state, task);
  const gate = key === null ? undefined : state.gates.get(key);
  const isFull = gate !== undefined && freeIn(state, gate) <= 0;
  return isFull ? { ...task, state: 'held', gate: key } : { ...task, state: 'waiting' };
}

/** It is due as the window of its booking begins; null: it is not. */
function beforeWindow(asked: Asked): Obstacle | null {
  const booking = ownBooking(asked);
  const { dueAt: until } = asked.task;
  if (booking === null || booking.windows.every(({ from }) => from !== until)) return null;
  const rest = inWords(until - asked.now);
  const message = `Wait for ${rest}: then the window of the booking begins.`;
  const change = { action: 'wait_until', target: null, value: until, message } as const;
  return {
    reason: 'not_due',
    key: 'not_due',
    message: `It is of booking ${booking.id}, whose window begins in ${rest}.`,
    facts: { until, booking: booking.id },
    remedies: () => [{ change, asked: { ...asked, now: until } }],
  };
}

function notDue(asked: Asked): Obstacle {
  const { task, now } = asked;
  const { dueAt: until, attempt, error, lastOutcome } = task;
  const isRetry = attempt > 0;
  const why = isRetry ? 'It is retried later' : 'It is to run later';
  const change = {
    action: 'wait_until',
    target: null,
    value: until,
    message: `Wait for ${inWords(until - now)}, or change when it is to run.`,
  } as const;
  return {
    reason: isRetry ? 'backing_off' : 'not_due',
    key: 'not_due',
    message: `${why}: in ${inWords(until - now)}.`,
    facts: { until, ...(isRetry && { attempt, error: error?.message ?? lastOutcome }) },
    remedies: () => [{ change, asked: { ...asked, now: until } }],
  };
}

function shuttingDown(): Obstacle {
  return {
    reason: 'draining',
    key: 'draining master',
    message: 'The master is shutting down: the next one takes it up.',
    facts: {},
    remedies: () => [],
    otherwise: 'Start the next master, if none is started by itself.',
  };
}

/** That of its type is known with how its limits are used. */
function pausesFor({ state, task, quota }: Asked): readonly ScopedPause[] {
  const types = new Map(quota === null ? [] : [[task.type, quota.taskType]]);
  return pausesOn({ ...state, types }, task);
}

function paused(asked: Asked, pauses: readonly ScopedPause[], index: number): Obstacle {
  const pause = pauses[index] as ScopedPause;
  const { scope, value, until, at: since } = pause;
  return {
    reason: 'paused',
    key: `paused ${scope}/${value}`,
    message: pausedInWords(pauses.slice(index), asked.now),
    facts: { pauses, since, until },
    remedies: () => [unpaused(asked, pause)],
  };
}

function unpaused(asked: Asked, { scope, value, until }: ScopedPause): Remedy {
  const { state, quota } = asked;
  const target = value === '' ? scope : `${scope}/${value}`;
  const rest = until === null ? '' : `, or wait for ${inWords(until - asked.now)}`;
  const name = value === '' ? (scope === 'all' ? 'all namespaces' : 'the namespace') : target;
  const message = `Resume ${name.replace('/', ' ')}${rest}.`;
  const change = { action: 'resume', target, value: null, message } as const;
  if (scope === 'namespace') {
    return { change, asked: withState(asked, { settings: { ...state.settings, paused: null } }) };
  }
  if (scope === 'type') {
    const taskType = quota && { ...quota.taskType, paused: null };
    return { change, asked: { ...asked, quota: quota && taskType && { ...quota, taskType } } };
  }
  const pauses = new Map(state.pauses);
  pauses.delete(pauseKey(scope, value));
  return { change, asked: withState(asked, { pauses }) };
}

/** The first of them, and that there are more. */
export function pausedInWords([first, ...others]: readonly ScopedPause[], now: number): string {
  if (first === undefined) return '';
  const { scope, value, until, reason } = first;
  const isOfAll = scope === 'namespace' || scope === 'all';
  const what = isOfAll
    ? 'Nothing'
    : `Nothing ${scope === 'label' ? 'with' : 'of'} ${scope} ${value}`;
  const end = until === null ? 'until somebody ends it' : `for another ${inWords(until - now)}`;
  const why = reason === null ? '.' : `: ${reason}`;
  const more = others.length === 0 ? '' : ` (${counted(others.length, 'other pause')} too)`;
  return `${what} is started ${end}${more}${why}`;
}

/** As many are named. */
const HOLDER_COUNT = 5;
/** Characters of the value. */
const VALUE_LENGTH_MAX = 100;

/** Which value it shares, and with whom, or with how many. */
function held(asked: Asked): Obstacle {
  const { state, task, isNaming } = asked;
  const { type, gate: key, params } = task;
  const concurrency = asked.quota?.limits.concurrency ?? null;
  const gate = state.gates.get(key ?? 0);
  const obstacle = { reason: 'held', key: 'held' } as const;
  if (concurrency === null || gate === undefined || gateKeyOf(state, task) !== key) {
    const message = 'What held it has changed: it is about to be let go.';
    return {
      ...obstacle,
      message,
      facts: {},
      remedies: () => [],
      otherwise: 'It starts by itself.',
    };
  }
  const { pointer, max } = concurrency;
  const value = valueAt(params, pointer) ?? '';
  const shown = value.length > VALUE_LENGTH_MAX ? `${value.slice(0, VALUE_LENGTH_MAX)}…` : value;
  const holderCount = gate.attemptCount + gate.candidates.size;
  const holders = isNaming ? [...namedHolders(state, gate)] : [];
  const named = isNaming ? namesOf(holders) : holderCount;
  const who =
    holderCount === 0
      ? 'it is about to be let in'
      : `${named} ${holderCount === 1 ? 'comes' : 'come'} first`;
  const { heldCount } = gate;
  const facts = { pointer, value: shown, max, holderCount, heldCount };
  return {
    ...obstacle,
    message: `At most ${max} of type ${type} with ${shown} at ${pointer || 'the top'} of params at a time (limits.concurrency): ${who}.`,
    facts: {
      concurrency: { ...facts, holders: holders.slice(0, HOLDER_COUNT) },
      isOverridden: asked.quota?.taskType.override?.limits.concurrency !== undefined,
    },
    remedies: () => letIn(asked, gate, holderCount),
  };
}

function namesOf(holders: readonly string[]): string {
  const names = holders.slice(0, HOLDER_COUNT).join(', ');
  const more = holders.length - HOLDER_COUNT;
  return more > 0 ? `${names} and ${more} more` : names;
}

/** Those that executors have, then those that wait with a place. */
function* namedHolders(state: State, gate: Gate): Generator<string> {
  for (const { occupation, id } of [...state.executors.values(), ...state.elders.values()]) {
    if (occupation?.gate === gate.key) yield `${occupation.taskId} (with executor ${id})`;
  }
  for (const { taskId } of gate.candidates) yield `${taskId} (waiting)`;
}

/** So that there is a place for it, and for those who are held and come before it. */
function* letIn(asked: Asked, gate: Gate, holderCount: number): Generator<Remedy> {
  const { task, quota, heldBefore } = asked;
  const max = holderCount + heldBefore + 1;
  if (quota === null || quota.limits.concurrency === null || gate.heldCount === 0) return;
  const concurrency = { ...quota.limits.concurrency, max };
  const message = `Raise limits.concurrency of type ${task.type} to ${max}.`;
  yield {
    change: { action: 'raise_limit', target: `type/${task.type}`, value: max, message },
    asked: {
      ...asked,
      quota: { ...quota, limits: { ...quota.limits, concurrency } },
      task: freeOf(gate, concurrency) > heldBefore ? { ...task, state: 'waiting' } : task,
    },
  };
}
