/** How the master tells what it does: log lines, metrics, and the clock they go by. */
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createMetrics } from '../../master/infrastructure/telemetry/metrics.ts';
import { createClock } from '../../master/infrastructure/system.ts';
import { createLog, createLogObserver } from '../../master/infrastructure/telemetry/winston-log.ts';
import { notificationOf } from '../helpers/task.ts';
import {
  submissionOf,
  StandInHandle,
  StandInNamespaces,
  waitingTask,
} from '../helpers/stand-in-handle.ts';

type Line = Record<string, unknown>;

/** A log, and the lines it has written. */
function logWith(level: Parameters<typeof createLog>[0]) {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  const lines = () => written.map((text) => JSON.parse(text) as Line);
  return { log: createLog(level, stream), written, lines };
}

function aTask(type = 'transcode') {
  return waitingTask(submissionOf({ task: { id: 'job-1', type }, user: { group: 'g' } }), 1);
}

describe('log', () => {
  it('writes one JSON object a line, and fields cannot replace its head', () => {
    const { log, written, lines } = logWith('info');
    log.debug('not shown');
    log.info('first', { task_id: 'a', msg: 'forged', level: 'error', message: 'x' });
    expect(written).to.have.length(1);
    expect(written[0]).to.match(/^\{"ts":"\d{4}-[^\n]*\}\n$/);
    const [line] = lines();
    expect(line).to.include({ level: 'info', msg: 'first', task_id: 'a', message: 'x' });
  });

  it('lets no text of users break a line, reach a terminal, or grow without end', () => {
    const { log, written, lines } = logWith('info');
    const hostile = 'a\nb\u001b[2Jc\u009bd\u2028e\u007ff\u202eg\u2066h\u200f';
    log.warn(hostile, { reason: hostile, long: 'x'.repeat(10_000) });
    expect(written[0]?.trimEnd()).to.match(/^[ -~…]*$/);
    const [line] = lines();
    expect(line?.['msg']).to.equal(hostile);
    expect(String(line?.['long']).length).to.be.lessThan(5_000);
  });

  it('keeps what an error says', () => {
    const { log, lines } = logWith('error');
    log.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
    const error = lines()[0]?.['error'] as Line;
    expect(error).to.include({ name: 'Error', message: 'outer' });
    expect(error['stack']).to.include('observation.test');
    expect(error['cause']).to.include({ message: 'inner' });
  });

  it('says what happens to every task to whoever asks for it', () => {
    for (const [level, written] of [
      ['debug', ['task accepted', 'task started', 'callback tried', 'task finished']],
      ['info', []],
    ] as const) {
      const { log, lines } = logWith(level);
      const observer = createLogObserver(log, level);
      const task = aTask();
      const notification = notificationOf(task, {});
      observer.observe({ event: 'task_accepted', task });
      observer.observe({ event: 'task_started', task, waitedMs: 1 });
      observer.observe({ event: 'notification_tried', notification, outcome: 'delivered' });
      observer.observe({ event: 'task_finished', task });
      expect(lines().map((line) => line['msg'])).to.deep.equal(written);
    }
  });

  it('warns of attempts that failed, and is quiet about those that went well', () => {
    const { log, lines } = logWith('info');
    const observer = createLogObserver(log, 'info');
    const ended = {
      taskSeq: 1,
      attempt: 1,
      executorId: 'gpu-1',
      incarnation: 'i',
      session: 's',
      offeredAt: 0,
      startedAt: 0,
      endedAt: 1,
      error: { message: 'no disk' },
    };
    observer.observe({ event: 'task_accepted', task: aTask() });
    for (const outcome of ['succeeded', 'failed', 'rejected'] as const) {
      observer.observe({ event: 'attempt_ended', task: aTask(), attempt: { ...ended, outcome } });
    }
    const lost = { executorId: 'gpu-1', reason: 'silent', lastSeenAt: 0 };
    observer.observe({ event: 'executor_lost', ...lost });
    for (const state of ['delivered', 'gave_up'] as const) {
      const notification = notificationOf(aTask(), { state });
      observer.observe({ event: 'notification_ended', notification });
    }
    expect(lines().map((line) => [line['level'], line['outcome'] ?? line['reason']])).to.deep.equal(
      [
        ['warn', 'failed'],
        ['info', 'rejected'],
        ['warn', 'silent'],
        ['warn', undefined],
      ],
    );
    observer.observe({ event: 'start_overdue', task: aTask() });
    expect(lines().at(-1)).to.include({ level: 'warn', event: 'start_overdue', task_id: 'job-1' });
    expect(lines()[0]).to.include({ task_id: 'job-1', executor_id: 'gpu-1', error: 'no disk' });
  });
});

describe('metrics', () => {
  it('give only so many task types a label of their own', async () => {
    const metrics = createMetrics('1');
    for (let index = 0; index < 250; index++) {
      metrics.of('default').observe({ event: 'task_accepted', task: aTask(`type-${index}`) });
    }
    const { text } = await metrics.render();
    expect(text.match(/^scheduler_tasks_submitted_total\{/gm)).to.have.length(201);
    expect(text).to.include('scheduler_tasks_submitted_total{namespace="default",type="other"} 50');
    expect(text).to.include('scheduler_build_info{version="1"');
  });

  it('give only so many namespaces a label of their own: those with work first', async () => {
    const metrics = createMetrics('1');
    metrics.of('idle');
    for (let index = 0; index < 30; index++) {
      metrics.of(`n${index}`).observe({ event: 'task_accepted', task: aTask() });
    }
    const { text } = await metrics.render();
    expect(text.match(/^scheduler_tasks_submitted_total\{/gm)).to.have.length(21);
    expect(text).to.include('_submitted_total{namespace="n19",type="transcode"} 1');
    expect(text).to.include('_submitted_total{namespace="(other)",type="transcode"} 10');
    expect(text).not.to.include('idle"');
  });

  it('count callbacks by how they ended, from none on', async () => {
    const metrics = createMetrics('1');
    const counted = async () =>
      (await metrics.render()).text.match(/^scheduler_callbacks_ended_total.*$/gm);
    expect(await counted()).to.have.members([
      'scheduler_callbacks_ended_total{namespace="default",state="delivered"} 0',
      'scheduler_callbacks_ended_total{namespace="default",state="gave_up"} 0',
    ]);
    const notification = notificationOf(aTask(), { state: 'gave_up' });
    metrics.of('default').observe({ event: 'notification_ended', notification });
    expect(await counted()).to.include(
      'scheduler_callbacks_ended_total{namespace="default",state="gave_up"} 1',
    );
  });

  it('read the backlog and the fleet when they are scraped', async () => {
    const metrics = createMetrics('1');
    const handle = new StandInHandle();
    const other = { fills: () => [{ bound: 'task_count', used: 6, limit: 100 }] };
    metrics.watch(new StandInNamespaces(handle), [other, handle], {
      raisedNow: [
        { kind: 'disk', severity: 'critical' },
        { kind: 'backlog', severity: 'warning' },
        { kind: 'backlog', severity: 'warning' },
      ],
    });
    handle.keep(aTask());
    expect((await metrics.render()).text).to.match(
      /^scheduler_cache_entries\{namespace="default"\} 1$/m,
    );
    handle.status = 'draining';
    // Of two with one name the fuller one is shown.
    expect((await metrics.render()).text)
      .to.include('scheduler_bound_used{bound="task_count"} 1\n')
      .and.to.include('scheduler_bound_limit{bound="task_count"} 10\n');
    const { text } = await metrics.render();
    expect(text).to.match(/^scheduler_is_leader 0$/m);
    expect(text)
      .to.include('scheduler_alerts_raised{kind="backlog",severity="warning"} 2\n')
      .and.to.include('scheduler_alerts_raised{kind="disk",severity="critical"} 1\n');
    expect(text).to.include('scheduler_executors{namespace="default",state="idle"} 0');
  });
});

describe('clock', () => {
  it('wakes at the time or after it, and not at all when called off', async () => {
    const clock = createClock();
    const woken: number[] = [];
    const callOff = clock.wakeAt(clock.now() + 1, () => woken.push(-1));
    callOff();
    clock.wakeAt(clock.now() + 2 ** 40, () => woken.push(-2))();
    for (const delayMs of [-5, 0, 1, 5, 20]) {
      const at = clock.now() + delayMs;
      await new Promise<void>((resolve) => clock.wakeAt(at, resolve));
      expect(clock.now()).to.be.at.least(at);
    }
    expect(woken).to.deep.equal([]);
  });

  it('calls soon what all clocks have asked for, and lets others in where that takes long', async () => {
    const clocks = [createClock(), createClock()];
    const called: string[] = [];
    const done = clocks.map(
      (clock, index) =>
        new Promise<void>((resolve) => {
          clock.soon(() => void called.push(`short ${index}`));
          clock.soon(() => {
            called.push(`long ${index}`);
            const until = performance.now() + 10;
            while (performance.now() < until);
            resolve();
          });
        }),
    );
    setImmediate(() => called.push('another'));
    await Promise.all(done);
    const first = ['short 0', 'long 0', 'another', 'short 1', 'long 1'];
    expect(called).to.deep.equal(first);
  });
});
