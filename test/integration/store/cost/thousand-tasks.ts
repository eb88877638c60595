/** A thousand tasks through an engine and a store, to eight executors that end each at once. */
import { createEngineOn } from '../../../helpers/engine.ts';
import { settled } from '../../../helpers/manual-clock.ts';
import { hello, newTask } from '../../../helpers/task.ts';
import type { DefaultStore } from '../../../contract/subjects.ts';

const TASK_COUNT = 1_000;
const EXECUTOR_COUNT = 8;

export interface ThousandTasks {
  /** @returns how many frames went to executors. */
  run(notifyUrl: string | null): Promise<number>;
  stop(): Promise<void>;
}

/** @param roundCount of those that were run on this store before: ids are not taken twice. */
export async function startEngine(store: DefaultStore, roundCount = 0): Promise<ThousandTasks> {
  const { engine, recorder, master } = createEngineOn(store, {});
  (await engine.start()).ended.catch(() => undefined);
  for (let n = 0; n < EXECUTOR_COUNT; n++) {
    engine.post({ type: 'executorConnected', ...hello({ executorId: `x${n}` }) });
  }
  while (engine.state?.executors.size !== EXECUTOR_COUNT) await settled();
  await engine.look(() => null);
  const params = JSON.stringify({ input: '/media/in.mp4', outputs: [] });
  let [round, frameSeq] = [roundCount, 0];

  const run = async (notifyUrl: string | null): Promise<number> => {
    recorder.sent.length = 0;
    round += 1;
    const ids = Array.from({ length: TASK_COUNT }, (_, n) => `t${round}-${n}`);
    await master.submit(ids.map((id) => newTask({ id, params, notifyUrl })));
    for (let endedCount = 0; endedCount < TASK_COUNT; ) {
      await settled();
      const offered = recorder.sent.slice(endedCount).flatMap(({ sessionId, command }) => {
        return command.type === 'assign' ? [{ sessionId, task: command.task }] : [];
      });
      // All of them together: how many turns there are is not for the machine to say.
      if (offered.length < Math.min(EXECUTOR_COUNT, TASK_COUNT - endedCount)) continue;
      for (const { sessionId, task } of offered) {
        const executorId = sessionId.slice(0, sessionId.indexOf('/'));
        const about = { executorId, sessionId, taskId: task.id, attempt: task.attempt };
        engine.post({ type: 'attemptAccepted', ...about, frameSeq: ++frameSeq });
        engine.post({
          type: 'attemptEnded',
          ...{ ...about, outcome: 'succeeded', result: '1', error: null, retryable: true },
          ...{ retryAfterMs: null, frameSeq: ++frameSeq },
        });
      }
      endedCount += offered.length;
    }
    while (engine.state?.tasks.size !== 0) await settled();
    await engine.look(() => null);
    return recorder.sent.length;
  };
  return { run, stop: () => engine.stop() };
}
