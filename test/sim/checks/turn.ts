/**
 * Compares a master's memory with the rows, at the end of a turn: everything it has decided is
 * committed then, and nothing is stepped. That is when they must agree.
 */
import { violations } from '../../../master/domain/state/invariants.ts';
import { startClock, type State } from '../../../master/domain/state/state.ts';
import { holderOf } from '../../../master/domain/steps/occupation.ts';
import type { Work } from '../../../master/domain/long-work/work.ts';
import type { Pause } from '../../../master/domain/model/pause.ts';
import { isAtRest, isStartOverdue, type Task, waits } from '../../../master/domain/model/task.ts';
import type { Ledger } from '../ledger.ts';
import { KeepingCheck } from './bookings/keeping.ts';
import { OrderCheck } from './order.ts';
import { RouteCheck } from './routes.ts';
import type { Process, World } from '../world.ts';

/** Ticks in which a task that became due in the store only must have been found. */
const HIDDEN_TICK_COUNT_MAX = 4;

/** In which a task must have ended whose time has run out in the store only, while the master ticks. */
const OVERDUE_MS_MAX = 12_000;

/** From the step that asked to the commit that let the order out, and back: answers of the store. */
const TURN_MS_MAX = 20_000;

export class TurnCheck {
  readonly #process: Process;
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #order: OrderCheck;
  readonly #routes: RouteCheck;
  readonly #keeping: KeepingCheck;
  #lastTickAt = 0;
  #term = 0;
  /** Since when this master has known of its tasks: before that nobody could end them. */
  #termSince = 0;
  /** When the last master before this one showed that it was there, and when this one had read the rows. */
  #absentSince = 0;
  #absentUntil = 0;
  /** Ticks since which a task is due, covered by its lane, and not in memory. */
  #hiddenTickCounts = new Map<number, number>();
  /** For how long a task waits past its deadline, or past the limit for its start. */
  #overdueMs = new Map<number, number>();
  /** For how long a task is held while there is a place. */
  #freeMs = new Map<number, number>();

  constructor(process: Process, ledger: Ledger) {
    this.#process = process;
    this.#world = process.world;
    this.#ledger = ledger;
    this.#keeping = new KeepingCheck(process.world, ledger);
    this.#order = new OrderCheck(process, ledger);
    this.#routes = new RouteCheck(process.world, (name) => ledger.typeOf(name));
  }

