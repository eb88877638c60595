/**
 * One executor on the SDK, as users write it; says that it is connected, and, once it has had as many more tasks as it is
 * asked for, how long each of them took to reach it.
 * Arguments: URL, the clone that the SDK is taken from, without one this.
 */
import { packageOf } from '../beside/clone.ts';

const { createExecutor } = await packageOf('executor-sdk', process.argv[3]);
const waitedMs: number[] = [];
let wantedCount = Number.POSITIVE_INFINITY;
const executor = createExecutor({
  url: process.argv[2] ?? '',
  handleSignals: false,
  onEvent: ({ type }) => {
    if (type === 'connected') process.send?.({ connected: true });
  },
});
executor.handle('timed', async (task) => {
  const { sentAt } = task.params as { sentAt: number };
  waitedMs.push(performance.timeOrigin + performance.now() - sentAt);
  tellOnceDone();
});
void executor.start();
process.on('message', (count: number) => {
  wantedCount = count;
  tellOnceDone();
});
process.once('SIGTERM', () => void executor.stop().then(() => process.exit(0)));

function tellOnceDone(): void {
  if (waitedMs.length < wantedCount) return;
  wantedCount = Number.POSITIVE_INFINITY;
  process.send?.({ waitedMs: waitedMs.splice(0) });
}
