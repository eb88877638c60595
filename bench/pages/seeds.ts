/**
 * The thousand tasks that all others are copies of, ended ones and such as wait: what people look for is in them as
 * often as it is in real work. Some is in each tenth task, some in one of a thousand.
 */
import type { RowWrite } from '../../master/domain/changes.ts';
import type { AttemptError, AttemptRecord, Task } from '../../master/domain/model/task.ts';
import { notificationOf, sampleTask } from '../../test/helpers/task.ts';

export const SEED_COUNT = 1_000;
const TYPE_COUNT = 50;
const GROUP_COUNT = 200;
const LANE_COUNT = 400;
const EXECUTOR_COUNT = 64;
const NOTIFY_URL = 'http://127.0.0.1:9/done';
const RUN_MS = 60_000;
const ERRORS = [
  'moov atom not found in /media/4711.mp4',
  'no space left on /scratch: 1048576 bytes wanted',
  'connection to 10.1.2.3:443 was reset',
  'exit code 137',
];

const numbers = Array.from({ length: SEED_COUNT }, (_, at) => at);

/** A few types have most tasks. So many lanes there are. */
const typeOf = (n: number): string => {
  const share = ((n * 7_919) % LANE_COUNT) / LANE_COUNT;
  return `type-${Math.floor(TYPE_COUNT * share ** 2)}`;
};
const userOf = (n: number) => ({
  group: `group-${(n * 31) % GROUP_COUNT}`,
  project: `project-${n}`,
  env: n % 10 === 0 ? 'test' : 'prod',
  user: `user-${n % 20}`,
});
/** Each hundredth is large. */
const paramsOf = (n: number) => ({
  input: `/media/in/${n}.mp4`,
  outputs: Array.from({ length: n % 100 === 7 ? 80 : 2 }, (_, at) => ({
    path: `/media/out/${n}-${at}.m3u8`,
    codec: 'h264',
    bitrate: 4_000_000,
  })),
});
const labelsOf = (n: number) => (n % 10 === 3 ? ['night'] : []);
const requiresOf = (n: number) => (n % 5 === 0 ? ['gpu'] : []);

/** What to submit. */
export const waitingSeeds = (): unknown[] =>
  numbers.map((n) => ({
    task: {
      id: `${n % 10 === 0 ? 'job-' : ''}waiting-${n}`,
      type: typeOf(n),
      params: paramsOf(n),
      labels: labelsOf(n),
      requires: requiresOf(n),
    },
    user: userOf(n),
  }));

export const SUSPENDED_IDS = [5, 105, 205].map((n) => `waiting-${n}`);

/** They end one after the other within a span. */
export function endedSeeds(from: number, spanMs: number): RowWrite[] {
  return numbers.flatMap((n): RowWrite[] => {
    const finishedAt = from + Math.floor((spanMs * n) / SEED_COUNT);
    const task = endedSeed(n, finishedAt);
    const notification = task.notifyUrl === null ? null : callbackOf(task, n);
    const { seq } = task;
    return [
      {
        op: 'insert',
        table: 'history',
        key: [seq, finishedAt, 'normal'],
        row: { task, notification },
      },
      ...Array.from({ length: task.attempt - 1 }, (_, at): RowWrite => {
        const key = [seq, at + 1] as const;
        return { op: 'insert', table: 'attempt', key, row: attemptOf(task, at + 1) };
      }),
    ];
  });
}

function endedSeed(n: number, finishedAt: number): Task {
  const at = finishedAt - RUN_MS;
  const isLate = n % 200 === 3;
  const hasFailed = n % 50 === 0;
  const state = hasFailed
    ? 'failed'
    : isLate
      ? 'expired'
      : n % 100 === 1
        ? 'canceled'
        : 'succeeded';
  return sampleTask({
    seq: n + 1,
    id: `${n % 10 === 0 ? 'job-' : ''}ended-${n}`,
    type: typeOf(n),
    params: JSON.stringify(paramsOf(n)),
    labels: labelsOf(n),
    requires: requiresOf(n),
    user: userOf(n),
    notifyUrl: n % 3 === 0 ? NOTIFY_URL : null,
    requestHash: `${n}`.padStart(64, '0'),
    ...{ submittedAt: at, orderTime: at, dueAt: at, offeredAt: at, startedAt: at, finishedAt },
    state,
    attempt: n === 500 ? 9 : n % 20 === 0 ? 2 : 1,
    attemptsUsed: 1,
    executorId: `host-${(n * 17) % EXECUTOR_COUNT}`,
    incarnation: 'bench',
    lastOutcome: state === 'failed' ? 'failed' : 'succeeded',
    failureReason: hasFailed ? 'attempts_exhausted' : isLate ? 'deadline' : null,
    error: hasFailed ? errorOf(n) : null,
    result: state === 'succeeded' ? JSON.stringify({ seconds: n, path: `/media/out/${n}` }) : null,
    retention: 'normal',
  });
}

function errorOf(n: number): AttemptError {
  return { message: ERRORS[(n / 50) % ERRORS.length] ?? '' };
}

function attemptOf(task: Task, attempt: number): AttemptRecord {
  return {
    taskSeq: task.seq,
    attempt,
    executorId: 'host-1',
    incarnation: 'bench',
    session: null,
    outcome: 'failed',
    offeredAt: task.submittedAt,
    startedAt: task.submittedAt,
    endedAt: task.submittedAt,
    error: errorOf(0),
  };
}

/** One of a thousand was given up. */
function callbackOf(task: Task, n: number) {
  const { finishedAt } = task;
  if (n === 333) {
    return notificationOf(task, { state: 'gave_up', tries: 20, lastStatus: 503 });
  }
  return notificationOf(task, {
    state: 'delivered',
    tries: 1,
    lastStatus: 200,
    deliveredAt: finishedAt,
  });
}
