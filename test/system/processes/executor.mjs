/**
 * An executor as a process, with one handler that does what the params of a task say: a list of
 * steps for each attempt (the last list for all later ones). Every begin and end of the handler is
 * a line on stdout, so that a test can count runs and overlaps. Ends with whoever started it.
 *
 * Its only argument is JSON: the options of `createExecutor`, the `types` it serves, and
 * `accepts`: `never`, `silent` (no answer), or `late` (answers once it was told to on stdin).
 */
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createExecutor, NonRetryableError, RetryableError } from '@soda-scheduler/executor-sdk';

const { types, accepts = 'always', ...options } = JSON.parse(process.argv[2]);

/** Task ids that stdin has named: whoever holds for one of them goes on. */
const released = new Set();
const releases = new EventTarget();
createInterface({ input: process.stdin })
  .on('line', (taskId) => {
    released.add(taskId);
    releases.dispatchEvent(new Event(taskId));
  })
  .once('close', () => process.exit(9));
// An executor that was refused ends by itself: this must not be what keeps it.
process.stdin.unref();

const say = (line) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);

async function release(taskId, signal) {
  if (!released.has(taskId)) await once(releases, taskId, signal && { signal });
}

const steps = {
  /** Until stdin names the task; ends when it is told to. */
  hold: async (_, task, ctx) => {
    await release(task.id, ctx.signal).catch(() => {
      throw ctx.signal.reason;
    });
  },
  /** As `hold`, and hears of no abort. */
  ignore: (_, task) => release(task.id),
  /** Reports progress all the time; ends when it is told to. */
  work: async (ms, _, ctx) => {
    for (let done = 0; done < ms; done += 50) {
      ctx.progress((100 * done) / ms);
      await delay(50, undefined, { signal: ctx.signal }).catch(() => {
        throw ctx.signal.reason;
      });
    }
  },
  /** Holds the thread: no timer fires, no message is read. */
  block: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  /** Starts a program that is heard of all the time, on the stdout of this process. */
  tick: async (_, task, ctx) => {
    const line = JSON.stringify({ mark: 'tick', task: task.id, attempt: ctx.attempt });
    const script = `setInterval(() => console.log(JSON.stringify({ ...${line}, at: Date.now() })), 50)`;
    const stdio = ['ignore', 'inherit', 'ignore'];
    const child = ctx.spawn(process.execPath, ['-e', script], { stdio });
    const [code, signal] = await once(child, 'exit');
    throw new Error(`it has ended: ${code ?? signal}`);
  },
  checkpoint: (value, _, ctx) => ctx.checkpoint(value),
  log: (text, _, ctx) => ctx.log.error(text),
  lines: (count, _, ctx) => {
    for (let n = 1; n <= count; n += 1) ctx.log.info(`line ${n} of ${count}`);
  },
  fail: ({ message = 'as told', retryable = true, retryAfterMs }) => {
    if (!retryable) throw new NonRetryableError(message);
    throw new RetryableError(message, { retryAfterMs });
  },
  crash: () => process.kill(process.pid, 'SIGKILL'),
};

async function handler(task, ctx) {
  const about = { task: task.id, attempt: ctx.attempt };
  say({ mark: 'start', ...about, checkpoint: ctx.lastCheckpoint });
  let how = 'failed';
  try {
    const scripts = task.params?.attempts ?? [[]];
    const script = scripts[Math.min(ctx.attempt, scripts.length) - 1];
    for (const step of script) {
      for (const [name, value] of Object.entries(step)) await steps[name](value, task, ctx);
    }
    how = 'done';
    return { by: options.id, attempt: ctx.attempt, checkpoint: ctx.lastCheckpoint ?? null };
  } finally {
    say({ mark: 'end', ...about, how, aborted: ctx.signal.reason?.reason ?? null });
  }
}

const answers = {
  always: () => true,
  never: () => 'not for me',
  silent: (task) => {
    say({ mark: 'offered', task: task.id });
    return new Promise(() => {});
  },
  late: async (task) => {
    say({ mark: 'offered', task: task.id });
    await release(`accept:${task.id}`);
    return true;
  },
};

const executor = createExecutor({
  ...options,
  canAccept: answers[accepts],
  onEvent: (event) => say({ event: event.type, message: event.message, task: event.taskId }),
});
for (const type of types) executor.handle(type, handler);
await executor.start();
