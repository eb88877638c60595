/** What steps tell the feed: each thing that happens, in its order, and of each kind just what the table of kinds says. */
import { idleActivity, type Job, type Trigger } from '../../../master/domain/model/job.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { newTask } from '../../helpers/task.ts';
import { eventKinds } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { FEED_KINDS, type FeedEvent } from '../../../master/domain/feed/feed-event.ts';
import { numbered } from '../../../master/domain/feed/tell.ts';
import type { Output } from '../../../master/domain/effects.ts';
import { ANY_TASK } from '../../../master/domain/model/task-filter.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import { TOLD_AT_ONCE_MAX, TOLD_PER_SECOND_MAX } from '../../../master/domain/bounds.ts';
import { callbacks, finished, Scheduler, stops, written } from '../../helpers/domain.ts';
import { ofBookings } from './told-of-bookings.ts';

const author = { actor: 'ann', role: 'admin', address: '', action: 'x', namespace: 'default' };
const kindsOf = (told: readonly FeedEvent[]) => told.map(({ kind }) => kind);

/** What a commit of it would tell. */
function toldBy(scheduler: Scheduler, ...outs: Output[]): readonly FeedEvent[] {
  const told = outs.flatMap((out) => out.told);
  return numbered(scheduler.state, { changes: outs.flatMap((out) => out.changes), told });
}

