/** Logs of tasks that are gone: removed beside commits, a piece at a time, whoever ends in between. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RowWrite, taskDeleted } from '../../../master/domain/changes.ts';
import { LogRows } from '../../../master/infrastructure/sql/logs/log-rows.ts';
import { attemptOf, commit, DAY_MS, finish, finished, task } from '../../contract/sample.ts';
import { NOW } from '../../helpers/task.ts';
import { type CountedStore, openCountedStore } from './counted-store.ts';

/** More than a piece, of each attempt. */
const CHUNK_COUNT = 200;

describe('logs of tasks that are gone, on SQLite', () => {
  let folder: string;
  let opened: CountedStore;
  let term: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-logs-'));
    await begin();
  });
  afterEach(async () => {
    await opened.store.close();
    await rm(folder, { recursive: true });
  });

  async function begin(): Promise<void> {
    opened = openCountedStore(`sqlite:${join(folder, 'soda.db')}`);
    await opened.store.open(NOW);
    ({ term } = await opened.store.takeTerm('test', NOW));
  }

  const left = async () => {
    const [row] = await opened.readers.rows(
      'SELECT SUM(task_seq > 0) AS chunks, SUM(task_seq < 0) AS marks FROM task_log',
    );
    return { chunks: Number(row?.['chunks']), marks: Number(row?.['marks']) };
  };

  /** That has ended days ago, with a log of two attempts. */
  async function ended(seq: number) {
    const over = finished(task(seq, { attempt: 2 }), { finishedAt: NOW - 9 * DAY_MS });
    const attempts = [attemptOf(over)];
    await opened.store.commit(commit(term, { finishes: [finish(over, null, false)], attempts }));
    const put = Array.from({ length: CHUNK_COUNT }, (_, n) => {
      return { n: n + 1, lastN: n + 1, bytes: 1, text: 'x' };
    });
    await opened.store.writeLogs(
      [1, 2].map((attempt) => ({ taskSeq: seq, attempt, put, remove: [] })),
    );
    return over;
  }

  async function deleteTask(seq: number): Promise<void> {
    const over = await ended(seq);
    const end = { finishedAt: over.finishedAt ?? 0, retention: 'normal' } as const;
    const writes = taskDeleted(over, end) as RowWrite[];
    opened.counts.reset();
    await opened.store.commit(commit(term, { writes }));
  }

  it('are only marked by the commit that deletes the task, and go after it in pieces', async () => {
    await ended(2);
    await deleteTask(1);
    expect(opened.counts.commitCount).to.equal(1);
    const gone = { taskSeq: 1, attempt: null, after: null, limit: 10 };
    expect(await opened.store.readLogChunks(gone)).to.deep.equal([]);
    await new LogRows(opened.readers).sweep();
    expect(await left()).to.deep.equal({ chunks: 2 * CHUNK_COUNT, marks: 0 });
    // Four pieces, and the mark.
    expect(opened.counts.commitCount).to.be.at.least(5);
  });

  it('are found by the next master, where one has ended before they went', async () => {
    await deleteTask(1);
    const { store } = opened;
    const closed = store.close();
    await closed;
    await begin();
    expect((await left()).marks).to.equal(1);
    await opened.store.dropSegments('normal', 0);
    expect(await left()).to.deep.equal({ chunks: 0, marks: 0 });
  });

  it('go in pieces before the day of history in which their tasks ended', async () => {
    await ended(1);
    await ended(2);
    opened.counts.reset();
    expect(await opened.store.dropSegments('normal', NOW - 7 * DAY_MS)).to.equal(1);
    expect(await left()).to.deep.equal({ chunks: 0, marks: 0 });
    expect(opened.counts.commitCount).to.be.at.least(8);
  });
});
