/** Shared limits: what tasks of any type take of them while they run, in all, on each host, or by label. */
import { expect } from 'chai';
import type { Output } from '../../../master/domain/effects.ts';
import type { ExecutorHello, NewTask } from '../../../master/domain/events.ts';
import type { Holding, Per, SharedLimit, Use } from '../../../master/domain/model/shared-limit.ts';
import { kindKeyOf, kindOf } from '../../../master/domain/model/task.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { limitsAfter, seenLimit } from '../../../master/domain/views/limits.ts';
import { MINUTE, offers, Scheduler, SECOND, written } from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler();
});

const set = (name: string, max: number, per: Per = 'cluster') =>
  scheduler.command({ type: 'limitSet', name, limit: { name, max, per } });
const uses = (limits: Record<string, number>): readonly Use[] =>
  Object.entries(limits).map(([limit, n]) => ({ limit, n }));
const connect = (id: string, fields: Partial<ExecutorHello> = {}) =>
  offers(scheduler.connect(id, { host: `host of ${id}`, ...fields }));
const submit = (id: string, limits: Record<string, number>, fields: Partial<NewTask> = {}) =>
  offers(scheduler.submit({ id, uses: uses(limits), ...fields }));
const why = (id: string) => explain(scheduler.state, scheduler.task(id), scheduler.now);
/** The next tasks come later than those before. */
const later = () => scheduler.pass(SECOND);
const usedOf = (name: string) => seenLimit(scheduler.state, name)?.usedCount;

