/** What every store must do with the logs of tasks. */
import { expect } from 'chai';
import type { LogWrite, Store, StoredChunk, TaskStore } from '../../../master/application/ports.ts';
import { logEnded, type RowWrite, taskDeleted } from '../../../master/domain/changes.ts';
import { AttemptLog, isEnd } from '../../../master/domain/logs/attempt-log.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { NOW } from '../../helpers/task.ts';
import { attemptOf, commit, DAY_MS, finished, task } from '../sample.ts';
import { describeStores } from '../subjects.ts';

const writeOf = (taskSeq: number, attempt: number, n: number, text: string): LogWrite => {
  const bytes = Buffer.byteLength(text);
  return { taskSeq, attempt, put: [{ n, lastN: n + 1, bytes, text }], remove: [] };
};

describeStores('logs of tasks', (open) => {
  let store: Store;
  let tasks: TaskStore;
  let term: number;
  beforeEach(async () => {
    store = await open();
    await store.open(NOW);
    tasks = store.tasks(0);
    ({ term } = await tasks.takeTerm('test', NOW));
  });

  /** Which chunks there are: attempt and number of the first line. */
  const read = async (
    taskSeq: number,
    attempt: number | null = null,
    after: { attempt: number; n: number } | null = null,
    limit = 10,
  ) =>
    (await tasks.readLogChunks({ taskSeq, attempt, after, limit })).map(
      (chunk) => `${chunk.attempt}.${chunk.n}`,
    );
  /** Of the first attempt there is a record. */
  async function ended(seq: number): Promise<Task> {
    const live = task(seq);
    const over = finished(live);
    await tasks.commit(commit(term, { inserts: [live], attempts: [attemptOf(live)] }));
    const finishes = [{ task: over, notification: null, stored: true }];
    await tasks.commit(commit(term, { finishes }));
    return over;
  }

  it('has what was written, as it was written, by attempt and number', async () => {
    const text =
      '[1,2,"info","log","späti 🙂\\u0000"]\n[2,3,"warn","stderr","it\'s \\\\ \\"so\\""]';
    await tasks.writeLogs([writeOf(1, 1, 1, text), writeOf(1, 2, 1, 'b'), writeOf(2, 1, 1, 'c')]);
    await tasks.writeLogs([writeOf(1, 1, 3, 'd'), writeOf(1, 2, 3, 'e')]);
    const all = { taskSeq: 1, attempt: 1, after: null, limit: 10 };
    const [first] = await tasks.readLogChunks(all);
    expect(first).to.deep.equal({
      attempt: 1,
      n: 1,
      lastN: 2,
      bytes: Buffer.byteLength(text),
      text,
    });
    expect(await read(1, 1)).to.deep.equal(['1.1', '1.3']);
    expect(await read(1), 'the newest attempt').to.deep.equal(['2.1', '2.3']);
    expect(await read(1, 1, { attempt: 1, n: 1 })).to.deep.equal(['1.1', '1.3']);
    expect(await read(1, 1, { attempt: 1, n: 2 })).to.deep.equal(['1.3']);
    expect(await read(1, null, { attempt: 1, n: 2 }), 'and what follows').to.deep.equal([
      ...['1.3', '2.1', '2.3'],
    ]);
    expect(await read(1, null, { attempt: 0, n: 0 }, 2)).to.deep.equal(['1.1', '1.3']);
    expect(await read(1, null, { attempt: 2, n: 4 })).to.deep.equal([]);
    expect(await read(3)).to.deep.equal([]);
  });

  it('has the newest of what was written twice, and nothing that was taken out', async () => {
    await tasks.writeLogs([writeOf(1, 1, 1, 'a'), writeOf(1, 1, 3, 'b')]);
    const change = { ...writeOf(1, 1, 3, 'longer'), remove: [1, 77] };
    await tasks.writeLogs([change]);
    await tasks.writeLogs([change]);
    expect(await tasks.readLogHeads(1, 1)).to.deep.equal([{ n: 3, lastN: 4, bytes: 6 }]);
    await tasks.writeLogs([]);
    expect(await read(1)).to.deep.equal(['1.3']);
  });

  it('has how many lines an attempt has said behind all that came, and loses that with it', async () => {
    const [live, over] = [task(1), finished(task(1))];
    await tasks.commit(commit(term, { inserts: [live] }));
    const finishes = [{ task: over, notification: null, stored: true }];
    const writes = [logEnded({ ...live, attempt: 2 }, 7)] as RowWrite[];
    await tasks.commit(commit(term, { finishes, writes }));
    await tasks.writeLogs([writeOf(1, 2, 1, 'late')]);
    const all = { taskSeq: 1, attempt: null, after: null, limit: 10 };
    const [first, last, ...more] = await tasks.readLogChunks(all);
    expect([first?.text, more]).to.deep.equal(['late', []]);
    expect(last).to.include({ attempt: 2, lastN: 7, text: '' });
    expect(isEnd(last as StoredChunk)).to.equal(true);
    const ends = [...(await tasks.readLogHeads(1, 2))];
    const log = new AttemptLog(1_000_000, ends);
    log.add([{ n: 3, text: 'c', bytes: 1 }]);
    expect(log.takeChange(1_000).put, 'it is no line').to.have.length(1);
    expect(await tasks.readLogChunks({ ...all, after: { attempt: 2, n: 7 } })).to.deep.equal([]);
    const end = { finishedAt: over.finishedAt ?? 0, retention: 'normal' } as const;
    const gone = taskDeleted({ ...over, attempt: 2 }, end) as RowWrite[];
    await tasks.commit(commit(term, { writes: gone }));
    expect(await read(1)).to.deep.equal([]);
  });

  it('loses what is of a task that is deleted, also what still comes of it', async () => {
    const over = await ended(1);
    await tasks.writeLogs([writeOf(1, 1, 1, 'a'), writeOf(2, 1, 1, 'b')]);
    const end = { finishedAt: over.finishedAt ?? 0, retention: 'normal' } as const;
    await tasks.commit(commit(term, { writes: taskDeleted(over, end) as RowWrite[] }));
    expect(await read(1)).to.deep.equal([]);
    await tasks.writeLogs([writeOf(1, 1, 3, 'late'), writeOf(2, 1, 3, 'c')]);
    expect(await read(1)).to.deep.equal([]);
    expect(await read(2)).to.deep.equal(['1.1', '1.3']);
  });

  it('loses those of an attempt that is not kept any more, and those of history with it', async () => {
    await ended(1);
    await tasks.writeLogs([writeOf(1, 1, 1, 'a'), writeOf(1, 201, 1, 'b'), writeOf(2, 1, 1, 'c')]);
    const attempts = [attemptOf(task(1), { attempt: 201 })];
    await tasks.commit(commit(term, { attempts }));
    expect(await read(1, 1)).to.deep.equal([]);
    expect(await read(1)).to.deep.equal(['201.1']);
    await store.prepareSegments(NOW + 10 * DAY_MS);
    await store.dropSegments('normal', NOW + 3 * DAY_MS);
    expect(await read(1)).to.deep.equal([]);
    expect(await read(2), 'of another task').to.deep.equal(['1.1']);
  });
});
