/** The routes from outside: what each answers. */
import { expect } from 'chai';
import { HttpFace } from '../../helpers/http-face.ts';
import { submissionOf, waitingTask } from '../../helpers/stand-in-handle.ts';
import { notificationOf, sampleExecutor } from '../../helpers/task.ts';

const BASE = '/scheduler/v2';
const AT = Date.UTC(2026, 10, 20, 12);

function aTask(id: string, seq = 1) {
  const body = { task: { id, type: 'transcode', params: { a: 1 } }, user: { group: 'video' } };
  return waitingTask(submissionOf(body), seq);
}

describe('HTTP routes', () => {
  describe('answers', () => {
    let face: HttpFace;
    beforeEach(async () => {
      face = await new HttpFace().open();
    });
    afterEach(() => face.close());

    it('404 for what is not there, 405 with Allow for a wrong method', async () => {
      for (const path of [
        '/',
        '/scheduler/v2',
        `${BASE}/task/submit/`,
        `${BASE}/TASKS`,
        '/x?y=1',
      ]) {
        const answer = await face.get(path);
        expect(answer.status, path).to.equal(404);
        expect(answer.json(), path).to.include({ code: 404 });
      }
      const cases = [
        ['PUT', `${BASE}/task/job-1`, 'GET, HEAD, PATCH, DELETE'],
        ['GET', `${BASE}/task/job-1/cancel`, 'POST'],
        ['POST', '/livez', 'GET, HEAD'],
        ['PUT', `${BASE}/task/submit`, 'POST'],
      ] as const;
      for (const [method, path, allow] of cases) {
        const answer = await face.call(method, path);
        expect([answer.status, answer.headers['allow']], path).to.deep.equal([405, allow]);
        expect(answer.headers['content-type'], path).to.equal('application/problem+json');
      }
      expect((await face.get(`${BASE}/task/%ff`)).status).to.equal(400);
    });

    it('by the path as it is spelled, in which an id may be any word', async () => {
      for (const [path, status] of [
        [`${BASE}/task/submit/why`, 404],
        [`${BASE}/task/submit`, 405],
        [`${BASE}/task//why`, 404],
        [`${BASE}/%74asks`, 404],
        [`${BASE}/tasks#there`, 200],
        [`http://elsewhere${BASE}/tasks?limit=1`, 200],
        ['http://elsewhere', 404],
      ] as const) {
        expect((await face.get(path)).status, path).to.equal(status);
      }
      face.master.keep(aTask('job-1'));
      expect((await face.get(`${BASE}/task/j%6Fb-1`)).json()).to.include({ task_id: 'job-1' });
    });

    it('with whole lines, problems too, for those who read them in a terminal', async () => {
      for (const path of ['/livez', `${BASE}/tasks`, `${BASE}/task/none`, '/openapi.json', '/x']) {
        const { text, headers } = await face.get(path);
        expect(text.endsWith('}\n'), path).to.equal(true);
        expect(headers['content-length'], path).to.equal(String(Buffer.byteLength(text)));
      }
    });

    it('HEAD like GET, without the body', async () => {
      const answer = await face.call('HEAD', '/livez');
      expect([answer.status, answer.text]).to.deep.equal([200, '']);
      expect(Number(answer.headers['content-length'])).to.be.greaterThan(0);
    });

    it('406 for a kind of answer it does not have', async () => {
      for (const accept of ['text/html', 'application/json;q=0', 'image/*, text/plain']) {
        expect((await face.get(`${BASE}/tasks`, { accept })).status, accept).to.equal(406);
      }
      for (const accept of ['application/*', 'text/html, application/json;q=0.1', '*/*;q=0.1']) {
        expect((await face.get(`${BASE}/tasks`, { accept })).status, accept).to.equal(200);
      }
      const prometheus =
        'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
      expect((await face.get('/metrics', { accept: prometheus })).status).to.equal(200);
    });

    it('a waiting task, and why it waits', async () => {
      face.master.keep(aTask('job-1'));
      const answer = await face.get(`${BASE}/task/job-1`);
      expect(answer.json()).to.deep.include({
        task_id: 'job-1',
        state: 'waiting',
        user: { group: 'video' },
        params: { a: 1 },
        result: null,
        waiting: { reason: 'no_executor', message: 'No executor runs this type.', ahead: 0 },
        timeline: [],
        notification: null,
        submitted_at: '2026-11-20T12:00:00.000Z',
      });
    });

    it('what counts for a task, also where nothing was asked for', async () => {
      face.master.keep(aTask('job-1'));
      expect((await face.get(`${BASE}/task/job-1`)).json()).to.deep.include({
        retry: { max_attempts: 10, interval: 600 },
        priority: 0,
        assign_timeout: 5,
        execution_timeout: null,
        stall_timeout: null,
        start_timeout: null,
        start_timeout_action: 'fail',
        deadline: null,
      });
      const asked = {
        retry: { max_attempts: 0, interval: [0, 1.5] },
        executionTimeoutMs: 1_500,
        stallTimeoutMs: 60_000,
      };
      face.master.keep(
        Object.assign(aTask('job-2', 2), asked, { retry: { maxAttempts: 0, interval: [0, 1.5] } }),
      );
      expect((await face.get(`${BASE}/task/job-2`)).json()).to.deep.include({
        retry: asked.retry,
        execution_timeout: 1.5,
        stall_timeout: 60,
      });
    });

    it('a finished task: its attempts, its result and its callback', async () => {
      const task = Object.assign(aTask('job-1'), {
        notifyUrl: 'http://x/',
        state: 'succeeded',
        attempt: 2,
        attemptsUsed: 1,
        executorId: 'gpu-2',
        offeredAt: AT + 10_000,
        startedAt: AT + 11_000,
        finishedAt: AT + 20_000,
        lastOutcome: 'succeeded',
        result: '{"ok":true}',
        checkpoint: '"ü"',
        error: { message: 'first try' },
        progressPercent: 50,
        progressState: '{"frame":9}',
        progressAt: AT + 15_000,
      } as const);
      face.master.keep(task, {
        attempts: [
          {
            taskSeq: 1,
            attempt: 1,
            executorId: 'gpu-1',
            incarnation: 'i',
            session: 's',
            outcome: 'failed',
            offeredAt: AT,
            startedAt: AT + 1000,
            endedAt: AT + 2000,
            error: { message: 'first try' },
            detailsBytes: 0,
          },
        ],
        notification: {
          taskSeq: 1,
          taskId: 'job-1',
          type: 'encode',
          user: { group: 'video', project: null, env: null, user: null },
          url: 'http://x/',
          finishedAt: AT + 20_000,
          retention: 'normal',
          state: 'pending',
          tries: 1,
          triesSince: AT + 20_000,
          nextTryAt: AT + 30_000,
          lastStatus: 500,
          lastError: 'HTTP 500',
          deliveredAt: null,
        },
      });
      const view = (await face.get(`${BASE}/task/job-1`)).json<Record<string, unknown>>();
      expect(view).to.deep.include({
        result: { ok: true },
        error: null,
        waiting: null,
        checkpoint_bytes: 4,
        progress: { percent: 50, state: { frame: 9 }, at: '2026-11-20T12:00:15.000Z' },
      });
      expect(view['timeline']).to.deep.equal([
        {
          attempt: 1,
          executor_id: 'gpu-1',
          outcome: 'failed',
          offered_at: '2026-11-20T12:00:00.000Z',
          started_at: '2026-11-20T12:00:01.000Z',
          ended_at: '2026-11-20T12:00:02.000Z',
          error: { message: 'first try' },
        },
        {
          attempt: 2,
          executor_id: 'gpu-2',
          outcome: 'succeeded',
          offered_at: '2026-11-20T12:00:10.000Z',
          started_at: '2026-11-20T12:00:11.000Z',
          ended_at: '2026-11-20T12:00:20.000Z',
          error: null,
        },
      ]);
      expect(view['notification']).to.deep.equal({
        url: 'http://x/',
        state: 'pending',
        tries: 1,
        last_status: 500,
        last_error: 'HTTP 500',
        next_try_at: '2026-11-20T12:00:30.000Z',
        delivered_at: null,
      });
    });

    it('how far a task is, as its executor says it, and when it is likely to end', async () => {
      const detail = '{"parts":[{"name":"a.mp4","percent":100}],"speed":1.5,"eta_seconds":30}';
      const state = '{"frame":1.0}';
      const progress = { progressPercent: 50, progressState: state, progressAt: AT + 15_000 };
      const running = { state: 'running', attempt: 1, startedAt: AT } as const;
      face.master.keep({ ...aTask('job-1', 1), ...running, ...progress, progressDetail: detail });
      face.master.end = { endAt: AT + 60_499, lowAt: AT + 50_000, highAt: AT + 90_000 };
      const text = (await face.get(`${BASE}/task/job-1`)).text;
      face.master.end = null;
      expect(JSON.parse(text).progress).to.deep.equal({
        ...{ percent: 50, state: { frame: 1 }, at: '2026-11-20T12:00:15.000Z' },
        estimate: {
          end_at: '2026-11-20T12:01:00.000Z',
          low: '2026-11-20T12:00:50.000Z',
          high: '2026-11-20T12:01:30.000Z',
        },
        ...JSON.parse(detail),
      });
      expect(text).to.contain(`"state":${state},${detail.slice(1)}`);
      const list = (await face.get(`${BASE}/tasks`)).text;
      expect(list)
        .to.contain(`"state":${state},${detail.slice(1)}`)
        .and.not.to.contain('estimate');
    });

    it('the list page by page, with a cursor of its own making only', async () => {
      for (const seq of [1, 2, 3, 4, 5]) face.master.keep(aTask(`job-${seq}`, seq));
      interface Page {
        readonly tasks: readonly { readonly task_id: string }[];
        readonly next_cursor: string | null;
      }
      const seen: string[] = [];
      let query =
        '?limit=2&state=waiting&type=transcode&group=video&label=gpu&notification=gave_up';
      for (let page = 0; page < 3; page++) {
        const { tasks, next_cursor } = (await face.get(`${BASE}/tasks${query}`)).json<Page>();
        seen.push(...tasks.map((task) => task.task_id));
        expect(next_cursor === null).to.equal(page === 2);
        query = `?limit=2&cursor=${next_cursor}`;
      }
      expect(seen).to.deep.equal(['job-5', 'job-4', 'job-3', 'job-2', 'job-1']);
      expect(face.master.queries[0]).to.deep.include({
        state: 'waiting',
        type: 'transcode',
        group: 'video',
        label: 'gpu',
        notification: 'gave_up',
        beforeSeq: null,
        limit: 2,
      });
      for (const bad of [
        'limit=0',
        'limit=201',
        'limit=x',
        'limit=',
        'limit=0x10',
        'limit=1e1',
        'limit=1.5',
        'limit=%201',
        'limit=%2B1',
        'limit=-1',
        'limit=2&limit=2',
        'state=done',
        'notification=lost',
        'cursor=MTIz',
        'a=b',
        'type=a&type=b',
      ]) {
        const answer = await face.get(`${BASE}/tasks?${bad}`);
        expect(answer.status, bad).to.equal(400);
        expect(answer.json().errors[0]?.field, bad).to.equal(bad.split('=')[0]);
      }
      const { errors } = (await face.get(`${BASE}/tasks?limit=0x10`)).json();
      expect(errors[0]?.message).to.equal('expected a whole number from 1 to 200, in decimal');
    });

    it('in lists what became of each callback', async () => {
      const ended = { ...aTask('job-1'), notifyUrl: 'https://example.org/done' };
      const notification = notificationOf(ended, { state: 'gave_up', tries: 12, lastStatus: 503 });
      face.master.keep(ended, { notification });
      const { tasks } = (await face.get(`${BASE}/tasks`)).json<{
        tasks: { notification: object }[];
      }>();
      expect(tasks[0]?.notification).to.include({
        ...{ url: 'https://example.org/done', state: 'gave_up', tries: 12, last_status: 503 },
      });
    });

    it('commands on tasks and executors', async () => {
      const task = `${BASE}/task/job-1`;
      face.master.keep(aTask('job-1'));
      const commands = [
        ['POST', `${task}/cancel`, { reason: 'no longer needed' }, 'cancel job-1'],
        ['POST', `${task}/retry`, undefined, 'retry job-1'],
        ['POST', `${task}/redeliver`, undefined, 'redeliver job-1'],
        ['PATCH', task, { priority: 'urgent' }, 'change job-1 {"priority":31536000} '],
        ['PATCH', task, { run_at: 5, priority: -1 }, 'change job-1 {"priority":-1,"runAt":5} '],
        ['DELETE', task, undefined, 'delete job-1'],
        ['POST', `${BASE}/executor/gpu-1/drain`, { timeout: 1.5 }, 'drain gpu-1 1500'],
        ['POST', `${BASE}/executor/gpu-1/drain`, undefined, 'drain gpu-1 '],
        ['POST', `${BASE}/executor/gpu-1/resume`, undefined, 'resume gpu-1'],
        ['PATCH', `${BASE}/executor/gpu-1`, { labels: ['a'] }, 'relabel gpu-1 {"labels":["a"]}'],
        [
          'PATCH',
          `${BASE}/executor/gpu-1`,
          { labels: null, reserve: [] },
          'relabel gpu-1 {"labels":null,"reserve":[]}',
        ],
      ] as const;
      for (const [method, path, body, command] of commands) {
        const answer = await face.call(method, path, { body });
        expect(answer.status, command).to.equal(200);
        expect(answer.json(), command).to.include({ code: 200 });
        expect(face.master.commands.at(-1)).to.equal(command);
      }
      face.master.commandOutcome = { kind: 'conflict', message: 'It has ended.' };
      const refused = await face.call('POST', `${task}/cancel`);
      expect(refused.status).to.equal(409);
      expect(refused.json()).to.include({ task_id: 'job-1', detail: 'It has ended.', code: 409 });
    });

    it('400 for a command that is not right, and does nothing', async () => {
      const cases = [
        ['PATCH', `${BASE}/task/job-1`, {}],
        ['PATCH', `${BASE}/task/job-1`, undefined],
        ['PATCH', `${BASE}/task/job-1`, { priority: 'x' }],
        ['POST', `${BASE}/task/job-1/cancel`, { reason: 5 }],
        ['POST', `${BASE}/task/a%20b/cancel`, undefined],
        ['POST', `${BASE}/executor/gpu-1/drain`, { timeout: -1 }],
        ['PATCH', `${BASE}/executor/gpu-1`, {}],
        ['PATCH', `${BASE}/executor/gpu-1`, { labels: 'gpu' }],
        ['PATCH', `${BASE}/executor/gpu-1`, { labels: ['a,b'] }],
        ['PATCH', `${BASE}/executor/gpu-1`, { reserve: Array(33).fill('a') }],
        ['PATCH', `${BASE}/executor/gpu-1`, { types: ['a'] }],
        ['POST', `${BASE}/executor/${'x'.repeat(65)}/drain`, undefined],
      ] as const;
      for (const [method, path, body] of cases) {
        expect((await face.call(method, path, { body })).status, path).to.equal(400);
      }
      expect(face.master.commands).to.deep.equal([]);
    });

    it('whether a drain outlives the process of the executor', async () => {
      face.master.commandOutcome = { kind: 'done', lasting: false };
      const answer = await face.call('POST', `${BASE}/executor/host-ab12cd/drain`);
      const expected = { executor_id: 'host-ab12cd', code: 200, lasting: false };
      expect(answer.json()).to.deep.equal(expected);
    });

    it('that it lives, and whether it is ready', async () => {
      face.master.status = 'recovering';
      expect((await face.get('/livez')).status).to.equal(200);
      const answer = await face.get('/readyz');
      expect(answer.status).to.equal(503);
      expect(answer.headers['retry-after']).to.equal('1');
      expect(answer.json().detail).to.equal('The master is recovering.');
      face.namespaces.storeTrouble = { reason: 'its disk is full', since: 0, isDiskFull: true };
      expect((await face.get('/readyz')).text).to.include('since 1970-01-01T00:00:00.000Z (its d');
    });

    it('metrics, without words of users in labels beyond the task types', async () => {
      face.master.fleet.push(sampleExecutor);
      await face.get(`${BASE}/task/job-1`);
      const { text, headers } = await face.get('/metrics');
      expect(headers['content-type']).to.match(/^text\/plain/);
      expect(text).to.include('scheduler_executors{namespace="default",state="busy"} 1');
      expect(text).to.include(`route="${BASE}/task/{task_id}",status="404"} 1`);
      expect(text).not.to.include('job-1');
    });
  });
});
