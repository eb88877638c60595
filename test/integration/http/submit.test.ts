/** Submitting over real HTTP: what is accepted, what becomes of it, and how refusals read. */
import { expect } from 'chai';
import { Unavailable } from '../../../master/application/master-handle.ts';
import { HttpFace } from '../../helpers/http-face.ts';

const SUBMIT = '/scheduler/v2/task/submit';
const user = { group: 'video' };

/** `path` is dotted; undefined removes the field. */
function withField(path: string, value: unknown): unknown {
  const body: Record<string, unknown> = { task: { type: 'transcode' }, user: { ...user } };
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = body;
  for (const key of keys) {
    at[key] ??= {};
    at = at[key] as Record<string, unknown>;
  }
  at[last] = value;
  return body;
}

function nested(depth: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe('submit over HTTP', () => {
  let face: HttpFace;
  beforeEach(async () => {
    face = await new HttpFace().open();
  });
  afterEach(() => face.close());

  it('fills in units and defaults', async () => {
    const answer = await face.post(SUBMIT, { task: { type: 'transcode' }, user });
    expect(answer.status).to.equal(202);
    expect(answer.headers['content-type']).to.equal('application/json');
    expect(answer.headers['x-content-type-options']).to.equal('nosniff');
    const [submission] = face.master.submissions;
    expect(answer.json()).to.deep.equal({ task_id: submission?.id, code: 202 });
    expect(submission?.id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(submission).to.deep.include({
      params: 'null',
      labels: [],
      requires: [],
      user: { group: 'video', project: null, env: null, user: null },
      notifyUrl: null,
      requestHash: '',
      priority: 0,
      runAt: null,
      retry: { maxAttempts: 10, interval: 600 },
      assignTimeoutMs: null,
      executionTimeoutMs: null,
      stallTimeoutMs: null,
      startTimeoutMs: null,
      startTimeoutAction: null,
      deadlineAt: null,
    });
  });

  it('takes every field, and the user inside the task', async () => {
    const task = {
      id: 'job:1',
      type: 'transcode',
      params: { input: 'a.mp4', list: [1, null, 'ü'] },
      notify_url: 'https://example.com/done?x=1',
      priority: 'high',
      labels: ['urgent', 'urgent'],
      requires: ['gpu=a100'],
      run_at: '2026-11-21T08:00:00+08:00',
      retry: { max_attempts: 0, interval: [1, 2.5] },
      assign_timeout: 0.5,
      execution_timeout: 60,
      stall_timeout: 30,
      start_timeout: 600,
      start_timeout_action: 'alert',
      deadline: 1_800_000_000_000,
      user: { group: 'video', project: 'p', env: 'e', user: 'u' },
    };
    expect((await face.post(SUBMIT, { task })).status).to.equal(202);
    const [submission] = face.master.submissions;
    expect(submission?.requestHash).to.match(/^2:[0-9a-f]{32}$/);
    expect({ ...submission, requestHash: '' }).to.deep.equal({
      id: 'job:1',
      type: 'transcode',
      params: JSON.stringify(task.params),
      booking: null,
      notifyUrl: task.notify_url,
      priority: 3600,
      labels: ['urgent'],
      requires: ['gpu=a100'],
      runAt: Date.UTC(2026, 10, 21),
      retry: { maxAttempts: 0, interval: [1, 2.5] },
      assignTimeoutMs: 500,
      executionTimeoutMs: 60_000,
      stallTimeoutMs: 30_000,
      startTimeoutMs: 600_000,
      startTimeoutAction: 'alert',
      traceparent: null,
      diskBytes: null,
      uses: [],
      deadlineAt: 1_800_000_000_000,
      user: task.user,
      requestHash: '',
    });
  });

  const wrong: readonly (readonly [path: string, value: unknown, field?: string])[] = [
    ['task', 'text'],
    ['task', null],
    ['task', []],
    ['task.type', undefined],
    ['task.type', ''],
    ['task.type', 7],
    ['task.type', 'é'],
    ['task.type', 'x'.repeat(65)],
    ['task.id', ''],
    ['task.id', 'a b'],
    ['task.id', '..'],
    ['task.id', 'x'.repeat(65)],
    ['task.id', null],
    ['task.notify_url', 'ftp://example.com/'],
    ['task.notify_url', 'not a url'],
    ['task.notify_url', 'http://user:secret@example.com/'],
    ['task.notify_url', 'http://example.com/ü'],
    ['task.notify_url', `http://example.com/${'x'.repeat(2048)}`],
    ['task.priority', 1.5],
    ['task.priority', 'higher'],
    ['task.priority', 31_536_001],
    ['task.labels', 'gpu'],
    ['task.labels', ['a', 'b c'], 'task.labels[1]'],
    ['task.labels', Array(9).fill('a')],
    ['task.requires', [1], 'task.requires[0]'],
    ['task.requires', Array.from({ length: 8 }, (_, i) => `${i}${'x'.repeat(63)}`)],
    ['task.run_at', 'tomorrow'],
    ['task.run_at', '2026-02-30T00:00:00Z'],
    ['task.run_at', '2026-11-20T10:00:00'],
    ['task.run_at', -1],
    ['task.retry', 3],
    ['task.retry.interval', '1s'],
    ['task.retry.interval', []],
    ['task.start_timeout', 0],
    ['task.start_timeout_action', 'warn'],
    ['task.retry.max_attempts', -1],
    ['task.retry.max_attempts', 2.5],
    ['task.retry.pause', 1],
    ['task.assign_timeout', 0],
    ['task.assign_timeout', 3601],
    ['task.execution_timeout', '60'],
    ['task.stall_timeout', -1],
    ['task.deadline', true],
    ['task.params', nested(33)],
    ['task.unknown', 1],
    ['task.user', { group: 'other' }, 'user'],
    ['user', undefined],
    ['user', 'me'],
    ['user.group', undefined],
    ['user.group', ''],
    ['user.group', 'x'.repeat(65)],
    ['user.group', 'a\u0000b'],
    ['user.group', 'half \ud800 pair'],
    ['user.project', 5],
    ['user.role', 'admin'],
    ['extra', 1],
  ];
  for (const [path, value, field = path] of wrong) {
    const shown = (JSON.stringify(value) ?? 'missing').slice(0, 50);
    it(`refuses ${path}: ${shown}`, async () => {
      const answer = await face.post(SUBMIT, withField(path, value));
      expect(answer.status).to.equal(400);
      expect(answer.headers['content-type']).to.equal('application/problem+json');
      const body = answer.json();
      expect(body).to.include({ type: 'about:blank', status: 400, code: 400 });
      expect(body.errors.map((error) => error.field)).to.include(field);
      for (const { message } of body.errors) expect(message).to.match(/\w{3}/);
      expect(face.master.submissions).to.deep.equal([]);
    });
  }

  it('takes params at the depth limit', async () => {
    const answer = await face.post(SUBMIT, withField('task.params', nested(32)));
    expect(answer.status).to.equal(202);
  });

  it('refuses a deadline that is not after run_at', async () => {
    const task = { type: 't', run_at: 2000, deadline: 2000 };
    const answer = await face.post(SUBMIT, { task, user });
    expect(answer.json().errors[0]?.field).to.equal('task.deadline');
  });

  it('refuses ids that would be the path of another route', async () => {
    const literals = face.http.routes
      .map(({ path }) => /^\/scheduler\/v2\/task\/([^{/]+)$/.exec(path)?.[1])
      .filter((literal) => literal !== undefined);
    expect(literals).to.include('submit-batch');
    for (const id of literals) {
      const answer = await face.post(SUBMIT, { task: { id, type: 't' }, user });
      expect(answer.status, id).to.equal(400);
      expect(answer.json().errors[0]).to.have.property('field', 'task.id');
      expect(answer.json().errors[0]?.message).to.contain(id);
    }
    for (const id of ['submitted', 'submit-batch-1', 'Submit', 'cancel']) {
      const answer = await face.post(SUBMIT, { task: { id, type: 't' }, user });
      expect(answer.status, id).to.equal(202);
      expect((await face.get(`/scheduler/v2/task/${id}`)).status, id).to.equal(200);
    }
  });

  it('refuses a deadline that has passed, saying what was given and what time it is', async () => {
    const [given, now] = ['2026-11-20T10:00:00.000Z', '2026-11-20T10:00:07.250Z'];
    face.master.submitOverride = ({ id }) => ({
      taskId: id,
      kind: 'overdue',
      now: Date.parse(now),
    });
    const task = { id: 'late', type: 't', deadline: '2026-11-20T11:00:00+01:00' };
    const answer = await face.post(SUBMIT, { task, user });
    expect(answer.status).to.equal(400);
    const message = `expected later than now, which is ${now}: given ${given}`;
    expect(answer.json()).to.deep.include({
      task_id: 'late',
      errors: [{ field: 'task.deadline', message }],
    });
    const batch = await face.post(`${SUBMIT}-batch`, { tasks: [{ task, user }] });
    expect(batch.json().results).to.deep.equal([
      { task_id: 'late', code: 400, message: `task.deadline: ${message}` },
    ]);
  });

  it('names the task in a refusal where it can', async () => {
    const answer = await face.post(SUBMIT, { task: { id: 'job-1', type: 7 }, user });
    expect(answer.json().task_id).to.equal('job-1');
  });

  for (const key of ['__proto__', 'constructor', 'prototype']) {
    it(`refuses a key ${key} anywhere, however it is spelt`, async () => {
      const spelt = [key, key.replace('o', '\\u006f')];
      for (const name of spelt) {
        for (const body of [
          `{"task":{"type":"t","params":{"a":[{"${name}":{"x":1}}]}},"user":{"group":"g"}}`,
          `{"task":{"type":"t"},"user":{"group":"g","${name}":{"x":1}}}`,
          `{"task":{"type":"t"},"user":{"group":"g"},"${name}":{}}`,
        ]) {
          const answer = await face.post(SUBMIT, body);
          expect(answer.status, body).to.equal(400);
          expect(answer.json().errors[0]?.field, body).to.match(new RegExp(`${key}$`));
        }
      }
      expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
    });
  }

  it('keeps params as they are written, and shows them so', async () => {
    for (const params of [
      '{"n":12345678901234567890,"i":9007199254740993,"f":1.0,"e":1E+2,"z":-0}',
      '{ "b" : [ 1 , 2 ],\n\t"a" : "\\u0041\\/\\ud800" }',
      '"汉 \u2028"',
      '-0.10',
    ]) {
      const body = `{"task":{"type":"t","params": ${params} },"user":{"group":"g"}}`;
      const { task_id: id } = (await face.post(SUBMIT, body)).json();
      expect(face.master.stored.get(id)?.task.params).to.equal(params);
      const shown = await face.get(`/scheduler/v2/task/${id}`);
      expect(shown.headers['content-type']).to.equal('application/json');
      expect(shown.text).to.include(`"params":${params},`);
      expect(shown.json<{ params: unknown }>().params).to.deep.equal(JSON.parse(params));
    }
  });

  it('refuses a key that is there twice, naming it', async () => {
    for (const [body, field] of [
      [`{"task":{"type":"t"},"task":{"type":"u"},"user":{"group":"g"}}`, 'task'],
      [`{"task":{"type":"t","type":"u"},"user":{"group":"g"}}`, 'task.type'],
      [
        `{"task":{"type":"t","params":{"a":[{"b":1,"b":1}]}},"user":{"group":"g"}}`,
        'task.params.a[0].b',
      ],
    ] as const) {
      const answer = await face.post(SUBMIT, body);
      expect(answer.status, body).to.equal(400);
      expect(answer.json().errors).to.deep.equal([{ field, message: 'this key is there twice' }]);
    }
    const cancel = await face.post('/scheduler/v2/task/a/cancel', '{"reason":"a","reason":"b"}');
    expect(cancel.json().errors[0]?.field).to.equal('reason');
  });

  it('refuses a number that would not survive being stored', async () => {
    const body = '{"task":{"type":"t","params":{"n":1e999}},"user":{"group":"g"}}';
    expect((await face.post(SUBMIT, body)).json().errors[0]?.field).to.equal('task.params.n');
  });

  describe('ids and repetitions', () => {
    const task = { id: 'job-1', type: 't', params: { a: 1, b: [2] } };

    it('answers 409 and whether it was the same request', async () => {
      await face.post(SUBMIT, { task, user });
      const reordered = { user, task: { params: { b: [2], a: 1 }, type: 't', id: 'job-1' } };
      const same = await face.post(SUBMIT, reordered);
      expect(same.status).to.equal(409);
      expect(same.json()).to.deep.equal({
        task_id: 'job-1',
        code: 409,
        message: 'task id conflict: job-1',
        same_request: true,
      });
      const other = await face.post(SUBMIT, { task: { ...task, params: { a: 2 } }, user });
      expect(other.json().same_request).to.equal(false);
    });

    it('replays under an Idempotency-Key, and refuses another body under it', async () => {
      const key = { 'Idempotency-Key': 'order 7' };
      const first = await face.post(SUBMIT, { task: { type: 't' }, user }, key);
      const again = await face.post(SUBMIT, { task: { type: 't' }, user }, key);
      expect([first.status, again.status]).to.deep.equal([202, 202]);
      expect(first.json().task_id).to.match(/^idem-[0-9a-f]{40}$/);
      expect(again.json()).to.deep.equal(first.json());

      const other = await face.post(SUBMIT, { task: { type: 'u' }, user }, key);
      expect(other.status).to.equal(422);
      expect(other.json()).to.include({ code: 422, task_id: first.json().task_id });
      const group = { group: 'other' };
      const elsewhere = await face.post(SUBMIT, { task: { type: 't' }, user: group }, key);
      expect(elsewhere.json().task_id).not.to.equal(first.json().task_id);
    });

    it('keeps the id of a request that has both', async () => {
      const key = { 'Idempotency-Key': 'order 8' };
      expect((await face.post(SUBMIT, { task, user }, key)).json().task_id).to.equal('job-1');
      expect((await face.post(SUBMIT, { task, user }, key)).status).to.equal(202);
      const other = await face.post(SUBMIT, { task: { ...task, type: 'u' }, user }, key);
      expect(other.status).to.equal(422);
    });

    it('refuses a key that is not printable ASCII of 1 to 255 characters', async () => {
      for (const bad of ['', 'ü', 'x'.repeat(256)]) {
        const headers = { 'Idempotency-Key': bad };
        const answer = await face.post(SUBMIT, { task: { type: 't' }, user }, headers);
        expect(answer.json().errors[0]?.field).to.equal('Idempotency-Key');
      }
    });
  });

  it('passes on that it cannot take work now', async () => {
    const submit = () => face.post(SUBMIT, { task: { id: 'a', type: 't' }, user });
    face.master.submitOverride = ({ id }) => ({ taskId: id, kind: 'full', message: 'Full.' });
    const full = await submit();
    expect(full.status).to.equal(429);
    expect(full.headers['retry-after']).to.match(/^\d+$/);
    expect(full.json()).to.include({ code: 429, task_id: 'a', detail: 'Full.' });

    const limited = { kind: 'limited', limit: 'max_waiting', message: 'Two wait.' } as const;
    face.master.submitOverride = ({ id }) => ({ taskId: id, ...limited });
    const beyond = await submit();
    expect(beyond.status).to.equal(429);
    expect(beyond.headers['retry-after']).to.equal('10');
    expect(beyond.json()).to.include({ limit: 'max_waiting', detail: 'Two wait.' });

    face.master.submitOverride = () => {
      throw new Unavailable('Recovering.', 3);
    };
    const away = await submit();
    expect([away.status, away.headers['retry-after']]).to.deep.equal([503, '3']);
    expect(face.logged).to.deep.equal([]);
  });

  it('says in the log alone why the store did not answer', async () => {
    face.master.submitOverride = () => {
      throw new Unavailable('the store does not answer', 1, { cause: new Error('at db:3306') });
    };
    const answer = await face.post(SUBMIT, { task: { id: 'a', type: 't' }, user });
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    expect(answer.text).not.to.include('db:3306');
    expect(face.logged).to.deep.equal([{ level: 'warn', message: 'request put off' }]);
  });

  it('says nothing of an inner fault but that there was one', async () => {
    face.master.submitOverride = () => {
      throw new Error('password is hunter2');
    };
    const answer = await face.post(SUBMIT, { task: { type: 't' }, user });
    expect(answer.status).to.equal(500);
    expect(answer.text).not.to.include('hunter2');
    expect(face.logged).to.deep.equal([{ level: 'error', message: 'request failed' }]);
  });
});
