/** Bookings for people, with what memory knows of them beside their rows. */
import type { Booking } from '../booking/booking.ts';
import { isOfUse } from '../booking/candidates.ts';
import { limitInWay, riskInWords } from '../booking/planning.ts';
import { absenceOf } from '../model/executor.ts';
import type { State } from '../state/state.ts';

export interface SeenBooking {
  readonly booking: Booking;
  /** Why it is at risk; null: it is not. */
  readonly risk: string | null;
  /** Executors that it should have bound by now, and has not. */
  readonly shortCount: number;
  /** Of the executors that it has those that cannot serve now: the next that is free takes the place of each. */
  readonly unready: readonly Unready[];
  /** Its tasks that have not ended. */
  readonly taskCount: number;
}

export interface Unready {
  readonly executorId: string;
  /** `refusing`: it did not take the last of its tasks that it was offered. */
  readonly reason: NonNullable<ReturnType<typeof absenceOf>> | 'refusing';
  /** In its own words; null: it says nothing. */
  readonly message: string | null;
}

/** Null: there is none. */
export function seenBooking(state: State, id: string): SeenBooking | null {
  const booking = state.bookings.byId.get(id);
  return booking === undefined ? null : seen(state, booking);
}

function seen(state: State, booking: Booking): SeenBooking {
  const { active, taskCounts } = state.bookings;
  const [window] = booking.windows;
  const isAtRisk = booking.state === 'at_risk' && window !== undefined;
  return {
    booking,
    risk: isAtRisk ? riskInWords(state, booking, limitInWay(state, booking, window)) : null,
    shortCount: active.get(booking.id)?.shortCount ?? 0,
    unready: [...unreadyOf(state, booking)],
    taskCount: taskCounts.get(booking.id) ?? 0,
  };
}

function* unreadyOf(state: State, booking: Booking): Generator<Unready> {
  for (const { executorId } of booking.executors) {
    const executor = state.executors.get(executorId);
    // Who is silent has its task until its lease ends, and whether it still works nobody knows.
    const isHere = executor?.connected ?? false;
    if (isHere && isOfUse(state, booking, executorId)) continue;
    const absence = executor === undefined ? 'away' : absenceOf(executor);
    const refusal = executor && state.bookings.active.get(booking.id)?.refusedBy.get(executor);
    const reason = absence ?? (refusal ? 'refusing' : null);
    // It may not run its tasks any more, and is replaced by the next that is free.
    if (reason === null) continue;
    const messages = {
      away: null,
      draining: null,
      not_ready: executor?.readiness.reason,
      refusing: refusal?.message,
    };
    yield { executorId, reason, message: messages[reason] ?? null };
  }
}
