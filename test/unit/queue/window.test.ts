/** The window in memory over a sorted list of rows in a store, against a model of both. */
import { expect } from 'chai';
import { array, assert, boolean, constant, integer, oneof, property, record } from 'fast-check';
import { isBefore, type Position, START, Window } from '../../../master/domain/queue/window.ts';

interface Row extends Position {
  readonly name?: string;
}

const at = (time: number, seq: number): Row => ({ time, seq });
const windowOf = (...rows: Row[]): Window<Row> => {
  const window = new Window<Row>(({ time, seq }) => ({ time, seq }));
  for (const row of rows) window.offer(row);
  return window;
};

describe('Window', () => {
  it('is in order of time, then seq, however the items came', () => {
    const window = windowOf(at(2, 1), at(1, 9), at(2, 0), at(1, 3));
    expect([...window]).to.deep.equal([at(1, 3), at(1, 9), at(2, 0), at(2, 1)]);
    expect(window.first()).to.deep.equal(at(1, 3));
  });

  it('holds everything until it gives something up', () => {
    const window = windowOf(at(1, 1), at(5, 2));
    expect(window).to.include({ complete: true, size: 2 });
    expect(window.cursor).to.equal(null);
    expect(window.evictLast()).to.deep.equal(at(5, 2));
    expect(window).to.include({ complete: false, size: 1 });
    expect(window.until).to.deep.equal(at(5, 2));
  });

  it('leaves to the store what lies at or beyond what it gave up', () => {
    const window = windowOf(at(1, 1), at(5, 2));
    window.evictLast();
    expect(window.offer(at(5, 3))).to.equal(false);
    expect(window.offer(at(5, 2))).to.equal(false);
    expect(window.offer(at(5, 1))).to.equal(true);
    expect(window.covers(at(5, 1))).to.equal(true);
  });

  it('reads on from where it ends, the row that it gave up included', () => {
    const window = windowOf(at(1, 1), at(5, 2));
    window.evictLast();
    const after = window.cursor;
    expect(after !== null && isBefore(after, at(5, 2))).to.equal(true);
    expect(after !== null && isBefore(at(5, 1), after)).to.equal(false);
  });

  it('covers a page that arrives, to its last row or to the end', () => {
    const window = windowOf();
    window.until = START;
    expect(window.cursor, 'from the start').to.equal(null);
    expect(window.offer(at(0, 0))).to.equal(false);
    window.extend([at(1, 1), at(2, 2)], false);
    expect(window.covers(at(2, 2))).to.equal(true);
    expect(window.covers(at(2, 3))).to.equal(false);
    window.extend([], true);
    expect(window.complete).to.equal(true);
  });

  it('finds and removes an item by another copy of its row', () => {
    const held = { ...at(1, 1), name: 'held' };
    const window = windowOf(held, at(2, 2));
    expect(window.find(at(1, 1))).to.equal(held);
    expect(window.find(at(1, 2))).to.equal(undefined);
    expect(window.remove(at(1, 1))).to.equal(true);
    expect(window.remove(at(1, 1))).to.equal(false);
    expect([...window]).to.deep.equal([at(2, 2)]);
  });

  it('gives up nothing when it is empty', () => {
    const window = windowOf();
    expect(window.evictLast()).to.equal(undefined);
    expect(window.complete).to.equal(true);
  });

  it('stays a queue over thousands of items in and out', () => {
    const window = windowOf();
    let next = 0;
    for (let i = 0; i < 10_000; i++) {
      window.offer(at(i, i));
      if (i % 3 === 0) continue;
      const first = window.first();
      expect(first).to.deep.equal(at(next, next));
      if (first !== undefined) window.remove(first);
      next++;
    }
    expect(window.size).to.equal(10_000 - next);
  });

  describe('runs low', () => {
    it('never while it holds everything', () => {
      expect(windowOf().runsLow(100)).to.equal(false);
    });

    it('below half a page, while the store has more', () => {
      const window = windowOf();
      window.until = START;
      expect(window.runsLow(4)).to.equal(true);
      window.extend([at(1, 1), at(2, 2)], false);
      window.offer(at(1, 1));
      expect(window.runsLow(4)).to.equal(true);
      window.offer(at(2, 2));
      expect(window.runsLow(4)).to.equal(false);
    });

    it('below half of what there was room for, when it had to give items up', () => {
      const window = windowOf(...[1, 2, 3, 4, 5].map((n) => at(n, n)));
      window.evictLast();
      expect(window.runsLow(100)).to.equal(false);
      for (const n of [1, 2]) window.remove(at(n, n));
      expect(window.runsLow(100)).to.equal(false);
      window.remove(at(3, 3));
      expect(window.runsLow(100)).to.equal(true);
    });
  });
});

