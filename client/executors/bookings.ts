/** The calls about bookings: executors that are kept for a window of time. */
import type {
  BookingList,
  BookingListQuery,
  BookingRequest,
  BookingResponse,
  BookingView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

/** Which bookings. */
export type BookingFilter = Omit<BookingListQuery, 'cursor'>;

export interface BookingCalls {
  readonly bookings: {
    /**
     * Books executors, and resolves with the id that tasks name in `booking`. Asked once only, whatever `retryCount`
     * is: where the answer was lost, `list` says whether it was made. Where they are not free it rejects with 409,
     * and `problem.free` of that tells of windows that are.
     */
    create(booking: BookingRequest, options?: CallOptions): Promise<BookingResponse>;
    get(bookingId: string, options?: CallOptions): Promise<BookingView>;
    /** The latest first; read page by page while iterated. `limit` is the size of a page. */
    list(filter?: BookingFilter, options?: CallOptions): AsyncIterableIterator<BookingView>;
    /** One page; its `next_cursor` is the `cursor` of the next, null of the last. */
    page(query?: BookingListQuery, options?: CallOptions): Promise<BookingList>;
    /** Gives up all its windows that are not over. */
    cancel(bookingId: string, options?: CallOptions): Promise<void>;
    /** Leaves out one window of a recurring booking, which begins at `from`. */
    skip(bookingId: string, from: string | number, options?: CallOptions): Promise<void>;
  };
}

export function bookingCalls(api: ApiCaller): BookingCalls {
  const listPath = `${api.base}/bookings`;
  const pathOf = (bookingId: string) => `${api.base}/booking/${encodeURIComponent(bookingId)}`;
  const field = 'booking_id';
  return {
    bookings: {
      async create(booking, options = {}) {
        const path = `${api.base}/booking`;
        const signal = signalOf(options);
        const answer = await api.tryOnce({ method: 'POST', path, body: booking, field, signal });
        return answer as BookingResponse;
      },
      async get(bookingId, options = {}) {
        const call = { path: pathOf(bookingId), field, signal: signalOf(options) };
        return (await api.call({ method: 'GET', ...call })) as BookingView;
      },
      list: (filter = {}, options = {}) => allOf(api, listPath, 'bookings', options, filter),
      async page(query = {}, options = {}) {
        const call = { path: listPath, query, field: 'bookings', signal: signalOf(options) };
        return (await api.call({ method: 'GET', ...call })) as BookingList;
      },
      async cancel(bookingId, options = {}) {
        const call = { path: pathOf(bookingId), field, signal: signalOf(options) };
        await api.call({ method: 'DELETE', ...call });
      },
      async skip(bookingId, from, options = {}) {
        const call = { path: `${pathOf(bookingId)}/skip`, field, signal: signalOf(options) };
        await api.call({ method: 'POST', body: { from }, ...call });
      },
    },
  };
}
