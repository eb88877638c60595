/** How a page of the console hears that something has happened, however much that is. */
import type { EventPage } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { Away, Refused } from '../../../console/api/call.ts';
import { follow } from '../../../console/frame/news.ts';

describe('news of the console', () => {
  it('are told of as long as something happens, and no longer', async () => {
    const stop = new AbortController();
    /** How many are there, with each rest some hundred more; then nothing happens. */
    let newest = 7;
    let restCount = 0;
    let toldCount = 0;
    let readCount = 0;
    let waitedAfter = 0;
    await follow({
      signal: stop.signal,
      async ask({ after, wait }) {
        const from = after === 'now' ? newest : Number(after);
        if (from === newest && wait !== 0) {
          if (restCount === 1) newest += 1_000;
          if (restCount > 20) {
            waitedAfter = from;
            stop.abort();
          }
        }
        const events = Array.from({ length: Math.min(1, newest - from) }, () => ({}));
        readCount += events.length;
        return { events, next: from + events.length } as unknown as EventPage;
      },
      tell: () => (toldCount += 1),
      async rest() {
        restCount += 1;
        if (toldCount > 0 && toldCount < 10) newest += 1_000;
      },
    });
    expect(toldCount, 'not of each page of what has been').to.equal(10);
    expect(readCount).to.equal(10);
    expect(waitedAfter, 'for what comes next').to.equal(newest);
  });

  /** How often it is asked, where each time but the last this is the answer. */
  async function askedCount(error: Error): Promise<number> {
    const stop = new AbortController();
    let count = 0;
    await follow({
      signal: stop.signal,
      ask() {
        count += 1;
        if (count === 3) stop.abort();
        return Promise.reject(error);
      },
      tell: () => undefined,
      rest: () => Promise.resolve(),
    });
    return count;
  }

  it('are asked for again after what passes: too many follow, some is gone, nobody is there', async () => {
    for (const error of [429, 410, 503].map((status) => new Refused(status, {}))) {
      expect(await askedCount(error), String(error.status)).to.equal(3);
    }
    expect(await askedCount(new Away('gone'))).to.equal(3);
    expect(await askedCount(new Refused(403, {})), 'not for this token').to.equal(1);
  });
});
