/**
 * Why a task waits, once for each reason: how it comes to that, what is said of it, and the change that is
 * proposed. The page for people shows the same sentences (`docs/how-to/why-a-task-waits.md`).
 */
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import type { ObstacleReason } from '../../../master/domain/why/asked.ts';
import type { GateBench } from '../gates.ts';
import {
  asked,
  atWork,
  BACKFILLED,
  drain,
  ofGroup,
  pause,
  setLimit,
  setType,
  unready,
} from './build.ts';

export interface Scenario {
  readonly reason: ObstacleReason;
  /** Where there are several of one reason. */
  readonly of?: string;
  /** Until the task `asked` waits for that. */
  readonly build: (bench: GateBench) => Promise<unknown>;
  readonly message: string;
  readonly change: string;
  /** What else keeps it once that is done, and then is done as well. */
  readonly behind?: string;
}

const MINUTE = 60_000;

/** `08:30`, of UTC. */
const timeAt = (at: number) => new Date(at).toISOString().slice(11, 16);

export const scenarios: readonly Scenario[] = [
  {
    reason: 'not_due',
    build: async (bench) => {
      await bench.connect('x');
      await bench.submit(asked({ runAt: bench.now + MINUTE }));
    },
    message: 'It is to run later: in 1 min.',
    change: 'Wait for 1 min, or change when it is to run.',
  },
  {
    reason: 'backing_off',
    build: async (bench) => {
      await bench.connect('x');
      await bench.submit(asked());
      await bench.accept('x');
      await bench.end('x', { outcome: 'failed', retryAfterMs: 1.5 * MINUTE });
      bench.offers();
    },
    message: 'It is retried later: in 1 min 30 s.',
    change: 'Wait for 1 min 30 s, or change when it is to run.',
  },
  {
    reason: 'paused',
    of: 'the namespace',
    build: async (bench) => {
      await bench.connect('x');
      await bench.command({
        type: 'settingsChanged',
        ...NO_SETTINGS,
        paused: { ...pause, until: null },
      });
      await bench.submit(asked());
    },
    message: 'Nothing is started until somebody ends it: the disk is full',
    change: 'Resume the namespace.',
  },
  {
    reason: 'paused',
    of: 'its type, for a while',
    build: async (bench) => {
      await bench.connect('x');
      const until = bench.now + 10 * MINUTE;
      await bench.command({ type: 'typePaused', name: 'echo', reason: null, by: null, until });
      await bench.submit(asked());
    },
    message: 'Nothing of type echo is started for another 10 min.',
    change: 'Resume type echo, or wait for 10 min.',
  },
  {
    reason: 'paused',
    of: 'its group, and a label of it',
    build: async (bench) => {
      await bench.connect('x');
      await bench.command({ type: 'pauseSet', scope: 'group', value: 'g', pause });
      await bench.command({ type: 'pauseSet', scope: 'label', value: 'night', pause });
      await bench.submit(asked({ labels: ['night'] }));
    },
    message:
      'Nothing of group g is started until somebody ends it (1 other pause too): the disk is full',
    change: 'Resume group g.',
    behind: 'Nothing with label night is started until somebody ends it: the disk is full',
  },
  {
    reason: 'suspended',
    build: async (bench) => {
      await bench.submit(asked());
      await bench.command({ type: 'suspendRequested', taskId: 'asked', reason: null });
      await bench.connect('x');
    },
    message: 'It is suspended, until somebody resumes it.',
    change: 'Resume it.',
  },
  {
    reason: 'held',
    build: async (bench) => {
      await setType(bench, { limits: { concurrency: { pointer: '/film', max: 1 } } });
      await bench.connect('x', 'y');
      const params = '{"film":"dune"}';
      await bench.submit({ id: 'first', params });
      await bench.submit(asked({ params }));
      bench.offers();
    },
    message:
      'At most 1 of type echo with "dune" at /film of params at a time (limits.concurrency): first (with executor x) comes first.',
    change: 'Raise limits.concurrency of type echo to 2.',
  },
  {
    reason: 'held',
    of: 'before one, and behind another',
    build: async (bench) => {
      await setType(bench, { limits: { concurrency: { pointer: '/film', max: 1 } } });
      await bench.connect('x', 'y', 'z');
      const params = '{"film":"alien"}';
      await bench.submit({ id: 'first', params }, { id: 'second', params });
      await bench.submit(asked({ params }), { id: 'fourth', params });
      bench.offers();
    },
    message:
      'At most 1 of type echo with "alien" at /film of params at a time (limits.concurrency): first (with executor x) comes first.',
    change: 'Raise limits.concurrency of type echo to 3.',
  },
  {
    reason: 'no_executor',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', types: ['other'] });
      await bench.submit(asked());
    },
    message: 'No executor of type echo is connected.',
    change: 'Start an executor of type echo.',
  },
  {
    reason: 'labels_unmatched',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', labels: ['cpu'] });
      await bench.submit(asked({ requires: ['gpu'] }));
    },
    message:
      '1 executor of type echo, but none has the labels it requires (gpu) and is free for its labels (none).',
    change: 'Give executor x the label gpu.',
  },
  {
    reason: 'labels_unmatched',
    of: 'the executor that it names',
    build: async (bench) => {
      await bench.connect('x');
      await bench.submit(asked({ requires: ['executor:gpu-1'] }));
    },
    message:
      '1 executor of type echo, but none has the labels it requires (executor:gpu-1) and is free for its labels (none).',
    change: 'Start executor gpu-1 of type echo.',
  },
  {
    reason: 'reserved',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', reserve: ['vip'] });
      await bench.submit(asked());
    },
    message:
      '1 executor of type echo, but none has the labels it requires (none) and is free for its labels (none).',
    change: 'Start another executor of type echo.',
  },
  {
    reason: 'draining',
    build: async (bench) => {
      await bench.connect('x');
      await drain(bench, 'x');
      await bench.submit(asked());
    },
    message: '1 fitting executor, all draining.',
    change: 'Resume executor x, which is drained.',
  },
  {
    reason: 'not_ready',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', ...unready('no ffmpeg', null) });
      await bench.submit(asked());
    },
    message: '1 fitting executor, which is not ready. x says: no ffmpeg.',
    change: 'Put right what x says, or start another executor of type echo.',
  },
  {
    reason: 'not_ready',
    of: 'its disk',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', ...unready(null, 2e9) });
      await bench.submit(asked({ diskBytes: 8e9 }));
    },
    message:
      '1 fitting executor, without the free disk that it needs (8000 MB): x has most, 2000 MB.',
    change: 'Free disk of x, or start another executor of type echo.',
  },
  {
    reason: 'not_ready',
    of: 'a disk of which nobody says anything',
    build: async (bench) => {
      await bench.connect({ executorId: 'x', ...unready(null, null) });
      await bench.submit(asked({ diskBytes: 8e9 }));
    },
    message:
      '1 fitting executor, without the free disk that it needs (8000 MB): none says what it has.',
    change: 'Set scratchDir of x, or start another executor of type echo.',
  },
  {
    reason: 'limited',
    of: 'all tasks, and one comes first',
    build: async (bench) => {
      await bench.command({ type: 'settingsChanged', ...NO_SETTINGS, maxRunning: 1 });
      await atWork(bench, 'x');
      await bench.connect('y', 'z');
      await bench.submit('second', asked());
      bench.offers();
    },
    message: '1 of at most 1 (max_running) run.',
    change: 'Raise max_running of the namespace to 3.',
  },
  {
    reason: 'limited',
    of: 'its type, and then all are busy',
    build: async (bench) => {
      await setType(bench, { limits: { max_running: 1 } });
      await atWork(bench, 'x');
      await bench.submit(asked());
      bench.offers();
    },
    message: '1 of at most 1 of type echo run (limits.max_running).',
    change: 'Raise limits.max_running of type echo to 2.',
    behind: '1 fitting executor, all busy.',
  },
  {
    reason: 'limited',
    of: 'its type, then all are busy, and others come first',
    build: async (bench) => {
      await setType(bench, { limits: { max_running: 2 } });
      await atWork(bench, 'x', 'y');
      await bench.submit('first', 'second', asked());
      bench.offers();
    },
    message: '2 of at most 2 of type echo run (limits.max_running).',
    change: 'Raise limits.max_running of type echo to 5.',
    behind: '2 fitting executors, all busy.',
  },
  {
    reason: 'limited',
    of: 'its group',
    build: async (bench) => {
      await setType(bench, { limits: { per_group: { max_running: 1 } } });
      await atWork(bench, 'x');
      await bench.connect('y');
      await bench.submit(asked());
      bench.offers();
    },
    message: '1 of at most 1 of group g run (limits.per_group.max_running).',
    change: 'Raise limits.per_group.max_running of type echo to 2.',
  },
  {
    reason: 'limited',
    of: 'a rate',
    build: async (bench) => {
      await setType(bench, { limits: { rate: { count: 1, seconds: 30 } } });
      await atWork(bench, 'x');
      await bench.connect('y', 'z');
      await bench.submit('second', asked());
      bench.offers();
    },
    message: '1 of at most 1 of type echo have been offered in this window (limits.rate).',
    change: 'Wait for 1 min: then another window of 30 s begins.',
  },
  {
    reason: 'limited',
    of: 'the time of the day',
    build: async (bench) => {
      const [from, to] = [timeAt(bench.now - MINUTE), timeAt(bench.now + 2 * MINUTE)];
      const windows = [{ from, to, zone: 'UTC', max_running: 1 }];
      await setType(bench, { limits: { windows } });
      await atWork(bench, 'x');
      await bench.connect('y');
      await bench.submit(asked());
      bench.offers();
    },
    message: '1 of at most 1 of type echo run (limits.windows).',
    change: 'Wait for 2 min: then the window ends.',
  },
  {
    reason: 'limited',
    of: 'a shared limit',
    build: async (bench) => {
      await setLimit(bench, 2);
      await bench.connect('x', 'y');
      const uses = [{ limit: 'drm', n: 2 }];
      await bench.submit({ id: 'first', uses }, asked({ uses }));
      bench.offers();
    },
    message: '2 of at most 2 of limit drm are in use, and it takes 2.',
    change: 'Raise limit drm to 4.',
  },
  {
    reason: 'limited',
    of: 'a shared limit that nobody is counted by',
    build: async (bench) => {
      await setLimit(bench, 2, { label: 'rack' });
      await bench.connect('x');
      await bench.submit(asked({ uses: [{ limit: 'drm', n: 1 }] }));
    },
    message: 'No fitting executor has a label rack:..., by which limit drm is counted.',
    change: 'Give executor x a label rack:..., such as rack:x.',
  },
  {
    reason: 'all_busy',
    build: async (bench) => {
      await atWork(bench, 'x');
      await bench.submit('second', 'third', asked());
      bench.offers();
    },
    message: '1 fitting executor, all busy.',
    change: 'Start 3 executors of type echo (2 tasks come first).',
  },
  {
    reason: 'all_busy',
    of: 'and one that is drained',
    build: async (bench) => {
      await atWork(bench, 'x');
      await bench.connect('y');
      await drain(bench, 'y');
      await bench.submit(asked());
      bench.offers();
    },
    message: '1 fitting executor, all busy.',
    change: 'Resume executor y, which is drained.',
  },
  {
    reason: 'all_busy',
    of: 'where groups take turns',
    build: async (bench) => {
      await setType(bench, { fair_by: 'group' });
      await atWork(bench, 'x');
      for (const id of ['1', '2', '3']) await bench.submit({ id, ...ofGroup('many') });
      await bench.submit(asked(ofGroup('few')));
      bench.offers();
    },
    message: '1 fitting executor, all busy.',
    change: 'Start 2 executors of type echo (1 task comes first).',
  },
  {
    reason: 'all_busy',
    of: 'of a backfill',
    build: async (bench) => {
      await atWork(bench, 'x');
      await bench.submit(asked({ job: BACKFILLED }));
      bench.offers();
    },
    message: '1 fitting executor, all busy. Of a backfill, it stands behind live work.',
    change: 'Start another executor of type echo.',
  },
  {
    reason: 'kept',
    build: async (bench) => {
      await setType(bench, { route: { rule: 'sticky', pointer: '/film', wait: 20 } });
      const params = '{"film":"dune"}';
      await bench.connect('x', 'y');
      await bench.submit({ id: 'first', params });
      await bench.submit(asked({ params }));
      bench.offers();
    },
    message:
      'Its route keeps it for executor y, which is busy, for another 20 s; then any may have it.',
    change: 'Wait for 20 s.',
  },
  {
    reason: 'cooling_down',
    build: async (bench) => {
      await bench.connect('x');
      await bench.submit(asked());
      await bench.reject('x');
      bench.offers();
    },
    message: '1 idle executor refused it a moment ago.',
    change: 'Wait for 10 s.',
  },
];
