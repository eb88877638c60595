/**
 * What waits, by type and by what keeps the first of it: the rules that offer tasks, asked about the heads of lanes.
 * From counters and what is in memory, and bounded: of a backlog of a million it looks at lanes, and at few tasks.
 */
import { HEADS_MAX, HEADS_OF_TYPE_MAX } from '../bounds.ts';
import { groupHasRoom } from '../limits/quota.ts';
import { absenceOf, type Executor } from '../model/executor.ts';
import { sees, type Sight } from '../model/task-filter.ts';
import type { Task } from '../model/task.ts';
import { PIECE_COUNT, type Pieces } from '../pieces.ts';
import { dueAtOf, type Kind, type Lane } from '../queue/lane.ts';
import type { State } from '../state/state.ts';
import { newRun } from '../steps/submit.ts';
import { askedOf, type Obstacle } from './asked.ts';
import { obstaclesButOrder } from './obstacles.ts';

/** Tasks of one type that wait, and what keeps the first of them. */
export interface Head {
  readonly type: string;
  /** Null: it is about to be offered. */
  readonly obstacle: Obstacle | null;
  /** The first of them; null: it is only in the store. */
  readonly task: Task | null;
  /** Since when the first is due; null: that is not known yet. */
  readonly since: number | null;
  /** Tasks of the lanes for which the same was found, and of these also some that are not due; held ones left out. */
  readonly count: number;
}

export interface Heads {
  /** Who waits longest first; of one type and one reason there is one. */
  readonly heads: readonly Head[];
  /** Tasks that wait beside those, of so many lanes that nobody asked about them. */
  readonly unaskedCount: number;
}

/** Lanes of which what holds for the first task holds for all. */
interface Alike {
  readonly type: string;
  lane: Lane;
  first: Task | null;
  /** Null: not known. */
  dueAt: number | null;
  count: number;
}

/** Where nothing is due there is no head. */
export function* headsOf(state: State, now: number, sight: Sight): Pieces<Heads> {
  const { asked, unaskedCount } = yield* chosenOf(yield* alikeIn(state, now, sight));
  const fleets = fleetsOf(state);
  const connectedCount = connectedOf(state.executors.values());
  const heads = new Map<string, Head>();
  for (const { type, lane, first: task, dueAt: since, count } of asked) {
    const isNaming = sight.groups === null;
    const all = askedOf(state, task ?? standIn(lane, now), now, isNaming);
    const { fleet, ownCount } = fleets.get(type) ?? NO_FLEET;
    const othersCount = connectedCount - ownCount;
    const [obstacle = null] = obstaclesButOrder({ ...all, fleet, othersCount });
    const key = `${type} ${obstacle?.key ?? ''}`;
    const known = heads.get(key);
    // They come in the order of their age.
    const head = known ?? { type, obstacle, task, since, count: 0 };
    heads.set(key, { ...head, count: head.count + count });
    yield;
  }
  return { heads: [...heads.values()], unaskedCount };
}

/** `ownCount`: of these are connected. */
const NO_FLEET: { readonly fleet: readonly Executor[]; readonly ownCount: number } = {
  fleet: [],
  ownCount: 0,
};

/** By type: each of many heads is asked of those that run its type alone. */
function fleetsOf({ executors }: State): ReadonlyMap<string, typeof NO_FLEET> {
  const fleets = new Map<string, Executor[]>();
  for (const executor of executors.values()) {
    for (const type of new Set(executor.types)) {
      const fleet = fleets.get(type);
      if (fleet === undefined) fleets.set(type, [executor]);
      else fleet.push(executor);
    }
  }
  return new Map(
    [...fleets].map(([type, fleet]) => [type, { fleet, ownCount: connectedOf(fleet) }]),
  );
}

function connectedOf(executors: Iterable<Executor>): number {
  let count = 0;
  for (const one of executors) if (absenceOf(one) !== 'away') count++;
  return count;
}

/** By lane, how many of its tasks are known to be due later. */
function delayedIn({ delayed }: State): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { lane } of delayed) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  return counts;
}

