/** Which messages of errors are the same one. */
import { expect } from 'chai';
import { alike, piecesOf } from '../../../master/domain/views/alike.ts';

describe('messages of errors are alike', () => {
  for (const [message, told] of [
    ['frame 17 of 250 (3.5 s)', 'frame # of # (# s)'],
    ['task 0198c1a2-7b3c-7d10-8000-0123456789ab is gone', 'task # is gone'],
    ['at 0xdeadBEEF', 'at #'],
    ['digest 9f86d081884c7d65 differs', 'digest # differs'],
    ['a feedback of the decade', 'a feedback of the decade'],
    ['at 12:30:00,5 in v1.2', 'at # in v1.2'],
    ['h264 (17) of mp4, H.265 or s3', 'h264 (#) of mp4, H.265 or s3'],
    ['clip_17 and clip-17 of group7', 'clip_# and clip-# of group7'],
    ['1920x1080 at 25fps took 20ms, 2.3x', '# at #fps took #ms, #x'],
    ['1080p is no 4k', '1080p is no 4k'],
    ['\u7b2c3\u5e27', '\u7b2c#\u5e27'],
    ['since 2026-11-23T00:04:01.465Z', 'since #'],
    ['/in/a/clip 1.mp4: no such file', '# #.mp4: no such file'],
    ["open '/in/a clip.mp4' or ../b.ts, ~/c.ts", "open '#' or #, #"],
    ['C:\\in\\a.mp4: no such file', '#: no such file'],
    ['https://cdn.example.com/clip/17?k=v says 404', 'https://cdn.example.com/# says #'],
    ['HTTP 503: busy, dear 17', 'HTTP 503: busy, dear #'],
    ['HTTP 12:30 and http 5030', 'HTTP # and http #'],
    ['and/or n/a', 'and/or n/a'],
    ['of clip_9f86d081884c7d65', 'of clip_#'],
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

describe('what messages like one are looked for by', () => {
  for (const [message, pieces] of [
    ['frame 17 of 250 is broken', ['is broken', 'frame']],
    ['12345', []],
    ['42: 17', []],
    ['0198c1a2-7b3c-7d10-8000-0123456789ab', []],
    ['/in/a.mp4', []],
    ['17 ms', []],
    ['failed:\n  no  such file', ['such file', 'failed:']],
    ['message 12 details 13', []],
    ['Error: 12', []],
    ['TypeError 3', []],
    ['stack 4', []],
    ['\u78c1\u76d8\u5df2\u6ee1 17', ['\u78c1\u76d8\u5df2\u6ee1']],
    ['', []],
  ] as const) {
    it(`of ${JSON.stringify(message)}`, () => {
      expect(piecesOf(message)).to.deep.equal(pieces);
      for (const piece of pieces) expect(message).to.include(piece);
    });
  }

  it('is no longer than may be looked for, and has no half characters', () => {
    const [piece] = piecesOf(`${'a'.repeat(255)}\u{1f3ac}${'b'.repeat(300)}`);
    expect(piece).to.equal('a'.repeat(255));
  });
});
