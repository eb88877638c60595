/**
 * One executor on the SDK, whose handler logs so many lines a second until it is told to end; reports when it begins.
 * Arguments: URL, lines a second.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createExecutor } from '@soda-scheduler/executor-sdk';

const TICK_MS = 20;
const [url = '', perSecond = '1'] = process.argv.slice(2);
const perTick = (Number(perSecond) * TICK_MS) / 1000;

const executor = createExecutor({ url, handleSignals: false, drainTimeoutMs: 0 });
executor.handle('talk', async (_, ctx) => {
  process.send?.({ isTalking: true });
  for (let n = 0; !ctx.signal.aborted; await delay(TICK_MS)) {
    for (const end = n + perTick; n < end; n++)
      ctx.log.info(`frame ${n} was decoded as it was to be`, { n });
  }
});
void executor.start();
process.once('SIGTERM', () => void executor.stop().then(() => process.exit(0)));
