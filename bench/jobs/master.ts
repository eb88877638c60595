/**
 * A master in a process of its own, with a look at each of its commits: how late runs of jobs come, how many rows are
 * written, and when each of so many triggers has been looked at. Prints its URL and stops on SIGTERM. Argument: the
 * prefix of the jobs whose triggers are waited for.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadConfig, runMaster } from '../../master/main.ts';
import { SqlTaskStore } from '../../master/infrastructure/sql/task-store.ts';

const [prefix = ''] = process.argv.slice(2);
const startedAt = performance.now();
let lateMs: number[] = [];
let rowCount = 0;
const looked = new Set<string>();
let lookedMs = 0;
let rowCountThen = 0;
let cpuUsThen = 0;

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

// eslint-disable-next-line typescript/unbound-method -- called with its `this` below
const commit = SqlTaskStore.prototype.commit;
SqlTaskStore.prototype.commit = async function (made) {
  await commit.call(this, made);
  const now = Date.now();
  rowCount += made.writes.length + (made.events?.length ?? 0);
  for (const write of made.writes) {
    if (write.table === 'task' && write.op === 'insert' && write.row.job !== null) {
      lateMs.push(now - write.row.job.nominal);
    }
    if (write.table !== 'trigger' || write.op === 'remove') continue;
    const { job, nextAt } = write.row;
    if (!job.startsWith(prefix) || nextAt === null || nextAt <= made.now || looked.has(job))
      continue;
    looked.add(job);
    lookedMs = performance.now() - startedAt;
    rowCountThen = rowCount;
    cpuUsThen = cpuUs();
  }
};

const loaded = loadConfig({ env: process.env, flags: {} });
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'));
const master = await runMaster(loaded.config, { logTo: process.stderr });
const readyMs = performance.now() - startedAt;
const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
process.send?.({ url: master.url });
process.on('message', () => {
  process.send?.({
    cpuUs: cpuUs(),
    rssBytes: process.memoryUsage.rss(),
    gapMs: loop.max / 1e6,
    lateMs,
    looked: {
      count: looked.size,
      ms: lookedMs - readyMs,
      rowCount: rowCountThen,
      cpuUs: cpuUsThen,
    },
  });
  lateMs = [];
  loop.reset();
});
process.once('SIGTERM', () => void master.stop().then(() => process.exit(0)));
