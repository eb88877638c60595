/**
 * What holds between two steps, numbered. Tests and the simulation check it after every turn;
 * comments elsewhere cite the numbers. Pure. I1 to I15 speak of the whole system
 * (`docs/testing.md`): those of them that show in the state are here, and S1 to S15 are about
 * the state alone.
 *
 *   I4  a task in memory is live, and an open attempt has a number
 *   I5  an open attempt occupies exactly the executor that its task names
 *   I7  an idle executor is connected, free, wanted and ready
 *   I13 no task waits that an idle executor might run
 *   I20 an executor is in the pool of the labels that operators have set, else of its own; one that is booked, of its
 *       booking
 *   S1  a window is sorted and ends before its `until`
 *   S2  a waiting task in memory is in exactly one window, the right one
 *   S3  the counts are those of what is counted
 *   S4  a kind and a pool that fit meet in one junction, and pools with idle executors are known there
 *   S5  what is to be written later is open, and will be
 *   S6  whoever runs what was told to end has been told, and only he is listened to no more
 *   S7  what may be offered stands in its agendas, no later than it comes; what runs low is known to
 *   S8  an attempt that is over for its task, and may still run, is written
 *   S9  a type is kept by its name while it is registered or operators have decided something
 *   S10 the groups of a type take turns where that is set, and none is further ahead than one turn
 *   S11 what counts towards the limits of a type is what there is
 *   S12 a gate knows who has a place of it, no more than may, and asks for whom it holds where there is one
 *   S13 what is used of shared limits is what attempts have taken, and that is written
 *   S14 a lane is paused where its group is, or a label of its kind, and only there
 *   S15 whom bookings have bound or keep, and what counts for them, is what their rows and executors say
 */
import { ROUTE_KEEP_COUNT, TYPES_MAX, UNREGISTERED_TYPES_MAX } from '../bounds.ts';
import {
  diskOf,
  elderKey,
  type Executor,
  hasDisk,
  mayRun,
  NO_OVERRIDE,
  pinOf,
  poolKeyOf,
} from '../model/executor.ts';
import { endsWithWindow } from '../booking/tasks.ts';
import { hasRoom, hasRoomForBooked } from '../limits/quota.ts';
import { checkBookings } from './booking-invariants.ts';
import { heldBytes } from './held-bytes.ts';
import { positionOf, type Rank, ranksBefore, rankOf, type Standing } from '../queue/agenda.ts';
import { idlePools } from '../queue/junctions.ts';
import { headOfLane, type Junction, type Lane, type Pool } from '../queue/lane.ts';
import { isBefore, type Position, type Window } from '../queue/window.ts';
import {
  checkGates,
  checkPauses,
  checkQuotas,
  checkSupplies,
  type Expect,
} from './limit-invariants.ts';
import { mayOffer } from '../limits/whole.ts';
import { registeredCount, type State } from './state.ts';
import { currentTask, holderOf } from '../steps/occupation.ts';
import { lackOf } from '../limits/supplies.ts';
import { keptFor } from '../queue/route.ts';
import { saysNothing } from '../operators/types.ts';
import type { Task } from '../model/task.ts';

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

/** Empty if all is well. */
export function violations(state: State): Violation[] {
  const found: Violation[] = [];
  const expect = (holds: boolean, invariant: string, what: () => string): void => {
    if (!holds) found.push({ invariant, what: what() });
  };
  checkTasks(state, expect);
  checkExecutors(state, expect);
  checkWindows(state, expect);
  checkAgendas(state, expect);
  checkWakeUps(state, expect);
  checkTypes(state, expect);
  checkQuotas(state, expect);
  checkGates(state, expect);
  checkSupplies(state, expect);
  checkPauses(state, expect);
  checkBookings(state, expect);
  return found;
}

