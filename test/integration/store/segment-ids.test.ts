/** Which tables are asked for an id, however much history there is; and that none is missed for it. */
import { expect } from 'chai';
import type { Database } from '../../../master/infrastructure/sql/database.ts';
import { SegmentIds } from '../../../master/infrastructure/sql/ids/segment-ids.ts';
import { segmentAt } from '../../../master/infrastructure/sql/segments.ts';
import { commit, DAY_MS, finish, finished, next, task } from '../../contract/sample.ts';
import type { DefaultStore } from '../../contract/subjects.ts';
import { NOW } from '../../helpers/task.ts';
import { type Counts, describeCountedStores } from './counted-store.ts';

const DAYS = 30;
const COUNT = 100;

describeCountedStores('ids of history', (open) => {
  let store: DefaultStore;
  let counts: Counts;
  let readers: Database;
  let term: number;
  let seq: number;

  beforeEach(async () => {
    ({ store, counts, readers } = await open());
    ({ term } = await store.takeTerm('m-1', NOW));
    seq = 0;
  });

  /** Tasks that ended so many days ago, by their ids. */
  const ended = (ids: readonly string[], daysAgo: number) => {
    const finishedAt = NOW - daysAgo * DAY_MS;
    const tasks = ids.map((id) => finished(task(++seq, { id }), { finishedAt }));
    return commit(term, { finishes: tasks.map((one) => finish(one, null, false)) });
  };
  const idsOf = (daysAgo: number) => Array.from({ length: COUNT }, (_, n) => `${daysAgo}-${n}`);
  const someNew = Array.from({ length: COUNT }, (_, n) => `new-${n}`);
  const tableOf = (daysAgo: number) => segmentAt('normal', NOW - daysAgo * DAY_MS).table;
  const unclosed = [tableOf(0), tableOf(-1), 'task'].sort();

  async function asked(ids: readonly string[]): Promise<readonly string[]> {
    counts.reset();
    await store.findIds(ids);
    return counts.lookedUp.sort();
  }

  it('are asked for where they may be: a submit asks no more of thirty days than of two', async () => {
    for (let day = 0; day < DAYS; day++) await store.commit(ended(idsOf(day), day));
    expect(await asked(someNew), 'nothing is known yet').to.have.length(DAYS + 2);
    await store.learnIds(NOW);
    const tables = await asked(someNew);
    expect(tables).to.include.members(unclosed);
    expect(tables.length, 'one in some thousand is asked for in vain').to.be.at.most(
      unclosed.length + 10,
    );
    expect(counts.statementCount).to.equal(1);
    for (let day = 0; day < DAYS; day++) {
      const ids = idsOf(day);
      expect([...(await store.findIds(ids)).keys()].sort()).to.deep.equal([...ids].sort());
      const found = await store.findTasks(ids, Number.POSITIVE_INFINITY);
      expect([...found.values()].every((one) => one !== null)).to.equal(true);
      expect((await store.readTask(`${day}-7`))?.task.id).to.equal(`${day}-7`);
    }
  });

  it('are known of a day that is over for an hour', async () => {
    await store.commit(ended(['a'], 1));
    const midnight = Math.floor(NOW / DAY_MS) * DAY_MS;
    await store.learnIds(midnight + 3_599_999);
    expect(await asked(['b'])).to.include(tableOf(1));
    await store.learnIds(midnight + 3_600_000);
    expect(await asked(['b'])).not.to.include(tableOf(1));
  });

  it('are found where a clock that was set back has put them in a day that was over', async () => {
    await store.commit(ended(['a'], 3));
    await store.learnIds(NOW);
    await store.commit(ended(['late'], 3));
    expect([...(await store.findIds(['late', 'b'])).keys()]).to.deep.equal(['late']);
    await store.commit(ended(['later'], 4));
    expect(await asked(['b']), 'a day that nobody had heard of is asked').to.include(tableOf(4));
    expect([...(await store.findIds(['later'])).keys()]).to.deep.equal(['later']);
  });

  it('are found where a commit has taken so long that its day was over before it was there', async () => {
    await store.commit(ended(['a'], 1));
    let go: () => void = () => undefined;
    counts.gate = new Promise((resolve) => (go = resolve));
    const committing = store.commit(ended(['slow'], 1));
    // One connection does one thing at a time.
    const learning = store.learnIds(NOW);
    if (!readers.dialect.isInProcess) await learning;
    go();
    await committing;
    await learning;
    expect(await asked(['b'])).not.to.include(tableOf(1));
    expect([...(await store.findIds(['slow'])).keys()]).to.deep.equal(['slow']);
  });

  it('go with their day, and with a task that runs again', async () => {
    await store.commit(ended(['a', 'b'], 3));
    await store.learnIds(NOW);
    const one = (await store.readTask('a'))?.task ?? expect.fail('it is there');
    const again = next(one, { state: 'waiting', result: null, finishedAt: null });
    const reopens = [{ task: again, finishedAt: one.finishedAt ?? 0 }];
    await store.commit(commit(term, { reopens }));
    expect((await store.readTask('a'))?.task.state).to.equal('waiting');
    expect(await store.dropSegments('normal', NOW)).to.equal(1);
    expect([...(await store.findIds(['a', 'b'])).keys()]).to.deep.equal(['a']);
    await store.commit(ended(['b'], 3));
    expect([...(await store.findIds(['a', 'b'])).keys()].sort()).to.deep.equal(['a', 'b']);
    await store.learnIds(NOW);
    expect([...(await store.findIds(['a', 'b'])).keys()].sort()).to.deep.equal(['a', 'b']);
  });

  it('take no more room than they may, and deny none that is there', async () => {
    for (let day = 2; day < 6; day++) await store.commit(ended(idsOf(day), day));
    const segments = [2, 3, 4, 5].map((day) => ({
      ...segmentAt('normal', NOW - day * DAY_MS),
      isOld: false,
    }));
    const ids = new SegmentIds(readers, 512);
    await ids.learn(segments, NOW);
    expect(ids.bytes).to.equal(512);
    for (const [index, segment] of segments.entries()) {
      const hashes = (some: readonly string[]) => some.map((id) => ids.hashOf(0, id));
      const taken = hashes(idsOf(index + 2)).filter((hash) => ids.mayHave(segment, hash));
      expect(taken).to.have.length(COUNT);
      const others = hashes(someNew).filter((hash) => ids.mayHave(segment, hash));
      expect(others.length).to.be.below(COUNT);
    }
    await ids.learn(segments.slice(1), NOW);
    expect(ids.bytes, 'what is gone is forgotten').to.equal(384);
  });

  it('of two namespaces are told apart', async () => {
    const settings = { paused: null, retention: 'normal', maxWaiting: null, maxRunning: null };
    const made = await store.createNamespace({
      name: 'films',
      createdAt: NOW,
      ...settings,
    } as never);
    const films = store.tasks(made.id);
    const begun = await films.takeTerm('m-1', NOW);
    const first = begun.lastSeq + 1;
    const there = finished(task(first, { id: 'b' }), { finishedAt: NOW - 3 * DAY_MS });
    await store.commit(ended(['a'], 3));
    await films.commit(commit(begun.term, { finishes: [finish(there, null, false)] }));
    await store.learnIds(NOW);
    expect([...(await store.findIds(['a', 'b'])).keys()]).to.deep.equal(['a']);
    expect([...(await films.findIds(['a', 'b'])).keys()]).to.deep.equal(['b']);
  });
});
