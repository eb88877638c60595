/** The times of a trigger, held against every minute of a clock on the wall where it is changed. */
import { expect } from 'chai';
import { timesOf } from '../../../master/domain/schedule/times.ts';
import { bruteForce } from './brute-force.ts';
import { spec } from './samples.ts';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);

function all(expression: string, zone: string, from: number, to: number): number[] {
  const times = timesOf(spec({ cron: expression, zone }), { anchorAt: 0, armedAt: null });
  const found: number[] = [];
  for (let next = times.next(from - 1); next !== null && next < to; next = times.next(next)) {
    found.push(next);
  }
  expect(times.count(from, to), 'count').to.equal(found.length);
  expect(times.last(from, to), 'last').to.equal(found.at(-1) ?? null);
  return found;
}

describe('the times of a trigger', () => {
  const changes: readonly [string, string, string][] = [
    ['Asia/Shanghai', '2026-02-10', '2026-03-05'],
    ['America/New_York', '2026-03-06', '2026-03-10'],
    ['America/New_York', '2026-10-30', '2026-11-03'],
    ['Europe/Berlin', '2026-03-27', '2026-03-31'],
    ['Europe/Berlin', '2026-10-23', '2026-10-27'],
    ['Australia/Lord_Howe', '2026-04-03', '2026-04-07'],
    ['Australia/Lord_Howe', '2026-10-02', '2026-10-06'],
    ['Pacific/Apia', '2011-12-28', '2012-01-02'],
    ['America/Sao_Paulo', '2018-11-02', '2018-11-06'],
    ['Africa/Casablanca', '2026-02-13', '2026-02-17'],
  ];
  const expressions = [
    '30 2 * * *',
    '0 0 * * *',
    '15,45 1-3 * * *',
    '*/20 2 * * *',
    '*/15 * * * *',
    '0 */2 * * *',
    '10 */1 30 12 *',
    '30 12 30 * 1',
  ];
  for (const [zone, from, to] of changes) {
    it(`are those of a clock on the wall in ${zone} from ${from}`, () => {
      for (const expression of expressions) {
        const expected = bruteForce(expression, zone, at(from), at(to));
        expect(all(expression, zone, at(from), at(to)), expression).to.deep.equal(expected);
      }
    });
  }

  it('are counted once, whenever it is asked after a change of the clock', () => {
    const changes = [
      ['America/New_York', '2026-11-01T06:00Z', '30 1 * * *'],
      ['America/New_York', '2026-11-01T06:00Z', '30 1 1 11 *'],
      ['America/New_York', '2026-03-08T07:00Z', '30 2 8 3 *'],
      ['Australia/Lord_Howe', '2026-04-04T15:00Z', '45 1 * * *'],
      ['Pacific/Apia', '2011-12-30T10:00Z', '0 8 30 12 *'],
    ] as const;
    for (const [zone, change, expression] of changes) {
      const expected = bruteForce(expression, zone, at(change) - DAY_MS, at(change) + 6 * DAY_MS);
      for (let days = 1; days <= 5; days++) {
        for (const minutes of [-61, -30, 0, 0.001, 1, 15, 29, 31, 59, 61, 720]) {
          const to = at(change) + days * DAY_MS + minutes * 60_000;
          const before = expected.filter((one) => one < to);
          expect(all(expression, zone, at(change) - DAY_MS, to)).to.deep.equal(before);
        }
      }
    }
  });
});
