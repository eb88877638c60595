/** The times of a trigger, held against every minute of a clock on the wall where it is changed. */
import { expect } from 'chai';
import { timesOf } from '../../../master/domain/schedule/times.ts';
import { bruteForce } from './brute-force.ts';
import { spec } from './samples.ts';

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
});
