/** What the tests of stores put in, and how they ask for it. */
import { expect } from 'chai';
import type { Commit, Position, TaskStore } from '../../master/application/ports.ts';
import {
  attemptRecorded,
  type Change,
  checkpointSaved,
  notificationChanged,
  type RowWrite,
  taskChanged,
  taskFinished,
  taskInserted,
  taskReopened,
  taskUpdated,
  type Tables,
  type WholeName,
} from '../../master/domain/changes.ts';
import type { Work } from '../../master/domain/long-work/work.ts';
import { ANY_TASK } from '../../master/domain/model/task-filter.ts';
import { layerIn, settingsIn } from '../../master/domain/model/task-type.ts';
import type {
  AttemptRecord,
  Notification,
  Retention,
  Task,
} from '../../master/domain/model/task.ts';
import { NOW, sampleTask } from '../helpers/task.ts';

export const DAY_MS = 86_400_000;

export function task(seq: number, change: Partial<Task> = {}): Task {
  return sampleTask({ seq, id: `t-${seq}`, requestHash: `hash-${seq}`, ...change });
}

/** The task after its next write. */
export function next(before: Task, change: Partial<Task>): Task {
  return { ...before, version: before.version + 1, ...change };
}

export function finished(before: Task, change: Partial<Task> = {}): Task {
  return next(before, {
    state: 'succeeded',
    gate: null,
    suspension: null,
    eventCount: 0,
    queueTime: before.orderTime,
    attempt: before.attempt + 1,
    executorId: 'x-1',
    incarnation: 'x-1 one',
    offeredAt: NOW,
    startedAt: NOW + 1,
    lastOutcome: 'succeeded',
    result: '{"ok":true}',
    finishedAt: NOW + 2,
    retention: 'normal',
    ...change,
  });
}

export function attemptOf(before: Task, change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    taskSeq: before.seq,
    attempt: 1,
    executorId: 'x-1',
    incarnation: 'x-1 one',
    session: 'x-1/1',
    outcome: 'failed',
    offeredAt: NOW,
    startedAt: NOW + 1,
    endedAt: NOW + 2,
    error: { message: 'no such file', name: 'Error', details: '{"path":"/a"}' },
    ...change,
  };
}

const endOf = ({ finishedAt, retention }: Task) => ({
  finishedAt: finishedAt ?? 0,
  retention: retention ?? 'normal',
});

/** What may be written of tasks, each at the version that it is to have. */
export interface Wishes {
  readonly inserts?: readonly Task[];
  readonly updates?: readonly Task[];
  /** Those of `updates` whose checkpoint is new. */
  readonly checkpoints?: readonly Task[];
  /** Those of `updates` of which what was asked for is another. */
  readonly changes?: readonly Task[];
  readonly finishes?: readonly Finish[];
  readonly reopens?: readonly {
    readonly task: Task;
    readonly finishedAt: number;
    readonly retention?: Retention;
  }[];
  readonly attempts?: readonly AttemptRecord[];
  readonly notifications?: readonly Notification[];
  readonly absences?: Commit['absences'];
  readonly saysAlive?: boolean;
  /** The highest of those that begin, if nothing else is said. */
  readonly lastSeq?: number;
  /** Any others. */
  readonly writes?: readonly RowWrite[];
}

interface Finish {
  readonly task: Task;
  readonly notification: Notification | null;
  /** Whether there is a live row. */
  readonly stored: boolean;
}

export function commit(term: number, wishes: Wishes): Commit {
  const { inserts = [], updates = [], checkpoints = [], finishes = [], reopens = [] } = wishes;
  const { changes: others = [] } = wishes;
  const { attempts = [], notifications = [], absences = [], saysAlive = false } = wishes;
  const before = (task: Task) => ({ ...task, version: task.version - 1 });
  const changes: Change[] = [
    ...inserts.map(taskInserted),
    ...updates.map((row): Change => {
      const updated = checkpoints.includes(row) ? checkpointSaved : taskUpdated;
      const change = others.includes(row) ? taskChanged : updated;
      return { ...change(before(row)), row } as Change;
    }),
    ...finishes.flatMap(({ task, notification, stored }) => {
      const [removed, ended] = taskFinished(before(task), endOf(task), notification);
      const come = { ...ended, row: { task, notification } } as Change;
      return stored && removed !== undefined ? [removed, come] : [come];
    }),
    ...reopens.flatMap(({ task, finishedAt, retention = 'normal' }) => {
      const [gone] = taskReopened(before(task), { finishedAt, retention });
      return gone === undefined ? [] : [gone, taskInserted(task)];
    }),
    ...attempts.flatMap(attemptRecorded),
    ...notifications.map(notificationChanged),
  ];
  const writes = [...(changes as RowWrite[]), ...(wishes.writes ?? [])];
  const begun = [...inserts, ...finishes.map((one) => one.task)];
  const { lastSeq = Math.max(0, ...begun.map(({ seq }) => seq)) } = wishes;
  return { term, now: NOW, lastSeq, saysAlive, writes, absences };
}

