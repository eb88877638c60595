/**
 * In which order tasks were offered, at the end of each turn.
 *
 * I10: what was offered came first among what its executor might have had. Where the groups of a type take turns,
 * the type stands with the oldest of its tasks, and the order holds inside a group.
 *
 * I24: while two groups of such a type both have a task for each executor that is offered one of that type, what
 * they are offered differs from their weights by some turns at most, over any length of time.
 */
import {
  type Executor,
  hasDisk,
  mayRun,
  type Readiness,
} from '../../../master/domain/model/executor.ts';
import { placesOf } from '../../../master/domain/model/shared-limit.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import type { Route, TaskType } from '../../../master/domain/model/task-type.ts';
import { groupHasRoom, hasRoom } from '../../../master/domain/limits/quota.ts';
import { limitedUses } from '../../../master/domain/limits/supply.ts';
import { fullestOf } from '../../../master/domain/views/limits.ts';
import { endsWithWindow } from '../../../master/domain/booking/tasks.ts';
import { comesFirst } from '../../../master/domain/queue/agenda.ts';
import type { Kind, Lane } from '../../../master/domain/queue/lane.ts';
import type { State } from '../../../master/domain/state/state.ts';
import type { Ledger } from '../ledger.ts';
import type { Process, World } from '../world.ts';

/** What became visible together may be told apart by chance. */
const VISIBLE_MS_MIN = 200;

/** Of two groups, at the beginning and at the end, and one that this check may have seen wrongly. */
const TURN_COUNT_MAX = 3;

export class OrderCheck {
  readonly #process: Process;
  readonly #ledger: Ledger;
  readonly #fairness: FairnessCheck;
  /** Lanes of which nothing could be offered after the last turn, by what is set for their types. */
  #shut = new Set<number>();
  /** What was set for types then. */
  #types = new Map<string, TaskType>();
  /** Routes of types then. */
  #routed = new Map<string, Route | null>();
  /** What executors had said then of what they can do. */
  #readiness = new Map<Executor, Readiness>();
  /** Who was kept then for a booking, and took only what was over in time. */
  #kept = new Set<Executor>();
  /** Types whose groups took turns then. */
  #shared = new Set<string>();

  constructor(process: Process, ledger: Ledger) {
    this.#process = process;
    this.#ledger = ledger;
    this.#fairness = new FairnessCheck(process.world);
  }

  check(state: State, allOffered: readonly Task[]): void {
    this.#checkAll(state, allOffered);
    for (const name of ['a', 'b']) this.#routed.set(name, this.#ledger.typeOf(name)?.route ?? null);
  }

