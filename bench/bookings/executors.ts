/**
 * Executors on the SDK, all in one process: those that have done with a task of a booking know how late it began.
 * Arguments: URL, what their ids begin with, number of executors.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createExecutor } from '@soda-scheduler/executor-sdk';

/** What its tasks say: for how long they run, and when those of a booking were to begin. */
export interface Params {
  readonly ms: number;
  readonly from?: number;
}

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
const lateMs: number[] = [];
const executors = Array.from({ length: Number(count) }, (_, at) => {
  const id = `${prefix}-${String(at).padStart(3, '0')}`;
  const executor = createExecutor({
    url,
    id,
    handleSignals: false,
    drainTimeoutMs: 0,
    onEvent: () => undefined,
  });
  executor.handle('live', async (task, { signal }) => {
    const { ms, from } = task.params as Params;
    if (from !== undefined) lateMs.push(performance.timeOrigin + performance.now() - from);
    await delay(ms, null, { signal });
  });
  return executor;
});
await Promise.all(executors.map((executor) => executor.start()));
process.send?.({});
process.on('message', () => process.send?.({ lateMs }));
process.once('SIGTERM', () => {
  void Promise.all(executors.map((executor) => executor.stop())).then(() => process.exit(0));
});
