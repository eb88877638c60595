/** The parts of the executor SDK that need no master. */
import {
  NonRetryableError,
  RetryableError,
  TaskAborted,
  createExecutor,
  rawJson,
} from '@soda-scheduler/executor-sdk';
import { runHandler } from '@soda-scheduler/executor-sdk/testing';
import { EXECUTOR_ID_PATTERN } from '@soda-scheduler/protocol';
import { executorFrame } from '@soda-scheduler/protocol/schemas';
import { expect } from 'chai';
import * as fc from 'fast-check';
import * as errors from '../../../executor-sdk/errors.ts';
import { sessionSettings, sessionUrl } from '../../../executor-sdk/executor-options.ts';
import { Lease } from '../../../executor-sdk/session/lease.ts';
import { outcomeOf } from '../../../executor-sdk/outcome.ts';
import { reconnectDelayMs } from '../../../executor-sdk/session/reconnect.ts';
import { RunTime, type TimeLimits } from '../../../executor-sdk/session/run-time.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('executor lease', () => {
  it('ends before that of the master, however late answers arrive', () => {
    const trips = fc.array(fc.record({ every: fc.nat(20_000), trip: fc.nat(20_000) }));
    fc.assert(
      fc.property(trips, (heartbeats) => {
        const leaseMs = 15_000;
        const lease = new Lease();
        let sentAt = 0;
        let arrivedAt = 0;
        for (const { every, trip } of heartbeats) {
          sentAt += every;
          arrivedAt = Math.max(arrivedAt, sentAt + trip / 2);
          lease.renew(sentAt, leaseMs);
        }
        if (heartbeats.length > 0) {
          expect(lease.abortAt).to.be.below(lease.killAt);
          expect(lease.killAt).to.be.below(lease.exitAt);
          expect(lease.exitAt).to.be.below(arrivedAt + leaseMs);
        }
      }),
    );
  });

  it('is lost before it was ever granted, and is not renewed by an old answer', () => {
    const lease = new Lease();
    expect(lease.isLost(0)).to.equal(true);
    lease.renew(1_000, 30_000);
    lease.renew(500, 30_000);
    expect([lease.isLost(27_999), lease.isLost(28_000)]).to.deep.equal([false, true]);
  });

  it('ends in its last tenth, or its last two seconds', () => {
    const times = (leaseMs: number) => {
      const lease = new Lease();
      lease.renew(0, leaseMs);
      return [lease.abortAt, lease.killAt, lease.exitAt];
    };
    expect(times(30_000)).to.deep.equal([27_000, 28_500, 29_250]);
    expect(times(60_000)).to.deep.equal([54_000, 57_000, 58_500]);
    expect(times(6_000)).to.deep.equal([4_000, 5_000, 5_500]);
    // What an older master may grant.
    expect(times(1_200)).to.deep.equal([800, 1_000, 1_100]);
  });

  it('waits between tries at random, up to a cap that doubles and then stays', () => {
    const caps = [0, 1, 2, 6, 40].map((failures) => reconnectDelayMs(failures, 5_000, 1));
    expect(caps).to.deep.equal([500, 1_000, 2_000, 5_000, 5_000]);
    expect(reconnectDelayMs(6, 30_000, 0)).to.equal(0);
    expect(reconnectDelayMs(6, 3_000, 0.5)).to.equal(1_500);
  });
});

describe('run time of a handler', () => {
  const never = Number.POSITIVE_INFINITY;

  function count(limits: TimeLimits) {
    const clock = new ManualClock();
    const beganAt = clock.now();
    const timeouts: [string, number][] = [];
    const runTime = new RunTime(clock, limits, (reason) => {
      timeouts.push([reason, clock.now() - beganAt]);
    });
    return { clock, runTime, timeouts };
  }

  it('ends at the execution timeout, once', () => {
    const { clock, timeouts } = count({ executionTimeoutMs: 2_500, stallTimeoutMs: never });
    clock.advance(60_000);
    expect(timeouts).to.deep.equal([['execution_timeout', 2_500]]);
  });

  it('ends when nothing is reported for the stall timeout', () => {
    const { clock, runTime, timeouts } = count({
      executionTimeoutMs: never,
      stallTimeoutMs: 3_000,
    });
    for (let report = 1; report <= 5; report++) {
      clock.advance(2_900);
      runTime.progressed();
    }
    clock.advance(60_000);
    expect(timeouts).to.deep.equal([['stalled', 5 * 2_900 + 3_000]]);
  });

  it('does not count while the process stands still', () => {
    let now = 0;
    let wake = (): void => undefined;
    const clock = {
      now: () => now,
      wakeAt: (_at: number, call: () => void) => {
        wake = call;
        return () => undefined;
      },
    };
    const timeouts: string[] = [];
    const limits = { executionTimeoutMs: 10_000, stallTimeoutMs: 5_000 };
    const runTime = new RunTime(clock, limits, (reason) => timeouts.push(reason));
    // Stopped for half an hour in the middle of its first second.
    now += 1_800_000;
    expect(runTime.ranMs, 'asked for before its timer has fired').to.equal(1_000);
    wake();
    expect(runTime.ranMs).to.equal(1_000);
    for (let second = 1; second < 5; second++) {
      expect(timeouts).to.deep.equal([]);
      now += 1_000;
      wake();
    }
    expect(timeouts).to.deep.equal(['stalled']);
  });
});

