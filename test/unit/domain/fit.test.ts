/** Which tasks may go to which executors: types, required labels and reservations. */
import { expect } from 'chai';
import { offers, Scheduler } from '../../helpers/domain.ts';

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
