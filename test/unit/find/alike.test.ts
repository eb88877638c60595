/** Which messages of errors are the same one. */
import { expect } from 'chai';
import { alike } from '../../../master/domain/views/alike.ts';

describe('messages of errors are alike', () => {
  for (const [message, told] of [
    ['frame 17 of 250 (3.5 s)', 'frame # of # (# s)'],
    ['task 0198c1a2-7b3c-7d10-8000-0123456789ab is gone', 'task # is gone'],
    ['at 0xdeadBEEF', 'at #'],
    ['digest 9f86d081884c7d65 differs', 'digest # differs'],
    ['a feedback of the decade', 'a feedback of the decade'],
    ['at 12:30:00,5 in v1.2', 'at # in v#'],
    [' no\n\tsuch  file ', 'no such file'],
    ['\u5f71 12', '\u5f71 #'],
    ['', ''],
  ] as const) {
    it(`in ${JSON.stringify(told)}`, () => expect(alike(message)).to.equal(told));
  }

  it('by their beginning, which alone is looked at and told', () => {
    const long = `${'x'.repeat(199)}\u{1f600}${'y '.repeat(100_000)}`;
    expect(alike(long)).to.equal(`${'x'.repeat(199)}…`);
  });
});
