/**
 * Which of several idle executors is to have a task, by the route of its type. Pools keep their order of service
 * (reserved ones first, then those that can do the least else), and a route chooses within the first of
 * them; but for `sticky`, which chooses one of all that may have the task, idle or not.
 */
import { PASSED_OVER_COUNT_MAX, ROUTE_LOOK_COUNT } from '../bounds.ts';
import { type Executor, hasDisk, isServing, mayRun } from '../model/executor.ts';
import type { Route } from '../model/task-type.ts';
import { valueAt } from '../model/params-value.ts';
import type { Task } from '../model/task.ts';
import type { Junction, Kind, Pool } from './lane.ts';
import { hashOf } from './hash.ts';
import { type Nearest, Ring } from './ring.ts';
import { random01, type State } from '../state/state.ts';

/** What holds for tasks of the type now; null: the longest idle one is taken. */
export function routeOf({ types }: State, type: string): Route | null {
  const taskType = types.get(type);
  return taskType === undefined ? null : (taskType.override?.route ?? taskType.route);
}

/** Whether tasks of the type may be kept for one executor while others are idle. */
export function isSticky(state: State, type: string): boolean {
  return routeOf(state, type)?.rule === 'sticky';
}

/** The idle ones of the pool with the disk for it, from this place on: whoever is to have a task of the kind first. */
export function inOrder(
  state: State,
  { idle }: Pool,
  { type, diskBytes }: Kind,
  begin: number,
): Iterable<Executor> {
  const route = routeOf(state, type);
  const fitting = { [Symbol.iterator]: () => idle.from(begin, diskBytes ?? 0) };
  // There is nobody to choose among.
  if (route === null || idle.size < 2) return fitting;
  switch (route.rule) {
    case 'longest_idle':
    case 'sticky':
      return fitting;
    case 'last_used':
      return idle.fromLast(diskBytes ?? 0);
    case 'round_robin':
      return leastFirst(fitting, ({ offeredAt }) => offeredAt);
    case 'least_failed':
      return leastFirst(fitting, ({ failures }) => countOf(failures));
    case 'random': {
      const place = Math.floor(random01(state) * Math.min(idle.size, ROUTE_LOOK_COUNT));
      let index = 0;
      return leastFirst(fitting, () => (index++ === place ? 0 : 1));
    }
  }
}

/**
 * Of those that have been idle longest; then the others, since none of these may have what is to be offered. The
 * first is nearly always the only one that is asked for.
 */
function* leastFirst(idle: Iterable<Executor>, scoreOf: (executor: Executor) => number) {
  const looked: { readonly executor: Executor; readonly score: number }[] = [];
  let least: (typeof looked)[number] | undefined;
  for (const executor of idle) {
    const one = { executor, score: scoreOf(executor) };
    if (least === undefined || one.score < least.score) least = one;
    if (looked.push(one) === ROUTE_LOOK_COUNT) break;
  }
  if (least === undefined) return;
  yield least.executor;
  for (const { executor } of looked.sort((a, b) => a.score - b.score)) {
    if (executor !== least.executor) yield executor;
  }
  let count = 0;
  for (const executor of idle) if (++count > ROUTE_LOOK_COUNT) yield executor;
}

/** Attempts of an executor that `least_failed` knows of: as many as bits are kept. */
const RECENT_MASK = 2 ** 20 - 1;

/** How an attempt has ended on it. */
export function countEnd(executor: Executor, hasFailed: boolean): void {
  executor.failures = ((executor.failures << 1) | (hasFailed ? 1 : 0)) & RECENT_MASK;
}

function countOf(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/**
 * Whom the route of a task has chosen, idle or not, and until when nobody else may have it: from the first
 * time that an idle one had to pass it over. Null: anybody may have it.
 */
export interface Kept {
  readonly executor: Executor;
  readonly until: number;
}

/** Whether this one may not have it yet. */
export function isKeptFrom(executor: Executor, kept: Kept | null, now: number): kept is Kept {
  return kept !== null && kept.executor !== executor && kept.until > now;
}

export function keptFor(state: State, task: Task, now: number): Kept | null {
  const route = routeOf(state, task.type);
  if (route?.rule !== 'sticky') return null;
  const executor = chosenFor(state, task, route);
  return executor && { executor, until: (state.passedOver.get(task.seq) ?? now) + route.waitMs };
}

/** A task comes into memory: its params, which may be long, are read here and not where many are looked at. */
export function noteValue(state: State, task: Task, now: number): void {
  const route = routeOf(state, task.type);
  if (route?.rule !== 'sticky') return;
  const since = state.passedOver.get(task.seq);
  const at = (since ?? now) + route.waitMs;
  if (since !== undefined && at > now) state.deadlines.push({ at, kind: 'route', task });
  if (state.choices.get(task)?.pointer === route.pointer) return;
  const { pointer } = route;
  const hash = hashIn(task.params, pointer);
  state.choices.set(task, { fleetVersion: -1, pointer, hash, executor: null });
}

/** An idle executor may not have it yet. */
export function passOver(state: State, task: Task, { until: at }: Kept, now: number): void {
  const { passedOver } = state;
  // Once for each instant: by another route it is kept until another one.
  state.deadlines.push({ at, kind: 'route', task });
  if (passedOver.has(task.seq)) return;
  const [oldest] = passedOver.size < PASSED_OVER_COUNT_MAX ? [] : passedOver.keys();
  if (oldest !== undefined) passedOver.delete(oldest);
  passedOver.set(task.seq, now);
}

/**
 * By hashing of the value over all that may have the task and take work: so a value goes to the same one whoever
 * else comes and goes. Null: it has no such value, or there is nobody, or it names who is to have it.
 */
function chosenFor(state: State, task: Task, { pointer }: Route): Executor | null {
  const kind = state.lanes.get(task.lane)?.kind;
  if (kind === undefined || kind.pin !== null) return null;
  const { fleetVersion } = state;
  let choice = state.choices.get(task);
  if (choice?.fleetVersion !== fleetVersion || choice.pointer !== pointer) {
    const hash = choice?.pointer === pointer ? choice.hash : hashIn(task.params, pointer);
    const executor = hash === null ? null : nearestOf(kind, hash, () => true);
    choice = { fleetVersion, pointer, hash, executor };
    state.choices.set(task, choice);
  }
  const { hash, executor } = choice;
  const mayHave = (one: Executor) => isServing(one) && hasDisk(one, kind);
  if (hash === null || executor === null || mayHave(executor)) return executor;
  // While it may not, another one stands in for it.
  return nearestOf(kind, hash, mayHave);
}

function nearestOf(
  kind: Kind,
  hash: number,
  mayBe: (executor: Executor) => boolean,
): Executor | null {
  const fits = (executor: Executor) => mayRun(executor, kind) && mayBe(executor);
  let nearest: Nearest | null = null;
  for (const { junction } of kind.stands) {
    junction.ring ??= new Ring([...membersOf(junction)]);
    nearest = junction.ring.nearest(hash, fits, nearest);
  }
  return nearest?.executor ?? null;
}

function* membersOf({ pools }: Junction): Generator<Executor> {
  for (const { members } of pools) yield* members;
}

/** Of the value there; null: there is none. */
function hashIn(params: string, pointer: string | null): number | null {
  const value = valueAt(params, pointer ?? '');
  return value === null ? null : hashOf(value);
}
