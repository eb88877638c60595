/** `max_running` that is lowered or raised after bookings were accepted: they are at risk for it, and are not any more. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { maximaOf } from '../../../master/domain/limits/maxima.ts';
import { Ceilings } from '../../../master/domain/plan/ceilings.ts';
import { bookingFinders } from '../../../master/domain/alerts/booking-findings.ts';
import { seenBooking } from '../../../master/domain/views/bookings.ts';
import { answerTo, asked, type Asked, bookingIn, FROM } from './asked.ts';
import { wish } from './planned.ts';
import { BEGIN, HOUR, MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';
import { noRows } from '../../helpers/task.ts';

describe('a booking and max_running that changes', () => {
  let scheduler: Scheduler;
  const book = (fields: Partial<Asked> = {}) =>
    scheduler.command({ type: 'bookingRequested', booking: asked(fields) }).reply?.kind;
  const stateOf = (id = 'bk-1') => bookingIn(scheduler, id).state;
  const set = (limits: object) => {
    const text = JSON.stringify({ limits });
    return scheduler.command({ type: 'typeSet', name: 'echo', text, expect: null });
  };
  const override = (limits: object | null, until: number | null = null) =>
    scheduler.command({
      type: 'typeOverridden',
      name: 'echo',
      layer: limits && { text: JSON.stringify({ limits }), by: null, reason: 'less', until },
    });
  const setAll = (maxRunning: number | null) => {
    const { settings } = scheduler.state;
    scheduler.command({ type: 'settingsChanged', ...settings, paused: null, maxRunning });
  };
  const found = () => {
    const { state, now } = scheduler;
    const all = [...bookingFinders.booking_at_risk({ namespace: 'default', state, now })];
    return all.filter((one) => one !== null);
  };
  /** What is told of that kind as the next ticks plan anew. */
  const told = (kind: string) =>
    scheduler.pass(2 * SECOND).told.flatMap((one) => (one.kind === kind ? [one.data] : []));
  const riskOf = (id: string) => seenBooking(scheduler.state, id)?.risk;

  beforeEach(() => {
    scheduler = new Scheduler();
    scheduler.connect('e1');
    scheduler.connect('e2');
    book();
    book({ id: 'bk-2' });
  });

  const limits = {
    'of its type': {
      lower: () => set({ max_running: 1 }),
      raise: () => set({ max_running: 2 }),
      words: 'max_running of type echo is 1',
    },
    'of its group': {
      lower: () => set({ per_group: { max_running: 1 } }),
      raise: () => set({}),
      words: 'max_running of group g of type echo is 1',
    },
    'of all tasks': {
      lower: () => setAll(1),
      raise: () => setAll(null),
      words: 'max_running of all tasks is 1',
    },
    'of an override': {
      lower: () => override({ max_running: 1 }),
      raise: () => override(null),
      words: 'max_running of type echo is 1',
    },
  };
  for (const [name, { lower, raise, words }] of Object.entries(limits)) {
    it(`is at risk for that ${name}, those first that were accepted last, until there is room`, () => {
      lower();
      const about = { booking_id: 'bk-2', from_at: FROM };
      const risk = JSON.stringify({ ...about, reason: words });
      expect(told('booking.at_risk')).to.deep.equal([risk]);
      expect([riskOf('bk-1'), riskOf('bk-2')]).to.deep.equal([null, words]);
      expect([stateOf(), stateOf('bk-2')]).to.deep.equal(['planned', 'at_risk']);
      const [finding, ...others] = found();
      expect(others).to.deep.equal([]);
      expect(finding?.subject).to.equal('booking bk-2');
      expect(finding?.message).to.contain(`does not fit any more: ${words}.`);
      expect(finding?.change).to.match(/^Raise max_running of .* before then, or cancel it/);
      expect(book({ id: 'bk-3', firstFrom: FROM + 5 * MINUTE })).to.equal('conflict');
      raise();
      expect(told('booking.planned')).to.deep.equal([JSON.stringify(about)]);
      expect(riskOf('bk-2')).to.equal(null);
      expect(stateOf('bk-2')).to.equal('planned');
      expect(found()).to.deep.equal([]);
    });
  }

  it('says which limit it is refused for, or which labels nobody has', () => {
    const replyTo = (fields: Partial<Asked>) =>
      scheduler.command({
        type: 'bookingRequested',
        booking: asked({ id: 'other', firstFrom: FROM + HOUR, ...fields }),
      }).reply;
    const messageOf = (fields: Partial<Asked>) => {
      const reply = replyTo(fields);
      return reply && 'message' in reply
        ? (/Z(: .*)?$/.exec(reply.message ?? '')?.[1] ?? null)
        : '';
    };
    const nameOf = (fields: Partial<Asked>) => {
      const reply = replyTo(fields);
      expect(reply?.kind).to.equal('conflict');
      return reply !== null && 'limit' in reply ? reply.limit : undefined;
    };
    expect(messageOf({ count: 3 })).to.equal(null);
    expect(messageOf({ requires: ['gpu', 'executor:e1'] })).to.equal(': none has gpu');
    expect(messageOf({ requires: ['executor:e9'] })).to.equal(': none has executor:e9');
    expect(nameOf({ requires: ['gpu'] })).to.equal(undefined);
    set({ max_running: 1 });
    expect(messageOf({ count: 2 })).to.equal(': max_running of type echo is 1');
    expect(nameOf({ count: 2 })).to.equal('limits.max_running');
    set({ per_group: { max_running: 1 } });
    expect(messageOf({ count: 2 })).to.equal(': max_running of group g of type echo is 1');
    expect(nameOf({ count: 2 })).to.equal('limits.per_group.max_running');
    set({ windows: [{ from: '00:00', to: '00:00', zone: 'UTC', max_running: 1 }] });
    expect(nameOf({ count: 2 })).to.equal('limits.windows');
    set({});
    setAll(1);
    expect(nameOf({ count: 2 })).to.equal('max_running');
  });

  it('is told of as many times that fit, however much was asked before', () => {
    set({ max_running: 2 });
    scheduler.pass(2 * SECOND);
    const wanted = { id: 'other', count: 2 };
    const first = answerTo(scheduler, wanted);
    expect(first).to.have.property('free').that.has.length.greaterThan(1);
    const daily = { everyMs: 24 * HOUR, firstFrom: FROM + 2 * HOUR };
    for (let index = 0; index < 100; index++) {
      const id = `daily-${index}`;
      expect(book({ ...daily, id })).to.equal('done');
      scheduler.command({ type: 'bookingCanceled', bookingId: id, groups: null });
    }
    expect(answerTo(scheduler, wanted)).to.deep.equal(first);
  });

  it('is at risk until another that has the room is canceled', () => {
    set({ max_running: 1 });
    scheduler.pass(2 * SECOND);
    expect(stateOf('bk-2')).to.equal('at_risk');
    scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
    scheduler.pass(10 * SECOND);
    expect(stateOf('bk-2')).to.equal('planned');
  });

  it('is refused where those before any limit was set have the room', () => {
    book({ id: 'later', firstFrom: FROM + HOUR });
    set({ max_running: 1 });
    expect(book({ id: 'bk-3', firstFrom: FROM + HOUR })).to.equal('conflict');
  });

  it('is refused above that of all tasks', () => {
    setAll(1);
    expect(book({ id: 'other', firstFrom: FROM + HOUR, count: 2 })).to.equal('conflict');
    expect(book({ id: 'other', firstFrom: FROM + HOUR })).to.equal('done');
  });

  it('counts an override for windows that begin before it ends', () => {
    scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-1', groups: null });
    scheduler.command({ type: 'bookingCanceled', bookingId: 'bk-2', groups: null });
    book({ id: 'daily', everyMs: 24 * HOUR, count: 2 });
    override({ max_running: 1 }, FROM + 24 * HOUR);
    scheduler.pass(2 * SECOND);
    const missed = bookingIn(scheduler, 'daily').windows.map(({ parts }) => parts === null);
    expect(missed.slice(0, 3)).to.deep.equal([true, false, false]);
    expect(book({ id: 'soon', firstFrom: FROM + HOUR, count: 2 })).to.equal('conflict');
    expect(book({ id: 'late', firstFrom: FROM + 25 * HOUR, count: 2 })).to.equal('done');
  });

  it('has its executors still where it is bound, and says what keeps its tasks', () => {
    scheduler.pass(FROM - BEGIN - 20 * SECOND);
    expect([stateOf(), stateOf('bk-2')]).to.deep.equal(['bound', 'bound']);
    const windows = bookingIn(scheduler, 'bk-2').windows;
    set({ max_running: 1 });
    scheduler.pass(10 * SECOND);
    expect(bookingIn(scheduler, 'bk-2').windows).to.deep.equal(windows);
    expect(found().map(({ subject }) => subject)).to.have.members(['booking bk-1', 'booking bk-2']);
    set({});
    expect(found()).to.deep.equal([]);
  });

  it('is at risk also where a master has just begun, and knows of no executor yet', () => {
    const rows = [bookingIn(scheduler, 'bk-1'), bookingIn(scheduler, 'bk-2')];
    const { now } = scheduler;
    ({ scheduler } = Scheduler.restored({ whole: { ...noRows, booking: rows }, now }));
    scheduler.now = now;
    for (const id of ['e1', 'e2']) scheduler.connect(id);
    set({ max_running: 1 });
    scheduler.pass(10 * SECOND);
    expect([stateOf(), stateOf('bk-2')]).to.deep.equal(['planned', 'at_risk']);
    set({});
    scheduler.pass(10 * SECOND);
    expect(stateOf('bk-2')).to.equal('planned');
  });

  it('is not at risk for maintenance', () => {
    book({ id: 'care', isMaintenance: true, firstFrom: FROM + HOUR, count: 2 });
    set({ max_running: 1 });
    scheduler.pass(2 * SECOND);
    expect(stateOf('care')).to.equal('planned');
  });

  describe('at a time of the day', () => {
    const hourOf = (at: number) => new Date(at).toISOString().slice(11, 16);
    const window = { from: hourOf(FROM + 5 * MINUTE), to: hourOf(FROM + HOUR), zone: 'UTC' };
    const words = 'max_running of type echo in limits.windows is 1';

    it('is at risk for that, and fits again where it is raised', () => {
      set({ windows: [{ ...window, max_running: 1 }] });
      const about = { booking_id: 'bk-2', from_at: FROM };
      expect(told('booking.at_risk')).to.deep.equal([JSON.stringify({ ...about, reason: words })]);
      expect([riskOf('bk-1'), riskOf('bk-2')]).to.deep.equal([null, words]);
      set({ windows: [{ ...window, max_running: 2 }] });
      expect(told('booking.planned')).to.have.length(1);
    });

    it('is refused then alone, and told of times that fit', () => {
      set({ windows: [{ ...window, max_running: 1 }] });
      scheduler.pass(2 * SECOND);
      const then = { firstFrom: FROM + 20 * MINUTE };
      expect(book({ id: 'first', ...then })).to.equal('done');
      const reply = answerTo(scheduler, { id: 'second', ...then });
      expect(reply?.kind).to.equal('conflict');
      const free = reply !== null && 'free' in reply ? (reply.free ?? []) : [];
      expect(free).not.to.deep.equal([]);
      for (const [at, { from }] of free.entries()) {
        expect(
          book({ id: `free-${at}`, firstFrom: Math.max(from, scheduler.now + MINUTE) }),
        ).to.equal('done');
        scheduler.command({ type: 'bookingCanceled', bookingId: `free-${at}`, groups: null });
      }
      expect(book({ id: 'before', firstFrom: FROM - 20 * MINUTE, count: 2 })).to.equal('done');
    });

    it('offers as much where many windows of the day allow more than there is', () => {
      for (let index = 2; index < 22; index++) {
        book({ id: `short-${index}`, count: 2, firstFrom: FROM + index * HOUR });
      }
      const freeCount = () => {
        const reply = answerTo(scheduler, { id: 'more', count: 2, firstFrom: FROM + 2 * HOUR });
        return reply !== null && 'free' in reply ? reply.free?.length : undefined;
      };
      const count = freeCount();
      expect(count).to.be.greaterThan(10);
      const windows = Array.from({ length: 16 }, (_, index) => {
        return {
          from: `0${index % 9}:1${index % 6}`,
          to: `1${index % 9}:3${index % 6}`,
          zone: 'UTC',
        };
      });
      set({ windows: windows.map((each) => ({ ...each, max_running: 100 })) });
      expect(freeCount()).to.equal(count);
    });

    describe('that is accepted in whatever order', () => {
      const DAY = 24 * HOUR;
      const noon = FROM - (FROM % DAY) + 12 * HOUR;
      const long = { id: 'long', count: 2, firstFrom: noon, windowMs: 60 * DAY };
      const night = { id: 'night', count: 2, firstFrom: noon + 49.5 * DAY, windowMs: HOUR };
      const atNoon = { id: 'noon', count: 1, firstFrom: noon + 50 * DAY, windowMs: HOUR };

      beforeEach(() => {
        scheduler = new Scheduler();
        for (const id of ['e1', 'e2', 'e3', 'e4']) scheduler.connect(id);
        set({ windows: [{ from: '12:00', to: '13:00', zone: 'UTC', max_running: 2 }] });
        scheduler.pass(2 * SECOND);
      });

      const orders = [
        [long, night],
        [night, long],
      ];
      for (const order of orders) {
        const ids = order.map(({ id }) => id);
        it(`is beside a long one at another time: ${ids.join(', ')}`, () => {
          expect(order.map(book)).to.deep.equal(['done', 'done']);
          override({ max_running: 4 });
          scheduler.pass(2 * SECOND);
          expect(ids.map(stateOf)).to.deep.equal(['planned', 'planned']);
          expect(book(atNoon)).to.equal('conflict');
        });
      }

      it('is not beside a long one at that time', () => {
        expect(book(atNoon)).to.equal('done');
        expect(book(long)).to.equal('conflict');
      });
    });

    it('is told of the first time that fits behind it, where only its lead is within', () => {
      const end = BEGIN + 20 * MINUTE;
      const [from, to] = [hourOf(end - HOUR), hourOf(end)];
      set({ windows: [{ from, to, zone: 'UTC', max_running: 0 }] });
      scheduler.pass(end + 10 * MINUTE - scheduler.now);
      const soon = { firstFrom: end + 20 * MINUTE, windowMs: 10 * MINUTE };
      const reply = answerTo(scheduler, { id: 'soon', ...soon, leadMs: HOUR });
      const free = reply !== null && 'free' in reply ? reply.free : undefined;
      expect(free?.map(({ from: at }) => at)).to.include(end + HOUR);
    });

    it('says nothing of what begins when it is over, but for its lead', () => {
      set({ windows: [{ ...window, max_running: 0 }] });
      scheduler.pass(2 * SECOND);
      expect(book({ id: 'after', firstFrom: FROM + HOUR })).to.equal('conflict');
      expect(book({ id: 'after', firstFrom: FROM + HOUR + 30 * SECOND })).to.equal('done');
    });
  });
});

