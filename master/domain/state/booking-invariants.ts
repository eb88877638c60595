/** What holds of bookings in the state, for `invariants.ts`. Pure. */
import { isBookingOver } from '../booking/booking.ts';
import type { BookingsState } from '../booking/bookings-state.ts';
import type { Executor } from '../model/executor.ts';
import type { Expect } from './limit-invariants.ts';
import type { State } from './state.ts';

/** Who is bound to which, and what counts for them, by their rows and by what executors have. */
export function checkBookings(state: State, expect: Expect): void {
  const { byId, boundTo, active, attemptCount, reservedCount, taskCounts } = state.bookings;
  let boundCount = 0;
  for (const { id, executors, state: is } of byId.values()) {
    for (const { executorId } of executors) {
      boundCount++;
      const isRight = boundTo.get(executorId) === id;
      expect(isRight, 'S15', () => `${executorId} is of ${boundTo.get(executorId)}, not ${id}`);
    }
    const isKeeping = active.has(id) || is !== 'bound';
    expect(isKeeping, 'S15', () => `${id} is bound, and keeps nobody`);
  }
  expect(boundTo.size === boundCount, 'S15', () => `${boundTo.size} are bound, not ${boundCount}`);
  const held = [...state.executors.values(), ...state.elders.values()];
  const bookedCount = held.filter(
    ({ occupation }) => (occupation?.booking ?? null) !== null,
  ).length;
  expect(attemptCount === bookedCount, 'S15', () => `${attemptCount} run, not ${bookedCount}`);
  checkRunning(held, state.bookings, expect);
  checkEnds(state.bookings, expect);
  let count = 0;
  const kept = new Set<string>();
  for (const [id, { reserved, kept: of }] of active) {
    count += reserved.count;
    const booking = byId.get(id);
    expect(booking !== undefined && !isBookingOver(booking), 'S15', () => `${id} keeps on`);
    for (const [executorId, { keptUntil }] of of) {
      const isOnce = !kept.has(executorId) && keptUntil !== null && !boundTo.has(executorId);
      expect(isOnce, 'S15', () => `${executorId} is kept for ${id}, and not for it alone`);
      kept.add(executorId);
    }
  }
  expect(reservedCount === count, 'S15', () => `${reservedCount} are reserved, not ${count}`);
  for (const { id, keptUntil } of state.executors.values()) {
    expect(keptUntil === null || kept.has(id), 'S15', () => `${id} is kept for nobody`);
  }
  checkTaskCounts(state, taskCounts, expect);
}

/** Who has an attempt of which. */
function checkRunning(
  held: readonly Executor[],
  { runningOf, attemptCount }: BookingsState,
  expect: Expect,
): void {
  let count = 0;
  for (const [id, executors] of runningOf) {
    count += executors.size;
    for (const executor of executors) {
      const isRight = executor.occupation?.booking === id && held.includes(executor);
      expect(isRight, 'S15', () => `${executor.id} has nothing of ${id}`);
    }
  }
  expect(
    count === attemptCount,
    'S15',
    () => `${count} have tasks of bookings, not ${attemptCount}`,
  );
}

/** Which are over, and that none ends unseen. */
function checkEnds({ byId, over, active, nextEndAt }: BookingsState, expect: Expect): void {
  const overIds = [...byId.values()].filter(isBookingOver).map(({ id }) => id);
  const isSame = overIds.length === over.size && overIds.every((id) => over.has(id));
  expect(isSame, 'S15', () => `${[...over].join(', ')} are over, not ${overIds.join(', ')}`);
  for (const id of active.keys()) {
    const isSeen = nextEndAt <= (byId.get(id)?.to ?? 0);
    expect(isSeen, 'S15', () => `${id} ends before ${nextEndAt}`);
  }
}

function checkTaskCounts(
  state: State,
  taskCounts: ReadonlyMap<string, number>,
  expect: Expect,
): void {
  const counts = new Map<string, number>();
  const add = (id: string | null, by: number) => {
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + by);
  };
  for (const { booking, waitingCount, suspendedCount } of state.kinds.values()) {
    add(booking, waitingCount + suspendedCount);
  }
  for (const { booking, state: is } of state.tasks.values()) {
    if (is === 'offered' || is === 'running') add(booking, 1);
  }
  for (const id of new Set([...counts.keys(), ...taskCounts.keys()])) {
    const [counted, count] = [taskCounts.get(id) ?? 0, counts.get(id) ?? 0];
    expect(counted === count, 'S15', () => `${id} counts ${counted} tasks, not ${count}`);
  }
}
