/** One executor on the SDK, as users write it; reports how long each task took to reach it. */
import { createExecutor } from '@soda-scheduler/executor-sdk';

const waitedMs: number[] = [];
const executor = createExecutor({ url: process.argv[2] ?? '', handleSignals: false });
executor.handle('timed', async (task) => {
  const { sentAt } = task.params as { sentAt: number };
  waitedMs.push(performance.timeOrigin + performance.now() - sentAt);
});
void executor.start();
process.on('message', () => process.send?.({ waitedMs }));
process.once('SIGTERM', () => void executor.stop().then(() => process.exit(0)));
