/** What is set for types: how many of one run and wait, in all and of each group, and pauses. */
import { expect } from 'chai';
import { noRows } from '../../helpers/task.ts';
import { NO_SETTINGS } from '../../../master/domain/state/state.ts';
import type { Output } from '../../../master/domain/effects.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import {
  BEGIN,
  finished,
  HOUR,
  MINUTE,
  offers,
  Scheduler,
  SECOND,
  written,
} from '../../helpers/domain.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

function set(limits: object, name = 'echo') {
  const text = JSON.stringify({ limits });
  return scheduler.command({ type: 'typeSet', name, text, expect: null });
}
const user = (group: string) => ({ group, project: null, env: null, user: null });
/** What is offered is accepted. */
function begun(out: Output): string[] {
  const made = offers(out);
  for (const offer of made) scheduler.accept(offer.split(' -> ')[1] ?? '');
  return made;
}
const connect = (...ids: string[]) => ids.flatMap((id) => offers(scheduler.connect(id)));
const pause = (until: number | null = null) =>
  scheduler.command({ type: 'typePaused', name: 'echo', reason: null, until, by: null });
const resume = () => scheduler.command({ type: 'typeResumed', name: 'echo' });
const why = (id: string) => explain(scheduler.state, scheduler.task(id), scheduler.now);

describe('max_running of a type', () => {
  it('leaves idle who has nothing else, and offers in the step that frees a place', () => {
    set({ max_running: 1 });
    connect('x', 'y');
    expect(offers(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal(['a -> x']);
    expect(why('b')).to.deep.include({
      reason: 'limited',
      limit: { name: 'limits.max_running', max: 1, used: 1 },
    });
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.have.length(1);
  });

  it('is no matter of the step in which an offer is accepted: no place comes by it', () => {
    set({ max_running: 2 });
    connect('x', 'y', 'z');
    for (const id of ['a', 'b', 'c']) scheduler.submit({ id });
    const { junctions } = scheduler.state;
    junctions.idlePools = () => expect.fail('it looks for an executor');
    scheduler.accept('x');
    scheduler.accept('y');
  });

  it('delays no other type', () => {
    set({ max_running: 0 });
    scheduler.connect('x', { types: ['echo', 'other'] });
    const out = scheduler.submit({ id: 'a' }, { id: 'b', type: 'other' });
    expect(offers(out)).to.deep.equal(['b -> x']);
  });

  it('is had by the first of all, though another executor becomes free', () => {
    set({ max_running: 1 });
    scheduler.connect('x', { labels: ['red'] });
    scheduler.connect('y', { labels: ['blue'] });
    scheduler.submit({ id: 'a', requires: ['red'] });
    scheduler.submit({ id: 'b', requires: ['blue'] });
    scheduler.submit({ id: 'c', requires: ['red'] });
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.deep.equal(['b -> y']);
  });

  it('counts an attempt that is over until it is reported', () => {
    set({ max_running: 1 });
    connect('x', 'y');
    scheduler.deaf.add('x');
    scheduler.run('x');
    scheduler.submit({ id: 'b' });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    scheduler.acknowledge('x');
    expect(finished(scheduler.pass(10 * SECOND)).map(({ id }) => id)).to.deep.equal(['a']);
    expect(offers(scheduler.pass(MINUTE))).to.deep.equal([]);
    expect(offers(scheduler.end('x', { taskId: 'a', attempt: 1 }))).to.deep.equal(['b -> y']);
  });

  it('acts at once when it is changed, also on what runs', () => {
    connect('x', 'y', 'z');
    scheduler.submit({ id: 'a' }, { id: 'b' });
    set({ max_running: 1 });
    scheduler.submit({ id: 'c' });
    expect(scheduler.task('c').state).to.equal('waiting');
    expect(offers(set({ max_running: 3 }))).to.deep.equal(['c -> z']);
  });

  it('goes with its type', () => {
    set({ max_running: 0, per_group: { max_running: 0 } });
    connect('x');
    scheduler.submit({ id: 'a' });
    const gone = { type: 'typeRemoved', name: 'echo', expect: null, isForced: true } as const;
    expect(offers(scheduler.command(gone))).to.deep.equal(['a -> x']);
  });
});

describe('max_running of each group', () => {
  it('lets the others pass', () => {
    set({ per_group: { max_running: 1 } });
    connect('x', 'y', 'z');
    const out = scheduler.submit(
      { id: 'a1', user: user('a') },
      { id: 'a2', user: user('a') },
      { id: 'b1', user: user('b') },
    );
    expect(offers(out)).to.deep.equal(['a1 -> x', 'b1 -> y']);
    expect(why('a2').limit).to.deep.equal({
      name: 'limits.per_group.max_running',
      max: 1,
      used: 1,
    });
    scheduler.accept('x');
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.deep.equal([]);
    expect(offers(scheduler.end('x'))).to.have.length(1);
  });

  it('acts at once when it is raised', () => {
    set({ per_group: { max_running: 1 } });
    connect('x', 'y');
    scheduler.submit({ id: 'a' }, { id: 'b' });
    expect(offers(set({ per_group: { max_running: 2 } }))).to.deep.equal(['b -> y']);
  });
});

describe('max_waiting of a type', () => {
  const kinds = (...tasks: Parameters<Scheduler['submit']>) =>
    scheduler.submit(...tasks).outcomes.map(({ kind }) => kind);

  it('refuses what is beyond it, each task by itself', () => {
    set({ max_waiting: 1 });
    const { outcomes } = scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c', type: 'other' });
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'limited', 'accepted']);
    expect(outcomes[1]).to.deep.include({ limit: 'limits.max_waiting' });
    connect('x');
    expect(kinds({ id: 'd' })).to.deep.equal(['accepted']);
  });

  it('is of each group', () => {
    set({ per_group: { max_waiting: 1 } });
    expect(kinds({ id: 'a' }, { id: 'b' }, { id: 'c', user: user('other') })).to.deep.equal([
      'accepted',
      'limited',
      'accepted',
    ]);
  });

  it('counts what waited before it was set, also in the store only', () => {
    scheduler = new Scheduler({ laneWindowCount: 1 });
    scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c' });
    set({ max_waiting: 4 });
    expect(kinds({ id: 'd' }, { id: 'e' })).to.deep.equal(['accepted', 'limited']);
  });
});

