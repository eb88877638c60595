/** What the frames of executors become in the words of the domain. */
import { expect } from 'chai';
import { executorFrame } from '@soda-scheduler/protocol';
import { frameEvent } from '../../master/access/executor-frames.ts';

describe('frames of executors', () => {
  it('ask for whole milliseconds, whatever they say: the store holds no fractions', () => {
    const about = { type: 'result', seq: 1, ack: 0, task_id: 't', attempt: 1, outcome: 'failed' };
    const waitOf = (retry_after: number) => {
      const frame = executorFrame.parse({ ...about, error: { message: 'm', retry_after } });
      return frame.type === 'result'
        ? frameEvent(frame, { executorId: 'x', sessionId: 's' }, () => true)
        : undefined;
    };
    expect(waitOf(1.5)).to.include({ retryAfterMs: 1_500 });
    expect(waitOf(1.23456)).to.include({ retryAfterMs: 1_235 });
    expect(waitOf(0.0001)).to.include({ retryAfterMs: 0 });
  });
});