  check(state: State): void {
    const aheadMs = this.#process.now() - this.#world.now;
    if (!this.#world.wallsMs.includes(aheadMs)) {
      this.#world.violate('C1', 'it goes by a time that the database does not have');
    }
    // A deposed master may believe what it likes; its commits are refused.
    if (this.#ledger.term !== state.term) return;
    if (state.term !== this.#term) {
      this.#termSince = this.#process.now();
      this.#absentSince = this.#ledger.aliveBefore(state.term);
      // The commit that begins the term may take long: executors are heard of meanwhile.
      this.#absentUntil = state.lastTickAt;
    }
    this.#term = state.term;
    this.#checkSpared(state);
    for (const { invariant, what } of violations(state)) this.#world.violate(invariant, what);
    checkMirror(this.#process, this.#ledger, state);
    checkCounts(this.#world, this.#ledger, state);
    const offered = this.#ledger.takeOffered();
    this.#order.check(state, offered);
    this.#routes.check(state, offered);
    this.#keeping.check(state, offered);
    const resumedAt = this.#process.resumedAt + aheadMs;
    checkTimely(this.#world, state, Math.max(this.#termSince, resumedAt));
    if (state.lastTickAt !== this.#lastTickAt) {
      this.#checkHidden(state);
      this.#checkOverdue(state);
      this.#checkHeld(state);
    }
    this.#lastTickAt = state.lastTickAt;
  }

  /** T6: time in which there was no master counts neither as running nor as standing still. */
  #checkSpared(state: State): void {
    for (const task of state.tasks.values()) {
      const { id, cancelReason, cancelRequestedAt } = task;
      if (cancelRequestedAt === null || cancelRequestedAt < this.#termSince) continue;
      // Progress that came after it was told says nothing of before.
      if (task.progressAt !== null && task.progressAt >= cancelRequestedAt) continue;
      const isStall = cancelReason === 'stalled';
      if (!isStall && cancelReason !== 'execution_timeout') continue;
      const startedAt = task.startedAt ?? 0;
      const since = isStall ? Math.max(task.progressAt ?? 0, startedAt) : startedAt;
      const absentMs = Math.max(0, this.#absentUntil - Math.max(since, this.#absentSince));
      const limitMs = (isStall ? task.stallTimeoutMs : task.executionTimeoutMs) ?? 0;
      // Its executor knows better how long it ran.
      const ranMs = isStall
        ? null
        : this.#ledger.children.ranMsAt(
            this.#process.worldTimeOf(cancelRequestedAt),
            id,
            task.attempt,
          );
      const seenMs = Math.max(cancelRequestedAt - since - absentMs, ranMs ?? 0);
      if (seenMs < limitMs) {
        this.#world.violate('T6', `${id} was seen for ${seenMs} of ${limitMs} ms: ${cancelReason}`);
      }
    }
  }

  #checkHidden(state: State): void {
    const counts = new Map<number, number>();
    for (const row of this.#ledger.live.values()) {
      if (row.state !== 'waiting' || row.dueAt > state.lastTickAt) continue;
      if (state.tasks.has(row.id) || !laneCovers(state, row)) continue;
      const count = (this.#hiddenTickCounts.get(row.seq) ?? 0) + 1;
      counts.set(row.seq, count);
      if (count > HIDDEN_TICK_COUNT_MAX) {
        this.#world.violate('M2', `${row.id} is due, comes before others, and is not in memory`);
      }
    }
    this.#hiddenTickCounts = counts;
  }

  /** I32: nobody is held while there is a place. */
  #checkHeld(state: State): void {
    const { lastTickAt, accepting } = state;
    const freeMs = new Map<number, number>();
    const tickMs = Math.min(1_000, lastTickAt - this.#lastTickAt);
    for (const row of this.#ledger.live.values()) {
      if (row.state !== 'held' || !this.#ledger.hasPlace(row, lastTickAt)) continue;
      const ms = (this.#freeMs.get(row.seq) ?? 0) + tickMs;
      freeMs.set(row.seq, ms);
      if (accepting && ms > OVERDUE_MS_MAX) {
        this.#world.violate('I32', `${row.id} is held though there is a place`);
      }
    }
    this.#freeMs = freeMs;
  }

  #checkOverdue(state: State): void {
    const { lastTickAt, accepting } = state;
    const overdueMs = new Map<number, number>();
    // While it stands still, or waits for the store, it cannot look for them.
    const tickMs = Math.min(1_000, lastTickAt - this.#lastTickAt);
    for (const row of this.#ledger.live.values()) {
      const isExpired = row.deadlineAt !== null && row.deadlineAt <= lastTickAt;
      const startsBy = startClock(state, lastTickAt, row);
      if (!isAtRest(row) || !(isExpired || isStartOverdue(row, startsBy))) continue;
      const ms = (this.#overdueMs.get(row.seq) ?? 0) + tickMs;
      overdueMs.set(row.seq, ms);
      if (accepting && ms > OVERDUE_MS_MAX) {
        this.#world.violate('T6', `${row.id} goes on waiting though its time is over`);
      }
    }
    this.#overdueMs = overdueMs;
  }
}

function checkMirror(process: Process, ledger: Ledger, state: State): void {
  const { world } = process;
  for (const [id, task] of state.tasks) {
    const row = ledger.live.get(task.seq);
    if (row === undefined) {
      world.violate('M1', `${id} is ${task.state} in memory and not among the live rows`);
    } else if (!isMirror(task, row, state.unwritten.has(task))) {
      const held = JSON.stringify(task);
      world.violate('M1', `${id} in memory differs from its row: ${held}, ${JSON.stringify(row)}`);
    }
  }
  if (wordsOf(state.works.byId.values()) !== wordsOf(ledger.operations.rows.values()))
    world.violate('M1', 'operations in memory differ from their rows');
  checkNames(world, 'what may still run', state.leftovers.values(), ledger.leftovers);
  checkNames(world, 'who has of shared limits', state.holdings.values(), ledger.holdings);
  for (const row of ledger.live.values()) {
    if (state.tasks.has(row.id)) continue;
    if (row.state === 'held' || row.state === 'suspended') continue;
    if (row.state !== 'waiting') {
      world.violate('M1', `${row.id} is ${row.state} and not in memory`);
    } else if (!mayBeHidden(state, row, process.now())) {
      world.violate('M2', `${row.id} waits, is covered by its window, and is not in memory`);
    }
  }
}

/** How far they are. */
function wordsOf(works: Iterable<Work>): string {
  const words = [...works].map(({ id, state, cursor, ids, counts }) =>
    JSON.stringify([id, state, cursor, ids?.length, counts]),
  );
  return words.sort().join('\n');
}

/** Of attempts. */
function checkNames(
  world: World,
  what: string,
  inMemory: Iterable<{ readonly taskId: string; readonly attempt: number }>,
  inRows: ReadonlySet<string>,
): void {
  const names = new Set([...inMemory].map(({ taskId, attempt }) => `${taskId}/${attempt}`));
  if (names.size === inRows.size && [...names].every((name) => inRows.has(name))) return;
  world.violate('M1', `${what} is ${[...names].join(', ')}, by the rows ${[...inRows].join(', ')}`);
}

function isMirror(task: Task, row: Task, isAhead: boolean): boolean {
  const isSame =
    task.version === row.version &&
    task.attempt === row.attempt &&
    task.executorId === row.executorId &&
    task.orderTime === row.orderTime &&
    task.queueTime === row.queueTime &&
    (isAhead || task.startBy === row.startBy) &&
    task.dueAt === row.dueAt &&
    task.attemptsUsed === row.attemptsUsed &&
    task.cancelReason === row.cancelReason &&
    task.checkpoint === row.checkpoint;
  if (!isSame) return false;
  return isAhead || (task.state === row.state && task.startedAt === row.startedAt);
}

/** Beyond the end of the window it belongs to. */
function mayBeHidden(state: State, row: Task, now: number): boolean {
  if (!state.delayed.covers({ time: row.dueAt, seq: row.seq })) return true;
  // It was due before its lane was read, or the tick that moves it there is yet to come.
  return row.dueAt <= now && !laneCovers(state, row);
}

function laneCovers(state: State, row: Task): boolean {
  const lane = state.lanes.get(row.lane);
  return lane === undefined || lane.ready.covers({ time: row.queueTime, seq: row.seq });
}

function checkCounts(world: World, ledger: Ledger, state: State): void {
  const counts = new Map<number, number>();
  const gates = new Map<number, number>();
  for (const row of ledger.live.values()) {
    if (waits(row)) counts.set(row.lane, (counts.get(row.lane) ?? 0) + 1);
    if (row.gate !== null) gates.set(row.gate, (gates.get(row.gate) ?? 0) + 1);
    if ((row.gate !== null) !== (row.state === 'held')) {
      world.violate('S3', `${row.id} is ${row.state} with gate ${row.gate}`);
    }
  }
  for (const key of ledger.lanes) {
    if (!state.lanes.has(key)) world.violate('M1', `lane ${key} has a row, and is not in memory`);
  }
  for (const [key, lane] of state.lanes) {
    if (!ledger.lanes.has(key)) world.violate('M1', `lane ${key} has no row`);
    const count = counts.get(key) ?? 0;
    if (lane.waitingCount !== count) {
      world.violate('S3', `lane ${key} counts ${lane.waitingCount} waiting tasks, not ${count}`);
    }
    counts.delete(key);
  }
  for (const [key, count] of counts) world.violate('S3', `lane ${key} of ${count} is unknown`);
  for (const [key, { heldCount }] of state.gates) {
    const count = gates.get(key) ?? 0;
    if (heldCount !== count) world.violate('S3', `gate ${key} counts ${heldCount}, not ${count}`);
    gates.delete(key);
  }
  for (const [key, count] of gates) world.violate('S3', `gate ${key} of ${count} is unknown`);
}

function checkPausesEnd(world: World, { pauses, settings, types, lastTickAt }: State): void {
  const check = (what: string, paused: Pick<Pause, 'until'> | null): void => {
    const isOver = paused !== null && paused.until !== null && paused.until <= lastTickAt;
    if (isOver) world.violate('T1', `${what} outlasts its end`);
  };
  for (const row of pauses.values()) check(`the pause of ${row.scope} ${row.value}`, row);
  check('the pause of the namespace', settings.paused);
  for (const { type, paused } of types.values()) check(`the pause of type ${type}`, paused);
}

/**
 * T1: nothing outlives its time in memory: a timer that was lost shows here, not hours later.
 * T5: what was told to end is over a grace and a lease later, whatever its executor does.
 */
function checkTimely(world: World, state: State, termSince: number): void {
  const { deadlines, lastTickAt, policy } = state;
  if (deadlines.nextAt() <= lastTickAt) return;
  // Some end in each tick.
  if (deadlines.pausesOver.length === 0) checkPausesEnd(world, state);
  for (const task of state.tasks.values()) {
    const executor = holderOf(state, task);
    const isOver = (since: number | null, ms: number | null) =>
      since !== null && ms !== null && since + ms <= lastTickAt;
    const what = (limit: string) => `${task.id} is ${task.state} after its ${limit}`;
    // An offer of an earlier term has no timer: its executor comes back or loses its lease.
    const isOfThisTerm = executor !== undefined && executor.sessionId !== null;
    const spared = (since: number | null) => since && since + task.hiddenMs;
    if (
      task.state === 'offered' &&
      isOfThisTerm &&
      isOver(spared(task.offeredAt), task.assignTimeoutMs)
    ) {
      world.violate('T1', what('assign timeout'));
    }
    if (task.cancelReason === null) {
      if (task.state === 'running' && isOver(spared(task.startedAt), task.executionTimeoutMs)) {
        world.violate('T1', what('execution timeout'));
      }
      if (isOver(task.deadlineAt, 0)) world.violate('T1', what('deadline'));
      if (task.state === 'waiting' && isStartOverdue(task, startClock(state, lastTickAt, task))) {
        world.violate('T1', what('start timeout'));
      }
    } else {
      // Nobody could end it before this master knew of it.
      const toldAt = Math.max(task.cancelRequestedAt ?? 0, termSince);
      const { cancelGraceMs, leaseMs } = policy;
      const limitMs = cancelGraceMs + Math.max(cancelGraceMs, leaseMs) + TURN_MS_MAX;
      if (isOver(toldAt, limitMs)) world.violate('T5', what('grace and its lease'));
    }
  }
}
