/** What operators set for all tasks: pauses, and limits for what waits and what runs. */
import { expect } from 'chai';
import type { NewSettings } from '../../../master/domain/events.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { nextWakeAt, NO_SETTINGS } from '../../../master/domain/state/state.ts';
import {
  BEGIN,
  finished,
  HOUR,
  MINUTE,
  observed,
  offers,
  Scheduler,
  SECOND,
  written,
} from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

function set(settings: Partial<NewSettings>) {
  return scheduler.command({ type: 'settingsChanged', ...NO_SETTINGS, ...settings });
}

const pause = (until: number | null = null, reason: string | null = null) =>
  set({ paused: { by: null, reason, until } });

describe('a pause', () => {
  it('is written, and answered then', () => {
    const out = pause(BEGIN + HOUR, 'storage is full');
    expect(out.reply).to.deep.equal({ kind: 'done' });
    expect(out.changes).to.deep.equal([
      {
        op: 'settings',
        settings: {
          paused: { at: BEGIN, by: null, reason: 'storage is full', until: BEGIN + HOUR },
          maxWaiting: null,
          maxRunning: null,
          retention: 'normal',
        },
      },
    ]);
  });

  it('lets nothing be offered, until somebody ends it', () => {
    scheduler.connect('x');
    pause();
    expect(offers(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal([]);
    expect(offers(scheduler.connect('y'))).to.deep.equal([]);
    expect(offers(scheduler.pass(HOUR))).to.deep.equal([]);
    expect(offers(set({}))).to.have.length(2);
  });

  it('is of nobody who has gone meanwhile', () => {
    scheduler.connect('x');
    pause();
    scheduler.submit({});
    scheduler.disconnect('x', true);
    expect(offers(set({}))).to.deep.equal([]);
    expect(scheduler.state.freed.size).to.equal(0);
  });

  it('lets start what is offered, and end what runs', () => {
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.run('x', { id: 'runs' });
    scheduler.submit({ id: 'offered' });
    pause();
    scheduler.accept('y');
    expect(scheduler.task('offered').state).to.equal('running');
    const out = scheduler.end('x');
    expect(finished(out).map(({ id }) => id)).to.deep.equal(['runs']);
  });

  it('ends by itself, as planned', () => {
    scheduler.connect('x');
    pause(BEGIN + MINUTE);
    scheduler.submit({});
    expect(nextWakeAt(scheduler.state)).to.be.at.most(BEGIN + MINUTE);
    expect(offers(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    const out = scheduler.pass(1);
    expect(offers(out)).to.deep.equal(['a -> x']);
    expect(written(out)).to.include('settings');
    expect(scheduler.state.settings).to.deep.equal(NO_SETTINGS);
  });

  it('ends when it was last said to', () => {
    pause(BEGIN + MINUTE);
    scheduler.pass(SECOND);
    pause(BEGIN + HOUR);
    scheduler.pass(2 * MINUTE);
    expect(scheduler.state.settings.paused).to.include({ at: BEGIN, until: BEGIN + HOUR });
    pause();
    scheduler.pass(2 * HOUR);
    expect(scheduler.state.settings.paused).to.include({ at: BEGIN, until: null });
  });

  it('lasts through a restart, and ends in it', () => {
    const settings = {
      ...NO_SETTINGS,
      paused: { at: BEGIN, by: null, reason: null, until: BEGIN + MINUTE },
    };
    ({ scheduler } = Scheduler.restored({ settings }));
    scheduler.connect('x');
    expect(offers(scheduler.submit({}))).to.deep.equal([]);
    expect(offers(scheduler.pass(MINUTE))).to.deep.equal(['a -> x']);
  });

  it('does not count for the start of a task, and its deadline goes on', () => {
    scheduler.submit(
      { id: 'start', startTimeoutMs: MINUTE },
      { id: 'alert', startTimeoutMs: MINUTE, startTimeoutAction: 'alert' },
      { id: 'deadline', deadlineAt: BEGIN + HOUR },
    );
    scheduler.pass(50 * SECOND);
    pause();
    scheduler.submit({ id: 'in it', startTimeoutMs: MINUTE });
    const paused = scheduler.pass(2 * HOUR);
    expect(finished(paused).map(({ id }) => id)).to.deep.equal(['deadline']);
    expect(observed(paused)).not.to.include('start_overdue');
    expect(written(set({}))).to.include('credit');
    expect(finished(scheduler.pass(10 * SECOND - 1))).to.deep.equal([]);
    const out = scheduler.pass(1);
    expect(finished(out).map(({ id }) => id)).to.deep.equal(['start']);
    expect(observed(out)).to.include('start_overdue');
    expect(finished(scheduler.pass(50 * SECOND)).map(({ id }) => id)).to.deep.equal(['in it']);
  });

  it('does not count either where an offer has come to nothing in it', () => {
    scheduler.connect('x');
    scheduler.submit({ startTimeoutMs: MINUTE });
    scheduler.pass(SECOND);
    pause();
    scheduler.pass(3 * SECOND);
    scheduler.reject('x');
    scheduler.pass(HOUR);
    scheduler.disconnect('x', true);
    set({});
    expect(finished(scheduler.pass(59 * SECOND - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1)).map(({ id }) => id)).to.deep.equal(['a']);
  });

  it('counts once where there was no master for a part of it', () => {
    const settings = {
      ...NO_SETTINGS,
      paused: { at: BEGIN - HOUR, by: null, reason: null, until: null },
    };
    const { output } = Scheduler.restored({ settings, aliveAt: BEGIN - MINUTE });
    expect(written(output)).to.deep.equal([]);
  });
});

describe('max_running', () => {
  it('has reserved executors serve first, as without it', () => {
    set({ maxRunning: 2 });
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    scheduler.connect('r', { labels: ['urgent'], reserve: ['urgent'] });
    const urgent = { id: 'urgent', labels: ['urgent'] };
    expect(offers(scheduler.submit(urgent, { id: 'plain' }))).to.deep.equal([
      'urgent -> r',
      'plain -> x',
    ]);
  });

  it('lets so many begin, in their order, and the next as soon as one has ended', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    set({ maxRunning: 2 });
    const out = scheduler.submit({ id: 'a', type: 'echo' }, { id: 'b' }, { id: 'c' }, { id: 'd' });
    expect(offers(out)).to.deep.equal(['a -> x', 'b -> y']);
    scheduler.accept('x');
    const ended = scheduler.end('x');
    expect(offers(ended), 'in the commit of the end').to.deep.equal(['c -> z']);
  });

  it('gives its room to what comes first, whoever became free', () => {
    set({ maxRunning: 1 });
    scheduler.connect('x');
    scheduler.submit({ id: '1' }, { id: '2' }, { id: 'last', labels: ['other'] });
    scheduler.accept('x');
    scheduler.connect('y', { reserve: ['other'] });
    scheduler.connect('z');
    expect(offers(scheduler.end('x'))).to.deep.equal(['2 -> z']);
  });

  it('counts an attempt until its executor has reported, though the task has gone on', () => {
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.run('x');
    set({ maxRunning: 1 });
    scheduler.submit({ id: 'b' });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    const fenced = scheduler.pass(10 * SECOND);
    expect(finished(fenced).map(({ id }) => id)).to.deep.equal(['a']);
    expect(offers(fenced)).to.deep.equal([]);
    const out = scheduler.end('x', { taskId: 'a', attempt: 1, outcome: 'canceled' });
    expect(offers(out)).to.have.length(1);
  });

  it('counts it until the lease has ended, also where another process has taken over the id', () => {
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.run('x');
    set({ maxRunning: 1 });
    scheduler.submit({ id: 'b' });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    scheduler.pass(10 * SECOND);
    const out = scheduler.connect('x', { sessionId: 'x/2', incarnation: 'two' });
    expect(offers(out)).to.deep.equal([]);
    expect(offers(scheduler.pass(scheduler.state.policy.leaseMs + SECOND))).to.have.length(1);
  });

  it('is exact after a restart', () => {
    scheduler.connect('x');
    const task = { ...scheduler.run('x') };
    const settings = { ...NO_SETTINGS, maxRunning: 1 };
    ({ scheduler } = Scheduler.restored({ active: [task], settings }));
    scheduler.connect('y');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    expect(offers(scheduler.pass(scheduler.state.policy.leaseMs + SECOND))).not.to.deep.equal([]);
  });

  it('counts also after a restart what is over, and was not reported', () => {
    const deaf = new Scheduler();
    deaf.connect('x');
    deaf.run('x');
    deaf.command({ type: 'cancelRequested', taskId: 'a' });
    const fenced = deaf.pass(10 * SECOND);
    const { incarnation } = deaf.executor('x');
    const of = { type: 'echo', group: 'g', gate: null };
    const row = { taskId: 'a', attempt: 1, executorId: 'x', incarnation, ...of };
    const put = { op: 'put', table: 'leftover', key: ['a', 1], row };
    expect(fenced.changes).to.deep.include(put);

    const settings = { ...NO_SETTINGS, maxRunning: 1 };
    const whole = { ...noRows, leftover: [row] };
    ({ scheduler } = Scheduler.restored({ whole, settings }));
    scheduler.connect('y');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    const running = [{ taskId: 'a', attempt: 1, state: 'running' as const }];
    expect(offers(scheduler.connect('x', { incarnation, running }))).to.deep.equal([]);
    const out = scheduler.end('x', { outcome: 'canceled' });
    expect(offers(out)).to.have.length(1);
    expect(written(out)).to.include('remove leftover');
  });

  it('ends nothing where it is lowered, and lets begin what waits where it is lifted', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    scheduler.submit({ id: 'a' }, { id: 'b' });
    for (const id of ['x', 'y']) scheduler.accept(id);
    set({ maxRunning: 1 });
    scheduler.submit({ id: 'c' });
    expect(offers(scheduler.end('x'))).to.deep.equal([]);
    expect(scheduler.task('b').state).to.equal('running');
    expect(offers(set({}))).to.have.length(1);
  });
});

describe('max_waiting', () => {
  it('refuses a submit beyond it, and names it', () => {
    set({ maxWaiting: 2 });
    const { outcomes } = scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c' });
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'accepted', 'limited']);
    const message = '2 waiting already, and max_waiting is 2';
    expect(outcomes[2]).to.include({ limit: 'max_waiting', message });
  });

  it('refuses a retry beyond it, but nothing that was accepted', () => {
    scheduler.connect('x');
    scheduler.run('x');
    const [ended] = finished(scheduler.fail('x', { retryable: false }));
    if (ended === undefined) throw new Error('it goes on');
    scheduler.run('x', { id: 'b' });
    set({ maxWaiting: 1 });
    scheduler.submit({ id: 'c' });
    const retry = { type: 'retryRequested', taskId: 'a', task: ended } as const;
    expect(scheduler.command(retry).reply).to.include({ kind: 'limited', limit: 'max_waiting' });
    scheduler.fail('x');
    expect(scheduler.task('b').state).to.equal('waiting');
  });
});

describe('explain', () => {
  it('paused: for how long, and why', () => {
    pause(BEGIN + MINUTE, 'storage is full');
    scheduler.submit({});
    const storageFull = { at: BEGIN, by: null, reason: 'storage is full', until: BEGIN + MINUTE };
    expect(explain(scheduler.state, scheduler.task('a'), scheduler.now)).to.deep.include({
      reason: 'paused',
      message: 'Nothing is started for another 1 min: storage is full',
      pauses: [{ scope: 'namespace', value: '', ...storageFull }],
    });
  });

  it('limited: so many run', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    set({ maxRunning: 1 });
    scheduler.submit({ id: 'a' }, { id: 'b' });
    expect(explain(scheduler.state, scheduler.task('b'), scheduler.now)).to.deep.include({
      reason: 'limited',
      message: '1 of at most 1 (max_running) run.',
      limit: { name: 'max_running', max: 1, used: 1 },
    });
  });
});
