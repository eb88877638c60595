/** Pages of alerts for whoever sees a part of them. */
import { expect } from 'chai';
import type { AlertView } from '@soda-scheduler/protocol';
import { alertRoutes, sayAlertRoute } from '../../../master/access/routes/alerts/alerts.ts';
import type { ApiRequest, Route } from '../../../master/access/http/route.ts';
import type { ScopedMaster } from '../../../master/access/scoped-master.ts';
import type { Alert } from '../../../master/domain/alerts/alert.ts';

const BEGAN_AT = Date.parse('2030-01-01T00:00:00Z');
/** Sorts backwards, as pages do where alerts are of one instant. */
const idOf = (index: number) => `al-${9_999 - index}`;

describe('pages of alerts', () => {
  let all: Alert[];
  let readCount: number;

  /** The one before it was raised a second later. */
  const alert = (namespace: string, index: number): Alert => ({
    ...{
      id: idOf(index),
      key: `${index}`,
      rule: 'backlog',
      kind: 'backlog',
      severity: 'warning',
    },
    ...{ namespace, type: null, group: null, subject: '', message: namespace, change: null },
    ...{ fields: null, count: 1, raisedAt: BEGAN_AT - index * 1_000, seenAt: BEGAN_AT },
    ...{
      clearedAt: BEGAN_AT,
      toldAt: null,
      repeatCount: 0,
      silencedUntil: null,
      silencedBy: null,
      silenceReason: null,
    },
  });
  const read = async (before: Pick<Alert, 'raisedAt' | 'id'> | null = null, count = all.length) => {
    readCount += 1;
    const isOlder = ({ raisedAt, id }: Alert) =>
      before === null ||
      raisedAt < before.raisedAt ||
      (raisedAt === before.raisedAt && id < before.id);
    const first = all.findIndex(isOlder);
    const older = first < 0 ? [] : all.slice(first, first + count);
    return older.map((one) => ({ alert: one, deliveries: [] }));
  };
  const never = () => Promise.reject(new Error('not asked for'));
  const routes = alertRoutes({ raised: read, cleared: read, silence: never, test: never });
  const list = routes[0] as Route;

  async function page(query: Record<string, string>, namespaces: string[] | null = ['mine']) {
    const scope = namespaces && { namespaces, groups: null, types: null };
    const request = { query, actor: { name: 'ann', scope } } as unknown as ApiRequest;
    const { body } = await list.handle(request);
    const { alerts, next_cursor: next } = body as {
      alerts: AlertView[];
      next_cursor: string | null;
    };
    return { ids: alerts.map(({ id }) => id), next };
  }

  beforeEach(() => {
    readCount = 0;
  });

  for (const state of ['raised', 'cleared']) {
    it(`are full of those that are seen, and name no other: ${state}`, async () => {
      all = Array.from({ length: 40 }, (_, index) =>
        alert(index % 10 === 9 ? 'mine' : 'its', index),
      );
      const first = await page({ state, limit: '2' });
      expect(first).to.deep.equal({
        ids: [9, 19].map(idOf),
        next: `${BEGAN_AT - 19_000}.${idOf(19)}`,
      });
      const second = await page({ state, limit: '2', cursor: first.next ?? '' });
      expect(second).to.deep.equal({ ids: [29, 39].map(idOf), next: null });
      expect(await page({ state, limit: '2' }, ['others'])).to.deep.equal({ ids: [], next: null });
      const named = await page({ state, limit: '2', namespace: 'mine' }, null);
      expect(named.ids).to.deep.equal(first.ids);
    });
  }

  it('say how long each has lasted by now, whenever it was written', async () => {
    const now = Date.now();
    const one = { ...alert('mine', 0), raisedAt: now - 100_000 };
    all = [
      { ...one, seenAt: now - 90_000, clearedAt: null },
      { ...one, clearedAt: now - 40_000 },
    ];
    const request = { query: {}, actor: { name: 'ann', scope: null } } as unknown as ApiRequest;
    const { alerts } = (await list.handle(request)).body as { alerts: AlertView[] };
    expect(alerts[0]?.lasts).to.be.within(100, 130);
    expect(alerts[1]?.lasts).to.equal(60);
  });

  it('look at so many, and go on where nobody’s alerts are, without their names', async () => {
    all = Array.from({ length: 2_100 }, (_, index) => alert('its', index));
    all.push(alert('mine', 2_100));
    const { ids, next } = await page({ state: 'cleared' });
    expect([ids, readCount]).to.deep.equal([[], 10]);
    // Not by its time either: what is not seen was raised when nobody knows.
    expect(next).to.match(/^[\w-]{60,}$/);
    const bytes = Buffer.from(next ?? '', 'base64url').toString('latin1');
    for (const part of [`${BEGAN_AT - 1_999_000}`.slice(0, 6), idOf(1_999)]) {
      expect(`${next} ${bytes}`).not.to.include(part);
    }
    // All bits of the first character count; not all of the last one do.
    const forged = `${next?.startsWith('x') ? 'y' : 'x'}${next?.slice(1)}`;
    const refusal = await page({ state: 'cleared', cursor: forged }).catch((error: Error) => error);
    expect(refusal).to.have.property('status', 400);
    expect(await page({ state: 'cleared', cursor: next ?? '' })).to.deep.equal({
      ids: [idOf(2_100)],
      next: null,
    });
  });

  it('are said by the token that asks, so that it has a share of them', async () => {
    const by: string[] = [];
    const { handle } = sayAlertRoute({
      async say(message) {
        by.push(message.by);
        return { ids: [], omittedCount: 1 };
      },
    });
    const body = Buffer.from('{"message":"m"}');
    const asked = { body, actor: { name: 'cms', scope: null } } as unknown as ApiRequest;
    const reply = await handle(asked, { namespace: 'live' } as ScopedMaster);
    expect([by, reply.body]).to.deep.equal([['cms'], { code: 200, alerts: [], omitted: 1 }]);
  });

  it('have each of them once, also where hundreds are of one instant', async () => {
    const mine = [5, 699, 1_999, 2_000, 2_099, 3_500, 6_299];
    all = Array.from({ length: 6_300 }, (_, index) => ({
      ...alert(mine.includes(index) ? 'mine' : 'its', index),
      raisedAt: BEGAN_AT - Math.floor(index / 700),
    }));
    const ids: string[] = [];
    for (let cursor: string | null = `${BEGAN_AT + 1}.0`; cursor !== null; ) {
      const found = await page({ state: 'cleared', limit: '3', cursor });
      ids.push(...found.ids);
      cursor = found.next;
    }
    expect(ids).to.deep.equal(mine.map(idOf));
  });
});
