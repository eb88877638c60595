/** Pages of bookings: what is not on the page that is asked for is looked at as a row alone. */
import { expect } from 'chai';
import type { Booking } from '../../../master/domain/booking/booking.ts';
import { asked, FROM } from '../../unit/booking/asked.ts';
import { HttpFace } from '../../helpers/http-face.ts';

const COUNT = 10;

describe('a page of bookings', () => {
  let face: HttpFace;
  const looked: string[] = [];
  const rows = Array.from({ length: COUNT }, (_, index): Booking => {
    const { holdMs, ...spec } = asked({ id: `bk-${String(index).padStart(16, '0')}` });
    const window = { from: FROM + index, to: FROM + index + 1 };
    const none = { skips: [], windows: [], executors: [], ranMs: 0, replacedMs: 0, isUsed: false };
    const over = { state: 'ended', endingBefore: null, endedAt: FROM } as const;
    return { ...spec, ...window, ...none, ...over, holdMs: holdMs ?? 0, seq: index, createdAt: 0 };
  });

  beforeEach(async () => {
    looked.splice(0);
    face = await new HttpFace().open();
    const booking = (id: string) => {
      looked.push(id);
      const found = rows.find((row) => row.id === id);
      return found && { booking: found, risk: null, shortCount: 0, unready: [], taskCount: 0 };
    };
    Object.assign(face.master, { booking, bookings: () => rows });
  });
  afterEach(() => face.close());

  it('is all that is looked at, and the next one follows it', async () => {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const answer = await face.get(`/scheduler/v2/bookings?limit=4${cursor}`);
      const { bookings, next_cursor: next } = JSON.parse(answer.text) as Page;
      const ids = bookings.map(({ booking_id }) => booking_id);
      expect(looked.splice(0)).to.deep.equal(ids);
      seen.push(...ids);
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen).to.deep.equal(rows.map(({ id }) => id).reverse());
  });
});

interface Page {
  readonly bookings: readonly { readonly booking_id: string }[];
  readonly next_cursor: string | null;
}
