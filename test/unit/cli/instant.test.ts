/** Points in time on a command line. */
import { expect } from 'chai';
import { instantOf } from '../../../cli/instant.ts';

describe('an instant on a command line', () => {
  it('counts from now in units that are named where it does not', () => {
    const at = Date.parse(String(instantOf('+3min')));
    expect(at - Date.now()).to.be.within(170_000, 180_000);
    expect(() => instantOf('+3m')).to.throw('+3m: expected such as +90s, +3min, +2h or +2d');
    expect(instantOf('2026-12-01T08:00:00Z')).to.equal('2026-12-01T08:00:00Z');
  });
});
