/** Who has long work waits for others that have some, and nobody else does. */
import { expect } from 'chai';
import { Pieces } from '../../../master/access/body/pieces.ts';

describe('pieces of long work', () => {
  /** Each piece of it is one step, which takes its time. */
  function* work(name: string, count: number, seen: string[]): Generator<void, string> {
    for (let piece = 0; piece < count; piece++) {
      const until = performance.now() + 5;
      while (performance.now() < until);
      seen.push(name);
      yield;
    }
    return name;
  }

  it('takes turns, and what is short waits for one of what is long', async () => {
    const pieces = new Pieces();
    const seen: string[] = [];
    const long = ['a', 'b', 'c'].map((name) => pieces.run(work(name, 3, seen)));
    const short = ['x', 'y'].map((name) => pieces.run(work(name, 1, seen), true));
    expect(await Promise.all([...long, ...short])).to.deep.equal(['a', 'b', 'c', 'x', 'y']);
    expect(seen.join('')).to.equal('xyabcabcabc');
  });

  it('lets the event loop turn some times between two pieces', async () => {
    const pieces = new Pieces();
    const seen: string[] = [];
    let turnCount = 0;
    const turn = (): void => {
      turnCount += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await pieces.run(work('a', 10, seen));
    clearImmediate(next);
    expect(turnCount).to.be.at.least(40);
  });
});