function* alikeIn(state: State, now: number, sight: Sight): Pieces<Alike[]> {
  const found = new Map<Kind, (Alike | undefined)[]>();
  let delayed: ReadonlyMap<number, number> | null = null;
  let lookCount = 0;
  for (const lane of state.lanes.values()) {
    if (++lookCount % PIECE_COUNT === 0) yield;
    const { ready, kind, isPaused, quota } = lane;
    const count = lane.waitingCount - lane.heldCount;
    if (count === 0 || !sees(sight, kind.type, lane.group)) continue;
    const first = ready.first() ?? null;
    const dueAt = dueAtOf(lane);
    // None is due: memory holds all that are, or the first is due later.
    if (first === null && (ready.complete || (dueAt ?? 0) > now)) continue;
    if (first === null && dueAt === null) {
      delayed ??= delayedIn(state);
      if ((delayed.get(lane.id) ?? 0) >= count) continue;
    }
    const isFull = quota !== null && !groupHasRoom(quota);
    const ofKind = found.get(kind) ?? [];
    const place = (isPaused ? 1 : 0) + (isFull ? 2 : 0);
    const known = ofKind[place];
    if (known === undefined) {
      ofKind[place] = { type: kind.type, lane, first, dueAt, count };
      found.set(kind, ofKind);
    } else {
      known.count += count;
      if (dueAt === null || (known.dueAt !== null && known.dueAt <= dueAt)) continue;
      known.first = first;
      known.dueAt = dueAt;
      known.lane = lane;
    }
  }
  return [...found.values()].flat().filter((alike) => alike !== undefined);
}

/** Some of each type, and of these the oldest: what is kept for long is what people want to know of. */
function* chosenOf(all: readonly Alike[]): Pieces<{
  readonly asked: readonly Alike[];
  readonly unaskedCount: number;
}> {
  const asked: Alike[] = [];
  let unaskedCount = 0;
  for (const [at, alike] of all.entries()) {
    if (at % PIECE_COUNT === 0) yield;
    unaskedCount += leftOut(asked, alike)?.count ?? 0;
  }
  return { asked, unaskedCount };
}

/** Puts it in its place among those, the oldest first; returns what has no place there any more. */
function leftOut(asked: Alike[], alike: Alike): Alike | undefined {
  const before = asked.findLastIndex((one) => sinceOf(one) <= sinceOf(alike));
  if (before === HEADS_MAX - 1) return alike;
  asked.splice(before + 1, 0, alike);
  const ofType = asked.filter(({ type }) => type === alike.type);
  const isOfType = ofType.length > HEADS_OF_TYPE_MAX;
  if (!isOfType && asked.length <= HEADS_MAX) return undefined;
  const last = (isOfType ? ofType : asked).at(-1) as Alike;
  asked.splice(asked.indexOf(last), 1);
  return last;
}

/** What is not known may have waited longest. */
const sinceOf = ({ dueAt }: Alike): number => dueAt ?? 0;

const NOBODY = { project: null, env: null, user: null };

/** Of a lane of which no task is in memory: one as they are, as far as its kind tells. */
function standIn({ id: lane, kind, group }: Lane, now: number): Task {
  const { type, requires, labels, diskBytes, uses, booking } = kind;
  const seq = Number.MAX_SAFE_INTEGER;
  const asked = { seq, id: '', type, params: 'null', labels, requires, diskBytes, uses };
  const times = { assignTimeoutMs: 0, executionTimeoutMs: null, stallTimeoutMs: null };
  const limits = { startTimeoutMs: null, startTimeoutAction: 'fail', deadlineAt: null } as const;
  const of = { traceparent: null, job: null, booking };
  const rest = { notifyUrl: null, requestHash: '', submittedAt: now, ...of };
  const begun = { lane, version: 0, priority: 0, attempt: 0, executorId: null, checkpoint: null };
  const retry = { maxAttempts: 1, interval: 0 };
  const user = { group, ...NOBODY };
  return newRun({ ...asked, ...times, ...limits, ...rest, ...begun, retry, user }, now);
}