describe('the feed', () => {
  it('tells the story of a task in the order in which it happens, with numbers that have no gaps', () => {
    const scheduler = new Scheduler({ feedLevel: 'all' });
    scheduler.connect('x');
    const story = toldBy(
      scheduler,
      scheduler.submit({ notifyUrl: 'http://receiver.test/' }),
      scheduler.accept('x'),
      scheduler.progress('x', { percent: 34 }),
      scheduler.progress('x', { percent: 36, checkpoint: '"half"' }),
      scheduler.fail('x', { retryAfterMs: 1_000 }),
      scheduler.pass(1_000),
      scheduler.accept('x'),
      scheduler.end('x'),
    );
    const kinds = [
      ...['submitted', 'offered', 'started', 'progress', 'checkpoint', 'attempt_ended'],
      ...['offered', 'started', 'finished'],
    ].map((name) => `task.${name}`);
    expect(kindsOf(story)).to.deep.equal(kinds);
    expect(story.map(({ seq }) => seq)).to.deep.equal(story.map((_, index) => index + 1));
    expect(story.map(({ attempt }) => attempt)).to.deep.equal([null, 1, 1, 1, 1, 1, 2, 2, 2]);
    for (const { taskId, type, group } of story) {
      expect([taskId, type, group]).to.deep.equal(['a', 'echo', 'g']);
    }
    expect(story.at(-1)?.data).to.equal('{"state":"succeeded"}');
  });

  it('keeps that a task has started for the commit that writes its row, and tells it before whatever comes then', () => {
    const scheduler = new Scheduler({ feedLevel: 'all' });
    scheduler.connect('x');
    scheduler.submit({});
    const accepted = scheduler.accept('x');
    const other = scheduler.submit({ id: 'b', type: 'other' });
    expect(kindsOf(toldBy(scheduler, accepted, other))).to.deep.equal(['task.submitted']);
    expect(kindsOf(scheduler.end('x').told)).to.deep.equal(['task.started', 'task.finished']);
  });

  it('tells of an attempt that ends how far it was, and in which step', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.run('x');
    scheduler.progress('x', { percent: 54.1, state: '{"path":"k/z.mp4","of":2.0}' });
    const story = toldBy(scheduler, scheduler.fail('x', { retryAfterMs: 1_000 }));
    const end = story.find(({ kind }) => kind === 'task.attempt_ended');
    expect(end?.data).to.match(
      /^\{"outcome":"failed",.*"percent":54.1,"state":\{"path":"k\/z.mp4","of":2.0\}\}$/,
    );
  });

  it('tells every tenth of an attempt once, however it is reported', () => {
    const scheduler = new Scheduler({ feedLevel: 'all' });
    scheduler.connect('x');
    scheduler.run('x');
    toldBy(scheduler, scheduler.pass(1_000));
    for (const percent of [5, 10, 9, 11, 10, 55, 49, 60]) scheduler.progress('x', { percent });
    const told = toldBy(scheduler, scheduler.pass(1_000)).map(({ data }) => data);
    expect(told).to.deep.equal(['{"percent":10}', '{"percent":55}', '{"percent":60}']);
  });

  describe('has events of executors', () => {
    function running(policy: ConstructorParameters<typeof Scheduler>[0] = {}) {
      const scheduler = new Scheduler(policy);
      scheduler.connect('x');
      scheduler.run('x');
      return scheduler;
    }
    const told = (out: Output) => out.told.map(({ kind, data }) => [kind, data]);

    it('each once, of its attempt, with the row that says so', () => {
      const scheduler = running();
      const out = scheduler.tell('x', 'segment', { n: 1, data: '{"at":1.0}' });
      expect(out.told).to.have.length(1);
      expect(out.told[0]).to.deep.include({
        ...{ kind: 'user.segment', taskId: 'a', type: 'echo', group: 'g', attempt: 1 },
        ...{ executorId: 'x', actor: null, data: '{"at":1.0}' },
      });
      expect(written(out)).to.deep.equal(['set task']);
      expect(told(scheduler.tell('x', 'segment', { n: 1 }))).to.deep.equal([]);
      expect(told(scheduler.tell('x', 'other', { n: 2 }))).to.deep.equal([['user.other', null]]);

      // As a master that begins has it, from the row.
      const rows = { active: [{ ...scheduler.task('a') }] };
      const { scheduler: next } = Scheduler.restored(rows);
      next.connect('x', { running: [{ taskId: 'a', attempt: 1, state: 'running' }] });
      expect(told(next.tell('x', 'other', { n: 2 }))).to.deep.equal([]);
      expect(told(next.tell('x', 'note', { n: 3 }))).to.deep.equal([['user.note', null]]);
      scheduler.fail('x', { retryAfterMs: 1_000 });
      scheduler.pass(1_000);
      scheduler.accept('x');
      const anew = scheduler.tell('x', 'note', { n: 1 });
      expect(anew.told.map(({ kind, attempt }) => [kind, attempt])).to.deep.equal([
        ['user.note', 2],
      ]);
    });

    it('and says how many are missing', () => {
      const scheduler = running();
      scheduler.tell('x', 'a', { n: 1 });
      expect(told(scheduler.tell('x', 'b', { n: 5 }))).to.deep.equal([
        ['task.events_dropped', '{"count":3}'],
        ['user.b', null],
      ]);
    });

    it('as many as one may tell at once, and so many a second', () => {
      const scheduler = running();
      let n = 0;
      const tell = () => scheduler.tell('x', 'a', { n: ++n }).told;
      for (let count = 1; count <= TOLD_AT_ONCE_MAX; count++) expect(tell()).to.have.length(1);
      expect([...tell(), ...tell()]).to.deep.equal([]);
      scheduler.pass(1_000);
      expect(kindsOf(tell())).to.deep.equal(['task.events_dropped', 'user.a']);
      for (let count = 2; count <= TOLD_PER_SECOND_MAX; count++) expect(tell()).to.have.length(1);
      expect(tell()).to.deep.equal([]);
    });

    it('nothing of an attempt that is not its own, or without proof', () => {
      const scheduler = running();
      for (const about of [{ attempt: 2 }, { taskId: 'b' }]) {
        const out = scheduler.tell('x', 'a', { n: 1, ...about });
        expect(told(out)).to.deep.equal([]);
        expect(stops(out)).to.have.length(1);
      }
      const about = { executorId: 'x', sessionId: 'x/1', frameSeq: 1, taskId: 'a', attempt: 1 };
      const unproven = { ...about, type: 'eventTold', name: 'a', n: 1, data: undefined } as const;
      expect(told(scheduler.send({ ...unproven, isUnproven: true }))).to.deep.equal([]);
      expect(told(running({ feedLevel: 'none' }).tell('x', 'a', { n: 1 }))).to.deep.equal([]);
    });
  });

  it('leaves out what its level does', () => {
    const told = (feedLevel: 'ends' | 'none') => {
      const scheduler = new Scheduler({ feedLevel });
      const outs = [scheduler.connect('x'), scheduler.submit({}), scheduler.accept('x')];
      return kindsOf(toldBy(scheduler, ...outs, scheduler.end('x')));
    };
    const ends = ['executor.joined', 'task.submitted', 'task.finished'];
    expect(told('ends')).to.deep.equal(ends);
    expect(told('none')).to.deep.equal([]);
  });

  it('says whose command it was, of what that command has done and of nothing else', () => {
    const scheduler = new Scheduler({ feedLevel: 'all' });
    scheduler.connect('x');
    scheduler.submit({ id: 'a' }, { id: 'b' });
    scheduler.accept('x');
    const command = (taskId: string) =>
      scheduler
        .command({ type: 'cancelRequested', taskId, author })
        .told.map(({ kind, actor }) => [kind, actor]);
    expect(command('b')).to.deep.equal([['task.finished', 'ann']]);
    expect(command('a')).to.deep.equal([
      ['task.started', null],
      ['task.cancel_requested', 'ann'],
    ]);
  });

  it('tells what people have set before all else, where that is written first', () => {
    const scheduler = new Scheduler({ feedLevel: 'all' });
    const pause = { by: null, reason: null, until: null };
    scheduler.command({ type: 'pauseSet', scope: 'group', value: 'g', pause });
    const out = scheduler.submit({});
    out.told.push(
      ...scheduler.command({ type: 'pauseSet', scope: 'group', value: 'g', pause: null }).told,
    );
    expect(kindsOf(numbered(scheduler.state, out, true))).to.deep.equal([
      'pause.ended',
      'task.submitted',
    ]);
  });

  it('tells all kinds that there are, each with the data that the table says', () => {
    const told = everything();
    const known: Readonly<Record<string, { readonly data: Readonly<Record<string, string>> }>> =
      eventKinds;
    expect(Object.keys(known)).to.have.members(Object.keys(FEED_KINDS));
    for (const { kind, data } of told) {
      const fields = JSON.parse(data ?? '{}') as Record<string, unknown>;
      const shape = known[kind]?.data ?? {};
      for (const name of Object.keys(fields)) expect(Object.keys(shape), kind).to.include(name);
      for (const [name, type] of Object.entries(shape)) {
        expect(isOfShape(fields[name], type), `${kind} ${name}: ${data}`).to.equal(true);
      }
    }
    const kinds = [...new Set(kindsOf(told))].filter((kind) => !kind.startsWith('user.'));
    expect(kinds.sort()).to.deep.equal(Object.keys(FEED_KINDS).sort());
  });
});