  #checkAll(state: State, allOffered: readonly Task[]): void {
    const readinessBefore = this.#readiness;
    this.#readiness = new Map([...state.executors.values()].map((one) => [one, one.readiness]));
    const keptBefore = this.#kept;
    this.#kept = new Set(
      [...state.executors.values()].filter(({ keptUntil }) => keptUntil !== null),
    );
    const [shutBefore, sharedBefore] = [this.#shut, this.#shared];
    const typesBefore = this.#types;
    this.#types = new Map(state.types);
    this.#shut = shutLanes(state);
    this.#shared = new Set(state.shares.keys());
    const lanes = [...state.lanes.values()].filter(
      ({ id }) => !this.#shut.has(id) && !shutBefore.has(id),
    );
    const typeOf = (name: string) => this.#ledger.typeOf(name);
    this.#fairness.check(state.term, typeOf, {
      lanes,
      offered: allOffered.map((task) => ({ task, executor: this.#executorOf(state, task) })),
      mightHaveBeen: (task) => this.#waitsSince(task, null) <= this.#process.world.now,
    });
    // After the process stood still, some executors are roused by the next tick only.
    if (state.deadlines.nextAt() <= state.lastTickAt) return;
    for (const offered of allOffered) {
      const executor = this.#executorOf(state, offered);
      if (executor === null) continue;
      // What it might have had was another matter then, or is now.
      if (keptBefore.has(executor) || this.#kept.has(executor)) continue;
      if (executor.booking !== offered.booking) continue;
      const isShared = this.#shared.has(offered.type);
      if (isShared !== sharedBefore.has(offered.type)) continue;
      const isAsBefore = readinessBefore.get(executor) === executor.readiness;
      const mine = lanes.filter(({ kind }) => {
        // What a limit allowed that was set anew in this turn is not known any more.
        if (typesBefore.get(kind.type) !== state.types.get(kind.type)) return false;
        if (!mayRun(executor, kind) || !hasDisk(executor, kind)) return false;
        return (isAsBefore || !kind.diskBytes) && isCounted(state, executor, kind);
      });
      if (!isShared) this.#checkOrder(state, offered, offered, executor, mine);
      else {
        const ofType = (lane: Lane) => lane.kind.type === offered.type;
        const ofGroup = mine.filter((lane) => ofType(lane) && lane.group === offered.user.group);
        this.#checkOrder(state, offered, offered, executor, ofGroup);
        // Also in lanes that are shut by now: it may have been the last that there was room for.
        const waiting = [...state.lanes.values()]
          .filter((lane) => ofType(lane) && mayRun(executor, lane.kind))
          .flatMap(({ ready }) => [...ready]);
        const oldest = [
          ...waiting,
          ...allOffered.filter(({ type }) => type === offered.type),
        ].reduce((first, task) => (comesFirst(task, first) ? task : first));
        const others = mine.filter((lane) => !ofType(lane));
        this.#checkOrder(state, offered, oldest, executor, others);
      }
    }
  }

  /** Who has it, if it still is as it was offered. */
  #executorOf(state: State, { seq, executorId, attempt }: Task): Executor | null {
    const executor = state.executors.get(executorId ?? '');
    if (executor === undefined || executor.poolKey === '') return null;
    return this.#ledger.live.get(seq)?.attempt === attempt ? executor : null;
  }

  /** `place`: whose turn it was, with others. */
  #checkOrder(
    state: State,
    offered: Task,
    place: Task,
    executor: Executor,
    lanes: readonly Lane[],
  ): void {
    const { world } = this.#process;
    const offeredAt = this.#process.worldTimeOf(offered.offeredAt ?? this.#process.now());
    for (const lane of lanes) {
      for (const other of lane.ready) {
        if (!comesFirst(other, place)) break;
        // Whoever is bound for the next window of its booking does not take it.
        if (endsWithWindow(state, other)) continue;
        if (this.#waitsSince(other, offered) > offeredAt) continue;
        if ((executor.coolDowns.get(other.id) ?? 0) > state.lastTickAt) continue;
        if (this.#isKept(state, other, offered.offeredAt ?? 0)) continue;
        const what = `${offered.id} went to ${executor.id} before ${other.id}`;
        world.violate('I10', `${what}, which was there before ${offeredAt}`);
      }
    }
  }

  /** For somebody else, by its route, or by the one before. */
  #isKept(state: State, task: Task, at: number): boolean {
    const since = state.passedOver.get(task.seq);
    const { route = null } = this.#ledger.typeOf(task.type) ?? {};
    if (since === undefined) return false;
    return this.#routed.get(task.type) !== route || (route !== null && since + route.waitMs > at);
  }

  /** Time of the world. */
  #waitsSince(task: Task, offered: Task | null): number {
    const writtenAt = this.#ledger.visibleSince(task);
    const wasDueFirst = offered !== null && task.dueAt <= offered.dueAt;
    const dueAt = wasDueFirst ? writtenAt : this.#process.worldTimeOf(task.dueAt);
    return Math.max(writtenAt, dueAt) + VISIBLE_MS_MIN;
  }
}

/** It has a label for each limit that is counted by one. */
function isCounted({ supplies }: State, executor: Executor, { uses }: Kind): boolean {
  return [...limitedUses(supplies, uses)].every(
    ([{ limit }]) => placesOf(limit.per, executor).length > 0,
  );
}

