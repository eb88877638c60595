/** Which bookings fit, held against trying every way on small fleets. */
import { expect } from 'chai';
import { array, assert, constantFrom, nat, property, record } from 'fast-check';
import type { BookedPool } from '../../../master/domain/plan/booked-pool.ts';
import type { Wish } from '../../../master/domain/plan/divide.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { BookingPlan } from '../../../master/domain/plan/plan.ts';
import { canAllBeServed, type Window } from './exhaustive.ts';
import { book, bookOne, planOf, pool, wish } from './planned.ts';

const END = 12;

/** A fleet of two pools: some have a graphics card as well. Executors are numbered through both. */
interface Fleet {
  readonly pools: readonly BookedPool[];
  readonly executorsOf: ReadonlyMap<string, readonly number[]>;
}

function fleetOf(plainCount: number, gpuCount: number): Fleet {
  const plain = Array.from({ length: plainCount }, (_, at) => at);
  const gpu = Array.from({ length: gpuCount }, (_, at) => plainCount + at);
  const ids = (numbers: readonly number[]) => new Set(numbers.map((number) => `e${number}`));
  return {
    pools: [
      pool('gpu', gpuCount, { labels: ['gpu'], executorIds: ids(gpu) }),
      pool('plain', plainCount, { executorIds: ids(plain) }),
    ],
    executorsOf: new Map([
      ['plain', plain],
      ['gpu', gpu],
    ]),
  };
}

function asWindow({ executorsOf }: Fleet, { requires, ...window }: Wish): Window {
  const all = [...executorsOf.values()].flat();
  const pinned = all.filter((number) => requires.includes(`executor:e${number}`));
  const gpu = requires.includes('gpu') ? (executorsOf.get('gpu') ?? []) : all;
  const { from, to, count } = window;
  return { from, to, count, may: pinned.length > 0 ? pinned : gpu };
}

const times = record({ from: nat(END - 1), length: nat(5), count: nat(2) });
const anyWish = record({
  times,
  requires: constantFrom<readonly string[]>([], [], ['gpu'], ['executor:e0'], ['executor:e2']),
}).map(({ times: { from, length, count }, requires }) =>
  wish(from, from + length + 1, requires[0]?.startsWith('executor') ? 1 : count + 1, { requires }),
);
const plainWish = times.map(({ from, length, count }) => wish(from, from + length + 1, count + 1));