function checkTasks(state: State, expect: Expect): void {
  let openBytes = 0;
  for (const [id, task] of state.tasks) {
    const what = () => `${id} is ${task.state} ${task.attempt} of ${task.executorId}`;
    expect(task.id === id, 'S2', what);
    const isRun = task.job !== null && task.job.backfill === null;
    expect(!isRun || state.tasks.idsOfJob(task.job.name).has(id), 'S3', what);
    if (task.state === 'waiting') {
      const inLane = state.lanes.get(task.lane)?.ready.find(task) === task;
      const inDelayed = state.delayed.find(task) === task;
      expect(inLane !== inDelayed, 'S2', () => `${what()}; lane ${inLane}, delayed ${inDelayed}`);
      expect(task.cancelReason === null, 'I4', what);
      continue;
    }
    expect(task.state === 'offered' || task.state === 'running', 'I4', what);
    expect(task.attempt > 0, 'I4', what);
    openBytes += heldBytes(task);
    const occupation = holderOf(state, task)?.occupation;
    const isHeld = occupation?.taskId === id && occupation.attempt === task.attempt;
    const isEnding = holderOf(state, task)?.ending?.taskId === id;
    expect(isEnding === (task.cancelReason !== null), 'S6', what);
    expect(isHeld, 'I5', () => `${what()}, which has ${JSON.stringify(occupation)}`);
  }
  const { bytes } = state.open;
  expect(bytes === openBytes, 'S3', () => `open tasks hold ${openBytes} bytes, not ${bytes}`);
  const isTimed = state.unwritten.size === 0 || Number.isFinite(state.flush.at);
  expect(isTimed, 'S5', () => `${state.unwritten.size} tasks are never written`);
  for (const task of state.unwritten) {
    const isOpen = state.tasks.get(task.id) === task && task.state === 'running';
    expect(isOpen, 'S5', () => `${task.id} is ${task.state} and to be written`);
  }
}

function checkTypes({ types, shares }: State, expect: Expect): void {
  const count = registeredCount({ types });
  const isBounded = count <= TYPES_MAX && types.size - count <= UNREGISTERED_TYPES_MAX;
  expect(isBounded, 'S9', () => `there are ${types.size} types, ${count} of them registered`);
  for (const [name, type] of types) {
    const what = () => `${name} is kept for ${type.type} at version ${type.version}`;
    expect(type.type === name && !saysNothing(type), 'S9', what);
    expect(shares.has(name) === (type.fairBy === 'group'), 'S10', what);
  }
  for (const [name, ofGroups] of shares) {
    expect(types.has(name), 'S10', () => `the groups of ${name} take turns, which is not set`);
    for (const [group, lead] of ofGroups.leads()) {
      // A sum of fractions.
      const isNear = lead <= 1 + 1e-6;
      expect(isNear, 'S10', () => `${group} is ${lead} turns of ${name} ahead of the others`);
    }
  }
}

function checkExecutors(state: State, expect: Expect): void {
  const members = new Map<string, number>();
  for (const [id, executor] of state.executors) {
    expect(executor.id === id, 'I7', () => `${id} is kept as ${executor.id}`);
    const { poolKey } = executor;
    if (poolKey !== '') members.set(poolKey, (members.get(poolKey) ?? 0) + 1);
    const { labels, reserve } = state.executorRecords.get(id) ?? NO_OVERRIDE;
    const counting = {
      types: executor.types,
      labels: withPin(executor, labels ?? executor.own.labels),
      reserve: reserve ?? executor.own.reserve,
      booking: state.bookings.boundTo.get(id) ?? null,
    };
    const isPlaced = poolKey === '' || poolKey === poolKeyOf(counting);
    expect(isPlaced, 'I20', () => `${id} is in pool ${poolKey} with ${JSON.stringify(counting)}`);
    const isRightlyPinned =
      executor.isPinned === state.pins.counts.has(id) || state.pins.changed.has(id);
    const isSettled = poolKey === '' || !state.accepting || isRightlyPinned;
    expect(isSettled, 'I20', () => `${id} is pinned: ${executor.isPinned}`);
    const isFree = executor.connected && executor.occupation === null;
    const isWanted = !executor.drainRequested && !executor.leaving && executor.readiness.ok;
    const isIdle = state.pools.get(poolKey)?.idle.has(executor) ?? false;
    // A master that stops drains all at once and offers nothing: the pools do not matter then.
    const isRight = !state.accepting || isIdle === (isFree && isWanted);
    expect(isRight, 'I7', () => `${id} is idle: ${isIdle}`);
    expect(!executor.isFrozen || executor.ending !== null, 'S6', () => `${id} stays frozen`);
  }
  const held = [...state.executors.values(), ...state.elders.values()].filter(
    ({ occupation }) => occupation !== null,
  );
  for (const executor of held) {
    const { occupation } = executor;
    const isOver = occupation !== null && currentTask(state, executor, occupation) === null;
    expect(isOver === state.leftovers.has(executor), 'S8', () => `${executor.id}: ${isOver}`);
  }
  const isHeld = [...state.leftovers.keys()].every((executor) => held.includes(executor));
  expect(isHeld, 'S8', () => 'nobody has what is written as a leftover');
  expect(
    state.attemptCount === held.length,
    'S3',
    () => `${state.attemptCount} held, not ${held.length}`,
  );
  for (const [key, executor] of state.elders) {
    const { id, incarnation, sessionId, connected, occupation, poolKey } = executor;
    const isApart = sessionId === null && !connected && poolKey === '' && occupation !== null;
    expect(isApart && key === elderKey(id, incarnation), 'I7', () => `${key} is no elder`);
  }
  for (const pool of state.pools.values())
    checkPool(state, pool, members.get(pool.key) ?? 0, expect);
}