function isOfShape(value: unknown, shape: string): boolean {
  const [type = '', ...others] = shape.replace('?', '').split(' ');
  if (value === undefined) return shape.endsWith('?');
  if (value === null) return others.includes('null');
  if (type === 'texts') return Array.isArray(value);
  const types: Readonly<Record<string, string>> = { text: 'string', instant: 'number' };
  return typeof value === (types[type] ?? type);
}

/** Something of every kind. */
function everything(): readonly FeedEvent[] {
  const scheduler = new Scheduler({ feedLevel: 'all' });
  const outs: Output[] = [];
  const all = (...more: Output[]) => void outs.push(...more);
  const command = (event: Parameters<Scheduler['command']>[0]) => all(scheduler.command(event));
  const until = scheduler.now + 3_600_000;
  const url = 'http://receiver.test/';

  all(scheduler.connect('x'), scheduler.ready('x', 'no room'), scheduler.ready('x', true));
  all(scheduler.submit({ id: 'a', notifyUrl: url }), scheduler.reject('x'), scheduler.pass(10_000));
  all(scheduler.accept('x'), scheduler.progress('x', { percent: 20, checkpoint: '1' }));
  command({ type: 'suspendRequested', taskId: 'a' });
  all(scheduler.tell('x', 'note', { n: 2 }), scheduler.end('x', { outcome: 'canceled' }));
  all(scheduler.submit({ id: 'b', notifyUrl: url }), scheduler.accept('x'));
  const end = scheduler.end('x');
  const [callback] = callbacks(end);
  const [done] = finished(end);
  if (callback === undefined || done === undefined) throw new Error('it has not ended');
  all(end, scheduler.notified(callback, 'gone'));
  command({ type: 'redeliverRequested', taskId: 'b', notification: callback });
  command({ type: 'retryRequested', taskId: 'b', task: { ...done }, notification: null });
  all(scheduler.accept('x'), scheduler.end('x'));
  const deleted = { ...done, id: 'gone', seq: 99 };
  command({ type: 'deleteRequested', taskId: 'gone', task: deleted, notification: null });
  all(scheduler.submit({ id: 'c', runAt: scheduler.now + 60_000 }));
  const seen = { seq: null, version: null };
  command({ type: 'changeRequested', taskId: 'c', change: { priority: 5 }, seen });
  const edge = { time: 0, seq: 0 };
  command({ type: 'moveRequested', taskId: 'c', to: 'first', edge });
  command({ type: 'suspendRequested', taskId: 'c' });
  all(scheduler.submit({ id: 'd' }), scheduler.pass(10_000));
  const alerting = { startTimeoutMs: 1_000, startTimeoutAction: 'alert' } as const;
  all(scheduler.submit({ id: 'e', type: 'other', ...alerting }), scheduler.pass(2_000));
  const shelved = scheduler.task('e');
  command({ type: 'suspendRequested', taskId: 'e' });
  command({ type: 'taskResumeRequested', taskId: 'e', task: shelved });

  const executorId = 'x';
  const drain = { timeoutMs: 1_000, reason: 'kernel', by: 'ann' };
  command({ type: 'drainRequested', executorId, ...drain });
  command({ type: 'resumeRequested', executorId });
  command({ type: 'relabelRequested', executorId, override: { labels: ['gpu'] }, by: null });
  const types = ['none'];
  all(scheduler.connect('y', { types }), scheduler.disconnect('y', true), scheduler.connect('z'));
  scheduler.silence('z');
  all(scheduler.pass(60_000));
  all(scheduler.connect('w', { types }), scheduler.disconnect('w'));
  command({ type: 'removeRequested', executorId: 'w' });

  const limits = '{"limits":{"concurrency":{"pointer":"/film","max":1}}}';
  command({ type: 'typeSet', name: 'film', text: limits, expect: null });
  const film = { type: 'film', params: '{"film":1}' };
  all(scheduler.submit({ id: 'f', ...film }), scheduler.submit({ id: 'g', ...film }));
  command({ type: 'typeRemoved', name: 'film', expect: null, isForced: true });
  command({ type: 'typePaused', name: 'echo', reason: 'hot', until, by: 'ann' });
  command({ type: 'typeResumed', name: 'echo' });
  const layer = { text: '{"limits":{"max_running":1}}', by: 'ann', reason: 'hot', until };
  command({ type: 'typeOverridden', name: 'echo', layer });
  command({ type: 'typeOverridden', name: 'echo', layer: null });
  const pause = { by: 'ann', reason: 'hot', until };
  command({ type: 'pauseSet', scope: 'group', value: 'g', pause });
  command({ type: 'pauseSet', scope: 'group', value: 'g', pause: null });
  command({ type: 'settingsChanged', ...NO_SETTINGS, paused: pause, maxWaiting: 5_000 });
  command({ type: 'settingsChanged', ...NO_SETTINGS });
  command({ type: 'limitSet', name: 'gpu', limit: { name: 'gpu', max: 2, per: 'cluster' } });
  command({ type: 'limitSet', name: 'gpu', limit: null });
  const id = 'op-1';
  const within = { types: null, groups: null };
  const bulk = {
    action: 'cancel',
    filter: ANY_TASK,
    seqMax: 0,
    endedBefore: 0,
    change: null,
  } as const;
  const request = { ...bulk, within, reason: null };
  const counts = { total: 0, done: 0, asked: 0, skipped: 0, failed: 0 };
  const plan = { kind: 'bulk', ids: null, cursor: null, state: 'running', counts } as const;
  const rest = { isExact: true, problems: [], by: null, endedAt: null };
  command({ type: 'workRequested', work: { ...plan, ...rest, id, request } });
  command({ type: 'workSteered', workId: id, to: 'canceled' });
  all(...ofJobs(scheduler), ...ofBookings(scheduler));
  return toldBy(scheduler, ...outs);
}

