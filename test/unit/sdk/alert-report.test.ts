/** Alerts that handlers raise, before the session has them. */
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { AlertReport } from '../../../executor-sdk/reports/alert-report.ts';
import { alertPace } from '../../../executor-sdk/reports/pace.ts';

describe('alerts that handlers raise', () => {
  const key = { taskId: 't1', attempt: 2 };

  function report(pace = alertPace()) {
    const bodies: string[] = [];
    return Object.assign(new AlertReport(key, pace, (_, body) => bodies.push(body)), { bodies });
  }

  it('are sent as they are given, cut where they are too long', () => {
    const raised = report();
    raised.alert('warning', 'no audio');
    raised.alert('critical', 'x'.repeat(3_000), { track: 2 });
    raised.close();
    raised.alert('info', 'too late');
    const about = '"type":"alert","task_id":"t1","attempt":2';
    expect(raised.bodies).to.deep.equal([
      `{${about},"severity":"warning","message":"no audio"}`,
      `{${about},"severity":"critical","message":"${'x'.repeat(2_000)}","fields":{"track":2}}`,
    ]);
  });

  it('go ten at once, whatever the attempt, and the others are left out', () => {
    const pace = alertPace();
    for (let count = 0; count < 2; count += 1) {
      const raised = report(pace);
      for (let at = 0; at < 50; at += 1) raised.alert('info', 'again');
      expect(raised.bodies.length).to.equal(count === 0 ? 11 : 0);
    }
  });

  it('are refused where they are called, or say, what nobody can be told', () => {
    const raised = report();
    expect(() => raised.alert('fatal' as 'info', 'x')).to.throw(
      TypeError,
      'expected info, warning',
    );
    expect(() => raised.alert('info', '')).to.throw(TypeError, 'says nothing');
    expect(() => raised.alert('info', 'x', [])).to.throw(TypeError, 'no JSON object');
    expect(() => raised.alert('info', 'x', { a: 'x'.repeat(4096) })).to.throw(RangeError, 'fields');
    expect(raised.bodies).to.deep.equal([]);
  });

  it('are shown to the tests of a handler', async () => {
    const { alerts } = await runHandler(
      (_, ctx) => {
        ctx.alert('info', 'one');
        ctx.alert('critical', 'two', { a: 1 });
      },
      { params: null },
    );
    expect(alerts).to.deep.equal([
      { severity: 'info', message: 'one' },
      { severity: 'critical', message: 'two', fields: { a: 1 } },
    ]);
  });
});
