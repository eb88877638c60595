/** Bookings: executors that are kept for a group in a window of time. */
import { randomBytes } from 'node:crypto';
import {
  API_BASE,
  BOOKING_ID_PATTERN,
  BOOKING_LIMITS,
  type BookingView,
  HTTP_LIMITS,
} from '@soda-scheduler/protocol';
import {
  bookingCommandResponse,
  bookingList,
  bookingListQuery,
  bookingRequest,
  bookingResponse,
  bookingSkipRequest,
  bookingView,
} from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import { LEAD_MS } from '../../../domain/booking/booking-bounds.ts';
import type { Booking, BookingChange } from '../../../domain/booking/booking.ts';
import { KIND_LENGTH_MAX, kindKeyOf } from '../../../domain/model/task.ts';
import { isZone } from '../../../domain/usage/day.ts';
import type { SeenBooking } from '../../../domain/views/bookings.ts';
import { answers } from '../../http/answers.ts';
import { checkShape, validate } from '../../body/fields.ts';
import { instantOf, iso } from '../../body/instants.ts';
import { type FieldError, invalidFields, Problem, wrongCursor } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute } from '../../http/route.ts';
import type { CommandAnswer, ScopedMaster } from '../../scoped-master.ts';

const PATH = `${API_BASE}/booking/{booking_id}`;
const DAY_SECONDS = 86_400;
const body = { bytesMax: HTTP_LIMITS.bodyBytesMax } as const;

export function bookingRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/bookings`,
      summary:
        'The bookings, also those that are over for a week: by their window, the latest first.',
      query: bookingListQuery,
      replies: { done: bookingList },
      handle: ({ query }, master) => ({
        body: listed(master, checkShape(bookingListQuery, query)),
      }),
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'A booking: its next window, and which executors are bound to it.',
      replies: { done: bookingView },
      handle: (request, master) => {
        const found = master.booking(idOf(request));
        if (found === null) throw new Problem('unknown', 'there is no such booking');
        return { body: viewOf(found) };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/booking`,
      summary:
        'Book executors for a window. 409 where they are not free: `free` says when they are, but where the master is too busy to look.',
      body: { schema: bookingRequest, ...body },
      replies: { created: bookingResponse },
      handle: async (request, master) => {
        const booking = specOf(validate(bookingRequest, request.body), request.actor.name);
        check(await master.changeBooking({ type: 'bookingRequested', booking }));
        return { body: { booking_id: booking.id, code: answers.created.status }, kind: 'created' };
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Cancel a booking: its executors are released, and its tasks end.',
      replies: { done: bookingCommandResponse },
      handle: async (request, master) => {
        const bookingId = idOf(request);
        check(await master.changeBooking({ type: 'bookingCanceled', bookingId, groups: null }));
        return { body: { booking_id: bookingId, code: answers.done.status } };
      },
    },
    {
      method: 'POST',
      path: `${PATH}/skip`,
      summary: 'Leave out one window of a booking that recurs.',
      body: { schema: bookingSkipRequest, ...body },
      replies: { done: bookingCommandResponse },
      handle: async (request, master) => {
        const bookingId = idOf(request);
        const from = instantOf(validate(bookingSkipRequest, request.body).from) ?? 0;
        const change = { type: 'bookingSkipped', bookingId, groups: null, from } as const;
        check(await master.changeBooking(change));
        return { body: { booking_id: bookingId, code: answers.done.status } };
      },
    },
  ];
}

function idOf({ params: { booking_id: id = '' } }: ApiRequest): string {
  if (BOOKING_ID_PATTERN.test(id)) return id;
  const message = 'expected the id of a booking: bk- and 16 hexadecimal digits';
  throw invalidFields([{ field: 'booking_id', message }]);
}

/** @throws {Problem} */
function check(outcome: CommandAnswer): void {
  if (outcome.kind === 'done') return;
  if (outcome.kind === 'misfit' && outcome.field !== undefined) {
    throw invalidFields([{ field: outcome.field, message: outcome.message }]);
  }
  const free = 'free' in outcome ? outcome.free : undefined;
  const windows = free?.map(({ from, to, count }) => ({ from: iso(from), to: iso(to), count }));
  const limit = 'limit' in outcome ? outcome.limit : undefined;
  throw new Problem(outcome.kind, outcome.message, { free: windows, limit });
}

type Spec = Extract<BookingChange, { type: 'bookingRequested' }>['booking'];