describe('what ceilings leave of many executors', () => {
  const key = 'push';
  const max = Number.POSITIVE_INFINITY;
  const limit = { days: null, zone: 'UTC', paused: false };
  const byDay =
    maximaOf([
      { ...limit, from: '00:00', to: '12:00', maxRunning: 100 },
      { ...limit, from: '14:00', to: '00:00', maxRunning: 200 },
    ]) ?? expect.fail();
  const whole = { ceilings: [{ key, max, byDay }] };

  /** Windows of half an hour, one each hour. */
  const booked = (countOf: (hour: number) => number): Ceilings => {
    const ceilings = new Ceilings();
    for (let index = 0; index < 5_000; index++) {
      const from = BEGIN + index * HOUR;
      const count = countOf(index);
      ceilings.take(wish(from, from + HOUR / 2, count, { ceilings: [{ key, max }] }));
    }
    return ceilings;
  };

  it('is not looked for where as much is left as was found already', () => {
    const ceilings = booked((hour) => 1 + (hour % 3));
    const looks = { left: 10_000 };
    const year = wish(BEGIN, BEGIN + 5_000 * HOUR, 1, whole);
    expect(ceilings.room(year, 1_000, looks)).to.equal(97);
    expect(10_000 - looks.left).to.be.within(1, 50);
  });

  it('is asked of times of the day once a day, however many windows are booked in each', () => {
    const ceilings = booked((hour) => (new Date(BEGIN + hour * HOUR).getUTCHours() < 14 ? 1 : 150));
    let askedCount = 0;
    const within = (...span: Parameters<typeof byDay.within>) => {
      askedCount++;
      return byDay.within(...span);
    };
    const counting = Object.create(byDay, { within: { value: within } }) as typeof byDay;
    const asked = { ceilings: [{ key, max, byDay: counting }] };
    const year = (count: number) => wish(BEGIN, BEGIN + 5_000 * HOUR, count, asked);
    expect(ceilings.reached(year(50), 0)).to.equal(null);
    expect(askedCount).to.be.within(1, 5_000 / 24 + 2);
    expect(ceilings.reached(year(51), 0)?.max).to.equal(200);
  });

  it('is found wherever windows and times of the day meet', () => {
    const spans = fc.array(
      fc.record({
        from: fc.integer({ min: 0, max: 300 }),
        length: fc.integer({ min: 1, max: 60 }),
        count: fc.integer({ min: 1, max: 90 }),
      }),
      { maxLength: 12 },
    );
    const asking = fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 150 }));
    fc.assert(
      fc.property(spans, asking, (taken, [begin, length]) => {
        const ceilings = new Ceilings();
        for (const { from, length, count } of taken) {
          const own = { ceilings: [{ key, max }], leadMs: 0 };
          ceilings.take(wish(BEGIN + from * HOUR, BEGIN + (from + length) * HOUR, count, own));
        }
        const asked = { ...whole, leadMs: 0 };
        const [from, to] = [BEGIN + begin * HOUR, BEGIN + (begin + length) * HOUR];
        let least = 1_000;
        for (let at = from; at < to; at += HOUR) {
          const maximum = byDay.within({ from: at, to: at + 1 }).next().value?.max;
          const load = taken
            .filter(
              (one) => BEGIN + one.from * HOUR <= at && at < BEGIN + (one.from + one.length) * HOUR,
            )
            .reduce((sum, one) => sum + one.count, 0);
          if (maximum !== undefined) least = Math.min(least, maximum - load);
        }
        expect(ceilings.room(wish(from, to, 1, asked), 1_000)).to.equal(least);
      }),
      { numRuns: 300 },
    );
  });
});