function checkPool(state: State, pool: Pool, memberCount: number, expect: Expect): void {
  const { key, idle, members } = pool;
  expect(members.size === memberCount, 'S3', () => `pool ${key}: ${members.size}`);
  for (const executor of idle) {
    const isKnown = state.executors.get(executor.id) === executor && executor.poolKey === key;
    expect(isKnown, 'I7', () => `${executor.id} is idle in pool ${key}, to which it is a stranger`);
    const isKnownToHave = idle.hasDisk(diskOf(executor));
    expect(isKnownToHave, 'S4', () => `${executor.id} has more disk than is known of pool ${key}`);
  }
  for (const junction of pool.junctions) {
    const isListed = junction.idle.includes(pool) === idle.size > 0;
    const isRight = isListed && junction.pools.has(pool);
    expect(isRight, 'S4', () => `pool ${key} in junction ${junction.key}`);
  }
  for (const kind of state.kinds.values()) {
    if (!mayRun(pool, kind)) continue;
    const meet = kind.stands.filter(({ junction }) => pool.junctions.includes(junction));
    const what = () => `pool ${key} meets kind ${kind.key} ${meet.length} times`;
    expect(meet.length === 1, 'S4', what);
  }
}

function withPin({ id, isPinned }: Executor, labels: readonly string[]): readonly string[] {
  return isPinned && !labels.includes(pinOf(id)) ? [...labels, pinOf(id)] : labels;
}

function checkWindows(state: State, expect: Expect): void {
  let windowCount = state.delayed.size;
  let windowBytes = 0;
  let waitingCount = 0;
  let suspendedCount = 0;
  const inDelayed = (task: Task) => ({ time: task.dueAt, seq: task.seq });
  checkSorted(state.delayed, inDelayed, 'delayed', expect);
  for (const task of state.delayed) windowBytes += heldBytes(task);
  for (const [id, lane] of state.lanes) {
    checkSorted(lane.ready, positionOf, `lane ${id}`, expect);
    windowCount += lane.ready.size;
    const isEmpty = lane.waitingCount + lane.suspendedCount === 0;
    suspendedCount += lane.suspendedCount;
    expect(isEmpty === state.emptyLanes.has(lane), 'S3', () => `lane ${id} is empty: ${isEmpty}`);
    waitingCount += lane.waitingCount;
    for (const task of lane.ready) {
      windowBytes += heldBytes(task);
      const belongs = task.lane === id && task.state === 'waiting';
      expect(belongs, 'S2', () => `${task.id}, ${task.state}, is in lane ${id}`);
    }
  }
  const counted = `${windowCount}, ${windowBytes} bytes, ${waitingCount}, ${suspendedCount}`;
  const kept = `${state.windowCount}, ${state.windowBytes} bytes, ${state.waitingCount}, ${state.suspendedCount}`;
  expect(kept === counted, 'S3', () => `counts are ${kept} instead of ${counted}`);
}

function checkSorted<T extends object>(
  window: Window<T>,
  positionOf: (item: T) => Position,
  name: string,
  expect: Expect,
): void {
  let before: Position | null = null;
  for (const item of window) {
    const position = positionOf(item);
    const isInOrder = before === null || isBefore(before, position);
    expect(isInOrder && window.covers(position), 'S1', () => {
      return `${name} has ${JSON.stringify(position)} after ${JSON.stringify(before)}`;
    });
    before = position;
  }
}

