/** A store in which so many tasks of one type wait: a master has taken the first thousand, the others are copies by SQL. */
import { Agent } from 'node:http';
import { API_BASE } from '@soda-scheduler/protocol';
import { post } from '../load.ts';
import { copyOf, openCopier } from '../pages/copier.ts';
import { showProgress, writing } from '../pages/fill.ts';
import { startMaster } from '../system.ts';

export const BACKLOG_TYPE = 'noop';
const SEED_COUNT = 1_000;
/** How often one transaction copies all seeds. */
const COPY_COUNT = 50;

/** @param taskCount a multiple of a thousand. */
export async function fillBacklog(url: string, taskCount: number): Promise<void> {
  if (taskCount === 0) return;
  await submitSeeds(url);
  const copier = await openCopier(url);
  const [seeds] = await copier.rows('SELECT MIN(seq) AS least, MAX(seq) AS most FROM task');
  const [least, most] = [Number(seeds?.['least']), Number(seeds?.['most'])];
  const where = `seq BETWEEN ${least} AND ${most}`;
  // More than there are tasks: what they are sorted into has numbers of the same row.
  const seqsOfCopy = most - least + 1;
  const copyCount = taskCount / SEED_COUNT;
  for (let at = 1; at < copyCount; at += COPY_COUNT) {
    const end = Math.min(at + COPY_COUNT, copyCount);
    await copier.run('BEGIN');
    for (let copy = at; copy < end; copy++) {
      const changed = {
        seq: `seq + ${copy * seqsOfCopy}`,
        id: copier.laterId(copy),
        order_time: `order_time + ${copy}`,
        queue_time: `queue_time + ${copy}`,
      };
      await copier.run(await copyOf(copier, { from: 'task', to: 'task' }, changed, where));
    }
    await copier.run('COMMIT');
    showProgress(end / copyCount, `${taskCount} waiting tasks`);
  }
  process.stderr.write('\n');
  await copier.close();
  await writing(url, ({ commit }) => commit({ lastSeq: least + copyCount * seqsOfCopy }));
}

async function submitSeeds(url: string): Promise<void> {
  const master = await startMaster(url);
  const agent = new Agent();
  const item = {
    task: { type: BACKLOG_TYPE, params: { input: '/media/in.mp4', outputs: [] } },
    user: { group: 'bench' },
  };
  const body = JSON.stringify({ tasks: Array.from({ length: SEED_COUNT }, () => item) });
  await post(agent, master.url, `${API_BASE}/task/submit-batch`, body);
  agent.destroy();
  await master.stop();
}
