/** Which tasks may go to which executors: types, required labels and reservations. */
import { expect } from 'chai';
import type { Override } from '../../../master/domain/model/executor.ts';
import {
  BEGIN,
  finished,
  HOUR,
  MINUTE,
  offers,
  Scheduler,
  SECOND,
  sent,
} from '../../helpers/domain.ts';
import { recordOf } from '../../helpers/task.ts';

describe('types', () => {
  it('offers a task only to executors of its type', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', { types: ['cut'] });
    scheduler.connect('y', { types: ['mix', 'echo'] });
    expect(offers(scheduler.submit({ id: 'a' }, { id: 'b' }))).to.deep.equal(['a -> y']);
  });

  it('never lets a type without executors delay another (T-1)', () => {
    const scheduler = new Scheduler();
    for (let i = 0; i < 200; i++) scheduler.submit({ id: `stuck-${i}`, type: 'nobody' });
    scheduler.submit({ id: 'a' });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['a -> x']);
  });
});

describe('requires', () => {
  it('must all be on the executor', () => {
    const scheduler = new Scheduler();
    scheduler.connect('half', { labels: ['gpu'] });
    scheduler.connect('full', { labels: ['eu', 'gpu', 'big'] });
    const out = scheduler.submit({ id: 'a', requires: ['gpu', 'eu'] });
    expect(offers(out)).to.deep.equal(['a -> full']);
  });

  it('waits for an executor that has them, while others pass', () => {
    const scheduler = new Scheduler();
    scheduler.connect('plain');
    expect(offers(scheduler.submit({ id: 'a', requires: ['gpu'] }))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal(['b -> plain']);
    expect(offers(scheduler.connect('x', { labels: ['gpu'] }))).to.deep.equal(['a -> x']);
  });

  it('leaves the executor that can do more to those who need it', () => {
    const scheduler = new Scheduler();
    scheduler.connect('gpu', { labels: ['gpu'] });
    scheduler.connect('plain');
    expect(offers(scheduler.submit({ id: 'a' }))).to.deep.equal(['a -> plain']);
    expect(offers(scheduler.submit({ id: 'b', requires: ['gpu'] }))).to.deep.equal(['b -> gpu']);
  });
});

describe('reserve', () => {
  it('keeps an executor for tasks that carry all its reserved labels', () => {
    const scheduler = new Scheduler();
    scheduler.connect('r', { reserve: ['urgent', 'vip'] });
    expect(offers(scheduler.submit({ id: 'a' }))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'b', labels: ['urgent'] }))).to.deep.equal([]);
    const out = scheduler.submit({ id: 'c', labels: ['vip', 'urgent', 'other'] });
    expect(offers(out)).to.deep.equal(['c -> r']);
  });

  it('takes reserved executors first, so that the others stay free', () => {
    const scheduler = new Scheduler();
    scheduler.connect('open');
    scheduler.connect('reserved', { reserve: ['urgent'] });
    const out = scheduler.submit({ id: 'u', labels: ['urgent'] });
    expect(offers(out)).to.deep.equal(['u -> reserved']);
    expect(offers(scheduler.submit({ id: 'a' }))).to.deep.equal(['a -> open']);
  });

  it('lets a labelled task use open executors once the reserved ones are taken', () => {
    const scheduler = new Scheduler();
    scheduler.connect('open');
    scheduler.connect('reserved', { reserve: ['urgent'] });
    const labels = ['urgent'];
    const out = scheduler.submit({ id: 'u', labels }, { id: 'v', labels }, { id: 'w', labels });
    expect(offers(out)).to.deep.equal(['u -> reserved', 'v -> open']);
  });
});

describe('who is taken first', () => {
  it('takes the executor that has been idle longest', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    scheduler.connect('y');
    scheduler.run('x');
    scheduler.end('x');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal(['b -> y']);
    expect(offers(scheduler.submit({ id: 'c' }))).to.deep.equal(['c -> x']);
  });
});

