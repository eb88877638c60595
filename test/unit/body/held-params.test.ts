/** What a waiting task holds in memory is what is counted for it. */
import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readSubmission } from '../../../master/access/routes/submission.ts';

const TASK_COUNT = 200;
const BODY_BYTES = 256 * 1024;

/** Of what is still in use. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('the params of a task', () => {
  it('do not keep the body alive that they came in', () => {
    const task = '{"task":{"type":"t","params":{"a":"0123456789"}},"user":{"group":"g"}';
    const body = Buffer.from(`${task.padEnd(BODY_BYTES - 1)}}`);
    const before = heapBytes();
    const kept = Array.from({ length: TASK_COUNT }, () => {
      const reading = readSubmission(
        body,
        { start: 0, end: body.length },
        null,
        () => null,
        () => null,
      );
      for (;;) {
        const step = reading.next();
        if (step.done) return step.value;
      }
    });
    expect(heapBytes() - before).to.be.below((TASK_COUNT * BODY_BYTES) / 4);
    expect(kept).to.have.length(TASK_COUNT);
  });
});