function shutLanes({ lanes, quotas, supplies }: State): Set<number> {
  const shut = [...lanes.values()].filter(({ kind, quota, isPaused }) => {
    const ofType = quotas.get(kind.type);
    // It may have stood back for another that takes more, and that need not have been offered itself.
    const isShort = [...limitedUses(supplies, kind.uses)].some(([supply, n]) => {
      const mayStandBack = [...supply.wide.keys()].some(({ waitingCount }) => waitingCount > 0);
      return n + fullestOf(supply) > supply.limit.max || mayStandBack;
    });
    const hasNoRoom = (ofType && !hasRoom(ofType)) || (quota !== null && !groupHasRoom(quota));
    return isPaused || isShort || hasNoRoom;
  });
  return new Set(shut.map(({ id }) => id));
}

/** What it was about. */
interface Turn {
  /** Those of which something might have been offered all the time. */
  readonly lanes: readonly Lane[];
  readonly offered: readonly { readonly task: Task; readonly executor: Executor | null }[];
  /** Of a task that waits in one of them. */
  readonly mightHaveBeen: (task: Task) => boolean;
}

class FairnessCheck {
  readonly #world: World;
  /** By type and two groups: the turns that one was offered, less those of the other, in units of weight 1. */
  readonly #leads = new Map<string, number>();
  readonly #known = new Map<string, string>();
  #term = 0;

  constructor(world: World) {
    this.#world = world;
  }

  check(term: number, typeOf: (name: string) => TaskType | undefined, turn: Turn): void {
    if (term !== this.#term) this.#leads.clear();
    this.#term = term;
    for (const name of ['a', 'b']) {
      const { fairBy = null, groupWeights = {}, route = null } = typeOf(name) ?? {};
      const rule = JSON.stringify([fairBy, groupWeights, route]);
      const isNew = this.#known.get(name) !== rule;
      this.#known.set(name, rule);
      // What was offered before that was set, and what after, is not known.
      // And what is kept for somebody else is no turn.
      if (isNew || fairBy === null || route?.rule === 'sticky') this.#forget(name);
      else this.#compare(name, groupWeights, turn);
    }
  }

  #forget(type: string): void {
    for (const name of this.#leads.keys()) {
      if (name.startsWith(`${type} `)) this.#leads.delete(name);
    }
  }

  #compare(type: string, weights: TaskType['groupWeights'], all: Turn): void {
    const offered = all.offered.filter(({ task }) => task.type === type);
    if (offered.length === 0) return;
    const lanes = all.lanes.filter(({ kind }) => kind.type === type);
    const groups = [...new Set(lanes.map(({ group }) => group))].sort();
    const turn = (group: string) => 1 / (weights[group] ?? 1);
    /** Whether the group had something for the executor of this offer. */
    const competes = (group: string, { task, executor }: Turn['offered'][number]): boolean => {
      if (task.user.group === group) return true;
      if (executor === null || executor.keptUntil !== null || executor.coolDowns.size > 0)
        return false;
      return lanes.some(
        (lane) =>
          lane.group === group &&
          mayRun(executor, lane.kind) &&
          hasDisk(executor, lane.kind) &&
          [...lane.ready].some(all.mightHaveBeen),
      );
    };
    const competing = groups.filter((group) => offered.every((offer) => competes(group, offer)));
    const before = new Map(this.#leads);
    this.#forget(type);
    for (const [index, one] of competing.entries()) {
      for (const other of competing.slice(index + 1)) {
        const name = `${type} ${one} ${other}`;
        let lead = before.get(name) ?? 0;
        for (const { task } of offered) {
          if (task.user.group === one) lead += turn(one);
          if (task.user.group === other) lead -= turn(other);
        }
        this.#leads.set(name, lead);
        const max = TURN_COUNT_MAX * Math.max(turn(one), turn(other));
        if (Math.abs(lead) <= max) continue;
        this.#world.violate('I24', `${one} is ${lead} turns of type ${type} ahead of ${other}`);
      }
    }
  }
}
