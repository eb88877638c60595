/** What as many commands do to the event loop of a master as come at once, for tasks that are not in its memory. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@soda-scheduler/client';
import { API_BASE } from '@soda-scheduler/protocol';
import { load, post } from '../load.ts';
import { startMaster } from '../system.ts';
import type { LoopReport } from './master.ts';

export const COMMAND_COUNT = 1_000;
const CONNECTION_COUNT = 64;
/** More than the window of their lane: what comes behind them is in the store alone. */
const WAITING_COUNT = 5_000;
const WINDOW = '1000';
const QUIET_MS = 2_000;
const SUBMIT_COUNT = 50;
/** Each finds the tasks as the one before has left them: waiting, or ended. */
export const COMMANDS = ['cancel', 'retry'] as const;
export type Command = (typeof COMMANDS)[number];

/** Of each command the reports of all rounds. */
export async function measureCommands(
  databaseUrl: string | null,
  paramsBytes: number,
  roundCount: number,
): Promise<ReadonlyMap<Command, readonly LoopReport[]>> {
  const env = { SODA_LANE_WINDOW: WINDOW };
  const master = await startMaster(databaseUrl, undefined, env, { script: './bulk/master.ts' });
  const { url } = master;
  const type = 'nobody';
  const waiting = { type, taskCount: WAITING_COUNT, clientCount: 4, batchCount: 500 };
  await load({ url, ...waiting, notifyUrl: null });
  const client = createClient({ url });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTION_COUNT });
  const params = { text: 'x'.repeat(paramsBytes) };
  const reports = new Map<Command, LoopReport[]>(COMMANDS.map((command) => [command, []]));
  for (let round = 0; round < roundCount; round++) {
    const ids = Array.from({ length: COMMAND_COUNT }, (_, index) => `command-${round}-${index}`);
    for (let at = 0; at < ids.length; at += SUBMIT_COUNT) {
      const some = ids.slice(at, at + SUBMIT_COUNT);
      await Promise.all(some.map((id) => client.submit({ id, type, params }, { group: 'bench' })));
    }
    for (const [command, ofCommand] of reports) {
      await delay(QUIET_MS);
      await master.ask();
      const ask = (id: string) => post(agent, url, `${API_BASE}/task/${id}/${command}`, '{}');
      await Promise.all(ids.map(ask));
      ofCommand.push(await master.ask<LoopReport>());
    }
  }
  agent.destroy();
  await master.stop();
  return reports;
}
