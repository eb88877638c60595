/** The heap of instants, against a sorted array. */
import { expect } from 'chai';
import { array, assert, constant, integer, oneof, property, record } from 'fast-check';
import type { Executor } from '../../../master/domain/model/executor.ts';
import { type Deadline, Deadlines } from '../../../master/domain/queue/deadlines.ts';
import { sampleTask } from '../../helpers/task.ts';

const executor = {} as Executor;
const due = (at: number): Deadline => ({ at, kind: 'rested', executor });

function takeAll(deadlines: Deadlines, now: number): number[] {
  const taken: number[] = [];
  for (let next = deadlines.take(now); next !== undefined; next = deadlines.take(now)) {
    taken.push(next.at);
  }
  return taken;
}

describe('Deadlines', () => {
  it('are never next while there is none', () => {
    const deadlines = new Deadlines();
    expect(deadlines.nextAt()).to.equal(Number.POSITIVE_INFINITY);
    expect(deadlines.take(Number.MAX_SAFE_INTEGER)).to.equal(undefined);
  });

  it('come out at their instant, not before', () => {
    const deadlines = new Deadlines();
    const entry = due(10);
    deadlines.push(entry);
    expect(deadlines.nextAt()).to.equal(10);
    expect(deadlines.take(9)).to.equal(undefined);
    expect(deadlines.take(10)).to.equal(entry);
    expect(deadlines.size).to.equal(0);
  });

  it('come out in order of their instants', () => {
    assert(
      property(array(integer({ min: 0, max: 50 })), (instants) => {
        const deadlines = new Deadlines();
        for (const at of instants) deadlines.push(due(at));
        const sorted = [...instants].sort((a, b) => a - b);
        expect(takeAll(deadlines, 25)).to.deep.equal(sorted.filter((at) => at <= 25));
        expect(takeAll(deadlines, 50)).to.deep.equal(sorted.filter((at) => at > 25));
      }),
    );
  });

  it('are as a sorted array, whatever is done to them', () => {
    const at = integer({ min: 0, max: 30 });
    const operation = oneof(
      { weight: 4, arbitrary: record({ type: constant('push' as const), at }) },
      { weight: 3, arbitrary: record({ type: constant('take' as const), at }) },
      { weight: 1, arbitrary: record({ type: constant('compact' as const), at }) },
    );
    assert(
      property(array(operation, { maxLength: 80 }), (operations) => {
        const deadlines = new Deadlines(0);
        let model: number[] = [];
        let compactAt = 0;
        for (const { type, at } of operations) {
          if (type === 'push') {
            deadlines.push(due(at));
            model.push(at);
            model.sort((a, b) => a - b);
          } else if (type === 'take') {
            const expected = model[0] !== undefined && model[0] <= at ? model.shift() : undefined;
            expect(deadlines.take(at)?.at).to.equal(expected);
          } else {
            deadlines.compact((deadline) => deadline.at % 3 !== at % 3);
            if (model.length <= compactAt) continue;
            model = model.filter((instant) => instant % 3 !== at % 3);
            compactAt = 2 * model.length;
          }
          expect(deadlines.size).to.equal(model.length);
          expect(deadlines.nextAt()).to.equal(model[0] ?? Number.POSITIVE_INFINITY);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('drop what can no longer apply some at a time, and end with what is left', () => {
    const deadlines = new Deadlines();
    const count = 25_000;
    for (let i = 0; i < count; i++) deadlines.push(due((i * 7919) % count));
    const sizes: number[] = [];
    let lookedCount = 0;
    for (let round = 0; round < 4; round++) {
      let looks = 0;
      deadlines.compact(({ at }) => {
        looks++;
        return at % 2 === 0;
      });
      lookedCount = Math.max(lookedCount, looks);
      sizes.push(deadlines.size);
    }
    expect(lookedCount).to.be.below(25_000);
    expect(sizes[0]).to.be.within(15_001, 24_999);
    expect(sizes.slice(2)).to.deep.equal([count / 2, count / 2]);
    const taken = takeAll(deadlines, count);
    expect(taken).to.deep.equal(Array.from({ length: count / 2 }, (_, i) => 2 * i));
  });

  it('hold one entry for the deadline of a task, and none of the task itself', () => {
    const deadlines = new Deadlines();
    const timed = sampleTask({ params: 'large' });
    for (let i = 0; i < 100; i++) deadlines.push({ at: 10, kind: 'deadline', task: timed });
    expect(deadlines.size).to.equal(1);
    const named = { at: 10, kind: 'deadline', taskId: timed.id, taskSeq: timed.seq };
    expect(deadlines.take(10)).to.deep.equal(named);
    deadlines.push({ at: 10, kind: 'deadline', task: timed });
    expect(deadlines.size, 'once it was taken out it may come again').to.equal(1);
  });
});
