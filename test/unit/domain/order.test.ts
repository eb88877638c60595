/** In which order waiting tasks run: one sort key, `order_time`, then accept order (P6). */
import { expect } from 'chai';
import type { ExecutorHello } from '../../../master/domain/events.ts';
import { BEGIN, MINUTE, offers, Scheduler, SECOND, sent } from '../../helpers/domain.ts';

/** Runs everything that waits, one task at a time on one executor; the ids in that order. */
function runAll(scheduler: Scheduler, kind: Partial<ExecutorHello> = {}): string[] {
  const order: string[] = [];
  let out = scheduler.connect('x', kind);
  for (;;) {
    const [assign] = sent(out, 'assign');
    if (assign === undefined) return order;
    order.push(assign.task.id);
    scheduler.accept('x');
    out = scheduler.end('x');
  }
}

describe('order of waiting tasks', () => {
  let scheduler: Scheduler;
  beforeEach(() => {
    scheduler = new Scheduler();
  });

  it('runs tasks of one instant in the order they were accepted', () => {
    scheduler.submit({ id: 'c' }, { id: 'a' }, { id: 'b' });
    scheduler.submit({ id: '0' });
    expect(runAll(scheduler)).to.deep.equal(['c', 'a', 'b', '0']);
  });

  it('runs the older task first', () => {
    scheduler.submit({ id: 'old' });
    scheduler.now += 1;
    scheduler.submit({ id: 'new' });
    expect(runAll(scheduler)).to.deep.equal(['old', 'new']);
  });

  it('takes priority as seconds of head start', () => {
    scheduler.submit({ id: 'old' });
    scheduler.now += 10 * SECOND;
    scheduler.submit({ id: 'by 9 s', priority: 9 }, { id: 'by 11 s', priority: 11 });
    expect(runAll(scheduler)).to.deep.equal(['by 11 s', 'old', 'by 9 s']);
  });

  it('lets accept order decide when the head start exactly makes up for the age', () => {
    scheduler.submit({ id: 'old' });
    scheduler.now += 10 * SECOND;
    scheduler.submit({ id: 'equal', priority: 10 });
    expect(runAll(scheduler)).to.deep.equal(['old', 'equal']);
  });

  it('puts `urgent` before and the lowest priority behind everything of a year', () => {
    scheduler.submit({ id: 'lowest', priority: -31_536_000 }, { id: 'normal' });
    scheduler.now += MINUTE;
    scheduler.submit({ id: 'urgent', priority: 31_536_000 });
    expect(runAll(scheduler)).to.deep.equal(['urgent', 'normal', 'lowest']);
  });

  it('runs a task of negative priority at once when nothing else waits', () => {
    scheduler.connect('x');
    expect(offers(scheduler.submit({ id: 'low', priority: -3600 }))).to.deep.equal(['low -> x']);
  });

  it('overtakes a task of negative priority by later tasks only for as long as it says', () => {
    scheduler.submit({ id: 'low', priority: -10 });
    scheduler.now += 9 * SECOND;
    scheduler.submit({ id: 'before' });
    scheduler.now += 2 * SECOND;
    scheduler.submit({ id: 'after' });
    expect(runAll(scheduler)).to.deep.equal(['before', 'low', 'after']);
  });

  it('orders tasks of different types and labels on one executor by the same key', () => {
    scheduler.submit({ id: '1', type: 'cut' });
    scheduler.submit({ id: '2', labels: ['vip'] }, { id: '3' }, { id: '4', requires: ['gpu'] });
    const kind = { types: ['echo', 'cut'], labels: ['gpu'] };
    expect(runAll(scheduler, kind)).to.deep.equal(['1', '2', '3', '4']);
  });
});

describe('order of one batch', () => {
  it('holds over all its types for the executors that are idle', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x', { types: ['cut', 'mix'] });
    scheduler.connect('y', { types: ['cut', 'mix'] });
    const out = scheduler.submit(
      { id: 'late', type: 'cut' },
      { id: 'second', type: 'mix', priority: 1 },
      { id: 'first', type: 'cut', priority: 2 },
    );
    expect(offers(out)).to.deep.equal(['first -> x', 'second -> y']);
  });
});

describe('run_at', () => {
  it('is not offered before, and at once when the instant has come', () => {
    const scheduler = new Scheduler();
    scheduler.connect('x');
    expect(offers(scheduler.submit({ runAt: BEGIN + MINUTE }))).to.deep.equal([]);
    expect(offers(scheduler.pass(MINUTE - 1))).to.deep.equal([]);
    expect(offers(scheduler.pass(1))).to.deep.equal(['a -> x']);
  });

  it('does not delay others, and priority does not make it earlier', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'later', runAt: BEGIN + MINUTE, priority: 31_536_000 }, { id: 'now' });
    expect(offers(scheduler.connect('x'))).to.deep.equal(['now -> x']);
    scheduler.accept('x');
    expect(offers(scheduler.end('x'))).to.deep.equal([]);
  });

  it('counts as the beginning of the wait: before it nothing is gained', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'planned', runAt: BEGIN + MINUTE });
    scheduler.pass(30 * SECOND);
    scheduler.submit({ id: 'older by then' });
    scheduler.pass(30 * SECOND);
    scheduler.now += 1;
    scheduler.submit({ id: 'younger' });
    expect(runAll(scheduler)).to.deep.equal(['older by then', 'planned', 'younger']);
  });

  it('in the past means now', () => {
    const scheduler = new Scheduler();
    scheduler.submit({ id: 'first' });
    scheduler.submit({ id: 'second', runAt: BEGIN - MINUTE });
    expect(runAll(scheduler)).to.deep.equal(['first', 'second']);
  });
});
