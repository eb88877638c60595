/**
 * Brings waiting tasks and idle executors together. Runs at the end of every step, and only for
 * what the step has changed: lanes that gained a task, executors that became free. That is
 * enough, because before the step no waiting task fitted an idle executor (invariant I13).
 */
import { bookedToServe, noteUsed } from '../booking/tasks.ts';
import { taskUpdated } from '../changes.ts';
import { tellAttempt } from '../feed/tell.ts';
import { FIRE_COUNT_MAX, ROUTE_KEEP_COUNT } from '../bounds.ts';
import type { Output } from '../effects.ts';
import { type Executor, isResting, mayRun } from '../model/executor.ts';
import { Agenda, OUT, rankOf, type Standing } from '../queue/agenda.ts';
import { isTypeOpen } from '../limits/quota.ts';
import { askStandingBack, take } from '../limits/supplies.ts';
import { announceKind, isWanted, markHungry, takeHungry } from '../queue/junctions.ts';
import {
  headOfKind,
  headOfLane,
  type Junction,
  type Kind,
  type Lane,
  type Pool,
} from '../queue/lane.ts';
import { laneOf } from '../queue/lanes.ts';
import { dequeue, isOfUse } from '../queue/waiting.ts';
import { isLimited, mayOffer } from '../limits/whole.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../model/task.ts';
import { isOverdue, settleOverdue } from './finish.ts';
import { isKeptFrom, isSticky, keptFor, passOver } from '../queue/route.ts';
import { settlePins } from './fleet.ts';
import { askedPools, countOffer } from './limits.ts';
import { leaveIdle, occupationBy, occupy } from './occupation.ts';
import { type Going, mayHave, type Server, serversOf, suits, takes } from '../limits/servers.ts';

/** Tasks looked at past the head of a lane when an executor may not have the first ones yet. */
const SCAN_MAX = 64;

/** One go of it. */
interface Round extends Going {
  readonly out: Output;
  /** Overdue tasks that it may still end. Where there are more, the ticks that follow end the rest. */
  endableCount: number;
  /** How far lanes were looked through for whoever is idle. In one go fewer and fewer are: what nobody may have stays so. */
  looks: Map<Lane, Look> | null;
}

function beginRound(state: State, now: number, out: Output): Round {
  return { state, now, out, asked: null, endableCount: FIRE_COUNT_MAX, looks: null };
}

/** Past the tasks at the head of a lane that are kept for others, or that all have refused. */
interface Look {
  last: Task | null;
  /** In order; some of them may have been offered since. */
  kept: Task[];
  refusedCount: number;
}

const begunLook = (): Look => ({ last: null, kept: [], refusedCount: 0 });

/** Offers what may be offered now, and asks for rows where a window runs out. */
export function assignRoused(state: State, now: number, out: Output): void {
  const { freed, roused, opened, pins, standingBack } = state;
  const changeCount = out.changes.length;
  askStandingBack(state);
  if (freed.size + roused.size + opened.size + pins.changed.size === 0 && !state.isHeldBack) return;
  if (state.accepting) {
    const round = beginRound(state, now, out);
    settlePins(state);
    const kinds = kindsOf(roused);
    for (const kind of kinds) announceKind(kind);
    // What is booked comes first, whatever else there is room for.
    for (const executor of bookedToServe(state)) assignTo(round, executor);
    state.isHeldBack ||= isLimited(state) && roused.size + freed.size + opened.size > 0;
    if (state.isHeldBack) {
      assignInOrder(round, state.pools.values());
      state.isHeldBack = !mayOffer(state);
    } else if (opened.size > 0) assignInOrder(round, askedPools(state, kinds));
    else {
      for (const executor of freed) assignTo(round, executor);
      assignFrom(round, kinds.filter(isWanted));
    }
    if (standingBack.size > 0) assignStandingBack(round, changeCount);
    // Also of those that are empty now: more executors than they had tasks may be idle.
    for (const lane of roused) askForMore(round, lane);
  }
  freed.clear();
  roused.clear();
  opened.clear();
}

