/** What is alerted of bookings: executors that are missing, or will be, and pauses that win over them. */
import { type BookedWindow, type Booking, isBookingOver } from '../booking/booking.ts';
import { hasRefused } from '../booking/candidates.ts';
import { type LimitInWay, limitInWay, riskInWords } from '../booking/planning.ts';
import { isServing } from '../model/executor.ts';
import { instantInWords } from '../schedule/local-time.ts';
import { isPaused, rowsOn, type State } from '../state/state.ts';
import { counted } from '../why/words.ts';
import type { Finding } from './alert.ts';
import { commandIn } from './command.ts';
import { fieldsOf } from './fields.ts';

interface Looked {
  readonly namespace: string;
  readonly state: State;
  readonly now: number;
}

/** Bookings that are looked at in one piece: each may ask for what many windows of the day allow. */
const LOOKED_COUNT = 10;

/** Null: there is more to look at, and the look may rest. */
export const bookingFinders = {
  *booking_short({ namespace, state }: Looked): Generator<Finding> {
    for (const { id, shortCount } of state.bookings.active.values()) {
      const booking = state.bookings.byId.get(id);
      if (booking === undefined || shortCount === 0) continue;
      const missing = `${counted(shortCount, 'executor')} of ${booking.count} missing`;
      const what = `Booking ${id} of type ${booking.type}, from ${at(booking)}: ${missing}`;
      const fields = { missing: shortCount, count: booking.count };
      const refusing = refusingOf(state, booking);
      if (refusing === null) {
        const change = `Start more executors of type ${booking.type}, or end what runs there.`;
        yield ofBooking(booking, `${what}.`, change, fields);
        continue;
      }
      const see = commandIn(namespace, `booking get ${id}`);
      yield ofBooking(
        booking,
        `${what}: ${refusing} does not take its tasks.`,
        `See why: ${see}; or start another executor of type ${booking.type}, which takes its place.`,
        { ...fields, cause: 'refused', executor_id: refusing },
      );
    }
  },
  *booking_at_risk({ namespace, state }: Looked): Generator<Finding | null> {
    let lookedCount = 0;
    for (const booking of state.bookings.byId.values()) {
      if (++lookedCount % LOOKED_COUNT === 0) yield null;
      const missed = missedOf(state, booking);
      const [first] = missed;
      if (first === undefined) continue;
      const limit = limitInWay(state, booking, first);
      const cancel = commandIn(namespace, `booking cancel ${booking.id}`);
      yield ofBooking(
        booking,
        `Booking ${booking.id} of type ${booking.type}, from ${at(first)}${laterInWords(missed)}, does not fit any more: ${riskInWords(state, booking, limit)}.`,
        `${moreInWords(state, booking, limit)} before then, or cancel it: ${cancel}.`,
        { from: at(first), later: missed.length - 1, ...riskFields(state, booking, limit) },
      );
    }
  },
  *booking_paused({ namespace, state, now }: Looked): Generator<Finding> {
    for (const booking of state.bookings.byId.values()) {
      if (isBookingOver(booking) || booking.from - booking.leadMs > now) continue;
      if (booking.isMaintenance || !isHeld(state, booking)) continue;
      yield ofBooking(
        booking,
        `Booking ${booking.id} of type ${booking.type}, from ${at(booking)}: a pause keeps its tasks.`,
        `End the pause: ${commandIn(namespace, 'pause list')} shows it.`,
      );
    }
  },
};

/** One that it has, and that is there, and takes none of its tasks; null: none is so. */
function refusingOf(state: State, { id, executors }: Booking): string | null {
  const isRefusing = (executorId: string): boolean => {
    const executor = state.executors.get(executorId);
    return executor !== undefined && isServing(executor) && hasRefused(state, id, executor);
  };
  return executors.find(({ executorId }) => isRefusing(executorId))?.executorId ?? null;
}

function isHeld(state: State, { type, group, requires, labels }: Booking): boolean {
  if (isPaused(state) || (state.types.get(type)?.paused ?? null) !== null) return true;
  return rowsOn(state, group, { requires, labels }).next().done !== true;
}

/** Of one whose executors are bound the open window is told of by who is missing now, but for a limit that was lowered. */
function missedOf(state: State, booking: Booking): readonly BookedWindow[] {
  if (isBookingOver(booking)) return [];
  const isMissed = (window: BookedWindow): boolean => {
    const isOpen = booking.state === 'bound' && window.from === booking.from;
    return isOpen ? limitInWay(state, booking, window) !== null : window.parts === null;
  };
  return booking.windows.filter(isMissed);
}

/** `cause`: `limit`, `capacity` or `executors`. */
function riskFields(state: State, booking: Booking, limit: LimitInWay | null) {
  if (limit !== null) return { cause: 'limit', of: limit.of, max: limit.max };
  return { cause: isDeclared(state, booking) ? 'capacity' : 'executors' };
}

const isDeclared = ({ types }: State, { type }: Booking): boolean =>
  (types.get(type)?.capacity ?? null) !== null;

function moreInWords(state: State, booking: Booking, limit: LimitInWay | null): string {
  if (limit !== null) return `Raise max_running of ${limit.of}`;
  return `${isDeclared(state, booking) ? 'Raise the capacity' : 'Start more executors'} of type ${booking.type}`;
}

function laterInWords({ length }: readonly BookedWindow[]): string {
  return length === 1 ? '' : ` and in ${counted(length - 1, 'later window')}`;
}

const at = ({ from }: { readonly from: number }): string => instantInWords(from);

function ofBooking(
  booking: Booking,
  message: string,
  change: string,
  more: Parameters<typeof fieldsOf>[0] = {},
): Finding {
  const { id, type, group } = booking;
  const fields = fieldsOf({ booking: id, from: at(booking), ...more });
  return { namespace: null, type, group, subject: `booking ${id}`, message, change, fields };
}
