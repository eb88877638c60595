/** Tasks a second and what the master needs for each, and how long one waits that finds an idle executor. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { API_BASE } from '@soda-scheduler/protocol';
import { load, post } from '../load.ts';
import { start, startMaster, startSink } from '../system.ts';

const EXECUTOR_COUNT = 64;
const LATENCY_PER_SECOND = 50;
export const LATENCY_NAME = `submit to handler start, ${LATENCY_PER_SECOND}/s`;

export const latencySeconds = (scale: number): number => Math.max(2, 10 * scale);

export interface Throughput {
  readonly name: string;
  readonly taskCount: number;
  readonly clientCount: number;
  readonly batchCount: number;
  readonly callback: boolean;
}

export const throughputs: readonly Throughput[] = [
  {
    name: 'one by one, 64 clients, callback',
    taskCount: 15_000,
    clientCount: 64,
    batchCount: 1,
    callback: true,
  },
  {
    name: 'batches of 100, callback',
    taskCount: 30_000,
    clientCount: 8,
    batchCount: 100,
    callback: true,
  },
  {
    name: 'batches of 100, no callback',
    taskCount: 30_000,
    clientCount: 8,
    batchCount: 100,
    callback: false,
  },
];

/** Which master: its settings, what starts it, and the clone that it and the SDK are taken from. */
export interface MasterKind {
  readonly env?: NodeJS.ProcessEnv;
  readonly script?: string;
  readonly clone?: string;
}

interface Measured {
  /** From the first submit to the last callback (or the last result). */
  readonly tasksPerSecond: number;
  /** Processor time of the master for one task, in microseconds. */
  readonly cpuUs: number;
}

export async function measureThroughput(
  databaseUrl: string | null,
  wanted: Throughput,
  { env, script, clone }: MasterKind = {},
): Promise<Measured> {
  const args = clone === undefined ? [] : [clone];
  const master = await startMaster(databaseUrl, undefined, env, { script, args });
  const sink = await startSink();
  const fleet = start('./fleet.ts', [master.url, String(EXECUTOR_COUNT)]);
  await fleet.message();
  const run = async (taskCount: number): Promise<Measured> => {
    const before = await master.ask<{ cpuUs: number }>();
    const { finishedCount } = await fleet.ask<{ finishedCount: number }>();
    const received = wanted.callback ? sink.count(taskCount) : null;
    const begun = performance.now();
    await load({
      url: master.url,
      type: 'noop',
      taskCount,
      clientCount: wanted.clientCount,
      batchCount: wanted.batchCount,
      notifyUrl: wanted.callback ? sink.url : null,
    });
    if (received !== null) await received;
    else
      while (
        (await fleet.ask<{ finishedCount: number }>()).finishedCount <
        finishedCount + taskCount
      );
    const tasksPerSecond = taskCount / ((performance.now() - begun) / 1000);
    const after = await master.ask<{ cpuUs: number }>();
    return { tasksPerSecond, cpuUs: (after.cpuUs - before.cpuUs) / taskCount };
  };
  await run(Math.ceil(wanted.taskCount / 10));
  const measured = await run(Math.ceil(wanted.taskCount));
  await fleet.stop();
  sink.close();
  await master.stop();
  return measured;
}

/** Milliseconds from the submit call to the first line of the handler, sorted. */
export async function measureLatency(
  databaseUrl: string | null,
  seconds: number,
  { clone }: Pick<MasterKind, 'clone'> = {},
): Promise<number[]> {
  const args = clone === undefined ? [] : [clone];
  const master = await startMaster(databaseUrl, undefined, {}, { args });
  const executor = start('./speed/handler.ts', [master.url, ...args]);
  await executor.message();
  const agent = new Agent({ keepAlive: true });
  const run = async (count: number): Promise<number[]> => {
    const accepted: Promise<void>[] = [];
    const begun = performance.now();
    for (let sent = 0; sent < count; sent++) {
      await delay(begun + (sent * 1_000) / LATENCY_PER_SECOND - performance.now());
      const sentAt = performance.timeOrigin + performance.now();
      const task = { type: 'timed', params: { sentAt } };
      const body = JSON.stringify({ task, user: { group: 'bench' } });
      accepted.push(post(agent, master.url, `${API_BASE}/task/submit`, body));
    }
    await Promise.all(accepted);
    return (await executor.ask<{ waitedMs: number[] }>(count)).waitedMs;
  };
  // Master and executor have run nothing yet: nobody is to wait behind what that took.
  await run(LATENCY_PER_SECOND);
  const waitedMs = await run(LATENCY_PER_SECOND * (seconds - 1));
  agent.destroy();
  await executor.stop();
  await master.stop();
  return waitedMs.sort((a, b) => a - b);
}
