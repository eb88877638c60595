/**
 * Several executors in a process of their own, which reports what nobody has caught and goes on, as many programs do.
 * Arguments: url, and the options of each as a JSON list. A task holds on until it is let go; one with a `port` has a child that
 * is connected to it. Lines on stdin: `start ID`, `stop ID`, `let ID` go its task, and `break` the thread of the sessions.
 */
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';
import { createInterface } from 'node:readline';
import threads from 'node:worker_threads';

const [url = '', options = '[]'] = process.argv.slice(2);

const print = (fields) => process.stdout.write(`${JSON.stringify(fields)}\n`);
process.on('uncaughtException', ({ message }) => print({ type: 'uncaught', message }));

/** Threads are begun by a line of ours, which throws when it is told to. */
let breakThread = () => undefined;
const { Worker, MessageChannel } = threads;
threads.Worker = class extends Worker {
  constructor(script, given) {
    const { port1, port2: workerData } = new MessageChannel();
    const broken = `workerData.once('message', () => { throw new Error('the thread is broken'); }).unref()`;
    const begin = `const { workerData } = require('node:worker_threads'); ${broken}; import('${script.href}')`;
    super(begin, { ...given, eval: true, workerData, transferList: [workerData] });
    port1.unref();
    breakThread = () => port1.postMessage('break');
  }
};
syncBuiltinESMExports();
const { createExecutor } = await import('@soda-scheduler/executor-sdk');

const executors = new Map();
const letGo = new Map();

function start(given) {
  const { id } = given;
  const executor = createExecutor({ url, onEvent: (event) => print({ id, ...event }), ...given });
  executor.handle('test', ({ params }, ctx) => {
    if (params.port !== undefined) {
      const script = `require('node:net').connect(${params.port}, '127.0.0.1'); setInterval(() => {}, 1e6)`;
      ctx.spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    }
    return new Promise((resolve) => letGo.set(id, () => resolve('let go')));
  });
  executors.set(id, executor);
  return executor.start();
}

const orders = {
  start: (id) => start({ id }),
  stop: (id) => executors.get(id).stop(),
  let: (id) => letGo.get(id)(),
  break: () => breakThread(),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const [order, id] = line.split(' ');
  void orders[order](id);
});
for (const given of JSON.parse(options)) await start(given);
