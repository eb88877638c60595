/** What handlers report of how far they are, before the session has it. */
import { rawJson } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { ProgressReport } from '../../../executor-sdk/reports/progress-report.ts';
import type { Progress } from '../../../executor-sdk/task-context.ts';

describe('a report of progress', () => {
  const limits = { checkpoint_bytes: 100, progress_state_bytes: 100 };

  function sent(reportsParts: boolean, ...args: Parameters<ProgressReport['progress']>): string {
    const bodies: string[] = [];
    const send = (_type: string, body: string) => void bodies.push(body);
    const report = new ProgressReport({ taskId: 't1', attempt: 1 }, { limits, reportsParts, send });
    report.progress(...args);
    report.close();
    expect(bodies).to.have.length(1);
    return bodies[0]?.replace('"type":"progress","task_id":"t1","attempt":1', '') ?? '';
  }

  const parts = [
    { name: 'a.mp4', percent: 100 },
    { name: 'b.mp4', percent: 25 },
  ];

  it('is a number, or all that people like to see', () => {
    expect(sent(true, 50)).to.equal('{,"percent":50}');
    expect(sent(true, 50, rawJson('1.0'))).to.equal('{,"percent":50,"state":1.0}');
    const whole: Progress = {
      percent: 7,
      state: rawJson('[1.0]'),
      parts,
      speed: 1.5,
      etaSeconds: 9,
    };
    const detail = `"parts":${JSON.stringify(parts)},"speed":1.5,"eta_seconds":9`;
    expect(sent(true, whole)).to.equal(`{,"percent":7,${detail},"state":[1.0]}`);
    expect(sent(false, whole), 'to an older master').to.equal('{,"percent":7,"state":[1.0]}');
    expect(sent(true, { parts }), 'the mean of its parts').to.contain('"percent":62.5');
    expect(sent(true, { speed: 2 })).to.equal('{,"speed":2}');
  });

  it('leaves out numbers that are none, and refuses parts that are none', () => {
    const odd = { percent: 101, speed: Number.NaN, etaSeconds: -1 };
    expect(sent(true, odd)).to.equal('{,"percent":100,"eta_seconds":0}');
    expect(sent(true, { parts: [{ name: 'a', percent: Number.NaN }] })).to.contain('"percent":0');
    const refused = (wrong: unknown) => () => sent(true, { parts: wrong as Progress['parts'] });
    expect(refused('a')).to.throw(TypeError, 'no array');
    for (const name of ['', 7, 'a'.repeat(129)]) {
      expect(refused([{ name, percent: 1 }])).to.throw(TypeError, 'expected 1 to 128 characters');
    }
    expect(refused(Array.from({ length: 101 }, () => parts[0]))).to.throw(RangeError, '101 parts');
    const long = { name: 'a'.repeat(128), percent: 1 };
    expect(refused(Array.from({ length: 90 }, () => long))).to.throw(RangeError, 'list of parts');
    expect(refused([null])).to.throw(TypeError);
  });

  it('is shown to the tests of a handler', async () => {
    const { progress } = await runHandler(
      (_task, ctx) => {
        ctx.progress(5, 'x');
        ctx.progress({ parts, speed: 2, state: rawJson('1.0') });
      },
      { params: null },
    );
    expect(progress).to.deep.equal([
      { percent: 5, state: 'x' },
      { percent: 62.5, parts, speed: 2, state: 1 },
    ]);
  });
});
