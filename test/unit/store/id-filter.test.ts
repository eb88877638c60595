/** The filter of ids: what it may get wrong, and what never. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { hashOf, IdFilter } from '../../../master/infrastructure/sql/ids/id-filter.ts';
import { anyCharacter } from '../../helpers/store/characters.ts';

const SEED = 12_345;

describe('a filter of ids', () => {
  const filled = (bytes: number, ids: readonly string[]): IdFilter => {
    const filter = new IdFilter(bytes);
    for (const id of ids) filter.add(hashOf(id, SEED));
    return filter;
  };
  const shareOf = (filter: IdFilter, ids: readonly string[]): number =>
    ids.filter((id) => filter.mayHave(hashOf(id, SEED))).length / ids.length;

  it('never denies what was added, however small it is, folded or not', () => {
    const size = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter })), size, size, (ids, a, b) => {
        const filter = filled(4 << Math.max(a, b), ids);
        filter.fold(4 << Math.min(a, b));
        expect(filter.bytes).to.equal(4 << Math.min(a, b));
        expect(ids.filter((id) => !filter.mayHave(hashOf(id, SEED)))).to.deep.equal([]);
      }),
    );
  });

  // (1 - e^(-7/16))^7 = 0.0007, (1 - e^(-7/8))^7 = 0.023
  for (const [name, idOf] of [
    ['that count', (n: number) => `task-${n}`],
    ['as long as they may be', (n: number) => `${'x'.repeat(240)}${n}`],
    ['of a few digits', (n: number) => String(n)],
    ['in hexadecimal', (n: number) => `${(n * 2_654_435_761) % 4_294_967_296}-4${n.toString(16)}`],
  ] as const) {
    it(`denies nearly all others, with 16 bits an id and with 8: ids ${name}`, () => {
      const ids = Array.from({ length: 65_536 }, (_, n) => idOf(n));
      const others = Array.from({ length: 100_000 }, (_, n) => idOf(100_000 + n));
      const filter = filled(1_048_576, ids);
      filter.fold(131_072);
      expect(shareOf(filter, others)).to.be.below(0.002);
      filter.fold(65_536);
      expect(shareOf(filter, others)).to.be.within(0.01, 0.04);
      expect(shareOf(filter, ids)).to.equal(1);
    });
  }

  it('that is folded is the one that would have been made so small', () => {
    const ids = Array.from({ length: 2_000 }, (_, n) => `id ${n}`);
    const others = Array.from({ length: 20_000 }, (_, n) => `other ${n}`);
    const folded = filled(65_536, ids);
    folded.fold(1_024);
    const small = filled(1_024, ids);
    expect(others.filter((id) => folded.mayHave(hashOf(id, SEED)))).to.deep.equal(
      others.filter((id) => small.mayHave(hashOf(id, SEED))),
    );
  });
});