/** Some row of each table that memory holds whole, with its key. */
export const wholeRows: {
  readonly [N in WholeName]: (which: number, n: number) => Pick<Tables[N], 'key' | 'row'>;
} = {
  lane: (id, n) => ({
    key: id,
    row: { id, kind: `t|gpu|lane-${id},x-${n}`, group: `group ${n} \u{1F600}` },
  }),
  executor: (which, n) => ({
    key: `x-${which}`,
    row: {
      executorId: `x-${which}`,
      lasting: n % 2 === 0,
      drainedAt: n === 0 ? null : NOW + n,
      drainedBy: n < 2 ? null : 'ann',
      drainReason: n % 2 === 0 ? null : `worn \u{1F600} ${n}`,
      drainDeadlineAt: n < 3 ? null : NOW + DAY_MS,
      labels: n % 3 === 0 ? null : Array.from({ length: n }, (_, i) => `label-${i}`),
      reserve: n % 2 === 0 ? null : [],
      overrideBy: n % 3 === 0 ? null : 'ben',
    },
  }),
  leftover: (which, n) => ({
    key: [`t-${which}`, 7],
    row: {
      taskId: `t-${which}`,
      attempt: 7,
      executorId: `x-${n}`,
      incarnation: `${n}`,
      type: `type-${n}`,
      group: `\u{1F600} ${n}`,
      gate: n % 2 === 0 ? null : 2 ** 53 - n,
    },
  }),
  limit: (which, n) => {
    const per = n === 0 ? 'cluster' : n === 1 ? 'host' : { label: `rack-${n}` };
    return { key: `limit-${which}`, row: { name: `limit-${which}`, max: n, per } };
  },
  holding: (which, n) => {
    const taken = [{ limit: `limit-${which}`, place: n === 0 ? '' : `host \u{1F600}`, n: n + 1 }];
    return { key: [`t-${which}`, 7], row: { taskId: `t-${which}`, attempt: 7, taken } };
  },
  pause: (id, n) => {
    const scope = n === 0 ? 'all' : n === 1 ? 'label' : 'group';
    const value = n === 0 ? '' : n === 1 ? 'gpu:a100' : `\u{1F600} ${n} `;
    const until = n < 3 ? null : NOW + DAY_MS;
    const by = n === 1 ? null : 'ann';
    return { key: id, row: { id, scope, value, at: NOW + n, by, reason: `since ${n}`, until } };
  },
  rate: (which, n) => {
    // What differs in blanks at its end is another group.
    const key = ['type', `\u{1F600}${' '.repeat(which)}`] as const;
    return { key, row: { type: key[0], group: key[1], windowAt: NOW, count: n } };
  },
  booking: (which, n) => ({
    key: `bk-${which}`,
    row: {
      id: `bk-${which}`,
      type: `type-${n}`,
      requires: n === 0 ? [] : ['gpu'],
      labels: [],
      group: `\u{1F600} ${n}`,
      count: n + 1,
      leadMs: 30_000,
      holdMs: 900_000,
      mayOverrun: n % 2 === 0,
      everyMs: n === 0 ? null : DAY_MS,
      zone: n === 0 ? null : 'Europe/Berlin',
      isMaintenance: n % 2 === 1,
      firstFrom: NOW,
      windowMs: 1_000 * n,
      createdBy: n === 0 ? null : 'ann',
      from: NOW + n,
      to: NOW + n + 1,
      state: n === 0 ? 'planned' : n === 1 ? 'bound' : 'ended',
      seq: 2 ** 53 - n,
      createdAt: NOW - n,
      skips: n === 0 ? [] : [NOW],
      windows: [{ from: NOW, to: NOW + 1, parts: n === 0 ? null : [] }],
      executors: n === 1 ? [{ executorId: 'x-1', since: NOW }] : [],
      ranMs: n,
      replacedMs: 2 * n,
      isUsed: n === 1,
      endingBefore: n === 2 ? NOW : null,
      endedAt: n < 2 ? null : NOW + n,
    },
  }),
  view: (which, n) => {
    const name = `view-${which}`;
    return { key: name, row: { name, query: `{"user":"\u{1F600} ${n}"}` } };
  },
  work: (which, n) => {
    if (n === 3) return { key: `work-${which}`, row: backfillOf(`work-${which}`) };
    const within =
      n === 0 ? { groups: ['\u{1F600}'], types: null } : { groups: null, types: ['t'] };
    const asked = {
      action: 'cancel',
      seqMax: 2 ** 40 + n,
      endedBefore: NOW,
      change: null,
    } as const;
    const counts = { total: n, done: 1, asked: 2, skipped: 3, failed: 4 };
    const problem = { taskId: null, kind: 'failed', message: `\u{1F600} ${n}` } as const;
    return {
      key: `work-${which}`,
      row: {
        id: `work-${which}`,
        kind: 'bulk',
        state: n < 2 ? 'done' : 'canceled',
        request: { ...asked, filter: null, within, reason: n === 1 ? null : `since ${n}` },
        ids: n % 2 === 0 ? null : ['a', 'b'],
        cursor: n % 2 === 0 ? `task:${n}` : null,
        counts,
        isExact: n % 3 === 0,
        problems: n % 3 === 0 ? [] : [problem],
        by: n === 2 ? null : 'ann',
        createdAt: NOW,
        endedAt: NOW + n,
      },
    };
  },
  jobActivity: (which, n) => {
    const job = `job-${which}`;
    const of = { name: job, version: n, trigger: 'default', nominal: NOW, taskId: `t-${n}` };
    const end = {
      ...of,
      state: 'failed',
      startedAt: null,
      at: NOW + n,
      error: `\u{1F600}`,
    } as const;
    const pending = { trigger: 'default', nominal: NOW + n, rerun: 0, noticedAt: NOW };
    const lost = { state: 'succeeded', count: n, from: NOW - n, to: NOW } as const;
    const live = { job, liveCount: n, liveIds: [`t-${n}`], pending: [pending] };
    return { key: job, row: { ...live, ends: [end], lostEnds: n === 0 ? [] : [lost] } };
  },
  calendar: (which, n) => {
    const name = which === 0 ? '' : `calendar-${which}`;
    const text = `{"days":[{"date":"2026-10-01","kind":"off","label":"\u{1F600} ${n}"}],"weekend":[0]}`;
    const by = n === 1 ? null : 'ann';
    const replanAfter = n % 2 === 0 ? null : `job-${n}/default`;
    return { key: name, row: { name, version: n, text, changedAt: NOW + n, by, replanAfter } };
  },
  type: (which, n) => {
    const text = `{"description":"\u{1F600} ${n}","limits":{"max_running":${n}}}`;
    const layer = '{"limits":{"rate":{"count":1,"seconds":2}}}';
    const decided = {
      at: NOW + n,
      by: n === 1 ? null : 'ann',
      until: n < 3 ? null : NOW + DAY_MS,
      reason: `since ${n}`,
    };
    return {
      key: `type-${which}`,
      row: {
        type: `type-${which}`,
        version: n,
        text,
        ...settingsIn(text),
        paused: n % 2 === 0 ? null : decided,
        override: n % 3 === 0 ? null : { text: layer, ...layerIn(layer), ...decided },
      },
    };
  },
};