describe('what an operator has set of an executor', () => {
  let scheduler: Scheduler;
  const relabel = (override: Partial<Override>, executorId = 'x') =>
    scheduler.command({ type: 'relabelRequested', executorId, override, by: null });
  const forgotten = { op: 'remove', table: 'executor', key: 'x', expect: 'any' };
  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('x', { labels: ['cpu'] });
  });

  it('counts at once in place of its own labels, until they count again', () => {
    scheduler.submit({ id: 'a', requires: ['gpu'] });
    const out = relabel({ labels: ['gpu'] });
    expect(out.reply).to.deep.equal({ kind: 'done', lasting: true });
    const row = recordOf('x', { labels: ['gpu'] });
    expect(out.changes[0]).to.deep.equal({ op: 'put', table: 'executor', key: 'x', row });
    expect(offers(out), 'in the same commit').to.deep.equal(['a -> x']);
    scheduler.accept('x');
    scheduler.end('x');
    expect(offers(scheduler.submit({ id: 'b', requires: ['cpu'] }))).to.deep.equal([]);
    const back = relabel({ labels: null });
    expect(back.changes[0]).to.deep.equal(forgotten);
    expect(offers(back)).to.deep.equal(['b -> x']);
  });

  it('keeps it for others, and leaves what is not named as it is', () => {
    relabel({ reserve: ['vip'] });
    relabel({ labels: ['gpu'] });
    expect(scheduler.executor('x')).to.deep.include({ labels: ['gpu'], reserve: ['vip'] });
    expect(offers(scheduler.submit({ id: 'a' }))).to.deep.equal([]);
    const vip = { id: 'b', labels: ['vip'], requires: ['gpu'] };
    expect(offers(scheduler.submit(vip))).to.deep.equal(['b -> x']);
  });

  it('says nothing to the executor, and lets go on what it runs', () => {
    scheduler.run('x', { id: 'a', requires: ['cpu'] });
    const out = relabel({ labels: ['gpu'] });
    expect([sent(out, 'cancel'), sent(out, 'drain')]).to.deep.equal([[], []]);
    expect(finished(scheduler.end('x'))[0]).to.include({ id: 'a', state: 'succeeded' });
    expect(offers(scheduler.submit({ id: 'b', requires: ['cpu'] }))).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'c', requires: ['gpu'] }))).to.deep.equal(['c -> x']);
  });

  it('lasts through a lost lease, a new process of the id and a restart of the master', () => {
    relabel({ labels: ['gpu'] });
    scheduler.disconnect('x');
    scheduler.pass(HOUR);
    expect(scheduler.state.executors.has('x')).to.equal(false);
    const again = { labels: ['cpu'], incarnation: 'two', sessionId: 'x/2' };
    scheduler.connect('x', again);
    expect(scheduler.executor('x').labels).to.deep.equal(['gpu']);
    const task = { ...scheduler.run('x', { id: 'a', requires: ['gpu'] }) };
    const executors = [recordOf('x', { labels: ['gpu'] })];
    ({ scheduler } = Scheduler.restored({ active: [task], executors }));
    expect(scheduler.executor('x').labels, 'before it has come').to.deep.equal(['gpu']);
    scheduler.connect('x', { ...again, sessionId: 'x/3' });
    expect(scheduler.executor('x')).to.deep.include({
      own: { labels: ['cpu'], reserve: [] },
      labels: ['gpu'],
    });
  });

  it('can be set and taken back while it is away, or only known from a row', () => {
    const task = { ...scheduler.run('x') };
    ({ scheduler } = Scheduler.restored({ active: [task] }));
    relabel({ labels: ['gpu'] });
    scheduler.pass(HOUR);
    expect(scheduler.state.executors.has('x')).to.equal(false);
    expect(relabel({ reserve: ['vip'] }).reply).to.include({ kind: 'done' });
    expect(relabel({ labels: null, reserve: null }).changes).to.deep.equal([forgotten]);
    expect(relabel({ labels: ['gpu'] }).reply, 'nothing is left of it').to.include({
      kind: 'unknown',
    });
  });

  it('outlasts a drain, and is outlasted by one', () => {
    relabel({ labels: ['gpu'] });
    scheduler.command({
      type: 'drainRequested',
      executorId: 'x',
      timeoutMs: null,
      reason: null,
      by: null,
    });
    expect(offers(scheduler.submit({ id: 'a', requires: ['gpu'] }))).to.deep.equal([]);
    const drained = recordOf('x', { drainedAt: BEGIN });
    const out = relabel({ labels: null });
    expect(out.changes[0]).to.deep.include({ op: 'put', row: drained });
    relabel({ labels: ['gpu'] });
    const resumed = scheduler.command({ type: 'resumeRequested', executorId: 'x' });
    expect(scheduler.state.executorRecords.get('x')).to.deep.include({ labels: ['gpu'] });
    expect(offers(resumed)).to.deep.equal(['a -> x']);
  });

  it('of an id that was made up goes with its process', () => {
    scheduler.connect('pod', { lasting: false });
    expect(relabel({ labels: ['gpu'] }, 'pod').reply).to.deep.equal({
      kind: 'done',
      lasting: false,
    });
    scheduler.silence('pod');
    scheduler.pass(59 * MINUTE);
    expect(scheduler.state.executorRecords.has('pod'), 'it may come back').to.equal(true);
    scheduler.pass(2 * MINUTE);
    expect(scheduler.state.executorRecords.has('pod')).to.equal(false);
  });
});

