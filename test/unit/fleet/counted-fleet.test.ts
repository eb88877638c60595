/** Who can be booked, followed change by change: as if all had been looked at anew. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Executor } from '../../../master/domain/model/executor.ts';
import type { BookedPool } from '../../../master/domain/plan/booked-pool.ts';
import { CountedFleet, type Gone } from '../../../master/domain/plan/counted-fleet.ts';
import { PoolList } from '../../../master/domain/plan/pool-list.ts';
import { poolKeyOf } from '../../../master/domain/model/executor.ts';

type Known = Pick<Executor, 'id' | 'types' | 'drainRequested' | 'bareKey' | 'override' | 'own'>;

/** As `follow` looks at it. */
function executorOf(id: string, type: string, label: string, drainRequested: boolean): Executor {
  const own = { labels: label === '' ? [] : [label], reserve: [] };
  const bareKey = poolKeyOf({ types: [type], ...own });
  const executor = { id, types: [type], drainRequested, bareKey, override: {}, own };
  return executor as unknown as Known as Executor;
}

const shown = (pools: Iterable<BookedPool>) =>
  [...pools].map(({ executorIds, ...pool }) => ({ ...pool, executorIds: [...executorIds].sort() }));

const change = fc.record({
  id: fc.integer({ min: 0, max: 11 }).map((n) => `e${n}`),
  type: fc.constantFrom('a', 'b'),
  label: fc.constantFrom('', 'x', 'y', 'z'),
  what: fc.constantFrom<'is' | 'drains' | 'goes' | 'is forgotten' | 'declares'>(
    'is',
    'drains',
    'goes',
    'is forgotten',
    'declares',
  ),
});

describe('the fleet that can be booked', () => {
  it('has the same pools, in the same order, followed change by change or looked at anew', () => {
    const looks = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 12 });
    fc.assert(
      fc.property(looks, (rounds) => {
        const executors = new Map<string, Executor>();
        const gone = new Map<string, Gone>();
        const declared = new Map<string, number>();
        const followed = new CountedFleet();
        const list = new PoolList();
        for (const changes of rounds) {
          for (const { id, type, label, what } of changes) {
            gone.delete(id);
            executors.delete(id);
            const executor = executorOf(id, type, label, what === 'drains');
            if (what === 'is' || what === 'drains') executors.set(id, executor);
            const { labels, reserve } = executor.own;
            if (what === 'goes') gone.set(id, { id, types: [type], labels, reserve, at: 0 });
            if (what === 'declares' && !declared.delete(type)) declared.set(type, 3);
          }
          const keys = followed.follow(executors, gone, declared);
          if (keys === null) list.change(followed.all(), [...list.keys()]);
          else {
            const pools = [...keys].flatMap((key) => followed.pool(key) ?? []);
            list.change(
              pools,
              [...keys].filter((key) => followed.pool(key) === undefined),
            );
          }
          const afresh = new CountedFleet();
          afresh.follow(executors, gone, declared);
          const anew = new PoolList();
          anew.change([...afresh.all()].reverse(), []);
          expect(shown(list)).to.deep.equal(shown(anew));
        }
      }),
    );
  });
});