describe('executor options', () => {
  it('turns the address of a master into that of its sessions', () => {
    const path = '/scheduler/v2/executor';
    expect(sessionUrl('http://10.0.0.1:18890')).to.equal(`ws://10.0.0.1:18890${path}`);
    expect(sessionUrl('https://master.example/')).to.equal(`wss://master.example${path}`);
    expect(sessionUrl('ws://master/behind/a/proxy')).to.equal('ws://master/behind/a/proxy');
    expect(sessionUrl('http://m:1/scheduler/v2')).to.equal(`ws://m:1${path}`);
    expect(sessionUrl('http://m/a/scheduler/v2/task/submit')).to.equal(`ws://m/a${path}`);
    expect(sessionUrl('http://m:1', 'default')).to.equal(`ws://m:1${path}`);
    const ofVideo = '/scheduler/v2/ns/video/executor';
    expect(sessionUrl('http://m:1/a/scheduler/v2', 'video')).to.equal(`ws://m:1/a${ofVideo}`);
    expect(sessionUrl('http://m:1/scheduler/v2/ns/video')).to.equal(`ws://m:1${ofVideo}`);
    for (const [at, namespace] of [
      ['http://m:1', 'Video'],
      ['http://m:1/scheduler/v2/ns/video', 'audio'],
      ['ws://master/behind/a/proxy', 'video'],
    ] as const) {
      expect(() => sessionUrl(at, namespace), at).to.throw(TypeError, /^namespace: /);
    }
    expect(sessionUrl('http://scheduler/v2')).to.equal('ws://scheduler/v2');
    const other = 'ws://m/scheduler/v2/executor-west';
    expect(sessionUrl(other)).to.equal(other);
    for (const wrong of ['', 'master:18890', 'ftp://master', '/scheduler']) {
      expect(() => sessionUrl(wrong), wrong).to.throw(TypeError, 'url: expected');
    }
    for (const wrong of ['https://user:pass@master', 'ws://user@master', 'wss://:pass@master/x']) {
      expect(() => sessionUrl(wrong), wrong).to.throw(TypeError, /^url: .*in place of the token/);
    }
  });

  it('names what is wrong, and makes an id where none is given', () => {
    const url = 'http://127.0.0.1:1';
    const { executorId, isLastingId } = sessionSettings({ url }, ['a']);
    expect(executorId)
      .to.match(EXECUTOR_ID_PATTERN)
      .and.match(/-[0-9a-f]{6}$/);
    expect(executorId).not.to.equal(sessionSettings({ url }, ['a']).executorId);
    expect(isLastingId).to.equal(false);
    expect(sessionSettings({ url, id: 'a' }, ['a'])).to.include({ isLastingId: true });
    expect(() => sessionSettings({ url }, [])).to.throw('at least one handler');
    const executor = createExecutor({ url });
    expect(() => executor.handle('a b', () => null)).to.throw('type: "a b"');
    expect(() => executor.handle('a', null as never)).to.throw('the handler of a: expected a f');
    expect(() => createExecutor({ url, labels: 'gpu' as never })).to.throw(
      'labels: expected a list',
    );
    const many = Array.from({ length: 33 }, (_, index) => `l${index}`);
    expect(() => createExecutor({ url, reserve: many })).to.throw('reserve: expected a list of up');
    expect(() => createExecutor({ url, token: 'secret\n' })).to.throw(/^token: (?!.*secret)/);
    expect(() => createExecutor({ url, drainTimeoutMs: -1 })).to.throw('drainTimeoutMs: expected');
    expect(() => createExecutor({ url, canAccept: true as never })).to.throw('canAccept: expected');
    expect(() => createExecutor({ url, id: 'a b' })).to.throw('id: "a b"');
    expect(() => createExecutor({ url, labels: ['a|b'] })).to.throw('labels: "a|b"');
    expect(() => createExecutor({ url, leaseMs: 5_999 })).to.throw('leaseMs: expected');
    expect(() => createExecutor({ url: 'master:18890' })).to.throw(TypeError, 'url: expected');
    for (const none of [undefined, null, url]) {
      expect(() => createExecutor(none as never)).to.throw(
        TypeError,
        "createExecutor: expected options, at least { url: 'http://127.0.0.1:18890' }",
      );
    }
  });

  it('notices an option that does not exist', () => {
    const misspelt = { url: 'http://127.0.0.1:1', drainTimeoutMS: 1 };
    const other = { url: 'http://127.0.0.1:1', concurrency: 4 };
    expect(() => createExecutor(misspelt)).to.throw(
      TypeError,
      'drainTimeoutMS: there is no such option; did you mean drainTimeoutMs?',
    );
    expect(() => createExecutor(other)).to.throw(/^concurrency: there is no such option$/);
  });
});

