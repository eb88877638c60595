/** What the log of an attempt says last. */
import { expect } from 'chai';
import { logEnd } from '../../../executor-sdk/log/end-line.ts';
import { AttemptLog } from '../../../executor-sdk/log/task-log.ts';

describe('the last line of the log of an attempt', () => {
  const cases = [
    [{ value: 1 }, { aborted: null, problem: undefined }, []],
    [
      { error: new Error('no moov atom') },
      { aborted: null, problem: undefined },
      [['error', 'failed: no moov atom']],
    ],
    [{ value: 1 }, { aborted: null, problem: 'too long' }, [['error', 'failed: too long']]],
    [{ error: 0 }, { aborted: 'canceled', problem: undefined }, [['warn', 'canceled']]],
    [
      { error: 0 },
      { aborted: 'stalled', problem: undefined },
      [['warn', 'timed out: it has shown no progress for longer than it may']],
    ],
  ] as const;
  for (const [end, ending, told] of cases) {
    it(`is ${JSON.stringify(told)}`, () => {
      const sent: string[] = [];
      const log = new AttemptLog((lines) => sent.push(...lines));
      logEnd(log, end, ending);
      log.close();
      const lines = sent.map((line) => JSON.parse(line) as { level: string; text: string });
      expect(lines.map(({ level, text }) => [level, text])).to.deep.equal(told);
    });
  }
});
