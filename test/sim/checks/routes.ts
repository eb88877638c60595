/**
 * To whom tasks of sticky types were offered, at the end of each turn, by the rows and by a look at all executors.
 *
 * I26: within the wait of its route a task goes to nobody but the executor that its value has chosen, be that idle
 * or busy.
 *
 * I27: nor is it kept for longer while somebody else is idle who may have it.
 */
import {
  type Executor,
  hasDisk,
  isServing,
  mayRun,
} from '../../../master/domain/model/executor.ts';
import type { Route, TaskType } from '../../../master/domain/model/task-type.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import type { Kind } from '../../../master/domain/queue/lane.ts';
import { hashOf, mixed } from '../../../master/domain/queue/hash.ts';
import { lackOf } from '../../../master/domain/limits/supplies.ts';
import { groupHasRoom, hasRoom } from '../../../master/domain/limits/quota.ts';
import { mayOffer } from '../../../master/domain/limits/whole.ts';
import type { State } from '../../../master/domain/state/state.ts';
import type { World } from '../world.ts';

/** A tick, and what a turn may take. */
const LATE_MS_MAX = 3_000;

export class RouteCheck {
  readonly #world: World;
  readonly #typeOf: (name: string) => TaskType | undefined;
  /** After the last turn: what was set, who was chosen for which value, and what was in memory only in part. */
  #types = new Map<string, TaskType>();
  #chosen = new Map<string, Executor | null>();
  #partial = new Set<number>();
  #term = 0;

  constructor(world: World, typeOf: (name: string) => TaskType | undefined) {
    this.#world = world;
    this.#typeOf = typeOf;
  }

  check(state: State, offered: readonly Task[]): void {
    const [typesBefore, chosenBefore, partialBefore] = [this.#types, this.#chosen, this.#partial];
    const isSame = (name: string) => typesBefore.get(name) === this.#typeOf(name);
    this.#types = new Map();
    for (const name of state.types.keys()) {
      const type = this.#typeOf(name);
      if (type !== undefined) this.#types.set(name, type);
    }
    this.#chosen = new Map();
    this.#partial = partialLanes(state);
    const isNewTerm = state.term !== this.#term;
    this.#term = state.term;
    for (const { ready, kind } of state.lanes.values()) {
      for (const task of ready) this.#choose(state, task, kind);
    }
    for (const task of offered) {
      const kind = state.lanes.get(task.lane)?.kind;
      const route = stickyRouteOf(this.#typeOf(task.type));
      const isPartial = partialBefore.has(task.lane) || this.#partial.has(task.lane);
      if (kind === undefined || route === null || isPartial || isNewTerm) continue;
      const before = chosenBefore.get(nameOf(task));
      const chosen = this.#choose(state, task, kind);
      // Who was chosen in between is not known.
      if (!isSame(task.type) || !chosen || chosen !== before) continue;
      this.#checkOffer(state, task, route, chosen);
    }
    if (!mayOffer(state) || state.deadlines.nextAt() <= state.lastTickAt) return;
    for (const { ready, kind, quota, isPaused } of state.lanes.values()) {
      const route = stickyRouteOf(this.#typeOf(kind.type));
      const hasNoRoom = quota !== null && !(hasRoom(quota.quota) && groupHasRoom(quota));
      if (route === null || isPaused || hasNoRoom) continue;
      for (const task of ready) this.#checkWait(state, task, kind, route);
    }
  }

  #choose(state: State, task: Task, kind: Kind): Executor | null {
    const route = stickyRouteOf(this.#typeOf(task.type));
    const chosen = route === null ? null : chosenOf(state, task, kind, route);
    this.#chosen.set(nameOf(task), chosen);
    return chosen;
  }

  #checkOffer(state: State, task: Task, { waitMs }: Route, chosen: Executor): void {
    const { id, executorId, dueAt, offeredAt } = task;
    const executor = state.executors.get(executorId ?? '');
    if (executor === undefined || executor === chosen) return;
    // Since it was due at the earliest, somebody was idle for it.
    if ((offeredAt ?? 0) >= dueAt + waitMs) return;
    const what = `${id}, due at ${dueAt}, went to ${executorId} at ${offeredAt}`;
    this.#world.violate('I26', `${what}, and is kept for ${chosen.id} for ${waitMs} ms`);
  }

  #checkWait(state: State, task: Task, kind: Kind, { waitMs }: Route): void {
    const since = state.passedOver.get(task.seq);
    if (since === undefined || since + waitMs + LATE_MS_MAX > state.lastTickAt) return;
    for (const executor of state.executors.values()) {
      if (!isIdleFor(executor, task, kind, state.lastTickAt)) continue;
      if (lackOf(state, kind, executor, { now: state.lastTickAt, first: task }) !== null) continue;
      const what = `${task.id} is kept since ${since}, and ${executor.id} is idle`;
      this.#world.violate('I27', `${what} beside it at ${state.lastTickAt}`);
    }
  }
}

const nameOf = ({ id, attempt, state }: Task): string =>
  // The one that was offered had another number while it waited.
  `${id}/${state === 'waiting' ? attempt + 1 : attempt}`;

function stickyRouteOf(type: TaskType | undefined): Route | null {
  return type?.route?.rule === 'sticky' ? type.route : null;
}

function partialLanes({ lanes }: State): Set<number> {
  const partial = [...lanes.values()].filter(({ ready }) => !ready.complete);
  return new Set(partial.map(({ id }) => id));
}

/** Of all that may have it and take work, by the rule as the documentation has it: no ring, and nothing cached. */
function chosenOf(state: State, task: Task, kind: Kind, { pointer }: Route): Executor | null {
  const key = (pointer ?? '').slice(1);
  const value = (JSON.parse(task.params) as Record<string, unknown>)[key];
  if (value === undefined || kind.pin !== null) return null;
  const hash = hashOf(JSON.stringify(value));
  let chosen: Executor | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const executor of state.executors.values()) {
    if (executor.poolKey === '' || !isServing(executor)) continue;
    if (!mayRun(executor, kind) || !hasDisk(executor, kind)) continue;
    const distance = distanceOf(hash, executor);
    if (distance > least || (distance === least && executor.id > (chosen?.id ?? ''))) continue;
    chosen = executor;
    least = distance;
  }
  return chosen;
}

function distanceOf(hash: number, { idHash }: Executor): number {
  let least = Number.POSITIVE_INFINITY;
  for (let probe = 0; probe < 21; probe++) {
    for (let place = 0; place < 4; place++) {
      least = Math.min(least, (mixed(idHash, ~place) - mixed(hash, probe)) >>> 0);
    }
  }
  return least;
}

function isIdleFor(executor: Executor, task: Task, kind: Kind, now: number): boolean {
  const { occupation, restUntil, coolDowns, poolKey } = executor;
  // It is kept for a booking, and takes only what is over in time.
  if (executor.keptUntil !== null) return false;
  if (occupation !== null || poolKey === '' || restUntil > now || coolDowns.size > 0) return false;
  return isServing(executor) && mayRun(executor, kind) && hasDisk(executor, task);
}
