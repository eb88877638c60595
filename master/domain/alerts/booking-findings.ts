/** What is alerted of bookings: executors that are missing, or will be, and pauses that win over them. */
import { type BookedWindow, type Booking, isBookingOver } from '../booking/booking.ts';
import { instantInWords } from '../booking/words.ts';
import { isPaused, rowsOn, type State } from '../state/state.ts';
import { counted } from '../why/words.ts';
import type { Finding } from './alert.ts';
import { commandIn } from './command.ts';

interface Looked {
  readonly namespace: string;
  readonly state: State;
  readonly now: number;
}

export const bookingFinders = {
  *booking_short({ state }: Looked): Generator<Finding> {
    for (const { id, shortCount } of state.bookings.active.values()) {
      const booking = state.bookings.byId.get(id);
      if (booking === undefined || shortCount === 0) continue;
      const missing = `${counted(shortCount, 'executor')} of ${booking.count} missing`;
      yield ofBooking(
        booking,
        `Booking ${id} of type ${booking.type}, from ${at(booking)}: ${missing}.`,
        `Start more executors of type ${booking.type}, or end what runs there.`,
      );
    }
  },
  *booking_at_risk({ namespace, state }: Looked): Generator<Finding> {
    for (const booking of state.bookings.byId.values()) {
      const missed = toCome(booking).filter(({ parts }) => parts === null);
      const [first] = missed;
      if (first === undefined) continue;
      const cancel = commandIn(namespace, `booking cancel ${booking.id}`);
      const isDeclared = (state.types.get(booking.type)?.capacity ?? null) !== null;
      const lost = isDeclared ? 'the capacity of its type is less' : 'executors have gone';
      const more = isDeclared
        ? `Raise the capacity of type ${booking.type}`
        : `Start more executors of type ${booking.type}`;
      yield ofBooking(
        booking,
        `Booking ${booking.id} of type ${booking.type}, from ${at(first)}${laterInWords(missed)}, does not fit any more: ${lost}, or a limit is lower.`,
        `${more} before then, or cancel it: ${cancel}.`,
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

function isHeld(state: State, { type, group, requires, labels }: Booking): boolean {
  if (isPaused(state) || (state.types.get(type)?.paused ?? null) !== null) return true;
  return rowsOn(state, group, { requires, labels }).next().done !== true;
}

/** Of one whose executors are bound the open window is told of by who is missing now. */
function toCome({ state, windows }: Booking): readonly BookedWindow[] {
  if (isBookingOver({ state })) return [];
  return state === 'bound' ? windows.slice(1) : windows;
}

function laterInWords({ length }: readonly BookedWindow[]): string {
  return length === 1 ? '' : ` and in ${counted(length - 1, 'later window')}`;
}

const at = ({ from }: { readonly from: number }): string => instantInWords(from);

function ofBooking({ id, type, group }: Booking, message: string, change: string): Finding {
  return { namespace: null, type, group, subject: `booking ${id}`, message, change };
}