describe('the label executor:<id>', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler({ kindCountMax: 2 });
  });
  const submit = (id: string, ...requires: string[]) => offers(scheduler.submit({ id, requires }));

  it('is on every executor by itself', () => {
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
    expect(submit('a', 'executor:y')).to.deep.equal(['a -> y']);
    expect(submit('b', 'executor:y')).to.deep.equal([]);
    expect(submit('c')).to.deep.equal(['c -> x']);
    scheduler.accept('y');
    expect(offers(scheduler.end('y'))).to.deep.equal(['b -> y']);
  });

  it('waits for one that comes later, and goes with other labels', () => {
    expect(submit('a', 'executor:x', 'gpu')).to.deep.equal([]);
    expect(offers(scheduler.connect('y', { labels: ['gpu'] }))).to.deep.equal([]);
    expect(offers(scheduler.connect('x'))).to.deep.equal([]);
    const out = scheduler.connect('x', { sessionId: 'x/2', labels: ['gpu'] });
    expect(offers(out)).to.deep.equal(['a -> x']);
  });

  it('makes no pool, unless a task waits that names it', () => {
    for (const id of ['x', 'y']) scheduler.connect(id);
    expect(scheduler.state.pools.size).to.equal(1);
    submit('a', 'executor:x');
    submit('b', 'executor:x');
    expect(scheduler.state.pools.size).to.equal(2);
    scheduler.accept('x');
    scheduler.end('x');
    scheduler.pass(SECOND);
    expect(scheduler.state.pools.size).to.equal(1);
    expect(scheduler.executor('x').labels).to.deep.equal([]);
  });

  it('is left alone by what an operator sets, and outlives its process', () => {
    scheduler.connect('x');
    submit('a', 'executor:x');
    submit('b', 'executor:x');
    const override = { labels: ['gpu'] };
    scheduler.command({ type: 'relabelRequested', executorId: 'x', override, by: null });
    scheduler.disconnect('x', true);
    expect(
      offers(scheduler.connect('x', { incarnation: 'x two', sessionId: 'x/2' })),
    ).to.have.length(1);
  });

  it('of a thousand executors takes up no combinations of labels', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `x${index}`);
    for (const id of ids) expect(submit(`first-${id}`, `executor:${id}`)).to.deep.equal([]);
    const { outcomes } = scheduler.submit({ id: 'a' }, { id: 'b', requires: ['gpu'] });
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'accepted']);
    const [full] = scheduler.submit({ id: 'c', requires: ['cpu'] }).outcomes;
    expect(full?.kind).to.equal('full');
    const first = 'x500';
    expect(offers(scheduler.connect(first))).to.deep.equal([`first-${first} -> ${first}`]);
  });
});