describe('outcome of a handler', () => {
  const key = { taskId: 't1', attempt: 2 };
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  function frameOf(...args: [Parameters<typeof outcomeOf>[1], errors.AbortReason?, number?]) {
    const [end, aborted = null, bytesMax = 1_000] = args;
    const { body } = outcomeOf(key, end, { aborted, reportsTimeouts: false, bytesMax });
    // What the master's schema leaves of it.
    const {
      seq: _seq,
      ack: _ack,
      type: _type,
      ...rest
    } = executorFrame.parse({
      seq: 1,
      ack: 0,
      ...JSON.parse(body),
    }) as Record<string, unknown>;
    return rest;
  }

  const about = { task_id: 't1', attempt: 2 };

  it('is what it returned, or failed with what it threw', () => {
    expect(frameOf({ value: { a: [1] } })).to.deep.equal({
      ...about,
      outcome: 'succeeded',
      result: { a: [1] },
    });
    expect(frameOf({ value: undefined })).to.deep.equal({ ...about, outcome: 'succeeded' });
    const cases: [unknown, object][] = [
      [new TypeError('m'), { name: 'TypeError', message: 'm', retryable: true }],
      ['text', { name: 'Error', message: 'text', retryable: true }],
      [new errors.NonRetryableError('m'), { name: 'NonRetryableError', retryable: false }],
      [
        new errors.InputUnavailableError('m'),
        { name: 'InputUnavailableError', retryable: false, reason: 'input_unavailable' },
      ],
      [new errors.RetryableError('m', { retryAfterMs: 1_500 }), { retry_after: 1.5 }],
      [new errors.RetryableError('m', { details: { a: 1 } }), { details: { a: 1 } }],
      [Object.create(null), { name: 'Error', retryable: true }],
      [Object.assign(new Error('m'), { name: undefined, message: 7 }), { message: '7' }],
    ];
    for (const [error, expected] of cases) {
      const frame = frameOf({ error });
      expect(frame['outcome']).to.equal('failed');
      expect(frame['error']).to.deep.include(expected);
    }
  });

  it('says where an error came from, unless it says so itself', () => {
    const detailsOf = (error: unknown, bytesMax = 10_000) =>
      (frameOf({ error }, undefined, bytesMax)['error'] as { details?: unknown }).details;
    expect(detailsOf(new TypeError('m')))
      .to.have.property('stack')
      .that.matches(/^TypeError: m\n/);
    expect(detailsOf(new errors.RetryableError('m'))).to.have.property('stack');
    expect(detailsOf(new errors.RetryableError('m', { details: null }))).to.equal(null);
    expect(detailsOf(new errors.NonRetryableError('m', { details: 1 }))).to.equal(1);
    expect(detailsOf('text')).to.equal(undefined);
    expect(detailsOf(new Error('m'), 20), 'no room').to.equal(undefined);
  });

  it('leaves out a wait that is no number, which the master would not read', () => {
    for (const retryAfterMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const error = frameOf({ error: new errors.RetryableError('m', { retryAfterMs }) })['error'];
      expect(error).to.not.have.property('retry_after');
    }
  });

  it('is not retried when the result cannot be sent, and says why', () => {
    for (const [value, why] of [
      [
        'x'.repeat(1_000),
        'The result of attempt 2 of t1 is 1002 bytes of JSON, and 1000 are allowed.',
      ],
      [cyclic, 'circular'],
      [10n, 'BigInt'],
    ] as const) {
      const { outcome, error } = frameOf({ value });
      expect(outcome).to.equal('failed');
      expect(error).to.deep.include({ name: 'ResultRefused', retryable: false });
      expect((error as Error).message).to.contain(why);
    }
  });

  it('has the result and the details of an error as they are written', () => {
    const text = '{"b": 1.0,"a":12345678901234567890}';
    const context = { aborted: null, reportsTimeouts: true, bytesMax: 1_000 };
    const { body } = outcomeOf(key, { value: rawJson(text) }, context);
    expect(body).to.contain(`,"result":${text}`);
    const error = new errors.RetryableError('m', { details: rawJson(text) });
    expect(outcomeOf(key, { error }, context).body).to.contain(`,"details":${text}}`);
  });

  it('keeps an error whose details cannot be sent', () => {
    const error = new errors.NonRetryableError('the cause', { details: cyclic });
    expect(frameOf({ error })['error']).to.deep.include({ message: 'the cause', retryable: false });
    const long = frameOf({ error: new Error('x'.repeat(100_000)) })['error'] as Error;
    expect(long.message.length).to.equal(8192);
  });

  it('depends on why it was told to end, and only if it did not finish', () => {
    const error = new Error('interrupted');
    expect(frameOf({ error }, 'drain')).to.deep.equal({ ...about, outcome: 'returned' });
    expect(frameOf({ error }, 'execution_timeout')).to.deep.equal({
      ...about,
      outcome: 'canceled',
    });
    expect(frameOf({ value: 1 }, 'canceled')).to.include({ outcome: 'succeeded' });
    const context = { aborted: 'stalled', reportsTimeouts: true, bytesMax: 100 } as const;
    expect(JSON.parse(outcomeOf(key, { error }, context).body)).to.deep.include({
      outcome: 'timed_out',
      reason: 'stalled',
    });
  });
});

