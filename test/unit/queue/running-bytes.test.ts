/** What offered and running tasks may hold in memory. */
import { expect } from 'chai';
import { fillsOf } from '../../../master/domain/views/backlog.ts';
import { explain } from '../../../master/domain/views/explain.ts';
import { offers, Scheduler } from '../../helpers/domain.ts';

const policy = { runningBytesMax: 100 };
const params = 'p'.repeat(60);

describe('what runs', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler(policy);
    for (const id of ['x', 'y', 'z']) scheduler.connect(id);
  });
  const used = () =>
    fillsOf(scheduler.state).find(({ bound }) => bound.startsWith('running'))?.used;

  it('holds so much, the last one whole; the next begins as soon as one has ended', () => {
    const tasks = ['a', 'b', 'c', 'd'].map((id) => ({ id, params }));
    expect(offers(scheduler.submit(...tasks))).to.deep.equal(['a -> x', 'b -> y']);
    expect(used()).to.equal(120);
    expect(explain(scheduler.state, scheduler.task('c'), scheduler.now)).to.deep.include({
      reason: 'limited',
      limit: { name: 'running_task_bytes', max: 100, used: 120 },
    });
    scheduler.accept('x');
    expect(offers(scheduler.end('x')), 'in the commit of the end').to.deep.equal(['c -> z']);
    expect(used()).to.equal(120);
  });

  it('counts what it has saved and reported since, and lets begin what has room again', () => {
    scheduler.run('x', { id: 'a', params: 'p' });
    scheduler.progress('x', { checkpoint: 'c'.repeat(200) });
    expect(used()).to.equal(201);
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
    expect(offers(scheduler.progress('x', { checkpoint: 'c' }))).to.have.length(1);
  });

  it('lets begin whatever is alone, however large', () => {
    const task = { params: 'p'.repeat(1_000) };
    expect(offers(scheduler.submit({ id: 'a', ...task }, { id: 'b', ...task }))).to.have.length(1);
    scheduler.accept('x');
    expect(offers(scheduler.fail('x', { retryable: false }))).to.have.length(1);
  });

  it('is known after a restart', () => {
    const task = { ...scheduler.run('x', { params: 'p'.repeat(100) }) };
    ({ scheduler } = Scheduler.restored({ active: [task] }, policy));
    expect(used()).to.equal(100);
    scheduler.connect('y');
    expect(offers(scheduler.submit({ id: 'b' }))).to.deep.equal([]);
  });
});
