/** What is kept of the log of an attempt, and what has to be written for that. */
import { expect } from 'chai';
import { AttemptLog, type LogChange } from '../../../master/domain/logs/attempt-log.ts';

const lines = (from: number, count: number, length = 99) =>
  Array.from({ length: count }, (_, index) => {
    const text = `${from + index} `.padEnd(length, '.');
    return { n: from + index, text, bytes: length };
  });

/** As a store would have it. */
class Rows {
  readonly chunks = new Map<number, string>();
  readonly heads = new Map<number, { n: number; lastN: number; bytes: number }>();

  write({ put, remove }: LogChange): void {
    for (const n of remove) {
      this.chunks.delete(n);
      this.heads.delete(n);
    }
    for (const { text, ...head } of put) {
      this.chunks.set(head.n, text);
      this.heads.set(head.n, head);
    }
  }

  get numbers(): number[] {
    return [...this.chunks]
      .sort(([a], [b]) => a - b)
      .flatMap(([, text]) => text.split('\n').map((line) => Number.parseInt(line, 10)));
  }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('the log of an attempt', () => {
  const write = (log: AttemptLog, rows: Rows, bytesMax = 1_000_000) => {
    do rows.write(log.takeChange(bytesMax));
    while (log.isDirty);
  };

  it('gathers lines into chunks, of which the newest grows until it is full', () => {
    const [log, rows] = [new AttemptLog(1_000_000), new Rows()];
    log.add(lines(1, 3));
    write(log, rows);
    log.add(lines(4, 90));
    log.add(lines(94, 2));
    rows.write(log.takeChange(1));
    expect(log.isDirty, 'a piece at a time, whole chunks').to.equal(true);
    expect([...rows.heads.values()]).to.deep.equal([{ n: 1, lastN: 82, bytes: 8_200 }]);
    write(log, rows);
    expect([...rows.heads.keys()]).to.deep.equal([1, 83]);
    expect(rows.numbers).to.deep.equal(numbers(1, 95));
  });

  it('passes over what came twice, and shows by the numbers what never came', () => {
    const [log, rows] = [new AttemptLog(1_000_000), new Rows()];
    log.add(lines(1, 4));
    log.add(lines(3, 3));
    log.add(lines(9, 1));
    write(log, rows);
    expect(rows.numbers).to.deep.equal([1, 2, 3, 4, 5, 9]);
  });

  it('keeps the first half and the newest, whenever it is written', () => {
    for (const every of [1, 7, 1_000]) {
      const [log, rows] = [new AttemptLog(65_536), new Rows()];
      for (let n = 1; n <= 3_000; n++) {
        log.add(lines(n, 1));
        if (n % every === 0) write(log, rows);
      }
      write(log, rows);
      const kept = rows.numbers;
      const gap = kept.findIndex((n, index) => n !== index + 1);
      expect(kept.length * 100, `${every}`).to.be.within(60_000, 65_536);
      expect(gap * 100, 'the first half').to.be.within(28_000, 32_768);
      expect(kept.slice(gap), 'the newest').to.deep.equal(numbers(kept[gap] ?? 0, 3_000));
      const bytes = [...rows.heads.values()].reduce((sum, head) => sum + head.bytes, 0);
      expect(bytes).to.be.at.most(65_536);
    }
  });

  it('goes on where another master has left off', () => {
    const [first, rows] = [new AttemptLog(65_536), new Rows()];
    first.add(lines(1, 500));
    write(first, rows);
    const heads = [...rows.heads.values()].sort((a, b) => a.n - b.n);
    const second = new AttemptLog(65_536, heads);
    expect(second.lastN).to.equal(500);
    second.add(lines(499, 1_000));
    write(second, rows);
    const kept = rows.numbers;
    expect(new Set(kept).size).to.equal(kept.length);
    expect([kept[0], kept.at(-1)]).to.deep.equal([1, 1_498]);
    expect(kept.length * 100).to.be.at.most(65_536);
  });

  it('holds no text that is written and will not change', () => {
    const log = new AttemptLog(1_000_000);
    log.add(lines(1, 1_000));
    expect(log.heldBytes).to.equal(100_000);
    log.takeChange(1_000_000);
    expect(log.heldBytes).to.be.below(8_192);
  });
});
