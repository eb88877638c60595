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
});