describe('BookingPlan', () => {
  it('never accepts what does not fit, with two pools and pins', () => {
    let acceptedCount = 0;
    assert(
      property(array(anyWish, { maxLength: 7 }), nat(2), nat(2), (wishes, plain, gpu) => {
        const fleet = fleetOf(plain + 1, gpu);
        const accepted = book(planOf(fleet.pools), wishes);
        acceptedCount += accepted.length;
        expect(canAllBeServed(accepted.map((each) => asWindow(fleet, each)))).to.equal(true);
      }),
      { numRuns: 1_000 },
    );
    expect(acceptedCount).to.be.greaterThan(1_000);
  });

  it('accepts all that fits within one pool', () => {
    let refusedCount = 0;
    assert(
      property(array(plainWish, { maxLength: 7 }), nat(3), (wishes, count) => {
        const fleet = fleetOf(count + 1, 0);
        const plan = planOf(fleet.pools);
        const windows: Window[] = [];
        for (const [order, each] of wishes.entries()) {
          const window = asWindow(fleet, each);
          const fits = bookOne(plan, each, order) !== null;
          expect(fits).to.equal(canAllBeServed([...windows, window]));
          if (fits) windows.push(window);
          else refusedCount++;
        }
      }),
      { numRuns: 500 },
    );
    expect(refusedCount).to.be.greaterThan(100);
  });

  it('leaves an executor for each, whichever is taken of those that no pin needs meanwhile', () => {
    assert(
      property(array(anyWish, { maxLength: 12 }), nat(3), nat(), (wishes, count, choice) => {
        const { pools } = fleetOf(count + 1, 0);
        const plan = planOf(pools);
        const windows = book(plan, wishes).sort((a, b) => a.from - b.from);
        const all = [...(pools[1]?.executorIds ?? [])];
        for (const window of windows) {
          if (window.requires.length > 0) continue;
          const { from, to } = window;
          const free = all.filter((executorId) => !plan.isTaken('plain', executorId, from, to));
          expect(free.length).to.be.at.least(window.count);
          const first = choice % free.length;
          const executorIds = [...free.slice(first), ...free].slice(0, window.count);
          const parts = [{ pool: 'plain', count: window.count, executorIds }];
          plan.put({ ...window, parts });
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('tells of windows that are free, of all of them within one pool', () => {
    const within = { from: 0, to: END + 8 };
    let foundCount = 0;
    assert(
      property(array(anyWish, { maxLength: 10 }), anyWish, nat(2), (wishes, wanted, gpu) => {
        const plan = planOf(fleetOf(2, gpu).pools);
        book(plan, wishes);
        const free = atOnce(plan.free(wanted, within));
        foundCount += free.length;
        const fits = (from: number, to: number, count: number) =>
          'divisions' in plan.admit([{ ...wanted, from, to, count }]);
        for (const { from, to, count } of free) {
          for (let begin = from; begin < to; begin++) {
            for (let end = begin + 1; end <= to; end++) {
              expect(fits(begin, end, count)).to.equal(true);
            }
          }
        }
        // Among pins, or where two pools share what is wanted, it may miss some.
        if (gpu > 0 || [...wishes, wanted].some(({ requires }) => requires.length > 0)) return;
        const lengthMs = wanted.to - wanted.from;
        for (let from = 0; from + lengthMs <= within.to; from++) {
          const to = from + lengthMs;
          const isTold = free.some(
            (each) => each.from <= from && to <= each.to && each.count >= wanted.count,
          );
          expect(isTold).to.equal(fits(from, to, wanted.count));
        }
      }),
      { numRuns: 500 },
    );
    expect(foundCount).to.be.greaterThan(500);
  });

  it('looks at nothing anew where neither pools nor windows have changed', () => {
    const pool = {
      key: 'p',
      types: ['t'],
      labels: [],
      reserve: [],
      executorIds: new Set<string>(),
      isDeclared: false,
    };
    const plan = new BookingPlan();
    plan.setPools([{ ...pool, capacity: 1 }]);
    let lookCount = 0;
    for (const id of ['a', 'b', 'c']) {
      plan.put({
        ...{ id, type: 't', requires: [], labels: [], from: 0, to: 10, count: 1, leadMs: 0 },
        ...{ ceilings: [], parts: null },
        get order() {
          lookCount++;
          return 1;
        },
      });
    }
    const looks = () => {
      lookCount = 0;
      plan.replan();
      return lookCount > 0;
    };
    expect(looks()).to.equal(true);
    plan.setPools([{ ...pool, capacity: 1 }]);
    expect(looks(), 'the same pools').to.equal(false);
    plan.remove('a');
    expect(looks(), 'one has ended').to.equal(true);
    plan.setPools([{ ...pool, capacity: 1, executorIds: new Set(['e']) }]);
    expect(looks(), 'an executor has come').to.equal(true);
  });

  it('promises the rest to one that has fewer than it is to have, before anybody else', () => {
    const plan = planOf([pool('p', 3)]);
    const parts = [{ pool: 'p', count: 2, executorIds: ['e1', 'e2'] }];
    plan.put({ ...wish(0, 10, 3), id: 'a', order: 1, parts });
    plan.replan();
    expect(plan.roomIn('p', 0, 10)).to.equal(0);
    expect(bookOne(plan, wish(5, 6), 2)).to.equal(null);
  });

  it('leaves one that has fewer than it is to have what it has, where there are no more', () => {
    const plan = planOf([pool('p', 2)]);
    const parts = [{ pool: 'p', count: 2, executorIds: ['e1', 'e2'] }];
    plan.put({ ...wish(0, 10, 3), id: 'a', order: 1, parts });
    expect(plan.replan()).to.deep.equal([]);
    expect(plan.roomIn('p', 0, 10)).to.equal(0);
  });

  it('plans anew in order of acceptance when there is less, and again when there is more', () => {
    assert(
      property(array(anyWish, { maxLength: 10 }), nat(2), nat(2), (wishes, plain, gpu) => {
        const fleet = fleetOf(3, 2);
        const plan = planOf(fleet.pools);
        const windows = new Map(book(plan, wishes).map((window) => [window.id, window]));
        const smaller = fleetOf(3, 2).pools.map((each) => ({
          ...each,
          capacity: each.key === 'gpu' ? gpu : plain,
        }));
        plan.setPools(smaller);
        // Some at a time come to the same as all at once.
        do {
          for (const window of plan.replan({ countMax: 2 })) windows.set(window.id, window);
        } while (plan.isReplanning);
        const afresh = planOf(smaller);
        for (const window of windows.values()) {
          const without = 'refused' in afresh.admit([window]);
          expect(
            window.parts === null,
            'at risk where it does not fit beside earlier ones',
          ).to.equal(without);
          if (window.parts !== null) afresh.put(window);
        }
        expect(plan.replan().length, 'nothing new').to.equal(0);
        plan.setPools(fleet.pools);
        for (const window of plan.replan()) windows.set(window.id, window);
        const fitting = [...windows.values()].filter(({ parts }) => parts !== null);
        expect(canAllBeServed(fitting.map((each) => asWindow(fleet, each)))).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('comes to what fits, whatever is booked, given up and lost while it plans anew', () => {
    const small = nat(3).map((plain) => [plain, 3 - plain] as const);
    let movedCount = 0;
    assert(
      property(array(anyWish, { maxLength: 12 }), array(small), nat(), (wishes, sizes, which) => {
        const fleet = fleetOf(3, 3);
        const setPools = ([plain, gpu]: readonly [number, number]) =>
          plan.setPools(
            fleet.pools.map((one) => ({ ...one, capacity: one.key === 'gpu' ? gpu : plain })),
          );
        const plan = planOf(fleet.pools);
        const [early, late] = [wishes.slice(0, 8), wishes.slice(8)];
        const windows = new Map(book(plan, early).map((window) => [window.id, window]));
        const replan = (countMax: number) => {
          for (const window of plan.replan({ countMax })) {
            movedCount++;
            windows.set(window.id, window);
          }
        };
        let last: readonly [number, number] = [3, 3];
        for (const [at, size] of sizes.entries()) {
          setPools((last = size));
          replan(1);
          const each = late[at];
          const accepted = each && bookOne(plan, each, early.length + at);
          if (accepted) windows.set(accepted.id, accepted);
          const again = [...windows.values()][which % (windows.size + 1)];
          if (again !== undefined && at % 2 === 0) plan.put(again);
          else if (again !== undefined) {
            plan.remove(again.id);
            windows.delete(again.id);
          }
        }
        for (let round = 0; round < 3; round++) {
          do replan(1);
          while (plan.isReplanning);
        }
        const afresh = planOf(fleet.pools);
        const [plain, gpu] = last;
        afresh.setPools(
          fleet.pools.map((one) => ({ ...one, capacity: one.key === 'gpu' ? gpu : plain })),
        );
        const fitting = [...windows.values()].filter(({ parts }) => parts !== null);
        for (const window of fitting.sort((a, b) => a.order - b.order)) {
          expect('divisions' in afresh.admit([window])).to.equal(true);
          afresh.put(window);
        }
        for (const window of windows.values()) {
          if (window.parts === null) expect('refused' in plan.admit([window])).to.equal(true);
        }
      }),
      { numRuns: 500 },
    );
    expect(movedCount).to.be.greaterThan(100);
  });

  it('knows executors that come while it plans anew', () => {
    const plan = planOf([pool('a', 2)]);
    book(plan, [wish(0, 5), wish(0, 5)]);
    plan.setPools([pool('a', 1)]);
    plan.replan({ countMax: 1 });
    expect(plan.isReplanning).to.equal(true);
    plan.setPools([pool('a', 1), pool('b', 1, { labels: ['gpu'] })]);
    const late = bookOne(plan, wish(6, 9, 1, { requires: ['gpu'] }), 2);
    expect(late?.parts).to.deep.equal([{ pool: 'b', count: 1, executorIds: [] }]);
    const changed = [];
    while (plan.isReplanning) changed.push(...plan.replan({ countMax: 1 }));
    expect(changed.filter(({ id }) => id === 'b2')).to.deep.equal([]);
  });

  it('leaves what nobody knows as it is, and looks at it as soon as it is known', () => {
    const plan = planOf([pool('a', 1)]);
    book(plan, [wish(0, 5)]);
    plan.setPools([]);
    expect(plan.replan({ isKnown: () => false })).to.deep.equal([]);
    expect(plan.replan().map(({ parts }) => parts)).to.deep.equal([null]);
    plan.setPools([pool('a', 1)]);
    expect(plan.replan()).to.have.length(1);
  });

  it('does not look at it again and again until then, and at nothing else for it', () => {
    const plan = planOf([pool('a', 2)]);
    book(plan, [wish(0, 5), wish(0, 5), wish(6, 9)]);
    plan.setPools([]);
    let isKnown = false;
    let lookCount = 0;
    const ceilingsOf = () => {
      lookCount++;
      return [];
    };
    const replan = () => plan.replan({ isKnown: () => isKnown, ceilingsOf });
    expect(replan()).to.deep.equal([]);
    expect(lookCount).to.equal(3);
    expect(replan()).to.deep.equal([]);
    expect(lookCount).to.equal(3);
    isKnown = true;
    expect(replan()).to.have.length(3);
  });

  it('divides over the least able pools first, all or nothing', () => {
    const plan = planOf([
      pool('gpu', 4, { labels: ['gpu'] }),
      pool('many', 4, { types: ['push', 'transcode'] }),
      pool('plain', 2),
      pool('reserved', 1, { reserve: ['vip'] }),
    ]);
    const parts = (count: number, more: Partial<Wish> = {}) => {
      const admission = plan.admit([wish(0, 1, count, more)]);
      if ('refused' in admission) return null;
      return admission.divisions[0]?.map((part) => [part.pool, part.count]);
    };
    expect(parts(1)).to.deep.equal([['plain', 1]]);
    expect(parts(7)).to.deep.equal([
      ['plain', 2],
      ['many', 4],
      ['gpu', 1],
    ]);
    expect(parts(11)).to.equal(null);
    expect(parts(11, { labels: ['vip'] })?.[0]).to.deep.equal(['reserved', 1]);
    expect(parts(5, { requires: ['gpu'] })).to.equal(null);
  });

  it('keeps ceilings from the lead on, whichever executors are free', () => {
    const plan = planOf([pool('plain', 9)]);
    const ceilings = [{ key: 'push', max: 2 }];
    book(plan, [wish(10, 20, 2, { ceilings, leadMs: 3 })]);
    const fits = (from: number, to: number, leadMs: number) =>
      'divisions' in plan.admit([wish(from, to, 1, { ceilings, leadMs })]);
    expect(fits(5, 7, 3)).to.equal(true);
    expect(fits(5, 8, 3)).to.equal(false);
    expect(fits(20, 21, 0)).to.equal(true);
    expect(fits(20, 21, 1)).to.equal(false);
    expect(
      atOnce(plan.free(wish(15, 16, 1, { ceilings, leadMs: 1 }), { from: 0, to: 30 })),
    ).to.deep.equal([
      { from: 0, to: 7, count: 2 },
      { from: 21, to: 30, count: 2 },
    ]);
  });

  it('has all windows of a recurring booking fit, or none', () => {
    const plan = planOf([pool('plain', 1)]);
    book(plan, [wish(24, 26)]);
    const refused = plan.admit([wish(0, 2), wish(12, 14), wish(25, 27)]);
    expect('refused' in refused && refused.refused.from).to.equal(25);
    expect('divisions' in plan.admit([wish(0, 2), wish(2, 4)])).to.equal(true);
    expect('refused' in plan.admit([wish(0, 2), wish(1, 3)]), 'beside each other').to.equal(true);
    expect('divisions' in plan.admit([wish(0, 4)]), 'nothing is left of it').to.equal(true);
  });
});
