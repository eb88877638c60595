/**
 * Executors in a process of their own, whose handler behaves as the params of its task say. It
 * prints their events as JSON lines. Arguments: url, executor ids with commas, drain timeout in ms. The params:
 * `mode: block` does not let go of its thread for `ms`. `deaf`: never ends. `obey`: ends when told
 * to, by throwing. `late`: ends when told to, by returning. `release`: ends at a line on stdin.
 * `parent`: starts a deaf child that is connected to `port`, reports progress once that is so, and blocks.
 * `orphan`: does not block. `log`: logs a line and its last words, and never ends.
 */
import { once } from 'node:events';
import process from 'node:process';
import { createExecutor } from '@soda-scheduler/executor-sdk';

const [url = '', ids = '', drainTimeoutMs = '10000'] = process.argv.slice(2);

const print = (fields) => process.stdout.write(`${JSON.stringify(fields)}\n`);

/** No timer fires, and no message is read; it costs the machine nothing. */
const holdThread = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const handler = async ({ params }, ctx) => {
  const { signal, spawn } = ctx;
  const aborted = new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
  switch (params.mode) {
    case 'block':
      holdThread(params.ms);
      return 'unblocked';
    case 'deaf':
      return new Promise(() => undefined);
    case 'obey':
      throw await aborted;
    case 'late':
      return (await aborted).reason;
    case 'parent':
    case 'orphan': {
      const script =
        `process.on('SIGTERM', () => {}); require('node:net')` +
        `.connect(${params.port}, '127.0.0.1').once('connect', () => console.log('up'))`;
      const child = spawn(process.execPath, ['-e', script], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await once(child.stdout, 'data');
      ctx.progress(1);
      if (params.mode === 'orphan') return new Promise(() => undefined);
      holdThread(60_000);
      return 'unblocked';
    }
    case 'log':
      ctx.log.info('begun');
      ctx.log.error('last words');
      return new Promise(() => undefined);
    case 'release':
      return new Promise((resolve) => process.stdin.once('data', () => resolve('released')));
  }
};

for (const id of ids.split(',')) {
  await createExecutor({ url, id, drainTimeoutMs: Number(drainTimeoutMs), onEvent: print })
    .handle('test', handler)
    .start();
}