function kindsOf(lanes: ReadonlySet<Lane>): readonly Kind[] {
  if (lanes.size === 0) return [];
  return [...new Set([...lanes].map(({ kind }) => kind))];
}

/** Those for which they stood back may have been offered to somebody, or have ended: then they are asked again. */
function assignStandingBack(round: Round, before: number): void {
  const { state, out } = round;
  for (let count = before; state.standingBack.size > 0 && out.changes.length > count; ) {
    count = out.changes.length;
    askStandingBack(state);
    assignInOrder(round, askedPools(state, []));
  }
}

/** A free executor takes the first task, by (queueTime, seq), of all the lanes it may serve. */
function assignTo(round: Round, executor: Executor): void {
  const pool = round.state.pools.get(executor.poolKey);
  if (pool === undefined || !pool.idle.has(executor) || isResting(executor, round.now)) return;
  feedHungry(round, pool);
  const best = bestFor(round, pool, executor);
  if (best !== undefined) offer(round, best, executor);
}

/** The first task, by (queueTime, seq), of all the lanes the executor may serve. */
function bestFor(round: Round, pool: Pool, executor: Executor): Task | undefined {
  const choose = ({ kind }: { readonly kind: Kind }) =>
    mayRun(pool, kind) && suits(round, executor, kind)
      ? firstOfKind(round, kind, executor)
      : undefined;
  let best: Task | undefined;
  for (const junction of pool.junctions) {
    if (isTypeOpen(round.state.quotas, junction)) best = junction.open.choose(choose, best);
  }
  return best;
}

/**
 * Of the type of this one, which stands for all of them among other types: the first one of the group
 * whose turn it is, as far as the executor may have it now.
 */
function inTurn(round: Round, oldest: Task, executor: Executor): Task {
  const { pools, shares } = round.state;
  const pool = pools.get(executor.poolKey);
  const ofType = shares.get(oldest.type);
  if (ofType === undefined || pool === undefined) return oldest;
  const fits = (kind: Kind) => mayRun(pool, kind) && suits(round, executor, kind);
  const taskOf = (lane: Lane) => firstOfLane(round, lane, executor);
  return ofType.next(pool.junctions, fits, taskOf) ?? oldest;
}

/** The first one that the executor may have now. */
function firstOfKind(round: Round, kind: Kind, executor: Executor): Task | undefined {
  return kind.open.choose((lane) => firstOfLane(round, lane, executor));
}

/** What comes first of all that these pools may have, whoever is to have it; as much as there is room for. */
function assignInOrder(round: Round, pools: Iterable<Pool>): void {
  if (!mayOffer(round.state)) return;
  const junctions = new Set<Junction>();
  for (const pool of pools) {
    if (pool.idle.size === 0) continue;
    feedHungry(round, pool);
    for (const junction of pool.junctions) junctions.add(junction);
  }
  // What was found is kept: it is looked for anew where a junction comes to the front.
  type Candidate = Standing & { readonly junction: Junction; first?: Task | undefined };
  const headOf = (one: Candidate) => (one.first = firstAt(round, one.junction));
  const open = new Agenda<Candidate>(headOf, rankOf);
  for (const junction of junctions) {
    const candidate: Candidate = { junction, ...OUT };
    const first = headOf(candidate);
    if (first !== undefined) open.announce(candidate, first);
  }
  for (let next = open.first(); next?.first && mayOffer(round.state); next = open.first()) {
    if (!offerToAny(round, next.first)) open.remove(next);
  }
}

/** The first of a junction that somebody who is idle is to have now. */
function firstAt(round: Round, junction: Junction): Task | undefined {
  if (!isTypeOpen(round.state.quotas, junction)) return undefined;
  return junction.open.choose(({ kind }) => firstForAny(round, kind));
}

