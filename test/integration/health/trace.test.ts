/** A trace goes with a task from its submit to the executor, into logs and views, and to the receiver of its callback. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { createClient } from '@soda-scheduler/client';
import { createExecutor, type ExecutorEvent } from '@soda-scheduler/executor-sdk';
import { loadConfig, type RunningMaster, runMaster } from '@soda-scheduler/master';
import { API_BASE } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { Otel } from '../../helpers/sdk/otel.ts';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { eventually } from '../../helpers/system/wait.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const HEADER = `00-${TRACE}-b7ad6b7169203331-01`;

describe('a trace', () => {
  let folder: string;
  let master: RunningMaster;
  let log = '';
  const called: (string | undefined)[] = [];
  const receiver = createServer((request, response) => {
    called.push(request.headers['traceparent'] as string | undefined);
    response.writeHead(204).end();
  });
  const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

  before(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    folder = await mkdtemp(path.join(tmpdir(), 'soda-trace-'));
    const env = { SODA_NOTIFY_ALLOW: '127.0.0.0/8', SODA_LOG_LEVEL: 'debug' };
    const outcome = loadConfig({ env, flags: { port: '0', dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    const logTo = new PassThrough();
    logTo.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    master = await runMaster(outcome.config, { logTo });
  });
  after(async () => {
    await master.stop();
    receiver.close();
    await rm(folder, { recursive: true });
  });

  async function call(method: string, route: string, body?: object, headers = {}) {
    const answer = await fetch(master.url + API_BASE + route, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.status).to.be.within(200, 202);
    return (await answer.json()) as Record<string, unknown>;
  }

  const taskOf = (id: string, task: object = {}) => ({
    task: { id, type: 'encode', ...task },
    user: { group: 'news' },
  });
  const traceOf = async (id: string) => (await call('GET', `/task/${id}`))['trace_id'];

  it('is kept and handed on, and what is no header of it is ignored', async () => {
    await call('POST', '/task/submit', taskOf('a', { notify_url: receiverUrl() }), {
      traceparent: HEADER,
    });
    await call('POST', '/task/submit', taskOf('none', { type: 'idle' }), {
      traceparent: 'rubbish',
    });
    const port = Number(new URL(master.url).port);
    const executor = await RawExecutor.join(port, { types: ['encode'] });
    const { task } = await executor.next('assign');
    expect(task.traceparent).to.equal(HEADER);
    const about = { ack: 0, task_id: 'a', attempt: 1 };
    executor.send({ type: 'accept', seq: 1, ...about });
    executor.send({ type: 'result', seq: 2, ...about, outcome: 'succeeded', result: null });
    await eventually('the callback', () => called.length === 1);
    expect(called).to.deep.equal([HEADER]);
    executor.socket.close();
    await executor.closed;
    expect([await traceOf('a'), await traceOf('none')]).to.deep.equal([TRACE, null]);
    const lines = log.split('\n').filter((line) => line.includes(`"trace_id":"${TRACE}"`));
    expect(lines.join('\n')).to.include('task accepted').and.include('task finished');
  });

  it('of a batch is that of the request, but for tasks that have their own; a copy is of its own', async () => {
    const other = HEADER.replace(TRACE, 'c'.repeat(32));
    const tasks = [
      taskOf('b', { type: 'idle' }),
      { ...taskOf('c', { type: 'idle' }), traceparent: other },
    ];
    await call('POST', '/task/submit-batch', { tasks }, { traceparent: HEADER });
    expect([await traceOf('b'), await traceOf('c')]).to.deep.equal([TRACE, 'c'.repeat(32)]);
    await call('POST', '/task/b/copy', { id: 'd' });
    await call('POST', '/task/b/copy', { id: 'e' }, { traceparent: other });
    expect([await traceOf('d'), await traceOf('e')]).to.deep.equal([null, 'c'.repeat(32)]);
    // It says nothing of what is asked for: a repetition has a span of its own.
    await call('POST', '/task/submit', taskOf('f', { type: 'idle' }), { traceparent: HEADER });
    const again = await fetch(`${master.url}${API_BASE}/task/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: other },
      body: JSON.stringify(taskOf('f', { type: 'idle' })),
    });
    expect(await again.json()).to.include({ same_request: true });
  });

  it('has spans where OpenTelemetry is registered: the submit, and each attempt as a part of it', async () => {
    const otel = new Otel();
    const events: ExecutorEvent[] = [];
    const seen: (string | null)[] = [];
    const executor = createExecutor({
      url: master.url,
      handleSignals: false,
      onEvent: (event) => events.push(event),
    }).handle('spans', (task, { attempt }) => {
      seen.push(task.traceparent);
      if (attempt === 1) throw new Error('not yet');
    });
    try {
      await executor.start();
      const client = createClient({ url: master.url });
      const retry = { max_attempts: 2, interval: [0] };
      await client.submit({ id: 's', type: 'spans', retry }, { group: 'news' });
      await client.wait('s');
      const { spans } = otel;
      const [send, first, second] = spans;
      expect(spans.map(({ name, kind }) => `${name} ${kind}`)).to.deep.equal([
        'send spans 3',
        'process spans 4',
        'process spans 4',
      ]);
      for (const [at, span] of [first, second].entries()) {
        expect(span).to.deep.include({ traceId: send?.traceId, parentId: send?.spanId });
        expect(span?.attributes).to.deep.include({
          'messaging.message.id': 's',
          'soda.attempt': at + 1,
        });
      }
      expect(spans.map(({ error }) => error)).to.deep.equal([null, 'Error: not yet', null]);
      expect(spans.every(({ isEnded }) => isEnded)).to.equal(true);
      expect(seen).to.deep.equal(
        [first, second].map((span) => `00-${span?.traceId}-${span?.spanId}-01`),
      );
      expect(events.find(({ type }) => type === 'task_started')?.traceId).to.equal(send?.traceId);
    } finally {
      otel.end();
      await executor.stop();
    }
  });
});