describe('runHandler', () => {
  it('reports what a handler did', async () => {
    const report = await runHandler<{ n: number }>(
      (task, ctx) => {
        ctx.progress(50, { at: task.id });
        ctx.progress(100);
        ctx.checkpoint([ctx.lastCheckpoint, ctx.attempt, ctx.token]);
        return { n: task.params.n, gone: undefined, when: new Date(0) };
      },
      { params: { n: 1 }, checkpoint: 'before', attempt: 3 },
    );
    expect(report).to.deep.equal({
      result: { n: 1, when: '1970-01-01T00:00:00.000Z' },
      resultText: '{"n":1,"when":"1970-01-01T00:00:00.000Z"}',
      progress: [{ percent: 50, state: { at: 'test' } }, { percent: 100 }],
      checkpoints: [['before', 3, '1.3']],
      log: [],
      events: [],
      alerts: [],
    });
  });

  it('gives a handler the text of its params, and takes JSON as it is written', async () => {
    const params = '{"n": 12345678901234567890, "x":1.0}';
    const report = await runHandler<{ x: number }>(
      ({ params: { x }, paramsText }, ctx) => {
        ctx.checkpoint(rawJson(ctx.lastCheckpointText ?? ''));
        ctx.progress(1, rawJson('1.0'));
        expect([x, ctx.lastCheckpoint]).to.deep.equal([1, [1]]);
        return rawJson(paramsText);
      },
      { params: rawJson(params), checkpoint: rawJson('[1.0]') },
    );
    expect(report.resultText).to.equal(params);
    expect(report.checkpoints).to.deep.equal([[1]]);
    expect(report.progress).to.deep.equal([{ percent: 1, state: 1 }]);
    const parsed = await runHandler(({ paramsText }) => paramsText, { params: { a: 1 } });
    expect(parsed.result).to.equal('{"a":1}');
    const inside = await runHandler(() => ({ n: rawJson('1.0') }), { params: null });
    expect(inside.error).to.be.instanceOf(TypeError);
  });

  it('reports what it threw, and checks sizes', async () => {
    const thrown = await runHandler(
      () => {
        throw new NonRetryableError('no such file');
      },
      { params: null },
    );
    expect(thrown.error).to.be.instanceOf(NonRetryableError);
    const tooLarge = await runHandler((_task, ctx) => ctx.checkpoint('x'.repeat(65_537)), {
      params: null,
    });
    expect(tooLarge.error).to.be.instanceOf(RangeError);
    expect(new RetryableError('m', { retryAfterMs: 5 }).retryAfterMs).to.equal(5);
  });

  it('aborts the handler with the reason a master would give', async () => {
    const abort = new AbortController();
    const running = runHandler(
      (_task, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { params: null, signal: abort.signal },
    );
    abort.abort(new TaskAborted('stalled'));
    expect((await running).error).to.deep.include({ reason: 'stalled' });
  });
});
