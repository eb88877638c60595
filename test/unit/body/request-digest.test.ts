/** What counts as the same request, today and against rows of 2.0.0. */
import { expect } from 'chai';
import { runAtOnce } from '../../../master/access/body/pieces.ts';
import { isSameRequest } from '../../../master/access/body/request-digest.ts';
import { readSubmission } from '../../../master/access/routes/submission.ts';

function submission(body: string) {
  const bytes = Buffer.from(body);
  return runAtOnce(
    readSubmission(
      bytes,
      { start: 0, end: bytes.length },
      null,
      () => null,
      () => null,
    ),
  );
}

const withParams = (params: string) =>
  submission(`{"task":{"id":"a","type":"t","params":${params}},"user":{"group":"g"}}`);
const isSame = (one: string, other: string) =>
  isSameRequest(withParams(one), withParams(other).requestHash);

describe('the digest of a request', () => {
  it('leaves white space and the order of keys aside', () => {
    expect(
      isSame('{"a":1,"b":[2,{"d":3,"c":4}]}', ' { "b" : [ 2 , {"c":4,\n"d":3} ], "a":1 } '),
    ).to.equal(true);
    expect(isSame('[]', '[ ]')).to.equal(true);
    expect(isSame('{}', '{\n}')).to.equal(true);
    expect(isSame('{"a":1,"ab":2,"\\"":3}', '{"\\"":3,"ab":2,"a":1}')).to.equal(true);
  });

  it('takes numbers and strings as they are spelt', () => {
    for (const [one, other] of [
      ['1', '1.0'],
      ['12345678901234567890', '12345678901234567891'],
      ['9007199254740993', '9007199254740992'],
      ['"A"', '"\\u0041"'],
      ['" "', '"  "'],
      ['"a , b"', '"a, b"'],
      ['[1,2]', '[2,1]'],
      ['[[1],2]', '[[1,2]]'],
      ['{"a":{}}', '{"a":[]}'],
      ['{"a":{"b":1},"c":2}', '{"a":{"b":1,"c":2}}'],
    ] as const) {
      expect(isSame(one, other), `${one} ${other}`).to.equal(false);
      expect(isSame(one, one), one).to.equal(true);
    }
  });

  it('goes by the meaning of every other field', () => {
    const one = '{"task":{"id":"a","type":"t","labels":["x","y"]},"user":{"group":"g"}}';
    const other =
      '{"task":{"id":"a","type":"t","priority":"normal","labels":["y","x","x"],"params":null,' +
      '"retry":{"max_attempts":10},"user":{"group":"g"}}}';
    expect(isSameRequest(submission(one), submission(other).requestHash)).to.equal(true);
    const third = other.replace('10', '9');
    expect(isSameRequest(submission(one), submission(third).requestHash)).to.equal(false);
  });

  it('is no repetition of a task whose id nobody chose', () => {
    expect(isSameRequest(withParams('1'), '')).to.equal(false);
  });

  it('is compared with rows of 2.0.0 in the way of 2.0.0', () => {
    for (const [hash, body] of [
      [
        '49804f3b312e15777036c5c83aa6c04a',
        '{"user":{"group":"g"},"task":{"id":"job-1","type":"t","params":{"b":[2],"a":1.0}}}',
      ],
      [
        '16d268105486e085d45e20bec346b813',
        '{"task":{"id":"job-2","type":"transcode","params":{"n":{"x":null,"y":[100000000000000000000]},' +
          '"a":"\\u00fc","z":1},"priority":3600,"labels":["a","b"],"requires":["gpu"],' +
          '"run_at":"2030-01-31T12:00:00Z","retry":{"max_attempts":3,"interval":[1,2]},' +
          '"assign_timeout":5,"notify_url":"https://example.com/x"},"user":{"group":"g","project":"p"}}',
      ],
    ] as const) {
      expect(isSameRequest(submission(body), hash), body).to.equal(true);
      const other = body.replace('"type":"t', '"type":"u');
      expect(isSameRequest(submission(other), hash), other).to.equal(false);
    }
  });

  it('takes what 2.0.0 did not know for another request, unless it is the default', () => {
    const params = '{"b":[2],"a":1.0}';
    const of = (more: string) =>
      submission(
        `{"user":{"group":"g"},"task":{"id":"job-1","type":"t","params":${params}${more}}}`,
      );
    const plain = of('');
    const limited = of(',"start_timeout":60');
    expect(isSameRequest(limited, plain.requestHash)).to.equal(false);
    expect(isSameRequest(limited, of(',"start_timeout":60.0').requestHash)).to.equal(true);
    expect(isSameRequest(of(',"start_timeout_action":"fail"'), plain.requestHash)).to.equal(true);
    const former = '49804f3b312e15777036c5c83aa6c04a';
    expect(isSameRequest(plain, former)).to.equal(true);
    expect(isSameRequest(limited, former)).to.equal(false);
  });
});
