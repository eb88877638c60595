/**
 * An executor in a process of its own, whose handler behaves as the params of its task say. It
 * prints its events as JSON lines. Arguments: url, executor id, drain timeout in ms.
 */
import { createExecutor } from '@soda-scheduler/executor-sdk';
import type { TaskAborted } from '@soda-scheduler/executor-sdk';

const [url = '', id = '', drainTimeoutMs = '10000'] = process.argv.slice(2);

interface Params {
  /**
   * `block`: does not let go of its thread for `ms`. `deaf`: never ends. `obey`: ends when told
   * to, by throwing. `late`: ends when told to, by returning. `release`: ends at a line on stdin.
   */
  readonly mode: 'block' | 'deaf' | 'obey' | 'late' | 'release';
  readonly ms?: number;
}

const print = (fields: object) => process.stdout.write(`${JSON.stringify(fields)}\n`);

await createExecutor({ url, id, drainTimeoutMs: Number(drainTimeoutMs), onEvent: print })
  .handle<Params>('test', async ({ params }, { signal }) => {
    const aborted = new Promise<TaskAborted>((resolve) => {
      signal.addEventListener('abort', () => resolve(signal.reason as TaskAborted));
    });
    const sinceMs = performance.now();
    switch (params.mode) {
      case 'block':
        while (performance.now() - sinceMs < (params.ms ?? 0));
        return 'unblocked';
      case 'deaf':
        return new Promise(() => undefined);
      case 'obey':
        throw await aborted;
      case 'late':
        return (await aborted).reason;
      case 'release':
        return new Promise((resolve) => process.stdin.once('data', () => resolve('released')));
    }
  })
  .start();