describe('rate of a type', () => {
  const rate = { count: 2, seconds: 60 };
  const ids = ['v', 'w', 'x', 'y', 'z'];

  it('lets so many begin in each window, in order, and wakes for the next one', () => {
    set({ rate });
    connect(...ids);
    scheduler.pass(50 * SECOND);
    const out = scheduler.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }, { id: 'e' });
    expect(begun(out)).to.deep.equal(['a -> v', 'b -> w']);
    expect(written(out)).to.include('put rate');
    expect(why('c')).to.deep.include({
      reason: 'limited',
      message: '2 of at most 2 of type echo have been offered in this window (limits.rate).',
      limit: { name: 'limits.rate', max: 2, used: 2 },
    });
    expect(offers(scheduler.pass(10 * SECOND - 1))).to.deep.equal([]);
    expect(begun(scheduler.pass(1))).to.deep.equal(['c -> x', 'd -> y']);
    expect(offers(scheduler.pass(60 * SECOND))).to.deep.equal(['e -> z']);
  });

  it('gives back what is rejected', () => {
    set({ rate: { count: 1, seconds: 60 } });
    connect('x', 'y');
    scheduler.pass(1);
    scheduler.submit({ id: 'a' });
    expect(offers(scheduler.reject('x'))).to.deep.equal(['a -> y']);
    scheduler.submit({ id: 'b' });
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.deep.equal([]);
  });

  it('gets nothing back that was offered before it was set', () => {
    connect('x', 'y', 'z');
    scheduler.submit({ id: 'a' });
    scheduler.pass(1);
    set({ rate: { count: 1, seconds: 60 } });
    expect(begun(scheduler.submit({ id: 'b' }))).to.deep.equal(['b -> y']);
    expect(offers(scheduler.reject('x'))).to.deep.equal([]);
  });

  it('is of each group', () => {
    set({ per_group: { rate: { count: 1, seconds: 60 } } });
    connect(...ids);
    const of = (id: string, group: string) => ({ id, user: user(group) });
    const out = scheduler.submit(of('a1', 'a'), of('a2', 'a'), of('b1', 'b'), of('b2', 'b'));
    expect(begun(out)).to.deep.equal(['a1 -> v', 'b1 -> w']);
    expect(why('b2').limit).to.deep.equal({ name: 'limits.per_group.rate', max: 1, used: 1 });
    expect(offers(scheduler.pass(60 * SECOND))).to.deep.equal(['a2 -> x', 'b2 -> y']);
  });

  it('is known after a restart, also where the clock was set back', () => {
    set({ rate });
    const type = [...scheduler.state.types.values()];
    const row = { type: 'echo', group: '', windowAt: BEGIN + HOUR, count: 1 };
    const gone = { ...row, type: 'other' };
    const whole = { ...noRows, type, rate: [row, gone] };
    const restored = Scheduler.restored({ whole });
    expect(written(restored.output)).to.deep.equal(['remove rate']);
    ({ scheduler } = restored);
    connect(...ids);
    expect(begun(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal(['a -> v']);
    expect(offers(scheduler.pass(60 * SECOND))).to.deep.equal(['b -> w']);
  });

  it('is over for those that wait, also where something else of the type is set before that was seen', () => {
    const limits = { per_group: { rate: { count: 1, seconds: 60 } } };
    set(limits);
    connect('x', 'y');
    expect(begun(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal(['a -> x']);
    // A master that stood still, or is about to look at the time.
    scheduler.now += 60 * SECOND;
    const out = set({ ...limits, max_waiting: 9 });
    expect([...offers(out), ...offers(scheduler.pass(SECOND))]).to.deep.equal(['b -> y']);
  });

  it('leaves no rows of windows that are over', () => {
    set({ rate, per_group: { rate } });
    connect('x');
    scheduler.run('x');
    scheduler.pass(SECOND);
    expect(written(scheduler.pass(59 * SECOND))).to.deep.equal(['remove rate', 'remove rate']);
    scheduler.submit({ id: 'b' });
    const out = scheduler.end('x');
    expect(written(out)).to.include('put rate');
    expect(written(set({}))).to.include('remove rate');
  });
});

describe('windows of a type', () => {
  /** The tests begin at 08:00. */
  const day = { from: '08:30', to: '18:00', zone: 'UTC' };

  it('limit it while they are open', () => {
    set({ max_running: 3, windows: [{ ...day, max_running: 1 }] });
    connect('x', 'y', 'z');
    expect(begun(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.have.length(2);
    scheduler.pass(30 * MINUTE);
    scheduler.submit({ id: 'c' });
    expect(why('c').limit).to.deep.equal({ name: 'limits.windows', max: 1, used: 2 });
    expect(offers(scheduler.pass(9 * HOUR + 30 * MINUTE))).to.deep.equal(['c -> z']);
  });

  it('pause it, as an operator would, who may end that', () => {
    set({ windows: [{ ...day, paused: true }] });
    connect('x', 'y');
    scheduler.pass(30 * MINUTE);
    const end = BEGIN + 10 * HOUR;
    expect(scheduler.state.types.get('echo')?.paused).to.include({
      until: end,
      by: 'limits.windows',
    });
    scheduler.submit({ id: 'a', startTimeoutMs: MINUTE });
    expect(why('a')).to.include({ reason: 'paused' });
    expect(offers(scheduler.pass(HOUR))).to.deep.equal([]);
    expect(offers(resume())).to.deep.equal(['a -> x']);
    scheduler.pass(23 * HOUR);
    expect(scheduler.state.types.get('echo')?.paused).to.include({ until: end + 24 * HOUR });
  });

  it('pause it from the beginning, and again where there was no master as they opened', () => {
    scheduler.pass(HOUR);
    const { reply } = set({ windows: [{ ...day, paused: true }] });
    expect(reply).to.have.nested.property('taskType.paused.by', 'limits.windows');
    resume();
    const type = [...scheduler.state.types.values()];
    const { now } = scheduler;
    const after = (aliveAt: number) =>
      Scheduler.restored({ whole: { ...noRows, type }, now, aliveAt }).scheduler.state.types;
    expect(after(now - HOUR).get('echo')?.paused).to.include({ at: now });
    expect(after(now - MINUTE).get('echo')?.paused).to.equal(null);
  });
});

describe('a pause of a type', () => {
  it('lets nothing of it be offered until it ends, and others pass', () => {
    scheduler.connect('x', { types: ['echo', 'other'] });
    pause(BEGIN + HOUR);
    expect(offers(scheduler.submit({ id: 'a' }))).to.deep.equal([]);
    expect(why('a')).to.deep.include({ reason: 'paused' });
    expect(offers(scheduler.submit({ id: 'b', type: 'other' }))).to.deep.equal(['b -> x']);
    scheduler.accept('x');
    scheduler.end('x');
    const out = scheduler.pass(HOUR);
    expect(offers(out)).to.deep.equal(['a -> x']);
  });

  it('does not count for the start of its tasks, and does for that of others', () => {
    scheduler.submit(
      { id: 'start', startTimeoutMs: MINUTE },
      { id: 'other', type: 'other', startTimeoutMs: MINUTE },
    );
    scheduler.pass(50 * SECOND);
    pause();
    expect(finished(scheduler.pass(HOUR)).map(({ id }) => id)).to.deep.equal(['other']);
    expect(written(resume())).to.include('credit');
    expect(finished(scheduler.pass(10 * SECOND - 1))).to.deep.equal([]);
    expect(finished(scheduler.pass(1)).map(({ id }) => id)).to.deep.equal(['start']);
  });

  it('is counted once where all types are paused for a part of it', () => {
    const { state } = scheduler;
    const all = (isPaused: boolean) =>
      scheduler.command({
        type: 'settingsChanged',
        ...NO_SETTINGS,
        paused: isPaused ? { by: null, reason: null, until: null } : null,
      });
    const startBy = () => (state.tasks.get('start')?.startBy ?? 0) - BEGIN;
    scheduler.submit({ id: 'start', startTimeoutMs: HOUR });
    pause();
    scheduler.pass(MINUTE);
    all(true);
    scheduler.pass(MINUTE);
    resume();
    expect(startBy()).to.equal(HOUR + MINUTE);
    scheduler.pass(MINUTE);
    pause();
    scheduler.pass(MINUTE);
    all(false);
    expect(startBy()).to.equal(HOUR + 3 * MINUTE);
    scheduler.pass(MINUTE);
    resume();
    expect(startBy()).to.equal(HOUR + 5 * MINUTE);
  });
});
