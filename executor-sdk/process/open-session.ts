/**
 * The worker thread in which the sessions of all executors of this process live (`session/session-thread.ts`), so that
 * no handler can hold up a heartbeat. One for all: each thread more would take some megabytes, and be slow for as long as
 * its code is new to it.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { eventOf, logFormat, print } from '../events.ts';
import type { FromSession, SessionSettings, ThreadOrder } from '../thread-messages.ts';

interface SessionThread {
  readonly worker: Worker;
  /** What the sessions that live in it were begun with. */
  readonly open: Set<SessionSettings>;
}

/** The one that new sessions are begun in; null: there is none. */
let current: SessionThread | null = null;

/** Takes `ToSession`, says `FromSession`, and is closed by the session when it is over: after `ended`, if it could say so. */
export function openSession(settings: SessionSettings): MessagePort {
  const thread = (current ??= startThread());
  const { port1: port, port2: theirs } = new MessageChannel();
  const begin: ThreadOrder = { type: 'begin', settings, port: theirs };
  thread.worker.postMessage(begin, [theirs]);
  thread.open.add(settings);
  let hasEnded = false;
  port.on('message', ({ type }: FromSession) => {
    hasEnded ||= type === 'ended';
  });
  port.once('close', () => {
    // A thread that dies closes it too.
    if (!hasEnded) return;
    thread.open.delete(settings);
    if (thread.open.size > 0) return;
    current = null;
    const end: ThreadOrder = { type: 'end' };
    thread.worker.postMessage(end, []);
  });
  return port;
}

/** Of all executors of this process. */
export function openSessionCount(): number {
  return current?.open.size ?? 0;
}

function startThread(): SessionThread {
  const url = new URL('../session/session-thread.js', import.meta.url);
  const worker = new Worker(url, { execArgv: [] });
  const open = new Set<SessionSettings>();
  // No listener for `error`: what has ended it is for the program to see, as an uncaught exception.
  worker.once('exit', () => {
    if (open.size > 0) endWithThread(open);
  });
  return { worker, open };
}

/** Nothing keeps to their leases any more. With this process the guard ends what their handlers have started. */
function endWithThread(open: ReadonlySet<SessionSettings>): void {
  const message = 'killing this process: the thread of its sessions has ended';
  const event = eventOf({ type: 'killed', message });
  const format = logFormat(process.env);
  for (const { executorId } of open) print(event, { format, executorId, at: new Date() });
  process.kill(process.pid, 'SIGKILL');
}