describe('a shared limit', () => {
  it('holds for tasks of all types together, and delays nothing else', () => {
    set('encoder', 1);
    for (const id of ['x', 'y', 'z']) connect(id, { types: ['echo', 'other'] });
    expect(submit('a', { encoder: 1 })).to.deep.equal(['a -> x']);
    expect(submit('b', { encoder: 1 }, { type: 'other' })).to.deep.equal([]);
    expect(submit('c', {}, { type: 'other' })).to.deep.equal(['c -> y']);
    expect(why('b')).to.deep.include({
      reason: 'limited',
      message: '1 of at most 1 of limit encoder are in use, and it takes 1.',
      limit: { name: 'limit/encoder', max: 1, used: 1 },
    });
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.deep.equal(['b -> z']);
    expect(usedOf('encoder')).to.equal(1);
  });

  it('is had by the first of all types that wait for it, though another executor becomes free', () => {
    set('encoder', 1);
    connect('x');
    submit('a', { encoder: 1 });
    later();
    submit('b', { encoder: 1 }, { type: 'other' });
    later();
    submit('c', { encoder: 1 });
    expect(connect('y', { types: ['other'] })).to.deep.equal([]);
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.deep.equal(['b -> y']);
  });

  it('is had by who waits for something else too, once there is all of it', () => {
    set('encoder', 1);
    set('licence', 1);
    for (const id of ['x', 'y', 'z']) connect(id);
    submit('a', { encoder: 1 });
    submit('b', { licence: 1 });
    expect(submit('c', { encoder: 1, licence: 1 })).to.deep.equal([]);
    scheduler.accept('x');
    scheduler.accept('y');
    expect(offers(scheduler.end('x'))).to.deep.equal([]);
    expect(usedOf('encoder'), 'nothing is held while it waits').to.equal(0);
    expect(submit('d', { encoder: 1 })).to.deep.equal(['d -> z']);
    scheduler.accept('z');
    expect(offers(scheduler.end('y'))).to.deep.equal([]);
    expect(offers(scheduler.end('z'))).to.have.length(1);
    expect([usedOf('encoder'), usedOf('licence')]).to.deep.equal([1, 1]);
  });

  it('is used by what its type uses, and by what the task says beside', () => {
    set('encoder', 4);
    set('licence', 1);
    const text = '{"uses":[{"limit":"encoder","n":2}]}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    for (const id of ['x', 'y', 'z']) connect(id);
    submit('a', {});
    submit('b', { licence: 1, encoder: 1 });
    expect(scheduler.task('a').uses).to.deep.equal(uses({ encoder: 2 }));
    expect(scheduler.task('b').uses).to.deep.equal(uses({ encoder: 1, licence: 1 }));
    scheduler.command({ type: 'typeSet', name: 'echo', text: '{}', expect: null });
    expect(usedOf('encoder'), 'what was taken counts, whatever is set since').to.equal(3);
    expect(submit('c', {})).to.deep.equal(['c -> z']);
    expect(scheduler.task('c').uses).to.deep.equal([]);
  });

  it('that there is not is refused, but for what was taken before', () => {
    const outcomesOf = ({ outcomes }: { outcomes: readonly object[] }) => outcomes;
    set('encoder', 1);
    submit('a', { encoder: 1 });
    scheduler.command({ type: 'limitSet', name: 'encoder', limit: null });
    const again = { uses: uses({ encoder: 1 }) };
    const out = scheduler.submit({ id: 'a', ...again }, { id: 'b', ...again });
    expect(outcomesOf(out)).to.deep.equal([
      { taskId: 'a', kind: 'taken', holderHash: 'hash of a' },
      { taskId: 'b', kind: 'misfit', missingLimit: 'encoder' },
    ]);
    const text = '{"uses":[{"limit":"encoder","n":1}]}';
    const type = scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    expect(type.reply).to.deep.equal({ kind: 'conflict', message: 'there is no limit encoder' });
  });

  it('acts at once when it is raised, lowered or deleted', () => {
    set('encoder', 0);
    for (const id of ['x', 'y', 'z']) connect(id);
    submit('a', { encoder: 1 });
    submit('b', { encoder: 1 });
    submit('c', { encoder: 1 });
    expect(offers(set('encoder', 1))).to.deep.equal(['a -> x']);
    expect(offers(set('encoder', 2))).to.deep.equal(['b -> y']);
    expect(offers(set('encoder', 1))).to.deep.equal([]);
    scheduler.accept('x');
    expect(offers(scheduler.end('x')), 'still one').to.deep.equal([]);
    expect(
      offers(scheduler.command({ type: 'limitSet', name: 'encoder', limit: null })),
    ).to.deep.equal(['c -> z']);
    set('encoder', 1);
    expect(usedOf('encoder'), 'b took of it; c did not').to.equal(1);
  });

  it('is not deleted while a type uses it', () => {
    set('encoder', 1);
    const text = '{"uses":[{"limit":"encoder","n":1}]}';
    scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
    const gone = () => scheduler.command({ type: 'limitSet', name: 'encoder', limit: null }).reply;
    expect(gone()).to.deep.equal({ kind: 'conflict', message: 'type echo uses it' });
    scheduler.command({ type: 'typeSet', name: 'echo', text: '{}', expect: null });
    expect(gone()).to.deep.equal({ kind: 'done' });
    expect(gone()).to.include({ kind: 'unknown' });
  });

  it('counts an attempt that is over until it is reported', () => {
    set('encoder', 1);
    connect('x');
    connect('y');
    scheduler.deaf.add('x');
    submit('a', { encoder: 1 });
    scheduler.accept('x');
    submit('b', { encoder: 1 });
    scheduler.command({ type: 'cancelRequested', taskId: 'a' });
    scheduler.acknowledge('x');
    expect(offers(scheduler.pass(MINUTE))).to.deep.equal([]);
    expect(scheduler.state.tasks.has('a')).to.equal(false);
    expect(offers(scheduler.end('x', { taskId: 'a', attempt: 1 }))).to.deep.equal(['b -> y']);
  });

  it('counts the attempt of a silent executor until its lease has ended', () => {
    set('encoder', 1);
    connect('x');
    connect('y');
    submit('a', { encoder: 1 });
    scheduler.accept('x');
    submit('b', { encoder: 1 });
    scheduler.silence('x');
    expect(offers(scheduler.pass(10 * SECOND))).to.deep.equal([]);
    expect(offers(scheduler.pass(10 * SECOND)), 'it was there first').to.deep.equal(['a -> y']);
  });

  it('costs tasks that use none no write', () => {
    set('encoder', 1);
    connect('x');
    expect(written(scheduler.submit({ id: 'a' }))).to.not.include('put holding');
    scheduler.accept('x');
    expect(written(scheduler.end('x'))).to.not.include('remove holding');
    const out = scheduler.submit({ id: 'b', uses: uses({ encoder: 1 }) });
    expect(written(out)).to.include('put holding');
    scheduler.accept('x');
    expect(written(scheduler.end('x'))).to.include('remove holding');
  });
});

