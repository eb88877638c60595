/** Entry of the worker thread that keeps the session while handlers use the main thread. */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { SessionClient } from './session-client.ts';
import type { SessionSettings, ToSession } from '../thread-messages.ts';

const STDERR = 2;

const port = parentPort;
if (port === null) throw new Error('session-thread.ts runs as a worker only');

const client = new SessionClient({
  settings: workerData as SessionSettings,
  tell: (message) => port.postMessage(message),
  now: () => performance.now(),
  endProcess: (why) => {
    // The other thread may be blocked: only a synchronous write is sure to be seen.
    writeSync(STDERR, `soda executor: killing this process: ${why}\n`);
    process.kill(process.pid, 'SIGKILL');
  },
});
port.on('message', (message: ToSession) => client.take(message));
await client.run();
port.close();