/** What is told of jobs and calendars. */
function ofJobs(scheduler: Scheduler): Output[] {
  const outs: Output[] = [];
  const command = (event: Parameters<Scheduler['command']>[0]) =>
    void outs.push(scheduler.command(event));
  const calendar = { expect: null, isForced: false, isUsed: false, by: null };
  const days = '{"days":[],"weekend":[0]}';
  command({ type: 'calendarSet', name: 'cn', text: days, ...calendar });
  command({ type: 'calendarSet', name: 'cn', text: null, ...calendar });
  command({ type: 'calendarSet', name: '', text: '{"blackouts":[] }', ...calendar });
  const within = { types: null, groups: null };
  const job = sampleJob();
  const { name, spec, template, type, group, tags, description } = job;
  const definition = { spec, template, type, group, tags, description, isEnabled: null };
  const trigger = sampleTrigger();
  const found = {
    job: null,
    triggers: [],
    renewed: [trigger],
    run: null,
    byHandAt: 1,
    taken: null,
    refusal: null,
    jobCount: 0,
  };
  const asked = { name, definition, triggers: [], expect: null, isTrial: false, by: null };
  command({ type: 'jobSet', ...asked, within, found });
  const kept = {
    job,
    triggers: [trigger],
    renewed: [trigger],
    run: null,
    byHandAt: 1,
    taken: null,
    refusal: null,
    jobCount: 0,
  };
  command({ type: 'jobEnabled', name, isEnabled: false, within, found: kept });
  const off = { ...kept, job: { ...job, isEnabled: false } };
  command({ type: 'jobEnabled', name, isEnabled: true, within, found: off });
  const refused = { base: 'its type is gone', taskId: 'nightly.manual.k', isTaken: false };
  command({
    type: 'jobRun',
    name,
    key: 'k',
    params: null,
    within,
    found: { ...kept, run: refused },
  });
  const run = { ...refused, taskId: 'nightly.default.1', base: newTask({ type: 'none' }) };
  command({ type: 'jobRun', name, key: 'l', params: null, within, found: { ...kept, run } });
  outs.push(endOfRun(scheduler, trigger, job));
  command({ type: 'jobRemoved', name, expect: null, within, found: kept });
  return outs;
}

/** It has failed once too often. */
function endOfRun(scheduler: Scheduler, trigger: Trigger, job: Job): Output {
  const { name } = job;
  const end = {
    name,
    version: 1,
    trigger: 'default',
    nominal: scheduler.now,
    taskId: 'a',
    startedAt: null,
  };
  const ends = [{ ...end, state: 'failed', at: scheduler.now, error: 'no disk' } as const];
  scheduler.state.jobs.activities.set(name, { ...idleActivity(name), ends });
  const triggers = [{ trigger, spec: sampleSpec() }];
  const settled = { name, job, pauseAfter: 1, triggers, endCount: 1, listeners: [], pending: null };
  return scheduler.send({ type: 'settledLoaded', jobs: [settled] });
}