describe('a shared limit per host', () => {
  it('leaves idle who is on a host that is full, and nobody else', () => {
    set('gpu', 1, 'host');
    connect('x1', { bootId: 'one' });
    connect('x2', { bootId: 'one' });
    connect('y', { bootId: 'two' });
    expect(submit('a', { gpu: 1 })).to.deep.equal(['a -> x1']);
    expect(submit('b', { gpu: 1 })).to.deep.equal(['b -> y']);
    expect(submit('c', { gpu: 1 })).to.deep.equal([]);
    expect(submit('d', {})).to.deep.equal(['d -> x2']);
    expect(why('c').message).to.match(/^1 of at most 1 of limit gpu are in use on \w+, and/);
    expect(seenLimit(scheduler.state, 'gpu')?.places).to.deep.equal([
      { name: 'host of x1', usedCount: 1 },
      { name: 'host of y', usedCount: 1 },
    ]);
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.deep.equal(['c -> y']);
  });

  it('goes by the name of the host where that is all that is said, else by the executor', () => {
    set('gpu', 1, 'host');
    for (const id of ['x', 'y']) connect(id, { host: 'one' });
    for (const id of ['z1', 'z2']) connect(id, { host: '' });
    for (const id of ['a', 'b', 'c', 'd']) submit(id, { gpu: 1 });
    const running = ['a', 'b', 'c', 'd'].map((id) => scheduler.task(id).executorId);
    expect(running).to.deep.equal(['x', 'z1', 'z2', null]);
  });

  it('is not counted in another way while attempts have of it', () => {
    set('gpu', 1, 'host');
    connect('x');
    submit('a', { gpu: 1 });
    scheduler.accept('x');
    expect(set('gpu', 1).reply).to.include({ kind: 'conflict' });
    scheduler.command({ type: 'limitSet', name: 'gpu', limit: null });
    expect(set('gpu', 1).reply).to.include({ kind: 'conflict' });
    scheduler.end('x');
    expect(set('gpu', 1).reply).to.deep.equal({ kind: 'done', isNew: true });
  });
});

describe('a shared limit by label', () => {
  beforeEach(() => {
    set('storage', 1, { label: 'rack' });
  });

  it('is counted for each such label, and not to be had without one', () => {
    connect('n');
    connect('x1', { labels: ['rack:a'] });
    connect('x2', { labels: ['rack:a'] });
    connect('y', { labels: ['rack:b', 'racked'] });
    expect(submit('a', { storage: 1 })).to.have.length(1);
    expect(submit('b', { storage: 1 })).to.have.length(1);
    expect(submit('c', { storage: 1 })).to.deep.equal([]);
    expect(seenLimit(scheduler.state, 'storage')?.places.map(({ name }) => name)).to.have.members([
      'rack:a',
      'rack:b',
    ]);
    expect(submit('d', {})).to.deep.equal(['d -> n']);
  });

  it('says that nobody has such a label, and is had by who gets one', () => {
    connect('n');
    submit('a', { storage: 1 });
    expect(why('a').message).to.equal(
      'No fitting executor has a label rack:..., by which limit storage is counted.',
    );
    const override = { labels: ['rack:c'] };
    const out = scheduler.command({
      type: 'relabelRequested',
      executorId: 'n',
      override,
      by: null,
    });
    expect(offers(out)).to.deep.equal(['a -> n']);
  });

  it('is taken in all places that an executor has', () => {
    connect('x', { labels: ['rack:a', 'rack:b'] });
    connect('y', { labels: ['rack:b'] });
    expect(submit('a', { storage: 1 }, { requires: ['rack:a'] })).to.deep.equal(['a -> x']);
    expect(submit('b', { storage: 1 })).to.deep.equal([]);
    expect(usedOf('storage')).to.equal(2);
  });
});