/** @throws {Problem} 400 */
function specOf(asked: z.output<typeof bookingRequest>, createdBy: string | null): Spec {
  const { type, group, count, zone = null, every, maintenance, overrun, lead, hold } = asked;
  const [from, to] = [instantOf(asked.from) ?? 0, instantOf(asked.to) ?? 0];
  const labels = [...new Set(asked.labels)];
  const requires = [...new Set(asked.requires)];
  const errors = problemsOf({ from, to, every: every ?? null, zone });
  if (kindKeyOf(type, requires, labels).length > KIND_LENGTH_MAX) {
    const message = `expected type, requires and labels of ${KIND_LENGTH_MAX} characters together`;
    errors.push({ field: 'requires', message });
  }
  if (errors.length > 0) throw invalidFields(errors);
  return {
    id: `bk-${randomBytes(8).toString('hex')}`,
    ...{ type, group, count, labels, requires, zone, createdBy },
    leadMs: lead === undefined ? LEAD_MS : Math.round(lead * 1000),
    holdMs: hold === undefined ? null : Math.round(hold * 1000),
    mayOverrun: overrun === 'allow',
    everyMs: every === undefined ? null : every * 1000,
    isMaintenance: maintenance,
    firstFrom: from,
    windowMs: to - from,
  };
}

interface Times {
  readonly from: number;
  readonly to: number;
  /** Seconds. */
  readonly every: number | null;
  readonly zone: string | null;
}

function problemsOf({ from, to, every, zone }: Times): FieldError[] {
  const errors: FieldError[] = [];
  const { windowSecondsMax, aheadSecondsMax } = BOOKING_LIMITS;
  if (to <= from) errors.push({ field: 'to', message: 'expected later than `from`' });
  else if (to - from > windowSecondsMax * 1000) {
    errors.push({ field: 'to', message: `expected at most ${windowSecondsMax} s after \`from\`` });
  }
  if (from > Date.now() + aheadSecondsMax * 1000) {
    errors.push({ field: 'from', message: `expected at most ${aheadSecondsMax} s from now` });
  }
  if (every !== null && every * 1000 < to - from) {
    errors.push({ field: 'every', message: 'expected at least as long as the window' });
  }
  if (zone === null) return errors;
  if (!isZone(zone)) errors.push({ field: 'zone', message: 'expected a zone as Europe/Berlin' });
  else if (every === null || every % DAY_SECONDS !== 0) {
    const message = 'expected with `every` of whole days (86400): only these go by a clock';
    errors.push({ field: 'zone', message });
  }
  return errors;
}

function listed(master: ScopedMaster, asked: z.output<typeof bookingListQuery>) {
  const { type, group, executor, limit, cursor } = asked;
  const [from, to] = [instantOf(asked.from), instantOf(asked.to)];
  const place = cursor === undefined ? null : placeIn(cursor);
  const found = master.bookings().filter((booking) => {
    if (type !== undefined && booking.type !== type) return false;
    if (group !== undefined && booking.group !== group) return false;
    const has = booking.executors.some(({ executorId }) => executorId === executor);
    if (executor !== undefined && !has) return false;
    const windows = booking.windows.length > 0 ? booking.windows : [booking];
    return windows.some(
      (one) => (from === null || one.to > from) && (to === null || one.from < to),
    );
  });
  const isAfter = (booking: Booking) => place === null || order(booking, place) > 0;
  const rest = found.filter(isAfter).sort(order);
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  const next = last === undefined ? null : `${last.from}.${last.id}`;
  const seen = page.map(({ id }) => master.booking(id)).filter((one) => one !== null);
  return { bookings: seen.map(viewOf), next_cursor: next };
}

interface Place {
  readonly from: number;
  readonly id: string;
}

/** The latest first. */
function order(a: Place, b: Place): number {
  return b.from - a.from || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function placeIn(cursor: string): Place {
  const [, from, id = ''] = /^(\d{1,16})\.(bk-[0-9a-f]{16})$/.exec(cursor) ?? [];
  if (from === undefined) throw wrongCursor();
  return { from: Number(from), id };
}

function viewOf({ booking, risk, shortCount, unready, taskCount }: SeenBooking): BookingView {
  return {
    booking_id: booking.id,
    state: booking.state,
    risk,
    type: booking.type,
    requires: [...booking.requires],
    labels: [...booking.labels],
    group: booking.group,
    from: iso(booking.from),
    to: iso(booking.to),
    count: booking.count,
    lead: booking.leadMs / 1000,
    hold: booking.holdMs / 1000,
    overrun: booking.mayOverrun ? 'allow' : 'end',
    every: booking.everyMs === null ? null : booking.everyMs / 1000,
    zone: booking.zone,
    maintenance: booking.isMaintenance,
    skipped: booking.skips.map((at) => iso(at)),
    windows: booking.windows.slice(1).map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    executors: booking.executors.map(({ executorId }) => executorId),
    unready: unready.map(({ executorId, ...why }) => ({ executor_id: executorId, ...why })),
    short: shortCount,
    tasks: taskCount,
    created_at: iso(booking.createdAt),
    created_by: booking.createdBy,
  };
}
