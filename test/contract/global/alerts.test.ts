/** What every store must do with alerts: they are of the database, and what is written together is there together. */
import { expect } from 'chai';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { type AlertDelivery, type Store, TermLost } from '../../../master/application/ports.ts';
import type { Alert } from '../../../master/domain/alerts/alert.ts';
import { type AlertReceiver, plainRule } from '../../../master/domain/alerts/rule.ts';
import { useMariadb } from '../../helpers/mariadb.ts';
import { NOW } from '../../helpers/task.ts';
import { failureOf } from '../sample.ts';
import { type DefaultStore, describeStores, openDefault } from '../subjects.ts';

const alertOf = (id: string, change: Partial<Alert> = {}): Alert => ({
  ...{ id, rule: 'poison', kind: 'poison', severity: 'warning', fields: null },
  ...{ namespace: 'live', type: 'a:b', group: 'späti ', subject: 'task 1', message: 'Zu spät 🙂' },
  ...{ change: null, raisedAt: NOW, seenAt: NOW + 1, count: 1, clearedAt: null, toldAt: NOW },
  ...{ repeatCount: 0, silencedUntil: null, silencedBy: null, silenceReason: null },
  ...change,
});
const deliveryOf = (id: string, change: Partial<AlertDelivery> = {}): AlertDelivery => ({
  ...{ id, receiver: 'ops', madeAt: NOW, told: [{ event: 'raised', alert: alertOf('a') }] },
  ...{ moreCount: 0, state: 'pending', tries: 0, nextTryAt: NOW, error: null, endedAt: null },
  ...change,
});
const ops: AlertReceiver = {
  ...{ name: 'ops', channel: 'json', to: [], url: 'https://a.example/x', secret: 'Ü' },
  template: '{"a":"{{text}}"}',
};

describeStores('alerts', (open) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
  });

  it('keeps rules and receivers by name, until they are deleted', async () => {
    const rule = { ...plainRule('Mine', 'oldest_wait'), types: ['a'], threshold: 0.5 };
    await store.alerts.setRule('Mine', plainRule('Mine', 'disk'));
    await store.alerts.setRule('Mine', rule);
    await store.alerts.setReceiver('ops', ops);
    expect(await store.alerts.load(NOW)).to.deep.equal({
      ...{ rules: [rule], receivers: [ops], alerts: [], deliveries: [] },
    });
    await store.alerts.setRule('Mine', null);
    await store.alerts.setReceiver('ops', null);
    await store.alerts.setReceiver('nobody', null);
    expect(await store.alerts.load(NOW)).to.deep.include({ rules: [], receivers: [] });
  });

  it('loads what goes on: what is raised, or silenced, and what is to be told', async () => {
    const full = alertOf('a', {
      ...{ namespace: null, type: null, group: null, change: 'Wait.', fields: '{"a":1}' },
      ...{
        toldAt: null,
        silencedUntil: NOW + 9,
        silencedBy: 'ann',
        silenceReason: 'disk comes at ten',
        count: 3,
        repeatCount: 2,
      },
    });
    const over = alertOf('b', { clearedAt: NOW + 5 });
    const quiet = alertOf('c', { clearedAt: NOW + 5, silencedUntil: NOW + 20 });
    const pending = deliveryOf('d', { tries: 2, error: 'HTTP 500', moreCount: 7 });
    const ended = deliveryOf('e', { state: 'delivered', endedAt: NOW + 1 });
    await store.alerts.write([alertOf('a'), over, quiet], [deliveryOf('d'), deliveryOf('e')]);
    await store.alerts.write([full], [pending, ended]);
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    const loaded = await store.alerts.load(NOW + 10);
    expect([...loaded.alerts].sort(byId)).to.deep.equal([full, quiet]);
    expect(loaded.deliveries).to.deep.equal([pending]);
  });

  it('lists what is over, the newest first, page by page', async () => {
    const all = ['a', 'b', 'c', 'd'].map((id, at) =>
      alertOf(id, { raisedAt: NOW + (at >> 1), clearedAt: NOW + 9 }),
    );
    await store.alerts.write([...all, alertOf('e')], []);
    const ids = async (before: Parameters<typeof store.alerts.listCleared>[0], limit: number) =>
      (await store.alerts.listCleared(before, limit)).map(({ id }) => id).join('');
    expect(await ids(null, 10)).to.equal('dcba');
    expect(await ids(null, 3)).to.equal('dcb');
    expect(await ids({ raisedAt: NOW, id: 'b' }, 10)).to.equal('a');
  });

  it('drops what was over before then, and nothing that goes on', async () => {
    const over = alertOf('over', { clearedAt: NOW + 1 });
    const later = alertOf('later', { clearedAt: NOW + 3 });
    const quiet = alertOf('quiet', { clearedAt: NOW + 1, silencedUntil: NOW + 9 });
    const told = deliveryOf('told', { state: 'failed', endedAt: NOW + 1 });
    await store.alerts.write([alertOf('a'), over, later, quiet], [told, deliveryOf('pending')]);
    const many = Array.from({ length: 1_100 }, (_, at) => alertOf(`old ${at}`, { clearedAt: NOW }));
    await store.alerts.write(many, []);
    await store.alerts.drop(NOW + 2);
    const kept = await store.alerts.listCleared(null, 10);
    expect(kept.map(({ id }) => id)).to.deep.equal(['quiet', 'later']);
    const { alerts, deliveries } = await store.alerts.load(NOW);
    expect(alerts.map(({ id }) => id).sort()).to.deep.equal(['a', 'quiet']);
    expect(deliveries.map(({ id }) => id)).to.deep.equal(['pending']);
  });
});

describe('alerts of a master that was deposed: MariaDB', () => {
  const server = useMariadb();
  const stores: DefaultStore[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  it('are not written any more, while those of the newer one are, in whichever term', async () => {
    const url = await server.url();
    const open = async (): Promise<DefaultStore> => {
      const store = await openDefault({ url, allowWeakDurability: false });
      stores.push(store);
      return store;
    };
    const [older, newer] = [await open(), await open()];
    await older.takeTerm('m-1', NOW);
    await older.alerts.setReceiver('ops', ops);
    const { term } = await newer.takeTerm('m-2', NOW);
    const writes = [
      () => older.alerts.setRule('Mine', plainRule('Mine', 'disk')),
      () => older.alerts.setReceiver('ops', null),
      () => older.alerts.write([alertOf('a')], []),
      () => older.alerts.drop(NOW),
    ];
    for (const write of writes) expect(await failureOf(write())).to.be.instanceOf(TermLost);
    await newer.takeTerm('m-2', NOW, term);
    await newer.alerts.write([alertOf('b')], []);
    const { rules, receivers, alerts } = await newer.alerts.load(NOW);
    expect({ rules, receivers, alerts }).to.deep.equal({
      ...{ rules: [], receivers: [ops], alerts: [alertOf('b')] },
    });
  });

  it('are waited for by nobody while their table is slow', async () => {
    const url = await server.url();
    const store = await openDefault({ url, allowWeakDurability: false });
    stores.push(store);
    const { term } = await store.takeTerm('m-1', NOW);
    const other = await mysql.createConnection(url);
    await other.query('LOCK TABLES alert WRITE');
    const written = store.alerts.write([alertOf('a')], []);
    const waiting = `SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'`;
    for (let rows: unknown[] = []; rows.length === 0; )
      [rows] = await other.query<RowDataPacket[]>(waiting);
    await store.takeTerm('m-1', NOW, term);
    await other.query('UNLOCK TABLES');
    await written;
    await other.end();
  });
});
