/** Events that handlers tell of, before the session has them. */
import { rawJson } from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { expect } from 'chai';
import { EventReport } from '../../../executor-sdk/reports/event-report.ts';
import { eventPace } from '../../../executor-sdk/reports/pace.ts';

describe('events that handlers tell of', () => {
  const key = { taskId: 't1', attempt: 2 };

  function report(pace = eventPace()) {
    const bodies: string[] = [];
    const made = new EventReport(key, pace, (_, body) => bodies.push(body));
    return Object.assign(made, { bodies, numbers: () => bodies.map((one) => JSON.parse(one).n) });
  }

  it('are numbered, each as it was given', () => {
    const told = report();
    told.event('begun');
    told.event('step', rawJson('{"at": 1.0}'));
    told.close();
    told.event('too_late');
    const about = '"type":"event","task_id":"t1","attempt":2';
    expect(told.bodies).to.deep.equal([
      `{${about},"name":"begun","n":1}`,
      `{${about},"name":"step","n":2,"data":{"at": 1.0}}`,
    ]);
  });

  it('go a hundred at once; the newest of the others wait, and go at the end', () => {
    const pace = eventPace();
    const told = report(pace);
    for (let count = 1; count <= 500; count += 1) told.event('step');
    const sent = told.numbers().length;
    expect(sent).to.be.within(100, 110);
    told.close();
    const numbers = told.numbers();
    expect(numbers.slice(sent)).to.deep.equal(Array.from({ length: 100 }, (_, n) => 401 + n));
    const next = report(pace);
    next.event('step');
    expect(next.bodies, 'the next attempt goes on at that pace').to.deep.equal([]);
    next.close();
    expect(next.bodies).to.have.length(1);
  });

  it('are refused where they are called, or say, what the feed cannot have', () => {
    const told = report();
    for (const name of ['', 'a b', 'A', 'a.b', 'a'.repeat(48), 7]) {
      expect(() => told.event(name as string)).to.throw(TypeError, 'expected 1 to 47 of a-z');
    }
    for (const data of [[], 1, 'text', null]) {
      expect(() => told.event('step', data as object)).to.throw(TypeError, 'no JSON object');
    }
    expect(() => told.event('step', { a: 'x'.repeat(4096) })).to.throw(RangeError, 'data of the');
    expect(told.bodies).to.deep.equal([]);
    told.close();
  });

  it('are shown to the tests of a handler', async () => {
    const { events, error } = await runHandler(
      (_task, ctx) => {
        ctx.event('begun');
        ctx.event('step', { at: 1 });
        ctx.event('no name');
      },
      { params: null },
    );
    expect(events).to.deep.equal([{ name: 'begun' }, { name: 'step', data: { at: 1 } }]);
    expect(error).to.be.instanceOf(TypeError);
  });
});
