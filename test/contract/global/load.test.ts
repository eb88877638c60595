/** What every store must do with how busy types were. */
import { expect } from 'chai';
import type { Store, TaskStore } from '../../../master/application/ports.ts';
import type { LoadQuery } from '../../../master/application/reports/load-query.ts';
import { ALL_TYPES, type Load } from '../../../master/domain/load/figures.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { NOW } from '../../helpers/task.ts';
import { describeStores } from '../subjects.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The first minute of an hour. */
const BEGIN = NOW - (NOW % HOUR_MS);

describeStores('load', (open) => {
  let store: Store;
  let tasks: TaskStore;

  const write = (minute: number, loads: Record<string, Load>, namespaceId = 0): Promise<void> => {
    const samples = Object.entries(loads).map(([type, load]) => ({ type, load }));
    return store.addLoad(BEGIN + minute * MINUTE_MS, [{ namespaceId, samples }]);
  };
  const read = async (change: Partial<LoadQuery> = {}, of = tasks) => {
    const from = BEGIN - HOUR_MS;
    const asked = {
      types: ['encode'],
      span: 1,
      stepMs: MINUTE_MS,
      from,
      to: BEGIN + 3 * HOUR_MS,
    } as const;
    const points = await of.readLoad({ ...asked, ...change });
    return points.map(({ at, load }) => [(at - BEGIN) / MINUTE_MS, load]);
  };
  const recent = async (after: string, among: readonly string[] | null = null, limit = 10) => {
    const found = await tasks.readRecent({ after, among, limit, since: BEGIN });
    return found.map(({ type, load: { accepted = 0, last_started_at, last_ended_at } }) => {
      return [type, accepted, last_started_at, last_ended_at].join(' ');
    });
  };

  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    tasks = store.tasks(0);
  });

  it('adds each minute to what there is of it, and to its hour: sums grow, of peaks the greatest stays', async () => {
    await write(0, {
      encode: { accepted: 2, waiting: 5, oldest_wait_ms: 70 },
      probe: { accepted: 1 },
    });
    await write(0, { encode: { accepted: 1, oldest_wait_ms: 40 } });
    await write(2, { encode: { accepted: 4, oldest_wait_ms: 90 } });
    await write(60, { encode: { failed: 1 } });
    const hour = { span: 60, stepMs: HOUR_MS } as const;
    expect(await read()).to.deep.equal([
      [0, { accepted: 3, waiting: 5, oldest_wait_ms: 70 }],
      [2, { accepted: 4, oldest_wait_ms: 90 }],
      [60, { failed: 1 }],
    ]);
    expect(await read(hour)).to.deep.equal([
      [0, { accepted: 7, waiting: 5, oldest_wait_ms: 90 }],
      [60, { failed: 1 }],
    ]);
    expect(await read({ types: ['probe', 'encode'], to: BEGIN + MINUTE_MS })).to.deep.equal([
      [0, { accepted: 4, waiting: 5, oldest_wait_ms: 70 }],
    ]);
    expect(await read({ types: [] })).to.deep.equal([]);
  });

  it('joins hours to days, however many rows there are', async () => {
    const day = 24 * HOUR_MS;
    const from = NOW - (NOW % day);
    const types = Array.from({ length: 60 }, (_, n) => `t-${n}`);
    for (let hour = 0; hour < 30; hour++) {
      const samples = types.map((type) => ({ type, load: { accepted: 1 } }));
      await store.addLoad(from + hour * HOUR_MS, [{ namespaceId: 0, samples }]);
    }
    const points = await tasks.readLoad({ types, span: 60, stepMs: day, from, to: from + 4 * day });
    expect(points).to.deep.equal([
      { at: from, load: { accepted: 24 * 60 } },
      { at: from + day, load: { accepted: 6 * 60 } },
    ]);
  });

  it('keeps namespaces apart', async () => {
    const { id } = await store.createNamespace({ name: 'b', createdAt: NOW, ...NO_SETTINGS });
    await write(0, { encode: { accepted: 1 } });
    await write(0, { encode: { accepted: 9 } }, id);
    expect(await read()).to.deep.equal([[0, { accepted: 1 }]]);
    expect(await read({}, store.tasks(id))).to.deep.equal([[0, { accepted: 9 }]]);
  });

  it('tells of each type what there was since, and when there was something last, ever', async () => {
    await write(-9_000, { old: { accepted: 3, last_started_at: 7, last_ended_at: 8 } });
    await write(-1, { encode: { accepted: 1, last_started_at: 20 } });
    await write(1, { encode: { accepted: 2, last_ended_at: 30 }, [ALL_TYPES]: { samples: 1 } });
    expect(await recent(')')).to.deep.equal(['encode 2 20 30', 'old 0 7 8']);
    expect(await recent('encode')).to.deep.equal(['old 0 7 8']);
    expect(await recent(')', null, 1)).to.deep.equal(['encode 2 20 30']);
    expect(await recent(')', ['old', 'none'])).to.deep.equal(['old 0 7 8']);
    expect(await recent(')', [])).to.deep.equal([]);
  });

  it('removes what is old: minutes by themselves, and with hours types that have been quiet since', async () => {
    await write(-60, {
      old: { accepted: 1, last_started_at: BEGIN - 9, last_ended_at: BEGIN - 1 },
    });
    await write(-59, { encode: { last_started_at: BEGIN - 9 } });
    await write(0, { encode: { last_ended_at: BEGIN + 5 } });
    expect(await store.dropLoad(1, BEGIN)).to.equal(2);
    expect(await read()).to.deep.equal([[0, { last_ended_at: BEGIN + 5 }]]);
    expect(await recent(')')).to.have.length(2);
    expect(await store.dropLoad(60, BEGIN)).to.equal(3);
    expect(await store.dropLoad(60, BEGIN)).to.equal(0);
    expect(await recent(')')).to.deep.equal([`encode 0 ${BEGIN - 9} ${BEGIN + 5}`]);
  });
});
