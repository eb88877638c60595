/** What a store tells of jobs: the same of each, whatever it is made of. */
import { expect } from 'chai';
import type { OccurrenceQuery, TaskStore } from '../../../master/application/ports.ts';
import { OCCURRENCE_LOOK_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { Work } from '../../../master/domain/long-work/work.ts';
import type { Job, Occurrence, Trigger } from '../../../master/domain/model/job.ts';
import { MemoryJobs } from '../../../master/infrastructure/memory/jobs.ts';
import { sampleJob, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { NOW, sampleTask } from '../../helpers/task.ts';
import { commit } from '../sample.ts';
import { type DefaultStore, describeStores } from '../subjects.ts';

const AGAIN = { rerun: 1, operationId: 'op-1' };

const putJob = (row: Job): RowWrite => ({ op: 'put', table: 'job', key: row.name, row });
const putTrigger = (row: Trigger): RowWrite => {
  return { op: 'put', table: 'trigger', key: [row.job, row.name], row };
};
const putOccurrence = (row: Occurrence): RowWrite => {
  const key = [row.job, row.trigger, row.nominal, row.rerun] as const;
  return { op: 'put', table: 'occurrence', key, row };
};

function occurrence(nominal: number, change: Partial<Occurrence> = {}): Occurrence {
  const of = { job: 'nightly', trigger: 'default', nominal, rerun: 0, until: nominal, count: 1 };
  const said = { state: 'ran', reason: null, calendar: null, taskId: `t-${nominal}` } as const;
  return { ...of, ...said, noticedAt: NOW, ...change };
}

describeStores('jobs in a store', (open) => {
  let store: DefaultStore;
  let tasks: TaskStore;
  beforeEach(async () => {
    store = await open();
    tasks = store;
    await tasks.takeTerm('test', NOW);
  });
  const write = (...writes: RowWrite[]) => tasks.commit(commit(1, { writes }));

  it('gives back what was put, and sets how runs have ended alone', async () => {
    const job = sampleJob({
      tags: ['a'],
      description: '\u{1F600}',
      template: '{"task": {"n":1.0}}',
    });
    const skips = [NOW + 5, NOW + 6];
    const openRun = {
      nominal: NOW,
      state: 'skipped',
      count: 3,
      reason: 'x',
      calendar: null,
    } as const;
    const paused = { at: NOW, reason: 'broken' };
    const trigger = sampleTrigger({ skips, openRun, paused, decidedAhead: [NOW + 7] });
    await write(putJob(job), putTrigger(trigger));
    const row = { lastStartedAt: NOW, lastEndedAt: NOW + 1, recent: 'sf' };
    await write({ op: 'set', table: 'job', key: job.name, expect: 'any', row, large: false });
    const shown = await tasks.jobs.showJob(job.name);
    expect(shown).to.deep.equal({ job: { ...job, ...row }, triggers: [trigger] });
    expect(await tasks.jobs.showJob('other')).to.equal(null);
  });

  it('sets how far a round of triggers is, and leaves the black-outs as they are', async () => {
    const row = { name: '', version: 3, text: '{"blackouts":[]}', changedAt: NOW, by: 'ann' };
    const key = row.name;
    await write({ op: 'put', table: 'calendar', key, row: { ...row, replanAfter: '' } });
    for (const replanAfter of ['a/default', null]) {
      const set = { op: 'set', table: 'calendar', key, expect: 'any' } as const;
      await write({ ...set, row: { replanAfter }, large: false });
      expect((await tasks.loadWhole()).calendar).to.deep.equal([{ ...row, replanAfter }]);
    }
  });

  it('finds what is due between two instants, in the order of its time', async () => {
    const at = (name: string, nextAt: number | null) => putTrigger(sampleTrigger({ name, nextAt }));
    await write(at('old', NOW - 9_000), at('new', NOW - 10), at('next', NOW + 7), at('off', null));
    const namesOf = (triggers: readonly Trigger[]) => triggers.map(({ name }) => name);
    const dueIn = async (since: number, now: number, dueCount = 10, missedCount = 10) => {
      const asked = { since, now, dueCount, missedCount };
      const { due, missed, nextAt } = await tasks.jobs.loadDueTriggers(asked);
      return [namesOf(due), namesOf(missed), nextAt];
    };
    expect(await dueIn(0, NOW)).to.deep.equal([['old', 'new'], [], NOW + 7]);
    expect(await dueIn(0, NOW, 1)).to.deep.equal([['old'], [], NOW + 7]);
    expect(await dueIn(NOW - 9_000, NOW + 7)).to.deep.equal([['new', 'next'], ['old'], null]);
    expect(await dueIn(NOW, NOW + 1, 10, 1)).to.deep.equal([[], ['old'], NOW + 7]);
    expect(await tasks.jobs.firstTriggerAt(NOW)).to.equal(NOW + 7);
    expect(await tasks.jobs.firstTriggerAt(NOW + 7)).to.equal(null);
  });

  it('reads as many jobs as fit, and what listens to one or goes by calendars', async () => {
    const template = JSON.stringify({ task: 'x'.repeat(600) });
    const names = Array.from({ length: 12 }, (_, n) => `job-${n}`);
    await write(...names.map((name) => putJob(sampleJob({ name, template }))));
    const { jobs, rest } = await tasks.jobs.loadJobs(['none', ...names], 2_000);
    expect(jobs.map(({ name }) => name)).to.deep.equal(names.slice(0, 3));
    expect(rest).to.deep.equal(names.slice(3));
    // Also of few.
    const few = await tasks.jobs.loadJobs(names.slice(0, 5), 2_000);
    expect(few.rest).to.deep.equal(names.slice(3, 5));
    const none = { jobs: [], rest: [] };
    expect(await tasks.jobs.loadJobs(['none'], 2_000)).to.deep.equal(none);
    const on = { kind: 'on', source: 'job-1', isCalendared: false } as const;
    const by = (job: string, name: string) => putTrigger(sampleTrigger({ job, name }));
    const heard = putTrigger(sampleTrigger({ job: 'job-2', name: 'c', ...on }));
    await write(by('job-1', 'a'), by('job-1', 'b'), by('job-3', 'a'), heard);
    const listeners = await tasks.jobs.loadListeners('job-1', 5);
    expect(listeners.map(({ name }) => name)).to.deep.equal(['c']);
    const page = await tasks.jobs.loadCalendared('job-1/a', 5);
    expect(page.map(({ job, name }) => `${job}/${name}`)).to.deep.equal(['job-1/b', 'job-3/a']);
    expect(await tasks.jobs.loadTriggers(['job-1', 'job-2'])).to.have.length(3);
  });

  it('lists jobs by name, of those that are asked for', async () => {
    const named = (name: string, change: Partial<Job> = {}) =>
      putJob(sampleJob({ name, ...change }));
    await write(
      named('c', { tags: ['x'] }),
      named('a'),
      named('b', { isEnabled: false, group: 'h' }),
    );
    const none = { after: '', limit: 2, tag: null, text: null, isEnabled: null, within: null };
    const list = async (change: object) => {
      const { jobs, after } = await tasks.jobs.listJobs({ ...none, ...change });
      return { names: jobs.map(({ name }) => name), after };
    };
    expect(await tasks.jobs.countJobs('', 2)).to.deep.equal({ count: 2, last: 'b' });
    expect(await tasks.jobs.countJobs('b', 2)).to.deep.equal({ count: 1, last: 'c' });
    expect(await tasks.jobs.countJobs('c', 2)).to.deep.equal({ count: 0, last: null });
    expect(await list({})).to.deep.equal({ names: ['a', 'b'], after: 'b' });
    expect(await list({ after: 'b' })).to.deep.equal({ names: ['c'], after: null });
    expect(await list({ tag: 'x' })).to.deep.equal({ names: ['c'], after: null });
    expect(await list({ text: 'B' })).to.deep.equal({ names: ['b'], after: null });
    expect(await list({ isEnabled: false })).to.deep.equal({ names: ['b'], after: null });
    const within = { groups: ['h'], types: null };
    expect(await list({ within })).to.deep.equal({ names: ['b'], after: null });
  });

  it('ends a page of jobs before they are too large, though not before the first', async () => {
    const spec = JSON.stringify({ triggers: ['x'.repeat(400 * 1024)] });
    const huge = JSON.stringify({ triggers: ['x'.repeat(1_100 * 1024)] });
    const jobs = ['a', 'b', 'c', 'd'].map((name) => sampleJob({ name, spec }));
    await write(...jobs.map(putJob), putJob(sampleJob({ name: 'e', spec: huge })));
    await write(...['a', 'd'].map((job) => putTrigger(sampleTrigger({ job }))));
    const none = { limit: 200, tag: null, text: null, isEnabled: null, within: null };
    const list = async (after: string) => {
      const page = await tasks.jobs.listJobs({ ...none, after });
      expect(page.jobs[0]).to.have.property('spec', page.jobs[0]?.name === 'e' ? huge : spec);
      const names = page.jobs.map(({ name }) => name);
      return [names, page.triggers.map(({ job }) => job), page.after];
    };
    expect(await list('')).to.deep.equal([['a', 'b'], ['a'], 'b']);
    expect(await list('b')).to.deep.equal([['c', 'd'], ['d'], 'd']);
    expect(await list('d')).to.deep.equal([['e'], [], null]);
  });

  it('reads one version of a job without the others', async () => {
    const row = { job: 'a', spec: '{}', template: '{"task":{}}', at: NOW, by: 'me' };
    const put = (version: number): RowWrite => {
      const key = [row.job, version] as const;
      return { op: 'put', table: 'jobVersion', key, row: { ...row, version } };
    };
    await write(put(1), put(2));
    expect(await tasks.jobs.readVersion('a', 2)).to.deep.equal({ ...row, version: 2 });
    expect(await tasks.jobs.readVersion('a', 3)).to.equal(null);
    expect(await tasks.jobs.readVersion('b', 1)).to.equal(null);
  });

  it('keeps of a task of which job it is a run, and for which backfill', async () => {
    const of = { name: 'nightly', version: 2, trigger: 'default', nominal: NOW };
    const jobs = [null, { ...of, backfill: null }, { ...of, backfill: AGAIN }];
    const inserts = jobs.map((job, seq) => sampleTask({ seq: seq + 1, id: `t-${seq}`, job }));
    await tasks.commit(commit(1, { inserts }));
    const found = await tasks.findTasks(['t-0', 't-1', 't-2'], 10_000);
    expect([...found.values()].map((stored) => stored?.task.job)).to.deep.equal(jobs);
  });

  it('keeps how far a backfill is', async () => {
    const within = { groups: ['g'], types: null };
    const times = { from: NOW - 60_000, until: NOW, which: 'missing_failed' } as const;
    const of = { job: 'nightly', trigger: 'default', maxRunning: 2, reason: null };
    const row: Work = {
      id: AGAIN.operationId,
      kind: 'backfill',
      request: { action: 'backfill', ...of, ...times, within },
      ids: ['nightly.default.1.r1'],
      cursor: String(NOW - 30_000),
      state: 'running',
      counts: { total: 9, done: 1, asked: 0, skipped: 0, failed: 1 },
      isExact: true,
      problems: [],
      by: null,
      createdAt: NOW,
      endedAt: null,
    };
    await write({ op: 'put', table: 'work', key: row.id, row });
    expect((await tasks.loadWhole()).work).to.deep.equal([row]);
  });

  it('reads the records of some times of a trigger, and what may stand for the first', async () => {
    await write(
      putOccurrence(occurrence(1)),
      putOccurrence(occurrence(2, { state: 'skipped', until: 6, count: 5, taskId: null })),
      putOccurrence(occurrence(2, { rerun: 1 })),
      putOccurrence(occurrence(3, { rerun: 1 })),
      putOccurrence(occurrence(5, { rerun: 2 })),
      putOccurrence(occurrence(5, { rerun: 1 })),
      putOccurrence(occurrence(5, { trigger: 'a' })),
      putOccurrence(occurrence(7)),
    );
    const of = { job: 'nightly', trigger: 'default' };
    const read = async (from: number, to: number, limit = 10) => {
      const found = await tasks.jobs.loadRecords(of, from, to, limit);
      return found.map(({ nominal, rerun }) => `${nominal} r${rerun}`);
    };
    expect(await read(4, 7)).to.deep.equal(['2 r0', '5 r1', '5 r2', '7 r0']);
    expect(await read(4, 7, 2)).to.deep.equal(['2 r0', '5 r1', '5 r2']);
    expect(await read(1, 2)).to.deep.equal(['1 r0', '2 r0', '2 r1']);
    expect(await read(8, 9)).to.deep.equal(['7 r0']);
  });

  it('tells of the times of a span what has begun before and reaches into it', async () => {
    const long = { state: 'merged', until: 6, count: 5, taskId: null } as const;
    await write(
      putTrigger(sampleTrigger({ job: 'nightly', name: 'default' })),
      putTrigger(sampleTrigger({ job: 'nightly', name: 'a' })),
      putOccurrence(occurrence(1)),
      putOccurrence(occurrence(2, long)),
      putOccurrence(occurrence(3, { ...long, trigger: 'a' })),
      putOccurrence(occurrence(4, { trigger: 'a', until: 5 })),
      putOccurrence(occurrence(7)),
    );
    const of = { job: 'nightly', trigger: null, state: null, noticedFrom: null, after: null };
    const list = async (from: number, to: number | null, change: object = {}) => {
      const query = { ...of, from, to, limit: 10, ...change };
      const { occurrences } = await tasks.jobs.listOccurrences(query);
      return occurrences.map(({ nominal, trigger }) => `${nominal} ${trigger}`);
    };
    expect(await list(5, null)).to.deep.equal(['7 default', '4 a', '2 default']);
    expect(await list(5, 7)).to.deep.equal(['4 a', '2 default']);
    expect(await list(5, null, { limit: 2 })).to.deep.equal(['7 default', '4 a']);
    expect(await list(5, null, { after: [4, 'a', 0] })).to.deep.equal(['2 default']);
    expect(await list(5, 7, { trigger: 'a' })).to.deep.equal(['4 a']);
    expect(await list(5, 7, { state: 'merged' })).to.deep.equal(['2 default']);
    expect(await list(7, 8)).to.deep.equal(['7 default']);
  });

  it('tells what has become of times, the newest first, and forgets the old but what waits', async () => {
    await write(
      putOccurrence(occurrence(1)),
      putOccurrence(occurrence(2, { trigger: 'a' })),
      putOccurrence(occurrence(2, { rerun: 1 })),
      putOccurrence(occurrence(3, { state: 'pending', taskId: null })),
      putOccurrence(occurrence(4, { noticedAt: NOW + 9 })),
    );
    const of = { job: 'nightly', trigger: null, state: null, after: null };
    const none = { ...of, from: null, to: null, noticedFrom: null };
    const list = async (change: object) => {
      const { occurrences } = await tasks.jobs.listOccurrences({ ...none, limit: 10, ...change });
      return occurrences.map(({ nominal, trigger, rerun }) => `${nominal} ${trigger} ${rerun}`);
    };
    const all = ['4 default 0', '3 default 0', '2 default 1', '2 a 0', '1 default 0'];
    expect(await list({})).to.deep.equal(all);
    expect(await list({ after: [2, 'default', 1] })).to.deep.equal(all.slice(3));
    expect(await list({ trigger: 'default', to: 4 })).to.deep.equal([all[1], all[2], all[4]]);
    expect(await list({ state: 'pending' })).to.deep.equal([all[1]]);
    expect(await list({ noticedFrom: NOW + 9 })).to.deep.equal([all[0]]);
    expect(await store.dropOccurrences(NOW + 1)).to.equal(3);
    expect(await list({})).to.deep.equal(all.slice(0, 2));
  });

  it('looks at so many records at most for what no index leads to, and goes on behind them', async () => {
    const end = OCCURRENCE_LOOK_COUNT_MAX + 1_500;
    for (let begin = 0; begin < end; begin += 2_000) {
      const rows = Array.from({ length: 2_000 }, (_, at) => occurrence(begin + at + 3));
      await write(...rows.map(putOccurrence));
    }
    const fresh = NOW + 9;
    await write(
      putOccurrence(occurrence(1, { state: 'skipped', taskId: null })),
      putOccurrence(occurrence(2, { rerun: 1, noticedAt: fresh })),
    );
    const none = { job: 'nightly', trigger: null, state: null, from: null, to: null };
    const all = async (change: object) => {
      const found: number[] = [];
      let after: OccurrenceQuery['after'] = null;
      for (let pageCount = 1; ; pageCount++) {
        const query = { ...none, noticedFrom: null, after, limit: 5, ...change };
        const { occurrences, lookedTo } = await tasks.jobs.listOccurrences(query);
        found.push(...occurrences.map(({ nominal }) => nominal));
        if (lookedTo === null) return { found, pageCount };
        after = lookedTo;
      }
    };
    // What is in memory is looked at in one go.
    const { pageCount } = await all({ trigger: 'default', state: 'skipped' });
    expect(pageCount).to.be.oneOf([1, 2]);
    if (pageCount === 1) expect(tasks.jobs).to.be.instanceOf(MemoryJobs);
    const asked = { trigger: 'default', state: 'skipped' };
    expect(await all(asked)).to.deep.equal({ found: [1], pageCount });
    expect(await all({ noticedFrom: fresh })).to.deep.equal({ found: [2], pageCount });
    expect(await all({ state: 'skipped' })).to.deep.equal({ found: [1], pageCount: 1 });
  });
});