/** The first of a kind, whoever of the idle ones is to have it. */
function firstForAny(round: Round, kind: Kind): Task | undefined {
  if (serversOf(round, kind).next().done) return undefined;
  return kind.open.choose((lane) => {
    const looks = (round.looks ??= new Map());
    const look = looks.get(lane) ?? begunLook();
    looks.set(lane, look);
    return firstWhere(round, lane, look, (task) => {
      if (servedBy(round, task) !== null) return 'fits';
      return anyFor(round, task) === null ? 'refused' : 'kept';
    });
  });
}

/** Who is to have it of all that may: as where nothing is limited. */
function servedBy(round: Round, task: Task): Server | null {
  const { state, now } = round;
  const kept = keptFor(state, task, now);
  if (kept !== null) {
    const { executor } = kept;
    const pool = state.pools.get(executor.poolKey);
    if (pool?.idle.has(executor) && mayHave(round, executor, task)) return { pool, executor };
    if (kept.until > now) {
      passOver(state, task, kept, now);
      return null;
    }
  }
  return anyFor(round, task);
}

/** Whoever it is kept for. */
function anyFor(round: Round, task: Task): Server | null {
  const { kind } = laneOf(round.state, task);
  for (const server of serversOf(round, kind, task)) {
    if (takes(round, server.executor, task)) return server;
  }
  return null;
}

/** Tasks of several kinds go to executors one by one, as they come first in all of them (P6). */
function assignFrom(round: Round, kinds: readonly Kind[]): void {
  if (kinds.length === 0) return;
  const open = new Agenda<Standing & { readonly kind: Kind }>(
    ({ kind }) => headFor(round, kind),
    rankOf,
  );
  for (const kind of kinds) {
    const head = headFor(round, kind);
    if (head !== undefined) open.announce({ kind, ...OUT }, head);
  }
  for (let next = open.first(); next !== undefined; next = open.first()) {
    if (!isTypeOpen(round.state.quotas, next.kind)) {
      open.remove(next);
      continue;
    }
    // Where it ended some, another kind may come first now.
    if (endOverdue(round, next.kind.open.first())) continue;
    if (!offerOne(round, next.kind)) open.remove(next);
  }
}

/** Its first task; of a sticky type the first that is not kept, or it would go before an older one of another kind. */
function headFor(round: Round, kind: Kind): Task | undefined {
  if (!isSticky(round.state, kind.type)) return headOfKind(kind);
  return isTypeOpen(round.state.quotas, kind) ? firstForAny(round, kind) : undefined;
}

/** To the idle executor that its route chooses; false if none may have a task of this kind now. */
function offerOne(round: Round, kind: Kind): boolean {
  if (isSticky(round.state, kind.type)) {
    const task = firstForAny(round, kind);
    return task !== undefined && offerToAny(round, task);
  }
  for (const server of serversOf(round, kind)) {
    const task = firstOfKind(round, kind, server.executor);
    if (task === undefined) continue;
    offerBest(round, task, server);
    return true;
  }
  return false;
}

/** Whoever is to have it of those that are idle; false: nobody may. */
function offerToAny(round: Round, task: Task): boolean {
  const server = servedBy(round, task) ?? anyFor(round, task);
  if (server !== null) offerBest(round, task, server);
  return server !== null;
}

/** What the executor has refused, or what waited while it rested, may come before this, in any lane. */
function offerBest(round: Round, task: Task, { pool, executor }: Server): void {
  const isChoosy = executor.keptUntil !== null || executor.coolDowns.size > 0;
  const mayHaveOlder = isChoosy || executor.restUntil > 0;
  const best = mayHaveOlder ? bestFor(round, pool, executor) : task;
  offer(round, best ?? task, executor);
}

function firstOfLane(round: Round, lane: Lane, executor: Executor): Task | undefined {
  const { state, now } = round;
  return firstWhere(round, lane, begunLook(), (task) => {
    if (!takes(round, executor, task)) return 'refused';
    const kept = keptFor(state, task, now);
    if (!isKeptFrom(executor, kept, now)) return 'fits';
    passOver(state, task, kept, now);
    return 'kept';
  });
}