describe('a task that takes more than others', () => {
  beforeEach(() => {
    set('encoder', 3);
    for (const id of ['v', 'w', 'x', 'y', 'z']) connect(id);
    submit('a', { encoder: 1 });
    submit('b', { encoder: 1 });
    later();
    expect(submit('wide', { encoder: 3 })).to.deep.equal([]);
    later();
  });

  it('is not passed by those behind it that take less of the same', () => {
    expect(submit('c', { encoder: 1 })).to.deep.equal([]);
    expect(why('c')).to.deep.include({
      reason: 'limited',
      message:
        'A task that takes more came first, and waits until there is more of limit encoder than 1.',
    });
    expect(submit('d', {}), 'it holds up nothing else').to.deep.equal(['d -> x']);
    scheduler.accept('v');
    scheduler.accept('w');
    expect(offers(scheduler.end('v'))).to.deep.equal([]);
    expect(offers(scheduler.end('w'))).to.deep.equal(['wide -> y']);
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.have.length(1);
  });

  it('is passed once it is canceled, in that very step', () => {
    submit('c', { encoder: 1 });
    const out = scheduler.command({ type: 'cancelRequested', taskId: 'wide' });
    expect(offers(out)).to.deep.equal(['c -> x']);
  });

  it('is passed where nobody is idle that might have it', () => {
    scheduler.command({ type: 'cancelRequested', taskId: 'wide' });
    submit('far', { encoder: 3 }, { requires: ['gpu'] });
    later();
    expect(submit('c', { encoder: 1 })).to.deep.equal(['c -> x']);
  });

  it('is passed while its type is paused, and as soon as it is', () => {
    scheduler.command({ type: 'cancelRequested', taskId: 'wide' });
    for (const id of ['o', 'p']) connect(id, { types: ['other'] });
    submit('far', { encoder: 3 }, { type: 'other' });
    later();
    submit('c', { encoder: 1 });
    const pause = { reason: null, until: null, by: null };
    const out = scheduler.command({ type: 'typePaused', name: 'other', ...pause });
    expect(offers(out)).to.deep.equal(['c -> x']);
  });

  it('is passed where it takes more than there is, and says so', () => {
    set('encoder', 2);
    expect(why('wide').message).to.equal(
      '2 of at most 2 of limit encoder are in use, and it takes 3, more than there is.',
    );
    submit('c', { encoder: 1 });
    scheduler.accept('v');
    expect(offers(scheduler.end('v'))).to.deep.equal(['c -> x']);
  });
});

describe('a master that begins', () => {
  /** As the rows of that have it. */
  function restored(fields: { limit: SharedLimit[]; holding: Holding[] }): Output {
    const active = [scheduler.task('a'), scheduler.task('b')];
    const whole = { ...noRows, ...fields };
    const found = Scheduler.restored({ active, whole, now: scheduler.now });
    found.scheduler.now = scheduler.now;
    ({ scheduler } = found);
    return found.output;
  }

  it('counts what attempts have taken, where they took it, before any executor is back', () => {
    const limit: SharedLimit = { name: 'gpu', max: 1, per: 'host' };
    set('gpu', 1, 'host');
    connect('x', { bootId: 'one' });
    connect('y', { bootId: 'two' });
    submit('a', { gpu: 1 });
    submit('b', { gpu: 1 });
    scheduler.accept('x');
    scheduler.accept('y');
    const holding = [...scheduler.state.holdings.values()];
    const stray = { taskId: 'gone', attempt: 1, taken: holding[0]?.taken ?? [] };
    const output = restored({ limit: [limit], holding: [...holding, stray] });
    expect(written(output), 'what nobody has goes').to.include('remove holding');
    expect(usedOf('gpu')).to.equal(2);
    connect('x2', { bootId: 'one' });
    expect(submit('c', { gpu: 1 })).to.deep.equal([]);
    const running = [{ taskId: 'a', attempt: 1, state: 'running' }] as const;
    connect('x', { bootId: 'one', running });
    expect(usedOf('gpu')).to.equal(2);
    expect(offers(scheduler.end('x', { taskId: 'a', attempt: 1 }))).to.have.length(1);
  });
});

describe('the kind of a task', () => {
  it('has in its name what it uses', () => {
    const key = kindKeyOf('t', ['r'], [], null, uses({ a: 1, b: 20 }));
    expect(key).to.equal('t|r|||a=1,b=20');
    expect(kindOf(key)).to.deep.include({ diskBytes: null, uses: uses({ a: 1, b: 20 }) });
    expect(kindOf(kindKeyOf('t', [], [], 2 ** 30, uses({ a: 1 })))).to.deep.include({
      diskBytes: 2 ** 30,
      uses: uses({ a: 1 }),
    });
  });
});

it('shared limits are listed by name, from where a page ended', () => {
  for (const name of ['c', 'a', 'b']) set(name, 1);
  const names = (after: string, count: number) =>
    limitsAfter(scheduler.state, after, count).map(({ limit }) => limit.name);
  expect(names('', 2)).to.deep.equal(['a', 'b']);
  expect(names('b', 2)).to.deep.equal(['c']);
});
