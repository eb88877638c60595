/** Jobs whose master is killed around their fires, and in the middle of a backfill: each time has one record and one run. */
import { expect } from 'chai';
import type { OccurrenceView } from '@soda-scheduler/client';
import { describeOnEither, type System } from '../../helpers/system/system.ts';
import { eventually } from '../../helpers/system/wait.ts';

const KILL_COUNT = 4;
const TIME_COUNT = 40;
const template = { task: { type: 'nobody' }, user: { group: 'many' } };

async function recordsOf({ client }: System, job: string): Promise<OccurrenceView[]> {
  const found: OccurrenceView[] = [];
  for await (const one of client.jobs.occurrences(job)) found.push(one);
  return found.reverse();
}

async function tasksOf({ client }: System, job: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { task_id } of client.list({ job, limit: 200 })) ids.push(task_id);
  return ids.sort();
}

/** Ids of the tasks that the records tell of. */
const ranIn = (records: readonly OccurrenceView[]): string[] =>
  records.flatMap(({ task_id }) => task_id ?? []).sort();

describeOnEither('a job', ({ start }) => {
  it('has one record of each time, and one task of each run, though its master is killed as it fires', async () => {
    const system = await start();
    const { jobs } = system.client;
    await jobs.put('tick', { template, triggers: [{ every: 1 }], overlap: 'allow' });
    for (let kills = 0; kills < KILL_COUNT; kills++) {
      const before = (await tasksOf(system, 'tick')).length;
      const { next_at } = await jobs.get('tick');
      // At the very instant, and then once it has been fired.
      await eventually('its time', async () => {
        if (kills % 2 === 0) return Date.now() >= Date.parse(next_at ?? '');
        return (await tasksOf(system, 'tick')).length > before;
      });
      await system.master.end('SIGKILL');
      await system.startMaster();
    }
    await jobs.disable('tick');
    const records = await recordsOf(system, 'tick');
    let expected = Date.parse(records[0]?.nominal ?? '');
    for (const { nominal, to, count } of records) {
      expect(Date.parse(nominal), 'twice, or left out').to.equal(expected);
      expect(Date.parse(to) - Date.parse(nominal)).to.equal((count - 1) * 1_000);
      expected = Date.parse(to) + 1_000;
    }
    expect(records.length).to.be.greaterThan(1);
    expect(await tasksOf(system, 'tick')).to.deep.equal(ranIn(records));
  });

  it('is run at each past time once, by a backfill whose master is killed', async () => {
    const system = await start();
    const { jobs, operations } = system.client;
    await jobs.put('past', { template, triggers: [{ cron: '0 * * * *' }] });
    const from = '2026-03-01T00:00:00Z';
    const to = new Date(Date.parse(from) + TIME_COUNT * 3_600_000).toISOString();
    const asked = { from, to, max_running: 7 };
    const { count, token } = await jobs.previewBackfill('past', asked);
    expect(count).to.equal(TIME_COUNT);
    const id = await jobs.backfill('past', asked, token);
    let ended = 0;
    for (let round = 0; ended < TIME_COUNT; round++) {
      const live: string[] = [];
      for await (const one of system.client.list({ job: 'past', state: 'waiting' })) {
        live.push(one.task_id);
      }
      expect(live.length).to.be.at.most(asked.max_running);
      // No one waits for these: the next ones follow while it dies.
      const told = live.map((task) => system.client.cancel(task).catch(() => {}));
      if (round % 3 === 1) {
        await system.master.end('SIGKILL');
        await system.startMaster();
      }
      await Promise.all(told);
      ({ failed: ended } = await operations.get(id));
    }
    const view = await operations.wait(id);
    expect(view).to.include({ state: 'done', total: TIME_COUNT, failed: TIME_COUNT });
    const records = await recordsOf(system, 'past');
    const hours = records.map(({ nominal, rerun }) => [Date.parse(nominal), rerun]);
    const first = Date.parse(from);
    const all = Array.from({ length: TIME_COUNT }, (_, at) => [first + at * 3_600_000, 1]);
    expect(hours).to.deep.equal(all);
    expect(await tasksOf(system, 'past')).to.deep.equal(ranIn(records));
  });
});
