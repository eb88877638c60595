/**
 * Ours and peers by turns: each measurement has two processes of its own, one that submits and one that works, driven
 * alike; the servers of peers stay for the whole run, a master of ours is made for each.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startMariadb } from '../../test/helpers/mariadb.ts';
import { attempt } from '../scenario.ts';
import { type BenchMaster, start, startMaster, startSink } from '../system.ts';
import {
  BATCH_COUNT,
  type Contender,
  type ServerName,
  type Shape,
  SHAPES,
  TITLES,
} from './cases.ts';
import type { Place, Workers } from './library.ts';
import type { Order } from './producer.ts';
import { type PeerServer, startBeanstalkd, startPostgres, startRedis } from './servers.ts';

const CALL_COUNT = 64;
const BATCH_CALL_COUNT = 8;
const PER_SECOND = 50;

/** One measurement. `cpuUs`: processor time of the master for a task; null with peers. */
export interface Sample {
  readonly contender: string;
  readonly shape: Shape;
  readonly taskCount: number;
  readonly tasksPerSecond: number;
  /** Milliseconds from submit to handler, sorted. */
  readonly waitedMs: readonly number[];
  readonly cpuUs: number | null;
}

export interface Compared {
  readonly samples: readonly Sample[];
  /** Who has no figure, and why. */
  readonly leftOut: readonly string[];
}

interface Servers {
  /** Null where it is missing. */
  urlOf(server: ServerName): Promise<string | null>;
  stop(): Promise<void>;
}

/** Each is started when it is first asked for. */
function openServers(): Servers {
  const mariadb = async (): Promise<PeerServer | null> => {
    const server = await startMariadb(['--innodb-log-file-size=96M']);
    return server && { url: '', fresh: () => server.url(), stop: () => server.stop() };
  };
  const starts: Record<Exclude<ServerName, 'sqlite'>, () => Promise<PeerServer | null>> = {
    'redis always': () => startRedis('always'),
    'redis everysec': () => startRedis('everysec'),
    postgres: startPostgres,
    beanstalkd: startBeanstalkd,
    mariadb,
  };
  const begun = new Map<ServerName, Promise<PeerServer | null>>();
  return {
    urlOf: async (name) => {
      if (name === 'sqlite') return '';
      const known = await begun.get(name);
      // What did not start is not tried again; what has ended since is.
      if (known === undefined || known?.hasEnded) begun.set(name, starts[name]());
      return (await begun.get(name))?.fresh() ?? null;
    },
    // What did not start has been told by those who asked for it.
    stop: async () => {
      for (const server of begun.values()) await (await server.catch(() => null))?.stop();
    },
  };
}

/** Into a folder of their own. @throws {Error} where npm cannot. */
function installLibraries(): void {
  const folder = fileURLToPath(new URL('./libraries', import.meta.url));
  if (existsSync(`${folder}/node_modules/.package-lock.json`)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error('npm could not install the libraries of peers');
}

/** Each `roundCount` times, all of them by turns. `scale`: of the number of tasks. */
export async function comparePeers({
  roundCount,
  scale,
  contenders,
}: {
  roundCount: number;
  scale: number;
  contenders: readonly Contender[];
}): Promise<Compared> {
  installLibraries();
  const servers = openServers();
  const samples: Sample[] = [];
  const leftOut = new Set<string>();
  for (let round = 0; round < roundCount; round++) {
    for (const contender of contenders) {
      for (const shape of SHAPES) {
        const full = contender.counts[shape];
        if (full === undefined) continue;
        const name = `${contender.name}, ${TITLES[shape]}`;
        const sample = await attempt(`${name}, round ${round + 1}`, async () => {
          const server = await servers.urlOf(contender.server);
          return server === null
            ? NOT_INSTALLED
            : measure(contender, shape, server, Math.ceil(full * scale));
        });
        if (sample === null) leftOut.add(`${name}: failed`);
        else if (sample === NOT_INSTALLED)
          leftOut.add(`${contender.name}: ${programOf(contender)} is not installed`);
        else samples.push(sample);
      }
    }
  }
  await servers.stop();
  return { samples, leftOut: [...leftOut] };
}

const NOT_INSTALLED = 'not installed';

const programOf = ({ server }: Contender): string =>
  server.startsWith('redis') ? 'redis-server' : server;

function orderOf(shape: Shape, count: number): Order {
  if (shape === 'paced') return { count, callCount: 1, batchCount: 1, perSecond: PER_SECOND };
  if (shape !== 'batch') return { count, callCount: CALL_COUNT, batchCount: 1, perSecond: null };
  return { count, callCount: BATCH_CALL_COUNT, batchCount: BATCH_COUNT, perSecond: null };
}

const workersOf = (shape: Shape): Workers =>
  shape === '1' ? 1 : shape === '10' || shape === 'paced' ? 10 : 'best';

async function measure(
  { name, module, server: serverName, callback }: Contender,
  shape: Shape,
  server: string,
  count: number,
): Promise<Sample> {
  const isOurs = serverName === 'sqlite' || serverName === 'mariadb';
  const master = isOurs ? await startMaster(server === '' ? null : server) : null;
  const sink = callback ? await startSink() : null;
  const place: Place & { workers: Workers } = {
    server: master?.url ?? server,
    queue: `q${process.pid}-${performance.now().toFixed(0)}`,
    notifyUrl: sink?.url ?? null,
    // pg-boss has no workers of one task at a time: it polls.
    workers: name === 'pg-boss' ? 'best' : workersOf(shape),
  };
  const worker = start('./peers/worker.ts', [module, JSON.stringify(place)]);
  await worker.message();
  const producer = start('./peers/producer.ts', [module, JSON.stringify(place)]);
  await producer.message();
  const run = async (tasks: number) => {
    const called = sink?.count(tasks);
    const worked = worker.ask<{ waitedMs: number[] }>(tasks);
    const begun = performance.now();
    const [{ waitedMs }] = await Promise.all([worked, producer.ask(orderOf(shape, tasks)), called]);
    return { waitedMs, tasksPerSecond: tasks / ((performance.now() - begun) / 1000) };
  };
  await run(Math.ceil(count / 10));
  const before = await cpuOf(master);
  const { waitedMs, tasksPerSecond } = await run(count);
  const cpuUs = master === null ? null : ((await cpuOf(master)) - before) / count;
  await producer.stop();
  await worker.stop();
  await master?.stop();
  sink?.close();
  waitedMs.sort((a, b) => a - b);
  return { contender: name, shape, taskCount: count, tasksPerSecond, waitedMs, cpuUs };
}

async function cpuOf(master: BenchMaster | null): Promise<number> {
  return master === null ? 0 : (await master.ask<{ cpuUs: number }>()).cpuUs;
}
