/**
 * Entry of the worker thread that keeps the sessions of all executors of this process, while handlers use the main
 * thread: `process/open-session.ts` is its other side.
 */
import { parentPort } from 'node:worker_threads';
import { RenewedCertificates } from '@soda-scheduler/protocol';
import { GroupGuard } from '../children/group-guard.ts';
import { monotonicClock } from './clock.ts';
import { Connection } from './connection.ts';
import { eventOf, logFormat, print } from '../events.ts';
import { IncarnationRecord } from './incarnation-record.ts';
import type { Fenced } from './handshake.ts';
import { hostLoad } from '../host-load.ts';
import { SessionClient } from './session-client.ts';
import { readCa } from '../trust.ts';
import type { FromSession, ThreadOrder, ToSession } from '../thread-messages.ts';

const main = parentPort;
if (main === null) throw new Error('session-thread.ts runs as a worker only');

const format = logFormat(process.env);

type Beginning = Extract<ThreadOrder, { type: 'begin' }>;

async function keepSession({ settings, port }: Beginning): Promise<void> {
  const record = IncarnationRecord.begin(settings);
  const guard = new GroupGuard();
  const sayLast = (why: string, fenced: Fenced | null): void => {
    const event = eventOf({
      type: 'killed',
      message: `killing this process: ${why}`,
      ...(fenced !== null && { taskId: fenced.task_id, attempt: fenced.attempt }),
    });
    print(event, { format, executorId: settings.executorId, at: new Date() });
  };
  const { ca, caFile } = settings;
  const tell = (message: FromSession): void => port.postMessage(message);
  const trusted =
    ca !== undefined && caFile !== undefined
      ? new RenewedCertificates(
          () => readCa(caFile),
          ca,
          (message) => tell({ type: 'event', event: { type: 'ca_file_broken', message } }),
        )
      : { pem: ca };
  const client = new SessionClient({
    settings,
    predecessors: record,
    tell,
    clock: monotonicClock,
    random: Math.random,
    dial: (options) => new Connection({ ...options, ca: trusted.pem }),
    rssBytes: () => process.memoryUsage.rss(),
    cpuPercent: hostLoad(),
    groups: guard,
    endProcess: (why, fenced) => {
      sayLast(why, fenced);
      if (fenced !== null) record.willEnd(fenced);
      guard.killAll();
      process.kill(process.pid, 'SIGKILL');
    },
  });
  port.on('message', (message: ToSession) => {
    if (message.type === 'group') guard.tell(message.pid, message.isAlive);
    else client.take(message);
  });
  await client.run();
  record.left();
  guard.close();
  port.close();
}

main.on('message', (order: ThreadOrder) => {
  if (order.type === 'end') main.close();
  else void keepSession(order);
});
