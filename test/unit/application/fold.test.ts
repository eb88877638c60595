/** What becomes of the changes of one turn: one write for each row, whatever happened to it. */
import { expect } from 'chai';
import {
  attemptDecided,
  attemptRecorded,
  type Change,
  checkpointSaved,
  taskChanged,
  notificationChanged,
  taskFinished,
  taskInserted,
  taskReopened,
  taskUpdated,
} from '../../../master/domain/changes.ts';
import type { AttemptRecord, Notification, Task } from '../../../master/domain/model/task.ts';
import { fold } from '../../../master/application/engine/fold.ts';
import { inserted, Scheduler } from '../../helpers/domain.ts';
import { recordOf } from '../../helpers/task.ts';

const NOW = 1_800_000_000_000;

function newTasks(count: number): Task[] {
  const ids = Array.from({ length: count }, (_, i) => ({ id: `t${i}` }));
  return inserted(new Scheduler().submit(...ids));
}

const head = { term: 1, lastSeq: 0 };

describe('fold', () => {
  let task: Task;
  beforeEach(() => {
    [task] = newTasks(1) as [Task];
    task.version = 4;
  });

  const end = { finishedAt: NOW, retention: 'normal' } as const;
  const insert = () => [taskInserted(task)];
  const update = () => [taskUpdated(task)];
  const checkpoint = () => [checkpointSaved(task)];
  const change = () => [taskChanged(task)];
  const reopen = () => taskReopened(task, { finishedAt: NOW - 1, retention: 'normal' });
  const finish = (notification: Notification | null = null) => {
    task.state = 'canceled';
    return taskFinished(task, end, notification);
  };
  /** What is written of live rows and of history, in short. */
  const writes = (...changes: Change[]) =>
    fold(changes, head, NOW).writes.map((write) => {
      const expected = 'expect' in write ? ` ${write.expect}` : '';
      const large = write.op === 'set' && write.large ? ' large' : '';
      const whole = write.op === 'set' && write.whole ? ' whole' : '';
      return `${write.op} ${write.table}${expected}${large}${whole}`;
    });

  const cases: [name: string, changes: () => Change[], expected: string[]][] = [
    ['an insert', () => insert(), ['insert task']],
    ['an insert, offered at once', () => [...insert(), ...update()], ['insert task']],
    [
      'an insert that ended at once: no live row is expected',
      () => [...insert(), ...finish()],
      ['insert history'],
    ],
    [
      'an insert, offered and ended',
      () => [...insert(), ...update(), ...update(), ...finish()],
      ['insert history'],
    ],
    ['an update', () => update(), ['set task 4']],
    ['many updates', () => [...update(), ...update(), ...update()], ['set task 4']],
    ['a checkpoint: the row goes with it', () => checkpoint(), ['set task 4 large']],
    [
      'checkpoints and updates',
      () => [...update(), ...checkpoint(), ...checkpoint(), ...update()],
      ['set task 4 large'],
    ],
    ['a change, then held', () => [...change(), ...update()], ['set task 4 whole']],
    [
      'a checkpoint and a change',
      () => [...checkpoint(), ...update(), ...change()],
      ['set task 4 large whole'],
    ],
    ['an end', () => [...update(), ...finish()], ['remove task 4', 'insert history']],
    [
      'an end after a checkpoint: the history row has it',
      () => [...checkpoint(), ...finish()],
      ['remove task 4', 'insert history'],
    ],
    ['a reopen', () => reopen(), ['remove history 4', 'insert task']],
    [
      'a reopen, offered at once',
      () => [...reopen(), ...update()],
      ['remove history 4', 'insert task'],
    ],
    [
      'a reopen that ended at once: one history row for another',
      () => [...reopen(), ...update(), ...finish()],
      ['remove history 4', 'insert history'],
    ],
    [
      'a callback that was tried, and its task that runs again',
      () => [notificationChanged(sent()), ...reopen(), notificationChanged(sent())],
      ['remove history 4', 'insert task'],
    ],
  ];
  const sent = () => ({ taskSeq: task.seq, finishedAt: NOW - 1 }) as Notification;

  for (const [name, changes, expected] of cases) {
    it(`writes once for ${name}`, () => {
      expect(writes(...changes())).to.deep.equal(expected);
      expect(task.version, 'one write, one version').to.equal(5);
    });
  }

  const refusals: [name: string, changes: () => Change[], message: RegExp][] = [
    ['is written after its end', () => [...finish(), ...update()], /^set after remove: task 1$/],
    ['ends twice', () => [...finish(), ...finish()], /^remove after remove: task 1$/],
    [
      'is given its number twice',
      () => [...insert(), ...insert()],
      /^insert after insert: task 1$/,
    ],
    [
      'is written in two versions of it',
      () => [...update(), taskUpdated({ ...task })],
      /^two of one: task 1$/,
    ],
    [
      'has gone to another version without being written',
      () => [...update(), ...update().map((change) => (task.version++, change))],
      /^task 1 went from version 4 to 5 unwritten$/,
    ],
    [
      'has ended and is to stay among the live ones',
      () => [...finish().slice(0, 0), ...update()],
      /^task t0 is canceled, to be written to task$/,
    ],
    [
      'has not ended and is to go to history',
      () => taskFinished(task, end, null),
      /^task t0 is (waiting|offered), to be written to history$/,
    ],
  ];
  for (const [name, changes, message] of refusals) {
    it(`refuses a task that ${name}`, () => {
      expect(() => fold(changes(), head, NOW)).to.throw(message);
    });
  }

  it('writes the row of an executor once, as it is to be at the end', () => {
    const row = recordOf('x', { drainedAt: NOW });
    const put: Change = { op: 'put', table: 'executor', key: 'x', row };
    const remove: Change = { op: 'remove', table: 'executor', key: 'x', expect: 'any' };
    expect(fold([put, remove, put], head, NOW).writes).to.deep.equal([put]);
    expect(fold([put, put, remove], head, NOW).writes).to.deep.equal([remove]);
  });

  it('carries the term, the instant and the last number given', () => {
    const last = { term: 7, lastSeq: 9 };
    const commit = { ...last, now: NOW, saysAlive: false, writes: [], absences: [] };
    expect(fold([], last, NOW)).to.deep.equal(commit);
    const absence = { from: NOW - 9, until: NOW };
    const credited = fold([{ op: 'credit', absence }], last, NOW);
    expect(credited).to.deep.equal({ ...commit, absences: [absence] });
  });

  it('keeps each notification with its end, and a changed one once', () => {
    const notification = { taskSeq: task.seq } as Notification;
    const changed = notificationChanged({ taskSeq: 99, finishedAt: 1 } as Notification);
    const [removed, ended] = finish(notification);
    const all = [removed, ended, changed, changed] as Change[];
    expect(fold(all, head, NOW).writes).to.deep.equal([removed, ended, changed]);
  });

  it('keeps every attempt, in order, with what was found out of it since', () => {
    const attempts = [1, 2].map((attempt) => ({ taskSeq: 1, attempt }) as AttemptRecord);
    const recorded = attempts.flatMap(attemptRecorded);
    const [first, second] = recorded;
    const changes = [...update(), ...recorded, attemptDecided(1, 2, 'lost_contact')];
    const decided = { ...second, row: { ...attempts[1], outcome: 'lost_contact' } };
    expect(fold(changes, head, NOW).writes.slice(1)).to.deep.equal([first, decided]);
  });

  it('forgets the attempt that is now too old', () => {
    const [gone, come] = attemptRecorded({ taskSeq: 1, attempt: 201 } as AttemptRecord);
    expect(gone).to.deep.equal({ op: 'remove', table: 'attempt', key: [1, 1], expect: 'any' });
    expect(come).to.deep.include({ op: 'insert', key: [1, 201] });
  });

  it('keeps tasks apart, and in the order in which they came', () => {
    const tasks = newTasks(3);
    const [, second] = tasks as [Task, Task, Task];
    const { writes } = fold([...tasks.map(taskInserted), taskUpdated(second)], head, NOW);
    expect(writes).to.deep.equal(tasks.map(taskInserted));
    expect(tasks.map(({ version }) => version)).to.deep.equal([1, 1, 1]);
  });
});
