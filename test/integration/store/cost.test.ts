/**
 * What a task costs, counted, on whichever machine: statements, rows and values that go to the database, and frames to
 * executors. A change that makes one of them dearer fails here by its name; one that makes it cheaper lowers it here.
 */
import { expect } from 'chai';
import { createEngineOn } from '../../helpers/engine.ts';
import { settled } from '../../helpers/manual-clock.ts';
import { hello, newTask } from '../../helpers/task.ts';
import { describeCountedStores } from './counted-store.ts';

const TASK_COUNT = 1_000;
const EXECUTOR_COUNT = 8;

interface Cost {
  readonly commits: number;
  readonly statements: number;
  readonly runs: number;
  readonly values: number;
  readonly frames: number;
}

/** A server is sent the rows of a statement together, as text; to a file each is a run, with its values. */
const MOST = {
  SQLite: { commits: 126, statements: 756, runs: 6_247, frames: 1_000 },
  MariaDB: { commits: 126, statements: 760, runs: 760, values: 4_093, frames: 1_000 },
};
const FILE_VALUES_MOST = { plain: 115_094, notified: 121_094 };

describeCountedStores('the cost of a thousand tasks', (open, name) => {
  for (const [what, notifyUrl] of [
    ['plain', null],
    ['notified', 'http://a.example/'],
  ] as const) {
    it(`${what}, to eight executors`, async () => {
      const { store, counts } = await open();
      const { engine, recorder, master } = createEngineOn(store, {});
      (await engine.start()).ended.catch(() => undefined);
      for (let n = 0; n < EXECUTOR_COUNT; n++) {
        engine.post({ type: 'executorConnected', ...hello({ executorId: `x${n}` }) });
      }
      while (engine.state?.executors.size !== EXECUTOR_COUNT) await settled();
      await engine.look(() => null);
      counts.reset();
      recorder.sent.length = 0;
      const params = JSON.stringify({ input: '/media/in.mp4', outputs: [] });
      const ids = Array.from({ length: TASK_COUNT }, (_, n) => `t${n}`);
      await master.submit(ids.map((id) => newTask({ id, params, notifyUrl })));
      let frameSeq = 0;
      let endedCount = 0;
      while (endedCount < TASK_COUNT) {
        await settled();
        const offered = recorder.sent.flatMap(({ sessionId, command }) => {
          return command.type === 'assign' ? [{ sessionId, task: command.task }] : [];
        });
        // All of them together: how many turns there are is not for the machine to say.
        if (offered.length < Math.min(endedCount + EXECUTOR_COUNT, TASK_COUNT)) continue;
        for (const { sessionId, task } of offered.slice(endedCount)) {
          const executorId = sessionId.slice(0, sessionId.indexOf('/'));
          const about = { executorId, sessionId, taskId: task.id, attempt: task.attempt };
          engine.post({ type: 'attemptAccepted', ...about, frameSeq: ++frameSeq });
          const ended = {
            outcome: 'succeeded',
            result: '1',
            error: null,
            retryable: true,
          } as const;
          const last = { ...about, ...ended, retryAfterMs: null, frameSeq: ++frameSeq };
          engine.post({ type: 'attemptEnded', ...last });
        }
        endedCount = offered.length;
      }
      while (engine.state?.tasks.size !== 0) await settled();
      await engine.look(() => null);
      const cost: Cost = {
        commits: counts.commitCount,
        statements: counts.statementCount,
        runs: counts.runCount,
        values: counts.valueCount,
        frames: recorder.sent.length,
      };
      await engine.stop();
      const most: Cost = { values: FILE_VALUES_MOST[what], ...MOST[name] };
      for (const of of Object.keys(most) as (keyof Cost)[]) {
        expect(cost[of], of).to.be.at.most(most[of]);
      }
    });
  }
});
