/** Who is first, and last, of a type: from memory where that knows it, and the same as the rows say. */
import { expect } from 'chai';
import { readEdges } from '../../../master/application/engine/read-edges.ts';
import type { EdgeWanted, TaskStore } from '../../../master/application/ports.ts';
import type { QueueEnd } from '../../../master/domain/queue/window.ts';
import { GateBench } from '../../helpers/gates.ts';

describe('the ends of a queue', () => {
  let bench: GateBench;
  afterEach(() => bench.stop());

  async function begin(policy: ConstructorParameters<typeof GateBench>[0] = {}) {
    bench = new GateBench(policy);
    await bench.start();
  }

  const inGroup = (group: string) => ({ user: { group, project: null, env: null, user: null } });

  /** What is found, of which lanes rows were read for that, and what the rows of all lanes say. */
  async function ends(to: QueueEnd) {
    const { state, now } = bench;
    const asked: EdgeWanted[] = [];
    const findEdges: TaskStore['findEdges'] = (wanted, ...rest) => {
      asked.push(...wanted);
      return bench.store.findEdges(wanted, ...rest);
    };
    const store = { findEdges } as TaskStore;
    const found = (await readEdges(store, state, to, ['echo'], now)).get('echo');
    const all = [...state.lanes.values()].flatMap(({ id: lane }): EdgeWanted[] => [
      { lane, state: 'waiting' },
      { lane, state: 'held' },
    ]);
    const rows = (await bench.store.findEdges(all, to, now)).filter((one) => one !== null);
    rows.sort((a, b) => a.time - b.time || a.seq - b.seq);
    expect(found, to).to.deep.equal(to === 'first' ? rows[0] : rows.at(-1));
    return asked.map(({ state: of }) => of);
  }

  it('are read of no lane that memory has whole', async () => {
    await begin();
    for (const [at, group] of ['a', 'b', 'c', 'a', 'b'].entries()) {
      await bench.submit({ id: `${at}`, ...inGroup(group), priority: at === 1 ? 5 : 0 });
      await bench.pass(1_000);
    }
    await bench.submit({ id: 'later', ...inGroup('d'), priority: 100, runAt: bench.now + 60_000 });
    expect([await ends('first'), await ends('last')]).to.deep.equal([[], []]);
  });

  it('are read of those that are held, and of lanes whose end is in the store only', async () => {
    await begin({ laneWindowCount: 2, windowCountMax: 4, pageCount: 2 });
    await bench.set({ max: 1 });
    await bench.submit('dune/1', 'dune/2', ...['1', '2', '3', '4', '5', '6']);
    expect(await ends('first')).to.deep.equal(['held']);
    expect(await ends('last')).to.deep.equal(['waiting', 'held']);
  });

  it('are read where something has come due that no lane has yet', async () => {
    await begin();
    await bench.submit({ id: 'a' }, { id: 'soon', priority: 100, runAt: bench.now + 1_000 });
    const due = bench.state.delayed.first()?.dueAt ?? 0;
    expect(due).to.be.above(bench.now);
    const asked: string[] = [];
    const findEdges: TaskStore['findEdges'] = async (wanted) => {
      asked.push(...wanted.map(({ state }) => state));
      return wanted.map(() => null);
    };
    await readEdges({ findEdges } as TaskStore, bench.state, 'first', ['echo'], due);
    expect(asked).to.deep.equal(['waiting']);
  });
});
