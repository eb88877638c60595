/** How much others can make the master write. */
import { expect } from 'chai';
import { spareLog } from '../../master/infrastructure/telemetry/spare-log.ts';

describe('a spare log', () => {
  it('writes ten lines of a message in a second, then how many it has left out', () => {
    const lines: unknown[][] = [];
    const keep = (...line: unknown[]) => void lines.push(line);
    let now = 5_000;
    const log = spareLog({ debug: keep, info: keep, warn: keep, error: keep }, () => now);
    for (let count = 0; count < 100; count++) log.warn('often', { count });
    expect(lines.map(([, fields]) => fields)).to.deep.equal(
      Array.from({ length: 10 }, (_, count) => ({ count })),
    );
    log.warn('seldom');
    for (let count = 0; count < 20; count++) log.error('bad');
    expect(lines).to.have.length(31);
    now += 1_000;
    log.warn('often', { count: 100 });
    log.warn('often', { count: 101 });
    log.warn('seldom');
    expect(lines.slice(31)).to.deep.equal([
      ['often', { count: 100, left_out: 90 }],
      ['often', { count: 101 }],
      ['seldom', undefined],
    ]);
  });
});
