/** What keeps a task from being offered, executor by executor: who is there, what each lacks, and who is free. */
import {
  absenceOf,
  type Executor,
  diskOf,
  hasDisk,
  isCooling,
  isFree,
  isResting,
  isServing,
  lacksFor,
  mayRun,
  pinnedTo,
  poolKeyOf,
} from '../model/executor.ts';
import { keptFor, isKeptFrom } from '../queue/route.ts';
import { aheadOf } from './ahead.ts';
import type { Asked, Facts, Obstacle, Remedy } from './asked.ts';
import { allBooked, busyOfBooking, keptForBooking, replacedInWords } from './by-booking.ts';
import { connectedIn, started, takesNow, waiting } from './remedies.ts';
import { comeFirst, counted, inMb, inWords, withLabels } from './words.ts';

/** Executors that fit. */
export interface Fleet {
  /** They take no new tasks. */
  readonly drained: readonly Executor[];
  /** Whatever they are at work on. */
  readonly able: readonly Executor[];
  readonly unableCount: number;
  readonly counts: NonNullable<Facts['executors']>;
}

/** Where nobody might have it if he were free; returns those who might. */
export function* byFleet(asked: Asked): Generator<Obstacle, Fleet> {
  const { task, kind } = asked;
  const here = connectedIn(asked);
  const ofType = here.filter(({ types }) => types.includes(task.type));
  const fitting = ofType.filter((one) => mayRun(one, task));
  const serving = fitting.filter((one) => absenceOf(one) !== 'draining');
  const ready = serving.filter(isServing);
  const able = ready.filter((one) => hasDisk(one, kind ?? task));
  const counts = {
    connected: here.length + asked.othersCount,
    of_type: ofType.length,
    fitting: fitting.length,
    serving: serving.length,
    ready: ready.length,
    able: able.length,
    free: able.filter(isFree).length,
  };
  const drained = fitting.filter((one) => absenceOf(one) === 'draining');
  if (able.length === 0) {
    const facts = { executors: counts };
    const { booking } = task;
    const booked = ofType.filter((one) => mayRun({ ...one, booking }, task));
    if (ofType.length === 0) yield nobody(asked, facts);
    else if (fitting.length === 0 && booked.length > 0) yield allBooked(asked, booked, facts);
    else if (fitting.length === 0) yield misfits(asked, ofType, facts);
    else if (serving.length === 0) yield allDrained(asked, fitting, facts);
    else if (ready.length === 0) yield allUnready(asked, serving, facts);
    else yield allFull(asked, ready, facts);
  }
  return { drained, able, unableCount: serving.length - able.length, counts };
}

/** Where those who might have it are at work, or may not have it yet; returns those who may. */
export function* byTurn(asked: Asked, fleet: Fleet): Generator<Obstacle, readonly Executor[]> {
  const { state, task, now } = asked;
  const { able, unableCount, counts } = fleet;
  const idle = able.filter(isFree);
  if (able.length === 0) return [];
  if (idle.length === 0) {
    const others = unableCount === 0 ? '' : `, and ${unableCount} not ready`;
    const busy = busyOfBooking(asked, able.length, { executors: counts });
    yield busy ?? allBusy(asked, fleet, `${fittingInWords(able)}, all busy${others}.`);
    return [];
  }
  const free = idle.filter((one) => takesNow(asked, one));
  if (free.length === 0) {
    yield keptForBooking(asked, idle, { executors: counts });
    return [];
  }
  const kept = state.passedOver.has(task.seq) ? keptFor(state, task, now) : null;
  if (free.every((one) => isKeptFrom(one, kept, now)) && kept !== null) {
    const { executor, until } = kept;
    const message = `Its route keeps it for executor ${executor.id}, which is busy, for another ${inWords(until - now)}; then any may have it.`;
    const about = { until, executorId: executor.id };
    yield waiting(asked, { reason: 'kept', key: 'kept', message, facts: about }, until);
    return [];
  }
  const mayHave = free.filter((one) => !isResting(one, now) && !isCooling(one, task, now));
  if (mayHave.length === 0) {
    const message = `${counted(free.length, 'idle executor')} refused it a moment ago.`;
    const until = Math.min(...free.map((one) => restsUntil(one, task.id)));
    yield waiting(
      asked,
      { reason: 'cooling_down', key: 'cooling_down', message, facts: { until } },
      until,
    );
  }
  return mayHave;
}

/** Where others come first for those who may have it now. */
export function* byOrder(
  asked: Asked,
  fleet: Fleet,
  mayHave: readonly Executor[],
): Generator<Obstacle> {
  if (mayHave.length === 0) return;
  const { count } = aheadOf(asked, mayHave);
  const freeCount = mayHave.length + asked.moreCount;
  if (count < freeCount) return;
  const free = `${counted(freeCount, 'executor')} would be free`;
  yield allBusy(asked, fleet, `${free}, and ${comeFirst(count)}.`);
}

function allBusy(asked: Asked, { drained, counts }: Fleet, what: string): Obstacle {
  const remedies = () => [...undrained(asked, drained), started(asked)];
  const isAgain = (asked.task.job?.backfill ?? null) !== null;
  const message = isAgain ? `${what} Of a backfill, it stands behind live work.` : what;
  return { reason: 'all_busy', key: 'all_busy', message, facts: { executors: counts }, remedies };
}

function restsUntil({ restUntil, coolDowns }: Executor, taskId: string): number {
  return Math.max(restUntil, coolDowns.get(taskId) ?? 0);
}

