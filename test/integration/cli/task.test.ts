/** `soda task list` and `soda task get`: searches that take many pages, and attempts by themselves. */
import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createClient, type TaskView } from '@soda-scheduler/client';
import { problem } from '../../helpers/fake-http-api.ts';
import { commandSuite } from '../../helpers/soda/command.ts';

describe('soda task', function () {
  const { api, start, run } = commandSuite();

  const submit = (id: string) =>
    createClient({ url: api.url }).submit({ id, type: 'hello' }, { group: 'dev' });

  it('lists on over empty pages until it has what was asked for, but not for ever', async () => {
    for (const id of ['a', 'b', 'c']) await submit(id);
    let emptyCount = 3;
    api.intercept = ({ path: asked }) =>
      asked === '/tasks' && emptyCount-- > 0 ? [200, { tasks: [], next_cursor: '0' }] : undefined;
    const found = await run(['task', 'list', '--type', 'rare', '--limit', '2']);
    expect(found.out.split('\n').map((line) => line.split('\t')[0])).to.deep.equal(['c', 'b', '']);
    expect(found.code).to.equal(0);
    emptyCount = Number.POSITIVE_INFINITY;
    api.received.length = 0;
    const none = await run(['task', 'list', '--type', 'rare']);
    expect(none.code).to.equal(1);
    expect(none.err).to.match(/no more found among the last millions/);
    expect(api.received).to.have.length(1000);
  });

  it('ends a search with Ctrl-C, after what it has found', async () => {
    await submit('a');
    let isAsked = (): void => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    api.intercept = ({ path: route, query }, usual) => {
      if (route !== '/tasks') return undefined;
      if (!query.has('cursor')) {
        const [, page] = usual() as [number, object];
        return [200, { ...page, next_cursor: '9' }];
      }
      isAsked();
      return new Promise(() => {});
    };
    const child = start(['task', 'list', '--type', 'rare']);
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    await asked;
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect({ code, id: out.split('\t')[0] }).to.deep.equal({ code: 130, id: 'a' });
  });

  it('shows what a master of 2.0.0 tells of tasks, and says where that knows no such command', async () => {
    const url = new URL('../../fixtures/2.0.0/transcript.jsonl', import.meta.url);
    const text = readFileSync(url, 'utf8').replaceAll('<instant>', '2026-11-20T12:00:00.000Z');
    const views = text
      .split('\n')
      .filter((line) => line.startsWith('{"http":{"method":"GET","path":"/scheduler/v2/task/'))
      .map((line) => (JSON.parse(line) as { answer: { body: TaskView } }).answer.body)
      .filter(({ timeline }) => timeline?.length > 0);
    const states = new Map(views.map((view) => [view.state, view]));
    expect([...states.keys()]).to.have.members([
      'running',
      'succeeded',
      'waiting',
      'canceled',
      'failed',
    ]);
    for (const [state, view] of states) {
      api.tasks.set(view.task_id, view);
      const { out } = await run(['task', 'get', view.task_id]);
      expect(out).to.match(new RegExp(`^state: +${state}$`, 'm'));
      expect(out).not.to.contain('undefined');
    }
    const noRoute = { status: 404, detail: 'There is no such route.', code: 404 };
    api.intercept = ({ path }) => (path.endsWith('/why') ? [404, noRoute] : undefined);
    const { err } = await run(['task', 'why', 'movie-1']);
    expect(err).to.contain('soda: is the master older than this soda?');
  });

  it('tells why a task waits, without a command, where its type may not be seen', async () => {
    const change = { action: 'raise_limit', target: 'type/hello', value: 3, message: 'More.' };
    const limit = { name: 'limits.max_running', holders: [] };
    const details = { behind: [], overridden: true, limit };
    const why = { task_id: 'a', state: 'waiting', reason: 'limit', message: 'Full.', ahead: 0 };
    api.intercept = ({ path }) => {
      if (path === '/task/a/why') return [200, { ...why, estimate: null, change, details }];
      return path === '/type/hello' ? problem(403, 'not for you') : undefined;
    };
    const { code, out, err } = await run(['task', 'why', 'a']);
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(out)
      .to.match(/^change: +More.$/m)
      .and.not.to.match(/soda type/);
  });

  it('shows the head start of a task, and when its callback is tried again', async () => {
    await submit('a');
    expect((await run(['task', 'get', 'a'])).out).to.match(/^priority: +normal$/m);
    api.finish('a', 'succeeded');
    const next_try_at = '2026-11-20T12:00:00.000Z';
    const never = { last_status: 503, last_error: 'HTTP 503', delivered_at: null };
    const notification = { url: 'http://x/', state: 'pending' as const, tries: 3, ...never };
    api.change('a', { priority: 90, notification: { ...notification, next_try_at } });
    expect((await run(['task', 'get', 'a'])).out)
      .to.match(/^priority: +90 s$/m)
      .and.to.match(/^callback tries: +3$/m)
      .and.to.match(/^next try: +2026-11-20T12:00:00.000Z$/m);
  });

  it('says when a task that is watched is due', async () => {
    await submit('a');
    const waiting = { reason: 'not_due' as const, message: 'It is to run later.', ahead: 0 };
    api.change('a', { waiting, due_at: '2026-12-01T08:00:00.000Z' });
    const child = start(['task', 'watch', 'a']);
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    expect(line).to.equal('waiting, It is to run later., 2026-12-01T08:00:00.000Z');
  });

  it('tells of a task in lines where it comes to another tenth, or is done with a part', async () => {
    await submit('a');
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const reports = [
      [1, 0, 10],
      [4, 10, 10],
      [25, 50, 10],
      [29, 58, 10],
      [29.5, 58, 100],
    ].map(([percent = 0, a = 0, b = 0]) => ({
      ...{ percent, state: null, at, speed: 1.504, eta_seconds: 600 },
      parts: [
        { name: 'a.mp4', percent: a },
        { name: 'b.mp4', percent: b },
      ],
    }));
    const rest = [...reports];
    api.intercept = ({ method }) => {
      if (method !== 'GET') return undefined;
      const progress = rest.shift();
      if (progress === undefined) api.finish('a', 'succeeded');
      else api.change('a', { state: 'running', progress, waiting: null });
      return undefined;
    };
    const { out } = await run(['task', 'wait', 'a']);
    expect(out.trim().split('\n')).to.deep.equal([
      'running, 1 %, 0 of 2 done, 1.5x, 70 min left',
      'running, 25 %, 0 of 2 done, 1.5x, 70 min left',
      'running, 29.5 %, 1 of 2 done, 1.5x, 70 min left',
      'succeeded, 29.5 %, 1 of 2 done',
    ]);
    api.intercept = () => undefined;
    const estimate = {
      end_at: at,
      low: at,
      high: new Date(Date.parse(at) + 5.5e6).toISOString(),
    };
    const { eta_seconds: _, ...progress } = { ...reports[4]!, estimate };
    api.change('a', { state: 'running', finished_at: null, progress });
    const shown = (await run(['task', 'get', 'a'])).out;
    const words = '29.5 %, 1 of 2 done, 1.5x, about 60 min left (60 min to 2 h 32 min)';
    expect(shown).to.contain(`progress:`).and.to.contain(words);
    expect(shown).to.match(/█{13}░{11} +58 % +a\.mp4\n +█{24} +100 % +b\.mp4\n/);
  });

  it('shows one attempt with all its details', async () => {
    await submit('a');
    const attempt = {
      attempt: 3,
      executor_id: 'x-1',
      outcome: 'failed',
      offered_at: '2026-11-20T12:00:00.000Z',
      started_at: null,
      ended_at: '2026-11-20T12:00:01.000Z',
      error: { message: 'no such file', details: { path: '/a' } },
    };
    api.intercept = ({ path: asked }) =>
      asked === '/task/a/attempt/3' ? [200, attempt] : undefined;
    const { out } = await run(['task', 'get', 'a', '--attempt', '3']);
    expect(out)
      .to.match(/^error: +no such file$/m)
      .and.to.match(/^details: +\{"path":"\/a"\}$/m);
    const json = await run(['task', 'get', 'a', '--attempt', '3', '--json']);
    expect(JSON.parse(json.out)).to.deep.equal(attempt);
  });

  it('says of a count that is not exact what may be wrong with it', async () => {
    const counted = async (states: Readonly<Record<string, number>>, exact = false) => {
      api.intercept = () => [200, { count: 5, exact, states }];
      return (await run(['task', 'count'])).out;
    };
    expect(await counted({ waiting: 5 }, true)).to.equal('waiting: 5\n');
    expect(await counted({ failed: 5 })).to.equal('failed: 5 or more\n');
    expect(await counted({ waiting: 5 })).to.match(/^waiting: 5, .*the store does not answer\n$/);
  });

  it('counts lines of a log that are lost beside the others, also for programs', async () => {
    const line = { attempt: 1, n: 4, at: '', level: 'info', stream: 'log', text: 'the last' };
    const page = { lines: [line], dropped: 3, next: '1.4', ended: true };
    api.intercept = () => [200, page];
    const json = `${JSON.stringify(line)}\n`;
    const [out, err] = [json, 'soda: 3 lines were dropped here\n'];
    expect(await run(['task', 'logs', 'a', '--json'])).to.deep.equal({ code: 0, out, err });
    api.intercept = () => [200, { ...page, dropped: 1 }];
    expect((await run(['task', 'logs', 'a'])).err).to.equal('soda: 1 line was dropped here\n');
  });
});
