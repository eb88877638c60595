/** How the client follows events and logs, beside a master that does not wait. */
import { createClient } from '@soda-scheduler/client';
import { expect } from 'chai';
import { FakeHttpApi } from '../../helpers/fake-http-api.ts';

describe('following events and logs', () => {
  const api = new FakeHttpApi();
  before(() => api.start());
  after(() => api.stop());

  for (const what of ['events', 'logs'] as const) {
    it(`asks for no more ${what} at once where nothing came before the wait was over`, async () => {
      api.clear();
      const page = { events: [], lines: [], dropped: 0, ended: false, level: 'all' };
      const isAsked = new Promise<void>((resolve) => {
        api.intercept = ({ path, query }) => {
          if (!path.endsWith(what)) return undefined;
          if (query.get('after') === '7') resolve();
          return [200, { ...page, next: what === 'events' ? 7 : '7' }];
        };
      });
      const client = createClient({ url: api.url });
      const stop = new AbortController();
      const how = { follow: true, signal: stop.signal };
      const next = what === 'events' ? client.events({}, how) : client.logs('a', {}, how);
      const ended = next.next().catch((error: unknown) => error);
      await isAsked;
      for (let round = 0; round < 10; round++) await client.count().catch(() => undefined);
      expect(api.paths().filter((path) => path.endsWith(what))).to.have.length(2);
      stop.abort();
      expect(await ended).to.have.property('name', 'AbortError');
    });
  }

  /** A feed that has grown by three whenever it is asked for two more, up to some number. */
  async function endOf(says: (newest: number) => object): Promise<readonly number[]> {
    api.clear();
    let newest = 4;
    api.intercept = ({ path, query }) => {
      if (!path.endsWith('events')) return undefined;
      const after = Number(query.get('after') ?? 0);
      const next = Math.min(after + 2, newest);
      const events = Array.from({ length: next - after }, (_, n) => ({ seq: after + 1 + n }));
      const page = { events, next, oldest: 1, level: 'all', ...says(newest) };
      newest = Math.min(newest + 3, 19);
      return [200, page];
    };
    const seqs: number[] = [];
    const client = createClient({ url: api.url });
    for await (const { seq } of client.events({}, { follow: false })) seqs.push(seq);
    return seqs;
  }

  it('ends with what was the newest when it began, however much comes meanwhile', async () => {
    expect(await endOf((newest) => ({ newest }))).to.deep.equal([1, 2, 3, 4]);
    expect(await endOf((newest) => ({ newest: newest - 1 })), 'within a page').to.have.length(3);
  });

  it('ends with the newest line of a log that grows and grows', async () => {
    let n = 0;
    api.intercept = ({ path }) => {
      if (!path.endsWith('logs') || n === 9) return undefined;
      const line = { attempt: 1, n: ++n, at: '', level: 'info', stream: 'log', text: `${n}` };
      const gaps = { dropped: 0, lost_at_end: 0, next: `1.${n}`, at_end: n === 2, ended: false };
      return [200, { lines: [line], ...gaps }];
    };
    const texts: string[] = [];
    for await (const { text } of createClient({ url: api.url }).logs('a')) texts.push(text);
    expect(texts).to.deep.equal(['1', '2']);
  });

  it('ends with the newest that there is, where the master does not say which that was', async () => {
    expect(await endOf(() => ({}))).to.have.length(19);
  });
});