function fittingInWords(executors: readonly Executor[]): string {
  return counted(executors.length, 'fitting executor');
}

export const nobodyInWords = (type: string) => `No executor of type ${type} is connected.`;

function nobody(asked: Asked, facts: Facts): Obstacle {
  return {
    reason: 'no_executor',
    key: 'no_executor',
    message: nobodyInWords(asked.task.type),
    facts,
    remedies: () => [started(asked)],
  };
}

/** Labels are missing, or executors are reserved for tasks with others. */
function misfits(asked: Asked, ofType: readonly Executor[], facts: Facts): Obstacle {
  const { task } = asked;
  const all = ofType.map((executor) => ({ executor, lacks: lacksFor(executor, task) }));
  const sizeOf = ({ lacks, executor }: (typeof all)[number]) =>
    2 * (lacks.labels.length + lacks.reserve.length) + (isFree(executor) ? 0 : 1);
  const { executor, lacks } = all.reduce((a, b) => {
    const more = sizeOf(a) - sizeOf(b) || (a.executor.id < b.executor.id ? -1 : 1);
    return more < 0 ? a : b;
  });
  const labelled = all.filter((one) => one.lacks.labels.length === 0);
  const isReserved = labelled.length > 0;
  const nearest = {
    executorId: executor.id,
    lacksLabels: lacks.labels,
    reservedFor: lacks.reserve,
  };
  return {
    reason: isReserved ? 'reserved' : 'labels_unmatched',
    key: 'misfit',
    message:
      `${counted(ofType.length, 'executor')} of type ${task.type}, but none has the labels it requires ` +
      `(${task.requires.join(', ') || 'none'}) and is free for its labels ` +
      `(${task.labels.join(', ') || 'none'}).`,
    facts: { ...facts, nearest },
    remedies: () => [...(isReserved ? [] : relabelled(asked, executor, lacks)), started(asked)],
  };
}

/** The labels that are missing may be given to the executor; not its name. */
function relabelled(
  asked: Asked,
  executor: Executor,
  { labels: missing, reserve }: ReturnType<typeof lacksFor>,
): Remedy[] {
  if (reserve.length > 0 || pinnedTo(missing) !== null) return [];
  const value = [...(executor.override.labels ?? executor.own.labels), ...missing];
  const message = `Give executor ${executor.id}${withLabels(missing).replace(' with', '')}.`;
  const other = { ...executor, labels: [...executor.labels, ...missing] };
  other.poolKey = poolKeyOf(other);
  return [
    {
      change: { action: 'add_label', target: `executor/${executor.id}`, value, message },
      asked: instead(asked, executor, other),
    },
  ];
}

/** The same, with one of the executors in another state. */
function instead(asked: Asked, executor: Executor, other: Executor): Asked {
  return { ...asked, fleet: asked.fleet.map((one) => (one === executor ? other : one)) };
}

function allDrained(asked: Asked, fitting: readonly Executor[], facts: Facts): Obstacle {
  return {
    reason: 'draining',
    key: 'draining',
    message: `${fittingInWords(fitting)}, all draining.${replacedInWords(asked)}`,
    facts,
    remedies: () => [...undrained(asked, fitting), started(asked)],
  };
}

/** One that an operator has drained, idle ones first; one that leaves by itself nobody can keep. */
function undrained(asked: Asked, drained: readonly Executor[]): Remedy[] {
  const mayBe = drained.filter(({ drainRequested, leaving }) => drainRequested && !leaving);
  const executor = mayBe.find(({ occupation }) => occupation === null) ?? mayBe[0];
  if (executor === undefined) return [];
  const { id } = executor;
  const message = `Resume executor ${id}, which is drained.`;
  return [
    {
      change: { action: 'undrain', target: `executor/${id}`, value: null, message },
      asked: instead(asked, executor, { ...executor, drainRequested: false }),
    },
  ];
}

/** What one of them says stands for what the others say. */
function allUnready(asked: Asked, executors: readonly Executor[], facts: Facts): Obstacle {
  const [one] = executors;
  const reason = one?.readiness.reason ?? 'nothing of why';
  const who =
    executors.length === 1
      ? '1 fitting executor, which is not ready'
      : `${executors.length} fitting executors, none of which is ready`;
  return {
    reason: 'not_ready',
    key: 'not_ready',
    message: `${who}. ${one?.id} says: ${reason}.${replacedInWords(asked)}`,
    facts: { ...facts, executorId: one?.id ?? '', error: reason },
    remedies: () => [started(asked, `Put right what ${one?.id} says, or start`)],
  };
}

/** None of them has enough disk. */
function allFull(asked: Asked, executors: readonly Executor[], facts: Facts): Obstacle {
  const diskBytes = asked.task.diskBytes ?? 0;
  let roomiest = executors[0] as Executor;
  for (const one of executors) if (diskOf(one) > diskOf(roomiest)) roomiest = one;
  const most = roomiest.readiness.diskBytes;
  const room = most === null ? 'none says what it has' : `${roomiest.id} has most, ${inMb(most)}`;
  const who = executors.length === 1 ? roomiest.id : 'these';
  const remedy = most === null ? `Set scratchDir of ${who}` : `Free disk of ${roomiest.id}`;
  return {
    reason: 'not_ready',
    key: 'not_ready disk',
    message: `${fittingInWords(executors)}, without the free disk that it needs (${inMb(diskBytes)}): ${room}.`,
    facts: { ...facts, ...(most !== null && { executorId: roomiest.id }), diskBytes },
    remedies: () => [started(asked, `${remedy}, or start`)],
  };
}
