/** Where bytes stop being JSON, held against `JSON.parse`. */
import { expect } from 'chai';
import { findBreak } from '../../../master/access/body/json-break.ts';
import { runAtOnce } from '../../../master/access/body/pieces.ts';

const breakIn = (text: string) => {
  const bytes = Buffer.from(text);
  return runAtOnce(findBreak(bytes, { start: 0, end: bytes.length }));
};

describe('the break in a JSON text', () => {
  it('is where it cannot go on', () => {
    for (const [text, at] of [
      ['{"a":1,"a":2 garbage}', 13],
      ['{"a":[}', 6],
      ['[1}', 2],
      ['[1,]', 3],
      ['{"a" 1}', 5],
      ['{"a":secret}', 5],
      ['{"a":nonsense}', 5],
      ['"a\nb"', 2],
      ['"a\\qb"', 2],
      ['"\\u12x4"', 1],
      ['01', 1],
      ['-', 1],
      ['1.e', 2],
      ['1e+', 3],
      ['{"a":1', 6],
      ['tru', 3],
      ['1 2', 2],
      ['', 0],
      ['{1:2}', 1],
    ] as const) {
      expect(breakIn(text), text).to.equal(at);
    }
  });

  it('is there exactly where JSON.parse finds one', () => {
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e4"',
      '"\\x"',
      '0',
      '-1.5e+3',
      '1.',
    ];
    tokens.push('true', 'nul', ' ', '\n', '"ü', 'e', '\u0001', '"\\\\"', '1E5', '{"a":[]}', '[{}]');
    let seed = 1;
    const draw = (count: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % count;
    };
    let goodCount = 0;
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 1 + draw(6) }, () => tokens[draw(tokens.length)]).join('');
      let isJson = true;
      try {
        JSON.parse(text);
        goodCount += 1;
      } catch {
        isJson = false;
      }
      expect(breakIn(text) === null, text).to.equal(isJson);
    }
    expect(goodCount).to.be.above(500);
  });

  it('is found beyond any depth', () => {
    expect(breakIn('['.repeat(1_000_000) + ']'.repeat(1_000_000))).to.equal(null);
    expect(breakIn(`${'[{"a":'.repeat(9_999)}1${'}]'.repeat(9_998)}}}`)).to.equal(79_992);
  });
});
