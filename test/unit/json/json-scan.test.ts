/** The scan of JSON: it takes what `JSON.parse` takes, but for what it is there to refuse. */
import { expect } from 'chai';
import { BrokenJson, type ParamsPlace, RefusedJson, scanJson } from '@soda-scheduler/protocol';
import { Random } from '../../sim/random.ts';

/** `JSON`, a path with the reason it is refused, or where it is broken. */
function verdict(text: string, paramsIn: ParamsPlace | null = 'task'): string {
  try {
    scanJson(text, paramsIn);
    return 'JSON';
  } catch (error) {
    if (error instanceof RefusedJson) return `${error.path.join('.')}: ${error.message}`;
    if (error instanceof BrokenJson) return `broken at ${error.at}`;
    throw error;
  }
}

describe('the scan of JSON', () => {
  it('takes what JSON.parse takes, and nothing else', () => {
    const random = new Random(7);
    const words = [
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        ' ',
        '\t',
        '\n',
        '\r',
        '"',
        '\\',
        '\\"',
        '\\u00e4',
        '\\u12',
      ],
      ...[
        'true',
        'false',
        'null',
        'nul',
        '0',
        '1',
        '-',
        '+',
        '.',
        '1.5',
        'e',
        'E+2',
        '01',
        '-0',
        '1e5',
      ],
      ...[
        '"a"',
        '"b":',
        '"a\\n"',
        '"\\x"',
        'ü',
        '\u0001',
        '\u2028',
        '\ufeff',
        '{"a":',
        '[1,',
        '[]',
        '{}',
      ],
    ];
    const seen = { taken: 0, refused: 0 };
    const wrong: string[] = [];
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from(
        { length: random.between(1, 9) },
        () => random.pick(words) ?? '',
      ).join('');
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const said = verdict(text);
      if (/this key is there twice$|double precision$/.test(said)) continue;
      if ((said === 'JSON') !== isJson) wrong.push(text);
      seen[isJson ? 'taken' : 'refused'] += 1;
    }
    expect(wrong).to.deep.equal([]);
    expect(seen.taken).to.be.greaterThan(200);
    expect(seen.refused).to.be.greaterThan(200);
  });

  it('says where a text stops being JSON', () => {
    const cases: readonly (readonly [string, number])[] = [
      ['', 0],
      ['[1.]', 3],
      ['[1e]', 3],
      ['[-]', 2],
      ['[01]', 2],
      ['{"a":tru}', 5],
      ['["\\u12g4"]', 2],
      ['{"a":1 "b":2}', 7],
      ['"ü" x', 4],
    ];
    for (const [text, at] of cases) expect(verdict(text), text).to.equal(`broken at ${at}`);
  });

  it('refuses a key that is there twice, however it is spelt and among however many', () => {
    const many = Array.from({ length: 50 }, (_, place) => `"k${place}":0`).join(',');
    for (const [text, path] of [
      ['{"a":1,"a":1}', 'a'],
      ['{"a":1,"\\u0061":1}', 'a'],
      ['{"task":{"params":[0,{"x":{},"y":1,"x":{}}]}}', 'task.params.1.x'],
      [`{${many},"k7":1}`, 'k7'],
      [`{${many},"k\\u0034\\u0039":1}`, 'k49'],
      ['{"":1,"":2}', ''],
    ] as const) {
      expect(verdict(text), text).to.equal(`${path}: this key is there twice`);
    }
    expect(verdict('[{"a":1},{"a":1,"A":1,"\\"a":1,"b":{"a":1}}]')).to.equal('JSON');
  });

  it('refuses numbers that no double can hold, and takes the longest that one can', () => {
    const message = 'n: expected a number within double precision';
    const nines = (count: number) => '9'.repeat(count);
    for (const number of ['1e999', '-1E+400', '1e309', nines(309), `${nines(250)}e60`]) {
      expect(verdict(`{"n":${number}}`), number).to.equal(message);
    }
    for (const number of ['1e308', '1e-999', `0.${nines(400)}`, nines(308), `${nines(200)}e99`]) {
      expect(verdict(`{"n":${number}}`), number).to.equal('JSON');
    }
  });

  it('finds the params of a task, and only those', () => {
    const found = (text: string) => {
      const range = scanJson(text, 'task');
      return range === null ? null : text.slice(range.start, range.end);
    };
    expect(found('{"task":{"type":"t","params": {"n": 1.0} }}')).to.equal('{"n": 1.0}');
    expect(found('{"t\\u0061sk":{"p\\u0061rams":12345678901234567890}}')).to.equal(
      '12345678901234567890',
    );
    for (const text of ['{"params":1}', '{"user":{"params":1}}', '[{"params":1}]', '"params"']) {
      expect(found(text), text).to.equal(null);
    }
    expect(found('{"task":{"a":{"params":1},"params":2},"user":{"params":3}}')).to.equal('2');
  });

  it('finds those of a body that has params itself', () => {
    const ones = Array(1100).fill('1').join(',');
    const text = `{"task":{"params":1},"params": [${ones}] }`;
    const range = scanJson(text, 'body');
    expect(text.slice(range?.start, range?.end)).to.equal(`[${ones}]`);
    const deep = (levels: number) => `{"params":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(verdict(deep(32), 'body')).to.equal('JSON');
    expect(verdict(deep(33), 'body')).to.equal('params: expected at most 32 levels');
    expect(verdict('{"params":{"a":{"a":1,"a":2}}}', 'body')).to.equal(
      'params.a.a: this key is there twice',
    );
  });

  it('bounds the number of values, but for those in params', () => {
    const ones = Array(1100).fill('1').join(',');
    expect(verdict(`{"task":{"params":[${ones}]}}`)).to.equal('JSON');
    expect(verdict(`{"task":{"params":[${ones}]}}`, null)).to.include('at most 1000 values');
    expect(verdict(`{"task":{"labels":[${ones}]}}`)).to.include('at most 1000 values');
  });
});