/** Kept: for another executor, though an idle one might have it. */
type Fit = 'fits' | 'kept' | 'refused';

/** The first that fits; the first that is kept, where more are than an executor may idle beside. */
function firstWhere(
  round: Round,
  lane: Lane,
  look: Look,
  fitOf: (task: Task) => Fit,
): Task | undefined {
  const { state, now } = round;
  endOverdue(round, lane);
  if (headOfLane(lane) === undefined) return undefined;
  if (look.kept.length === ROUTE_KEEP_COUNT) look.kept = look.kept.filter(isWaiting);
  for (const task of look.last === null ? lane.ready : lane.ready.after(look.last)) {
    if (look.refusedCount === SCAN_MAX) return undefined;
    if (look.kept.length === ROUTE_KEEP_COUNT) return look.kept[0];
    const fit = isOverdue(state, task, now) ? 'refused' : fitOf(task);
    if (fit === 'fits') return task;
    look.last = task;
    if (fit === 'kept') look.kept.push(task);
    else look.refusedCount++;
  }
  // What follows is not read while so much is in memory.
  const isAll = lane.ready.complete || lane.loading;
  return isAll && look.kept.length < ROUTE_KEEP_COUNT ? undefined : look.kept.find(isWaiting);
}

const isWaiting = ({ state }: Task): boolean => state === 'waiting';

/**
 * Ends the tasks at the head of the lane that are overdue: nothing is offered past its deadline or its
 * start limit, be it that a page brought it or that the tick that ends it is yet to come. Whether
 * there were any.
 */
function endOverdue(round: Round, lane: Lane | undefined): boolean {
  const { state, now, out } = round;
  for (let count = 0; ; count++) {
    const head = lane && headOfLane(lane);
    const mayEnd = head !== undefined && isOverdue(state, head, now) && round.endableCount > 0;
    if (!mayEnd) return count > 0;
    round.endableCount--;
    settleOverdue(state, head, now, out);
  }
}

/** A task like this one: where the groups of its type take turns, of the one whose turn it is. */
function offer(round: Round, like: Task, executor: Executor): void {
  const { state, now, out } = round;
  const task = inTurn(round, like, executor);
  state.shares.get(task.type)?.take(laneOf(state, task));
  dequeue(state, task);
  task.state = 'offered';
  task.attempt++;
  task.executorId = executor.id;
  task.incarnation = executor.incarnation;
  task.offeredAt = now;
  task.startedAt = null;
  task.hiddenMs = 0;
  task.stallHiddenMs = 0;
  task.progressPercent = null;
  task.progressDetail = null;
  task.eventCount = 0;
  if (task.uses.length > 0) {
    take(state, executor, { taskId: task.id, attempt: task.attempt }, task.uses, out);
  }
  occupy(state, executor, occupationBy(state, executor, task, false));
  countOffer(state, task, now, out);
  if (task.booking !== null) noteUsed(state, task.booking, out);
  state.open.count(task);
  executor.missedCount = 0;
  executor.offeredAt = now;
  leaveIdle(state, executor);
  state.deadlines.push({
    at: now + task.assignTimeoutMs,
    kind: 'assign',
    task,
    attempt: task.attempt,
  });
  out.changes.push(taskUpdated(task));
  tellAttempt(state, out, 'task.offered', task, now);
  if (executor.sessionId !== null) {
    out.effects.push({
      type: 'sendToExecutor',
      sessionId: executor.sessionId,
      command: { type: 'assign', task },
    });
  }
}

/** An executor of the pool is idle: what was left in the store for want of one is read. */
function feedHungry(round: Round, pool: Pool): void {
  for (const lane of takeHungry(pool)) askForMore(round, lane);
}

/** The window of a lane is running out, and the store has more. */
function askForMore({ state, out }: Round, lane: Lane): void {
  if (lane.loading || !lane.ready.runsLow(state.policy.pageCount)) return;
  if (!isOfUse(state, lane)) return markHungry(lane);
  lane.loading = true;
  out.loads.push({ type: 'lane', lane: lane.id });
}