export const finish = (
  ended: Task,
  notification: Notification | null = null,
  stored = true,
): Finish => ({ task: ended, stored, notification });

/** The query for all tasks that fit a page. */
export const everything = {
  ...ANY_TASK,
  beforeSeq: null,
  limit: 200,
  lookCount: 1_000_000,
} as const;

/** One page of one lane. */
export async function lanePage(
  store: TaskStore,
  lane: number,
  after: Position | null,
  now: number,
  limit: number,
): Promise<Task[]> {
  const [page = []] = await store.loadLanes([{ lane, after }], now, limit);
  return page;
}

/** Reads to the end, page by page. */
export async function pages<T>(
  read: (after: Position | null, limit: number) => Promise<T[]>,
  position: (item: T) => Position,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await read(last === undefined ? null : position(last), 3);
    all.push(...page);
    if (page.length < 3) return all;
  }
}

export async function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail('it succeeded'),
    (error: Error) => error,
  );
}

function backfillOf(id: string): Work {
  const within = { groups: ['\u{1F600}'], types: null };
  const times = { from: NOW - 60_000, until: NOW, which: 'missing_failed' } as const;
  return {
    id,
    kind: 'backfill',
    state: 'running',
    request: {
      action: 'backfill',
      job: 'j',
      trigger: 't',
      ...times,
      maxRunning: 2,
      within,
      reason: null,
    },
    ids: ['j.t.1.r1'],
    cursor: String(NOW - 30_000),
    counts: { total: 9, done: 1, asked: 0, skipped: 0, failed: 1 },
    isExact: true,
    problems: [],
    by: null,
    createdAt: NOW,
    endedAt: null,
  };
}
