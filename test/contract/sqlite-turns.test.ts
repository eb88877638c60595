/**
 * SQLite's driver is synchronous. Whatever the store is asked for, others have their turn of the
 * event loop in between: counted here in pieces of work, without a look at any real clock.
 */
import { expect } from 'chai';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndedSegment } from '../../master/application/ports.ts';
import type { RowWrite } from '../../master/domain/changes.ts';
import { ANY_TASK } from '../../master/domain/model/task-filter.ts';
import { Pace } from '../../master/infrastructure/sql/pace.ts';
import { laneNumber, NOW } from '../helpers/task.ts';
import {
  attemptOf,
  commit,
  DAY_MS,
  everything,
  finish,
  finished,
  lanePage,
  next,
  task,
} from './sample.ts';
import { type DefaultStore, openDefault } from './subjects.ts';

const COUNT = 1000;
/** A turn's share is 3 ms, and each piece takes one by the clock below; the rest is slack. */
const PIECES_MAX = 8;

describe('SQLite and the event loop', function () {
  let folder: string;
  let store: DefaultStore;
  let term: number;
  /** Pieces of work in all, and in this turn of the event loop; the most in one. */
  let pieces = 0;
  let inTurn = 0;
  let most = 0;

  const pace = new Pace(() => {
    pieces += 1;
    inTurn += 1;
    most = Math.max(most, inTurn);
    return pieces;
  });

  /** What `work` did, by turns of the event loop. */
  async function watched(work: () => Promise<unknown>): Promise<{ pieces: number; most: number }> {
    let turning = true;
    const turn = (): void => {
      inTurn = 0;
      if (turning) setImmediate(turn);
    };
    await new Promise<void>((resolve) => void setImmediate(resolve));
    [pieces, inTurn, most] = [0, 0, 0];
    setImmediate(turn);
    await work();
    turning = false;
    return { pieces, most };
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-turns-'));
    const url = `sqlite:${join(folder, 'soda.db')}`;
    store = await openDefault({ url, allowWeakDurability: false, pace });
    ({ term } = await store.takeTerm('m-1', NOW));
    await store.commit(commit(term, { inserts: all }));
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const all = Array.from({ length: COUNT }, (_, index) => task(index + 1));
  const ids = all.map(({ id }) => id);
  const ended = all.map((one) => finished(one, { finishedAt: NOW - 3 * DAY_MS }));

  /** Reads all, and keeps nothing. */
  const reader = {
    check: async () => undefined,
    prepare: async (segment: EndedSegment) => {
      for await (const { tasks } of segment.pages()) expect(tasks.length).to.equal(1);
      return { count: 0, sha256: '', names: [] };
    },
    isStill: async () => true,
    holds: async () => true,
  };

  const works: Record<string, () => Promise<unknown>> = {
    'a commit of many rows': () =>
      store.commit(commit(term, { updates: all.map((one) => next(one, {})) })),
    'a page of rows that is loaded': () =>
      lanePage(store, laneNumber('video.push||'), null, NOW, COUNT),
    'the tasks of many commands': () => store.findTasks(ids, Number.POSITIVE_INFINITY),
    'many tasks read one by one': async () => {
      for (const { id } of all) await store.readTask(id);
    },
    'many tasks asked for at once': () =>
      Promise.all(all.map(({ id }) => store.showTask(id, 'all'))),
    'many commits, one after another': async () => {
      for (const one of all.slice(0, 100)) {
        await store.commit(commit(term, { updates: [next(one, {})] }));
      }
    },
    'a clock that was set back': () => store.takeTerm('m-1', NOW - DAY_MS, term),
    'a list of all': () => store.listTasks({ ...everything, limit: COUNT }),
    'the ids of a day that are learned': async () => {
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)) }));
      await store.learnIds(NOW);
    },
    'history that is taken out': async () => {
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)) }));
      const states = ['succeeded', 'failed'] as const;
      const until = { filter: ANY_TASK, states, seqMax: COUNT, endedBefore: NOW };
      const search = { ...until, isBackwards: false };
      for (let cursor: string | null | undefined; cursor !== null; ) {
        ({ cursor } = await store.readHistory(search, cursor ?? null, 100, 100_000));
      }
    },
    'a segment that is archived': async () => {
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)) }));
      await store.dropSegments('normal', NOW, 0, { ...reader, finish: async () => [] });
    },
    'a segment that is dropped': async () => {
      const attempts = ended.map((one) => attemptOf(one));
      await store.commit(commit(term, { finishes: ended.map((one) => finish(one)), attempts }));
      await store.dropSegments('normal', NOW);
    },
  };
  for (const [name, work] of Object.entries(works)) {
    it(`${name}: no turn has more than its share`, async () => {
      const seen = await watched(work);
      expect(seen.pieces).to.be.at.least(100);
      expect(seen.most).to.be.at.most(PIECES_MAX);
    });
  }

  it('the versions of a job are read one by one', async () => {
    const versions = Array.from({ length: 30 }, (_, index) => index + 1);
    const row = { job: 'a', spec: '{}', template: '{}', at: NOW, by: null };
    const writes = versions.map((version): RowWrite => {
      return { op: 'put', table: 'jobVersion', key: ['a', version], row: { ...row, version } };
    });
    await store.commit(commit(term, { writes }));
    const seen = await watched(async () => {
      const found = await store.jobs.listVersions('a');
      expect(found.map(({ version }) => version)).to.deep.equal(versions.toReversed());
    });
    expect(seen.pieces).to.be.at.least(30);
    expect(seen.most).to.be.at.most(PIECES_MAX);
  });

  it('a lone commit is not cut', async () => {
    const turns = await watched(() => store.commit(commit(term, { updates: [next(all[0]!, {})] })));
    expect(turns.pieces).to.be.at.most(PIECES_MAX);
  });

  it('a search, and a count, is cut into pieces, each of so many rows', async () => {
    const later = Array.from({ length: 12 }, (_, part) =>
      Array.from({ length: 1000 }, (__, index) =>
        task(COUNT + part * 1000 + index + 1, { lane: 1_000 + (index % 3) }),
      ),
    );
    for (const inserts of later) await store.commit(commit(term, { inserts }));
    const lanes = (await store.countLanes()).map(({ lane, count }) => [lane, count]);
    expect(lanes).to.deep.equal([
      [laneNumber('video.push||'), COUNT],
      [1_000, 12 * 334],
      [1_001, 12 * 333],
      [1_002, 12 * 333],
    ]);
    const counted = await watched(() => store.countLanes());
    expect(counted.pieces).to.be.at.least(2 * 3);
    expect(counted.most).to.be.at.most(PIECES_MAX);
    const seen = await watched(() => store.listTasks({ ...everything, type: 'none' }));
    // Three statements for each thousand rows.
    expect(seen.pieces).to.be.at.least(3 * 6);
    expect(seen.most).to.be.at.most(PIECES_MAX);
  });

  it('a commit finds one piece of a list before it, however many lists there are', async () => {
    let turnCount = 0;
    const isOver = new AbortController();
    const turn = (): void => {
      turnCount += 1;
      if (!isOver.signal.aborted) setImmediate(turn);
    };
    const search = { ...everything, type: 'none' };
    const lists = Array.from({ length: 60 }, () => store.listTasks(search));
    setImmediate(turn);
    for (let version = 1; version <= 5; version++) {
      const begunAt = turnCount;
      const one = next(task(1, { version }), {});
      await store.commit(commit(term, { updates: [one] }));
      expect(turnCount - begunAt).to.be.at.most(8);
    }
    isOver.abort();
    await Promise.all(lists);
  });

  it('what only a person waits for leaves turns to all else, whosever it is', async () => {
    const begunIn: number[] = [];
    let turnCount = 0;
    const pieces = Array.from({ length: 5 }, () =>
      pace.aside(async () => void begunIn.push(turnCount)),
    );
    const isOver = new AbortController();
    const turn = (): void => {
      turnCount += 1;
      if (!isOver.signal.aborted) setImmediate(turn);
    };
    setImmediate(turn);
    await Promise.all(pieces);
    isOver.abort();
    const gaps = begunIn.slice(1).map((at, index) => at - (begunIn[index] ?? 0));
    expect(Math.min(...gaps)).to.be.at.least(4);
    expect(Math.max(...gaps)).to.be.at.most(16);
  });

  it('a search looks at fewer rows at a time where they take long to look at', async () => {
    const piecesAt = async (name: string, msOfLook: number): Promise<number> => {
      let [now, ms, count] = [0, 0, 0];
      const slow = new Pace(() => (now += ms));
      const aside = slow.aside.bind(slow);
      slow.aside = (piece) => {
        count += 1;
        return aside(piece);
      };
      const url = `sqlite:${join(folder, name)}`;
      const other = await openDefault({ url, allowWeakDurability: false, pace: slow });
      const begun = await other.takeTerm('m-1', NOW);
      await other.commit(commit(begun.term, { inserts: all }));
      ms = msOfLook;
      const query = { ...everything, error: 'none' };
      for (let beforeSeq: number | null = null; ; ) {
        const page = await other.listTasks({ ...query, beforeSeq });
        if (page.beforeSeq === null) break;
        ({ beforeSeq } = page);
      }
      await other.close();
      return count;
    };
    expect(await piecesAt('fast.db', 0)).to.be.at.most(8);
    expect(await piecesAt('slow.db', 5), '64 rows at a time').to.be.at.least(COUNT / 64);
  });

  it('gives a list of a few in one page, however busy the machine is', async () => {
    let [now, ms] = [0, 0];
    const url = `sqlite:${join(folder, 'busy.db')}`;
    const pace = new Pace(() => (now += ms));
    const busy = await openDefault({ url, allowWeakDurability: false, pace });
    const { term } = await busy.takeTerm('m-1', NOW);
    const few = all.slice(0, 40);
    await busy.commit(commit(term, { inserts: few }));
    const ends = few
      .slice(20)
      .map((one, day) => finish(finished(one, { finishedAt: NOW - (day % 3) * DAY_MS })));
    await busy.commit(commit(term, { finishes: ends }));
    ms = 1_000;
    const page = await busy.listTasks({ ...everything, limit: 100 });
    ms = 0;
    await busy.close();
    expect(page.tasks).to.have.length(40);
    expect(page.beforeSeq).to.equal(null);
  });

  it('folds its log into the file before it is long: in one piece, which no turn can cut', async () => {
    const params = JSON.stringify('x'.repeat(500_000));
    for (let seq = COUNT + 1; seq <= COUNT + 40; seq++) {
      await store.commit(commit(term, { inserts: [task(seq, { params })] }));
    }
    const { size } = await stat(join(folder, 'soda.db-wal'));
    expect(size).to.be.below(8 * 1024 * 1024);
  });
});