function checkAgendas(state: State, expect: Expect): void {
  // A master that stops offers nothing.
  if (!state.accepting) return;
  const check = (agenda: Iterable<Standing>, queue: Standing, rank: Rank, name: string) => {
    const stands = [...agenda][queue.place] === queue && !ranksBefore(rank, queue.notBefore);
    expect(stands, 'S7', () => `${name} stands at ${queue.place} ${inWords(queue.notBefore)}`);
  };
  for (const { key, lanes, open, stands, hungry } of state.kinds.values()) {
    checkPlaces(open, key, expect);
    for (const lane of lanes.values()) {
      const head = headOfLane(lane);
      if (head === undefined) continue;
      const rank = rankOf(head);
      check(open, lane, rank, `lane ${lane.id}`);
      for (const stand of stands) check(stand.junction.open, stand, rank, `kind ${key}`);
    }
    for (const lane of lanes.values()) {
      if (lane.loading || !lane.ready.runsLow(state.policy.pageCount)) continue;
      const isKnown = hungry.has(lane) && stands.every(({ junction }) => knows(junction, lane));
      expect(isKnown, 'S7', () => `lane ${lane.id} runs low, and nobody knows`);
    }
  }
  for (const { junctions } of state.pools.values()) {
    for (const { key, open } of junctions) checkPlaces(open, key, expect);
  }
  for (const [type, shares] of state.shares) {
    const agendas = new Set<Iterable<Standing>>();
    for (const { agenda, queue, rank, of } of shares.standings()) {
      agendas.add(agenda);
      check(agenda, queue, rank, `${of} of ${type}`);
    }
    for (const agenda of agendas) checkPlaces(agenda, `the shares of ${type}`, expect);
  }
}

const knows = ({ hungry }: Junction, { kind }: Lane): boolean => hungry.has(kind);

const inWords = ({ time, seq }: Position): string => `at ${time}, ${seq}`;

function checkPlaces(agenda: Iterable<Standing>, name: string, expect: Expect): void {
  const queues = [...agenda];
  for (const [place, queue] of queues.entries()) {
    const above = queues[(place - 1) >> 1];
    const isBehind = above === undefined || !ranksBefore(queue.notBefore, above.notBefore);
    const what = () => `${place} of the agenda of ${name} is out of order`;
    expect(queue.place === place && isBehind, 'S7', what);
  }
}

function checkWakeUps(state: State, expect: Expect): void {
  const { deadlines, lastTickAt } = state;
  // After this process stood still, what is due is left to the next tick.
  if (!mayOffer(state) || deadlines.nextAt() <= lastTickAt) return;
  for (const lane of state.lanes.values()) {
    const quota = state.quotas.get(lane.kind.type);
    const { booking } = lane.kind;
    if (quota !== undefined && !(booking === null ? hasRoom(quota) : hasRoomForBooked(quota)))
      continue;
    for (const pool of idlePools(lane.kind)) {
      for (const executor of pool.idle) {
        if (executor.restUntil > lastTickAt) continue;
        // Short of something, or behind a task that is.
        const isShort = lackOf(state, lane.kind, executor, { now: lastTickAt }) !== null;
        const waiting = isShort ? undefined : waitingBeside(state, lane, executor);
        expect(!waiting, 'I13', () => `${waiting?.id} waits and ${executor.id} is idle`);
        expect(
          !hasDisk(executor, lane.kind) || !isStarved(lane),
          'I13',
          () => `lane ${lane.id} is not read for ${executor.id}`,
        );
      }
    }
  }
}

/** What the idle executor might have of the lane: the head, or what is behind those that are kept for others. */
function waitingBeside(state: State, lane: Lane, executor: Executor): Task | undefined {
  const { lastTickAt } = state;
  if (headOfLane(lane) === undefined || !hasDisk(executor, lane.kind)) return undefined;
  let keptCount = 0;
  for (const task of lane.ready) {
    if ((executor.coolDowns.get(task.id) ?? 0) > lastTickAt) return undefined;
    // It is over too late for a booking that the executor is kept for: who is asked looks at so many only.
    if (executor.keptUntil !== null || endsWithWindow(state, task)) return undefined;
    const { until = 0 } = keptFor(state, task, lastTickAt) ?? {};
    // Its wait has begun, and will end.
    const isKept = state.passedOver.has(task.seq) && until > lastTickAt;
    if (!isKept || ++keptCount === ROUTE_KEEP_COUNT) return task;
  }
  return undefined;
}

/** Its tasks are in the store only, and nobody has asked for them. */
function isStarved(lane: Lane): boolean {
  return lane.ready.size === 0 && !lane.ready.complete && !lane.loading && lane.waitingCount > 0;
}
