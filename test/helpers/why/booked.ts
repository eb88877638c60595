/** Why a task waits where bookings are, as in `scenarios.ts`. */
import type { BookingChange } from '../../../master/domain/booking/booking.ts';
import type { GateBench } from '../gates.ts';
import { asked, atWork } from './build.ts';
import type { Scenario } from './scenarios.ts';

type Asked = Extract<BookingChange, { type: 'bookingRequested' }>['booking'];
const MINUTE = 60_000;

/** Of ten minutes, from so long from now on. */
export async function book(bench: GateBench, inMs: number, fields: Partial<Asked> = {}) {
  const of = { id: 'bk-1', type: 'echo', requires: [], labels: [], group: 'g', count: 1 };
  const times = { leadMs: 30_000, holdMs: 15 * MINUTE, everyMs: null, zone: null };
  const firstFrom = bench.now + inMs;
  const window = { firstFrom, windowMs: 10 * MINUTE, mayOverrun: false, isMaintenance: false };
  const booking = { ...of, ...times, ...window, createdBy: null, ...fields };
  const reply = await bench.command({ type: 'bookingRequested', booking });
  if (reply.kind !== 'done') throw new Error(JSON.stringify(reply));
}

export const bookedScenarios: readonly Scenario[] = [
  {
    reason: 'not_due',
    of: 'before the window of its booking',
    build: async (bench) => {
      await bench.connect('x');
      await book(bench, 2 * MINUTE);
      await bench.submit(asked({ booking: 'bk-1' }));
    },
    message: 'It is of booking bk-1, whose window begins in 2 min.',
    change: 'Wait for 2 min: then the window of the booking begins.',
  },
  {
    reason: 'reserved',
    of: 'to a booking that is near',
    build: async (bench) => {
      await bench.connect('x');
      await book(bench, 10 * MINUTE);
      await bench.submit(asked());
    },
    message:
      '1 idle executor, kept for booking bk-1, which begins in 10 min: only what is sure to be over by then is started on it.',
    change:
      'Give it an execution_timeout of at most 560 s, or start another executor of type echo.',
  },
  {
    reason: 'reserved',
    of: 'to a booking that has it',
    build: async (bench) => {
      await bench.connect('x');
      await book(bench, 0, { isMaintenance: true });
      await bench.submit(asked());
    },
    message: '1 fitting executor, which booking bk-1 has for another 10 min.',
    change: 'Wait for 10 min: then the booking ends; or start another executor of type echo.',
  },
  {
    reason: 'all_busy',
    of: 'and its booking is short',
    build: async (bench) => {
      await atWork(bench, 'x');
      await book(bench, 0);
      await bench.submit(asked({ booking: 'bk-1' }));
      bench.offers();
    },
    message: 'Booking bk-1 has none of its 1 executor: the next that is free is bound to it.',
    change: 'Start another executor of type echo.',
  },
];