type Operation =
  | { readonly type: 'insert'; readonly time: number }
  | { readonly type: 'remove' | 'move'; readonly pick: number; readonly time: number }
  | { readonly type: 'evict' | 'takeFirst' }
  | { readonly type: 'load'; readonly count: number };

const time = integer({ min: 0, max: 6 });
const pick = integer({ min: 0, max: 1000 });
const operation = oneof(
  { weight: 4, arbitrary: record({ type: constant('insert' as const), time }) },
  { weight: 1, arbitrary: record({ type: constant('remove' as const), pick, time }) },
  { weight: 1, arbitrary: record({ type: constant('move' as const), pick, time }) },
  { weight: 2, arbitrary: record({ type: constant('evict' as const) }) },
  { weight: 2, arbitrary: record({ type: constant('takeFirst' as const) }) },
  {
    weight: 2,
    arbitrary: record({ type: constant('load' as const), count: integer({ min: 1, max: 4 }) }),
  },
);

const compare = (a: Position, b: Position): number => a.time - b.time || a.seq - b.seq;

/** A window and the store behind it, with what the owner of a window does to both. */
class Model {
  readonly window = windowOf();
  readonly store: Row[] = [];
  #seq = 0;

  apply(operation: Operation): void {
    switch (operation.type) {
      case 'insert':
        return this.#insert(at(operation.time, ++this.#seq));
      case 'remove':
        this.#delete(this.store[operation.pick % this.store.length]);
        return;
      case 'move': {
        const row = this.store[operation.pick % this.store.length];
        this.#delete(row);
        if (row !== undefined) this.#insert(at(operation.time, row.seq));
        return;
      }
      case 'evict':
        this.window.evictLast();
        return;
      case 'takeFirst':
        // With nothing in memory the first row is not known: the owner waits for a page.
        return this.#delete(this.window.first());
      case 'load':
        return this.load(operation.count);
    }
  }

  load(count: number): void {
    const after = this.window.cursor;
    const begun = this.window.complete
      ? []
      : this.store.filter((row) => after === null || compare(row, after) > 0).slice(0, count);
    // Rows are read as copies.
    const page = begun.map((row) => ({ ...row }));
    this.window.extend(page, page.length < count);
    for (const row of page) if (this.window.find(row) === undefined) this.window.offer(row);
  }

  #insert(row: Row): void {
    this.store.push(row);
    this.store.sort(compare);
    this.window.offer(row);
  }

  #delete(row: Row | undefined): void {
    if (row === undefined) return;
    this.store.splice(
      this.store.findIndex(({ seq }) => seq === row.seq),
      1,
    );
    this.window.remove(row);
  }
}

describe('Window over a store', () => {
  it('always holds every stored row before its end, in order, and no other', () => {
    assert(
      property(array(operation, { maxLength: 60 }), boolean(), (operations, unread) => {
        const model = new Model();
        if (unread) model.window.until = START;
        for (const operation of operations) {
          model.apply(operation);
          const covered = model.store.filter((row) => model.window.covers(row));
          expect([...model.window]).to.deep.equal(covered);
          expect(model.window.size).to.equal(covered.length);
          expect(model.window.first()).to.deep.equal(covered[0]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reads every row, whatever the size of its pages', () => {
    assert(
      property(array(time, { maxLength: 50 }), integer({ min: 1, max: 7 }), (times, count) => {
        const model = new Model();
        model.window.until = START;
        for (const time of times) model.apply({ type: 'insert', time });
        for (let page = 0; !model.window.complete; page++) {
          expect(page, 'pages').to.be.at.most(times.length / count + 1);
          model.load(count);
        }
        expect([...model.window]).to.deep.equal(model.store);
      }),
    );
  });
});
