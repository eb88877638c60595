/** Why a task waits is told in a few milliseconds, however much waits. */
import { expect } from 'chai';
import { createOutput } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import type { NewTask } from '../../../master/domain/model/new-task.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { whyOf } from '../../../master/domain/why/why.ts';
import { inserted, MINUTE, Scheduler } from '../../helpers/domain.ts';
import { hello, newTask } from '../../helpers/task.ts';

describe('why a task waits, among many', () => {
  it('looks at few executors of many alike, also where tasks need disk or what is shared', () => {
    const { state, now } = new Scheduler();
    let request = 0;
    const send = (event: object) =>
      step(state, { request: ++request, ...event } as Event, now, createOutput());
    const submit = (tasks: readonly Partial<NewTask>[]) =>
      send({ type: 'tasksSubmitted', tasks: tasks.map((task) => newTask(task)), taken: new Map() });
    send({ type: 'limitSet', name: 'drm', limit: { name: 'drm', max: 1, per: 'host' } });
    const each = Array.from({ length: 1_000 }, (_, at) => at);
    for (const at of each) {
      const who = hello({ executorId: `e${at}`, host: `h${at % 6}`, bootId: `b${at % 6}` });
      send({ type: 'executorConnected', ...who });
    }
    submit(each.map((at) => ({ id: `running-${at}` })));
    const uses = [{ limit: 'drm', n: 2 }];
    const kept = each.slice(0, 60).map((at) => {
      const needs = at % 2 === 0 ? { uses } : { diskBytes: 1 };
      return { id: `${at}`, labels: [`l:${at}`], ...needs };
    });
    submit(kept);
    submit([{ id: 'asked', priority: -1 }]);
    const task = state.tasks.get('asked');
    const why = whyOf(state, { task: task!, notification: null }, now, true);
    expect(why.ahead).to.deep.include({ count: 0, isAtLeast: false });
  });

  it('looks at lanes and not at tasks, and says that there may be more', () => {
    const scheduler = new Scheduler({ laneWindowCount: 20 });
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    for (let group = 0; group < 40; group++) {
      const user = { group: `g${group}`, project: null, env: null, user: null };
      const ids = Array.from({ length: 25 }, (_, at) => `${group}-${at}`);
      scheduler.submit(...ids.map((id) => ({ id, user })));
    }
    scheduler.now += MINUTE;
    const [task] = inserted(scheduler.submit({ id: 'asked' }));
    const why = whyOf(scheduler.state, { task: task!, notification: null }, scheduler.now, true);
    expect(why.ahead).to.deep.include({ count: 800, isAtLeast: true });
    expect(why.change?.message).to.equal(
      'Start at least 801 executors of type echo (800 tasks come first).',
    );
  });
});
