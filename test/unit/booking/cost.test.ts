/** What bookings cost: what is written of them, and who is looked at. */
import { expect } from 'chai';
import { commandBody } from '../../../master/access/executors/frames.ts';
import {
  type AnnouncedBooking,
  type CommandOutcome,
  createOutput,
  type Output,
} from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import type { Booking } from '../../../master/domain/booking/booking.ts';
import { ADVANCED_COUNT_MAX } from '../../../master/domain/booking/booking-bounds.ts';
import { PoolBook } from '../../../master/domain/plan/pool-book.ts';
import { withInstead } from '../../../master/domain/booking/refusal.ts';
import { announce } from '../../../master/domain/booking/announce.ts';
import { nextWakeAt } from '../../../master/domain/state/state.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { seenBooking } from '../../../master/domain/views/bookings.ts';
import { asked, type Asked, FROM } from './asked.ts';
import { HOUR, MINUTE, Scheduler, SECOND, sent } from '../../helpers/domain.ts';

describe('what a booking costs', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply;
  const passTo = (at: number) => scheduler.pass(at - scheduler.now);
  const writes = ({ changes }: Output) =>
    changes.filter((change) => change.op === 'put' && change.table === 'booking').length;
  const idleMs = ({ changes }: Output) =>
    changes
      .flatMap((change) =>
        change.op === 'insert' && change.table === 'usage' ? [...change.row.counts.values()] : [],
      )
      .map(({ figures }) => figures.booked_idle_ms ?? 0)
      .find((ms) => ms > 0);

  /** So many that say nothing, and are believed for long. */
  const connectSilent = (count: number): void => {
    scheduler = new Scheduler({ leaseMs: 24 * HOUR });
    for (let index = 1; index <= count; index++) {
      scheduler.connect(`e${index}`);
      scheduler.silence(`e${index}`);
    }
  };

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
  });

  it('is no row for each attempt that ends, and its usage is known at the end', () => {
    book();
    passTo(FROM);
    let count = 0;
    for (let index = 0; index < 8; index++) {
      scheduler.run('e1', { id: `short-${index}`, booking: 'bk-1' });
      scheduler.pass(10 * SECOND);
      count += writes(scheduler.end('e1'));
    }
    expect(count).to.equal(2);
    const out = passTo(FROM + 10 * MINUTE);
    expect(idleMs(out)).to.equal(10 * MINUTE - 80 * SECOND);
  });

  it('is written a minute later for what ended meanwhile, and at once where its master stops', () => {
    book();
    passTo(FROM);
    const ranMs = () => scheduler.state.bookings.byId.get('bk-1')?.ranMs;
    const run = (id: string) => {
      scheduler.run('e1', { id, booking: 'bk-1' });
      scheduler.pass(10 * SECOND);
      scheduler.end('e1');
    };
    for (const id of ['a', 'b', 'c']) run(id);
    expect(ranMs()).to.be.below(30 * SECOND);
    scheduler.pass(MINUTE);
    expect(ranMs()).to.equal(30 * SECOND);
    run('d');
    run('e');
    scheduler.send({ type: 'drainStarted' });
    expect(ranMs()).to.equal(50 * SECOND);
  });

  describe('is idle time once, where an executor is killed and another takes its place,', () => {
    /** From `FROM` on whoever is bound is killed after so long; the other is bound once its lease has ended. */
    const killAfter = (ms: number): { readonly other: string; readonly boundAt: number } => {
      const [killed = ''] = boundIds();
      passTo(FROM + ms);
      scheduler.disconnect(killed);
      scheduler.pass(MINUTE);
      const [row] = scheduler.state.bookings.byId.get('bk-1')?.executors ?? [];
      expect(row?.executorId).to.not.equal(killed);
      return { other: row?.executorId ?? '', boundAt: row?.since ?? 0 };
    };
    const boundIds = () =>
      scheduler.state.bookings.byId.get('bk-1')?.executors.map(({ executorId }) => executorId) ??
      [];
    const idleAtEnd = () => idleMs(passTo(FROM + 10 * MINUTE)) ?? 0;
    /** Its only attempt, so that nothing is tried again. */
    const once = { booking: 'bk-1', retry: { maxAttempts: 1, interval: 1 } };

    beforeEach(() => {
      scheduler.connect('e2');
      // Nobody is to take it for unused.
      book({ windowMs: 10 * MINUTE });
      scheduler.submit({ id: 'late', ...once, runAt: FROM + 9 * MINUTE });
      passTo(FROM);
    });

    it('which ran nothing', () => {
      killAfter(3 * MINUTE);
      passTo(FROM + 9 * MINUTE);
      for (const id of boundIds()) scheduler.accept(id);
      expect(idleAtEnd()).to.equal(9 * MINUTE);
    });

    it('which ran until then', () => {
      scheduler.submit({ id: 'push', ...once, runAt: FROM });
      const [first = ''] = boundIds();
      scheduler.accept(first);
      const { boundAt } = killAfter(3 * MINUTE);
      scheduler.command({ type: 'cancelRequested', taskId: 'push' });
      passTo(FROM + 9 * MINUTE);
      const ranMs = boundAt - FROM;
      for (const id of boundIds()) {
        const { occupation } = scheduler.executor(id);
        if (occupation?.taskId === 'late') scheduler.accept(id);
      }
      const left = 9 * MINUTE - ranMs;
      expect(idleAtEnd()).to.be.within(left - SECOND, left + SECOND);
    });
  });

  it('is idle time of one that dies until its lease has ended, and again once it is back', () => {
    book();
    scheduler.submit({ id: 'late', booking: 'bk-1', runAt: FROM + 9 * MINUTE });
    passTo(FROM + 3 * MINUTE);
    scheduler.silence('e1');
    const { leaseMs } = scheduler.state.policy;
    passTo(FROM + 6 * MINUTE);
    expect(scheduler.state.executors.has('e1')).to.equal(false);
    scheduler.connect('e1', { incarnation: 'another' });
    passTo(FROM + 7 * MINUTE);
    scheduler.silence('e1');
    const idle = idleMs(passTo(FROM + 10 * MINUTE)) ?? 0;
    const booked = 3 * MINUTE + leaseMs + MINUTE + leaseMs;
    expect(idle).to.be.within(booked - 3 * SECOND, booked + 3 * SECOND);
  });

  it('is a bounded count of looks at pools where one that recurs is refused, few of them at once', () => {
    scheduler = new Scheduler({ leaseMs: 24 * HOUR });
    const poolCount = 100;
    for (let index = 0; index < poolCount; index++) {
      scheduler.connect(`e${index}`, { labels: [`rack:${index}`] });
    }
    const all = { count: poolCount };
    for (let index = 0; index < 20; index++) {
      const firstFrom = FROM + (4 * index + 1) * HOUR;
      book({ id: `short-${index}`, ...all, firstFrom, windowMs: 10 * MINUTE });
    }
    const blocked = { firstFrom: FROM + 27 * 24 * HOUR - 12 * HOUR, windowMs: 20 * HOUR };
    expect(book({ id: 'block', ...all, ...blocked })?.kind).to.equal('done');
    const { room } = PoolBook.prototype;
    let lookCount = 0;
    const countInPieces: number[] = [];
    PoolBook.prototype.room = function (...span) {
      lookCount++;
      return room.apply(this, span);
    };
    try {
      const daily = { everyMs: 24 * HOUR, firstFrom: FROM + HOUR, windowMs: 20 * MINUTE };
      const reply = book({ id: 'daily', ...all, ...daily });
      expect(reply?.kind).to.equal('conflict');
      expect(lookCount, 'in the step').to.be.within(1, poolCount);
      const { state, now } = scheduler;
      const work = withInstead(state, reply as CommandOutcome, now);
      let before = lookCount;
      for (let step = work.next(); step.done !== true; step = work.next()) {
        countInPieces.push(lookCount - before);
        before = lookCount;
      }
    } finally {
      PoolBook.prototype.room = room;
    }
    expect(Math.max(...countInPieces)).to.be.within(1, poolCount);
    expect(lookCount).to.be.within(poolCount, 10_000);
  });

  it('is no look at what executors can do that have been looked at, and are the same', () => {
    scheduler = new Scheduler({ leaseMs: 24 * HOUR });
    const count = 50;
    let lookCount = 0;
    for (let index = 0; index < count; index++) {
      scheduler.connect(`e${index}`, { labels: [`rack:${index}`] });
      const executor = scheduler.executor(`e${index}`);
      const { own } = executor;
      const get = () => {
        lookCount++;
        return own;
      };
      Object.defineProperty(executor, 'own', { get, configurable: true });
    }
    /** Without the checks of a scheduler, which look at all. */
    const looksOf = (event: Event): number => {
      lookCount = 0;
      step(scheduler.state, event, scheduler.now, createOutput());
      return lookCount;
    };
    const looksOfBooking = (fields: Partial<Asked>) =>
      looksOf({ type: 'bookingRequested', request: 1, booking: asked(fields) });
    const looksOfTick = () => {
      scheduler.now += 5 * SECOND;
      return looksOf({ type: 'ticked' });
    };
    expect(looksOfBooking({}), 'all are new').to.be.at.least(count);
    expect(looksOfBooking({ id: 'bk-2', requires: ['rack:7'] })).to.equal(0);
    expect(looksOfTick()).to.equal(0);
    scheduler.connect('another');
    expect(looksOfTick(), 'another has come').to.equal(0);
    expect(looksOfBooking({ id: 'bk-5', requires: ['rack:8'] })).to.equal(0);
    expect(book({ id: 'bk-3', count: count - 1 })?.kind).to.equal('conflict');
    expect(book({ id: 'bk-4', count: count - 2 })?.kind).to.equal('done');
  });

  it('is no look at what waits of others, where it has no tasks, or all are found', () => {
    scheduler.connect('e2');
    book();
    book({ id: 'bk-2' });
    scheduler.submit({ id: 'push', booking: 'bk-2', runAt: FROM });
    for (let n = 0; n < 50; n++) scheduler.submit({ id: `later-${n}`, runAt: FROM + MINUTE });
    passTo(FROM - 30 * SECOND);
    const { state } = scheduler;
    let lookCount = 0;
    const waiting = [...state.delayed];
    const delayed = Object.create(state.delayed, {
      [Symbol.iterator]: {
        *value() {
          for (const task of waiting) {
            lookCount++;
            yield task;
          }
        },
      },
    }) as typeof state.delayed;
    const out = createOutput();
    for (const id of ['e1', 'e2']) announce({ ...state, delayed }, scheduler.executor(id), out);
    const told = sent(out, 'booking').map(({ booking }) => booking?.tasks.length ?? null);
    expect(told).to.have.members([0, 1]);
    expect(lookCount).to.equal(1);
  });

  it('is one text of what its executors are told, however many are bound', () => {
    scheduler.connect('e2');
    book({ count: 2 });
    scheduler.submit({ id: 'push', booking: 'bk-1', params: '{"of":"it"}' });
    const [one, other] = sent(passTo(FROM - 30 * SECOND), 'booking');
    expect(one?.booking?.tasks).to.have.length(1);
    expect(other?.booking).to.equal(one?.booking);
    const announced = { ...one?.booking, tasks: one?.booking?.tasks ?? [] };
    let askedCount = 0;
    const booking = {
      ...(announced as AnnouncedBooking),
      get tasks() {
        askedCount++;
        return announced.tasks;
      },
    };
    const bodies = [1, 2].map(() => commandBody({ type: 'booking', booking }, 1, undefined));
    expect(bodies[0]).to.contain('"params":{"of":"it"}');
    expect(bodies[1]).to.equal(bodies[0]);
    expect(askedCount).to.equal(1);
  });

  it('is told of again when one of its tasks is changed, or comes into its window', () => {
    book({ everyMs: 11 * MINUTE });
    scheduler.submit({ id: 'push', booking: 'bk-1', runAt: FROM + 12 * MINUTE });
    passTo(FROM - 20 * SECOND);
    const out = scheduler.command({
      type: 'changeRequested',
      taskId: 'push',
      change: { runAt: FROM },
      seen: { seq: null, version: null },
    });
    expect(out.reply).to.include({ kind: 'done' });
    const [told] = sent(out, 'booking');
    expect(told?.booking?.tasks.map(({ id }) => id)).to.deep.equal(['push']);
  });

  it('is no look at each busy executor for each booking that is short', () => {
    for (let index = 2; index <= 40; index++) scheduler.connect(`e${index}`);
    for (let index = 1; index <= 40; index++) scheduler.run(`e${index}`, { id: `long-${index}` });
    for (let index = 1; index <= 40; index++) book({ id: `bk-${index}` });
    passTo(FROM - 30 * SECOND);
    expect(scheduler.state.bookings.byId.get('bk-40')?.state).to.equal('bound');
    let lookCount = 0;
    for (const executor of scheduler.state.executors.values()) {
      const { booking } = executor;
      const get = () => {
        lookCount++;
        return booking;
      };
      Object.defineProperty(executor, 'booking', { get });
    }
    scheduler.state.bookings.isUnsettled = true;
    step(scheduler.state, { type: 'ticked' }, scheduler.now, createOutput());
    expect(lookCount).to.be.below(200);
  });

  it('is spread over ticks where many begin, bind or are released at once', () => {
    const count = 2.5 * ADVANCED_COUNT_MAX;
    connectSilent(count);
    const { state } = scheduler;
    for (let index = 1; index <= count; index++) book({ id: `bk-${index}` });
    const idsIn = (is: Booking['state']) =>
      [...state.bookings.byId.values()].filter((one) => one.state === is).length;
    /** How many are so after each tick, until nothing is due any more. */
    const counts = (at: number, countOf: () => number): number[] => {
      passTo(at - 1);
      scheduler.now = at;
      const all: number[] = [];
      do {
        scheduler.send({ type: 'ticked' });
        all.push(countOf());
      } while (nextWakeAt(state) <= at);
      return all;
    };
    const stepwise = [ADVANCED_COUNT_MAX, 2 * ADVANCED_COUNT_MAX, count];
    expect(counts(FROM - 15 * MINUTE, () => state.bookings.active.size)).to.deep.equal(stepwise);
    expect(counts(FROM - 30 * SECOND, () => idsIn('bound'))).to.deep.equal(stepwise);
    expect(counts(FROM + MINUTE, () => idsIn('no_show'))).to.deep.equal(stepwise);
  });

  it('is one of many executors in a tick, whatever it needs', () => {
    const count = 2 * ADVANCED_COUNT_MAX;
    connectSilent(count + 1);
    book({ count });
    book({ id: 'bk-2' });
    passTo(FROM - 15 * MINUTE);
    expect(scheduler.state.bookings.active.size).to.equal(2);
  });

  it('is no look at others where one is asked for, or one more', () => {
    book();
    const { state, now } = scheduler;
    scheduler.connect('e2');
    let lookCount = 0;
    const { byId } = state.bookings;
    const values = () => {
      lookCount++;
      return Map.prototype.values.call(byId) as ReturnType<typeof byId.values>;
    };
    Object.defineProperty(byId, 'values', { value: values });
    expect(seenBooking(state, 'bk-1')?.booking.id).to.equal('bk-1');
    expect(seenBooking(state, 'bk-2')).to.equal(null);
    const booking = asked({ id: 'bk-2' });
    step(state, { type: 'bookingRequested', request: 1, booking }, now, createOutput());
    expect(byId.has('bk-2')).to.equal(true);
    expect(lookCount).to.equal(0);
  });
});
