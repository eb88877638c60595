/** How the page of a task reads what the feed has told of it, also where the feed does not keep all of that. */
import type { EventPage } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { Refused, type Query } from '../../../console/api/call.ts';
import { NOTHING_TOLD, toldSince } from '../../../console/pages/task/told-events.ts';

describe('events of a task in the console', () => {
  /** A feed that keeps these numbers, and answers as the master does. */
  const feed = (oldest: number, newest: number) => {
    const asked: Query[] = [];
    const ask = (query: Query): Promise<EventPage> => {
      asked.push(query);
      const { after = oldest - 1, limit } = query;
      const from = Number(after);
      if (from + 1 < oldest || from > newest) return Promise.reject(new Refused(410, {}));
      const next = Math.min(newest, from + Number(limit));
      const events = Array.from({ length: next - from }, (_, n) => ({ seq: from + 1 + n }));
      return Promise.resolve({ events, next, oldest } as unknown as EventPage);
    };
    return { ask, asked };
  };
  const seqs = ({ events }: { events: readonly { seq: number }[] }) => events.map(({ seq }) => seq);

  it('are those that are kept, of a feed that has lost its first', async () => {
    const told = await toldSince(NOTHING_TOLD, feed(40, 42).ask);
    expect(seqs(told)).to.deep.equal([40, 41, 42]);
  });

  it('go on where the look before has ended, a page at a time', async () => {
    const first = await toldSince(NOTHING_TOLD, feed(1, 3).ask);
    const { ask, asked } = feed(1, 1_204);
    const told = await toldSince(first, ask);
    expect(asked.map(({ after }) => after)).to.deep.equal([3, 503, 1_003]);
    expect(seqs(told).at(-1)).to.equal(1_204);
    expect(told.events).to.have.length(1_204);
  });

  it('begin anew where what follows has gone meanwhile, or the database is another', async () => {
    const before = await toldSince(NOTHING_TOLD, feed(1, 30).ask);
    expect(seqs(await toldSince(before, feed(40, 42).ask))).to.deep.equal([40, 41, 42]);
    expect(seqs(await toldSince(before, feed(1, 2).ask))).to.deep.equal([1, 2]);
  });

  it('are refused where beginning anew is too', async () => {
    const gone = () => Promise.reject(new Refused(410, {}));
    const before = await toldSince(NOTHING_TOLD, feed(1, 30).ask);
    const error = await toldSince(before, gone).catch((one: unknown) => one);
    expect(error).to.be.instanceOf(Refused);
  });
});
