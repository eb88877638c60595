/** What becomes of the changes of one turn: one write per task, whatever happened to it. */
import { expect } from 'chai';
import type { Change } from '../../../master/domain/effects.ts';
import type { AttemptRecord, Notification, Task } from '../../../master/domain/task.ts';
import { fold } from '../../../master/application/fold.ts';
import type { Commit } from '../../../master/application/ports.ts';
import { inserted, Scheduler } from '../../helpers/domain.ts';

const NOW = 1_800_000_000_000;

function newTasks(count: number): Task[] {
  const ids = Array.from({ length: count }, (_, i) => ({ id: `t${i}` }));
  return inserted(new Scheduler().submit(...ids));
}

/** The lists of a commit that are not empty. */
function written(commit: Commit): Partial<Commit> {
  return Object.fromEntries(
    Object.entries(commit).filter(([, list]) => Array.isArray(list) && list.length > 0),
  );
}

const head = { term: 1, lastSeq: 0 };

describe('fold', () => {
  let task: Task;
  beforeEach(() => {
    [task] = newTasks(1) as [Task];
    task.version = 4;
  });

  const insert = (): Change => ({ type: 'taskInserted', task });
  const update = (): Change => ({ type: 'taskUpdated', task });
  const checkpoint = (): Change => ({ type: 'checkpointSaved', task });
  const finish = (notification: Notification | null = null): Change => ({
    type: 'taskFinished',
    task,
    notification,
  });
  const reopen = (): Change => ({ type: 'taskReopened', task, finishedAt: NOW - 1 });

  const cases: [name: string, changes: () => Change[], expected: () => Partial<Commit>][] = [
    ['an insert', () => [insert()], () => ({ inserts: [task] })],
    ['an insert, offered at once', () => [insert(), update()], () => ({ inserts: [task] })],
    [
      'an insert that ended at once: no live row is expected',
      () => [insert(), finish()],
      () => ({ finishes: [{ task, stored: false, notification: null }] }),
    ],
    [
      'an insert, offered and ended',
      () => [insert(), update(), update(), finish()],
      () => ({ finishes: [{ task, stored: false, notification: null }] }),
    ],
    ['an update', () => [update()], () => ({ updates: [task] })],
    ['many updates', () => [update(), update(), update()], () => ({ updates: [task] })],
    [
      'a checkpoint: the row goes with it',
      () => [checkpoint()],
      () => ({ updates: [task], checkpoints: [task] }),
    ],
    [
      'checkpoints and updates',
      () => [checkpoint(), update(), checkpoint(), update()],
      () => ({ updates: [task], checkpoints: [task] }),
    ],
    [
      'an end',
      () => [update(), finish()],
      () => ({ finishes: [{ task, stored: true, notification: null }] }),
    ],
    [
      'an end after a checkpoint: the history row has it',
      () => [checkpoint(), finish()],
      () => ({ finishes: [{ task, stored: true, notification: null }] }),
    ],
    ['a reopen', () => [reopen()], () => ({ reopens: [{ task, finishedAt: NOW - 1 }] })],
    [
      'a reopen, offered at once',
      () => [reopen(), update()],
      () => ({ reopens: [{ task, finishedAt: NOW - 1 }] }),
    ],
  ];

  for (const [name, changes, expected] of cases) {
    it(`writes once for ${name}`, () => {
      const commit = fold(changes(), head, NOW);
      expect(written(commit)).to.deep.equal(expected());
      expect(task.version, 'one write, one version').to.equal(5);
    });
  }

  it('refuses a task that was reopened and ended in one turn: no single write does both', () => {
    expect(() => fold([reopen(), finish()], head, NOW)).to.throw(
      'reopened and finished in one turn',
    );
  });

  it('writes the row of an executor once, as it is to be at the end', () => {
    const record = { executorId: 'x', lasting: true, drainedAt: NOW, drainDeadlineAt: null };
    const change = (kept: typeof record | null): Change => ({
      type: 'executorChanged',
      executorId: 'x',
      record: kept,
    });
    const { executors } = fold([change(record), change(null), change(record)], head, NOW);
    expect(executors).to.deep.equal([{ executorId: 'x', record }]);
  });

  it('carries the term, the instant and the last number given', () => {
    const commit = fold([], { term: 7, lastSeq: 9 }, NOW);
    expect(commit).to.include({ term: 7, now: NOW, lastSeq: 9 });
    expect(written(commit)).to.deep.equal({});
  });

  it('keeps each notification with its end, and a changed one once', () => {
    const notification = { taskSeq: task.seq } as Notification;
    const other = { taskSeq: 99 } as Notification;
    const changed: Change = { type: 'notificationChanged', notification: other };
    const commit = fold([finish(notification), changed, changed], head, NOW);
    expect(commit.finishes).to.deep.equal([{ task, stored: true, notification }]);
    expect(commit.notifications).to.deep.equal([other]);
  });

  it('keeps every attempt, in order', () => {
    const attempts = [1, 2].map((attempt) => ({ attempt }) as AttemptRecord);
    const changes = attempts.map((attempt): Change => ({ type: 'attemptRecorded', attempt }));
    expect(fold([update(), ...changes], head, NOW).attempts).to.deep.equal(attempts);
  });

  it('keeps tasks apart, and in the order in which they came', () => {
    const tasks = newTasks(3);
    const changes = tasks.map((task): Change => ({ type: 'taskInserted', task }));
    const [, second] = tasks as [Task, Task, Task];
    const commit = fold([...changes, { type: 'taskUpdated', task: second }], head, NOW);
    expect(commit.inserts).to.deep.equal(tasks);
    expect(tasks.map(({ version }) => version)).to.deep.equal([1, 1, 1]);
  });
});
