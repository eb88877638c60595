/** A window of which nobody makes use: tasks for later windows of the same booking hold nothing off. */
import { expect } from 'chai';
import { read } from '../../../master/application/engine/read.ts';
import { TriggerFaults } from '../../../master/application/jobs/trigger-faults.ts';
import { RELEASE_COUNT_MAX } from '../../../master/domain/bounds.ts';
import type { BookedWanted } from '../../../master/domain/booking/booking.ts';
import type { Output } from '../../../master/domain/effects.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { asked, type Asked, bookingIn, FROM } from './asked.ts';
import { HOUR, MINUTE, offers, Scheduler, SECOND } from '../../helpers/domain.ts';

describe('a window of a booking that nobody uses', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked({ everyMs: HOUR, ...fields }) });
  const booking = () => bookingIn(scheduler, 'bk-1');
  const submit = (id: string, windowAt: number) =>
    scheduler.submit({ id, booking: 'bk-1', runAt: FROM + windowAt * HOUR });
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const questions = ({ loads }: Output) => loads.filter(({ type }) => type === 'booked').length;
  const answer = (tasks: Task[]) =>
    scheduler.send({
      type: 'bookedLoaded',
      pages: [{ booking: 'bk-1', tasks, complete: true }],
    });

  /** Which rows are read for the question. */
  const wanted = async () => {
    const asked: BookedWanted[] = [];
    const loadBooked = (wants: readonly BookedWanted[]) => {
      asked.push(...wants);
      return Promise.resolve([[]]);
    };
    const faults = new TriggerFaults();
    const rows = { store: { loadBooked }, faults } as unknown as Parameters<typeof read>[0];
    await read(rows, scheduler.state, [{ type: 'booked', booking: 'bk-1' }], scheduler.now);
    return asked;
  };

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('is followed at once by one that is to be bound by then', () => {
    book({ everyMs: 11 * MINUTE, leadMs: 11 * MINUTE });
    scheduler.submit({ id: 'next', booking: 'bk-1', runAt: FROM + 11 * MINUTE });
    passTo(FROM + MINUTE);
    answer([]);
    expect(booking()).to.include({ state: 'bound', from: FROM + 11 * MINUTE });
    expect(booking().executors).to.have.length(1);
  });

  it('is released, though tasks for later ones wait', async () => {
    book();
    submit('next', 1);
    const out = passTo(FROM + MINUTE);
    expect(questions(out)).to.equal(1);
    expect(await wanted()).to.deep.equal([{ booking: 'bk-1', before: FROM + 10 * MINUTE }]);
    const told = answer([]).told.map(({ kind, data }) => `${kind} ${data}`);
    expect(told).to.include('booking.ended {"booking_id":"bk-1","state":"no_show"}');
    expect(booking()).to.include({ state: 'planned', from: FROM + HOUR });
    expect(booking().executors).to.deep.equal([]);
    expect(offers(scheduler.submit({ id: 'other', executionTimeoutMs: MINUTE }))).to.deep.equal([
      'other -> e1',
    ]);
    scheduler.accept('e1');
    scheduler.end('e1');
    answer([]);
    expect(offers(passTo(FROM + HOUR))).to.deep.equal(['next -> e1']);
  });

  it('is asked about once, and stays where one is to come in it', () => {
    book();
    submit('next', 1);
    scheduler.submit({ id: 'late', booking: 'bk-1', runAt: FROM + 5 * MINUTE });
    expect(questions(passTo(FROM + MINUTE))).to.equal(1);
    answer([scheduler.task('late')]);
    expect(questions(passTo(FROM + 4 * MINUTE))).to.equal(0);
    expect(booking()).to.include({ state: 'bound', from: FROM });
    expect(offers(passTo(FROM + 5 * MINUTE))).to.deep.equal(['late -> e1']);
  });

  it('is looked at once those of the window before it have ended', () => {
    book({ everyMs: 10 * MINUTE, leadMs: SECOND });
    scheduler.submit(
      { id: 'one', booking: 'bk-1' },
      { id: 'three', booking: 'bk-1', runAt: FROM + 20 * MINUTE },
    );
    const one = scheduler.task('one');
    scheduler.disconnect('e1');
    passTo(FROM + 10 * MINUTE);
    scheduler.connect('e2');
    passTo(FROM + 12 * MINUTE);
    expect(booking()).to.include({ state: 'bound', from: FROM + 10 * MINUTE });
    expect(questions(answer([one]))).to.equal(1);
    answer([]);
    expect(booking()).to.include({ from: FROM + 20 * MINUTE });
  });

  it('is open for its tasks at its second, though more are due then than one tick looks at', () => {
    const from = scheduler.now + 40 * SECOND;
    book({ everyMs: null, firstFrom: from });
    const others = Array.from({ length: RELEASE_COUNT_MAX + 100 }, (_, index) => `other-${index}`);
    scheduler.submit(...others.map((id) => ({ id, runAt: from })));
    scheduler.submit({ id: 'push', booking: 'bk-1' });
    const push = scheduler.task('push');
    passTo(from - 1);
    scheduler.now = from;
    const out = scheduler.send({ type: 'ticked' });
    expect([offers(out), questions(out)]).to.deep.equal([[], 1]);
    expect(offers(answer([push]))).to.deep.equal(['push -> e1']);
    expect(questions(scheduler.send({ type: 'ticked' }))).to.equal(0);
  });

  it('is open for its tasks also where those of the window before it are being ended', () => {
    const from = scheduler.now + 40 * SECOND;
    const next = from + 10 * MINUTE;
    book({ everyMs: 10 * MINUTE, windowMs: 10 * MINUTE, firstFrom: from });
    const others = Array.from({ length: RELEASE_COUNT_MAX + 100 }, (_, index) => `other-${index}`);
    scheduler.submit(...others.map((id) => ({ id, runAt: next })));
    scheduler.submit({ id: 'first', booking: 'bk-1' });
    scheduler.submit({ id: 'second', booking: 'bk-1', runAt: next });
    const second = scheduler.task('second');
    passTo(from);
    scheduler.accept('e1');
    scheduler.end('e1');
    passTo(next - 1);
    scheduler.now = next;
    expect(questions(scheduler.send({ type: 'ticked' }))).to.equal(1);
    expect(booking()).to.include({ state: 'bound', from: next, endingBefore: next });
    const out = answer([]);
    expect([offers(out), questions(out)]).to.deep.equal([[], 1]);
    expect(offers(answer([second]))).to.deep.equal(['second -> e1']);
  });

  it('is not asked about where it is the only one: all of its tasks are for it', () => {
    book({ everyMs: null });
    scheduler.submit({ id: 'late', booking: 'bk-1', runAt: FROM + 5 * MINUTE });
    expect(questions(passTo(FROM + 4 * MINUTE))).to.equal(0);
    expect(booking().state).to.equal('bound');
  });
});
