/**
 * The worker thread in which the sessions of all executors of this process live (`session/session-thread.ts`), so that
 * no handler can hold up a heartbeat. One for all: each thread more would take some megabytes, and be slow for as long as
 * its code is new to it.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { SessionSettings, ThreadOrder } from './thread-messages.ts';

interface SessionThread {
  readonly worker: Worker;
  openCount: number;
}

/** The one that new sessions are begun in; null: there is none. */
let current: SessionThread | null = null;

/** Takes `ToSession`, says `FromSession`, and is closed by the session when it is over. */
export function openSession(settings: SessionSettings): MessagePort {
  const thread = (current ??= startThread());
  const { port1: port, port2: theirs } = new MessageChannel();
  const begin: ThreadOrder = { type: 'begin', settings, port: theirs };
  thread.worker.postMessage(begin, [theirs]);
  thread.openCount += 1;
  port.once('close', () => {
    thread.openCount -= 1;
    if (thread.openCount > 0) return;
    current = null;
    const end: ThreadOrder = { type: 'end' };
    thread.worker.postMessage(end, []);
  });
  return port;
}

/** Of all executors of this process. */
export function openSessionCount(): number {
  return current?.openCount ?? 0;
}

function startThread(): SessionThread {
  // No listener for `error`: without its session this process cannot keep to its lease, and an uncaught exception is
  // the right end for it.
  const url = new URL('./session/session-thread.js', import.meta.url);
  return { worker: new Worker(url, { execArgv: [] }), openCount: 0 };
}
