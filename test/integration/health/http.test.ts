/** How the work flows, over HTTP: each situation is made from outside, in a namespace of its own on one master. */
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { loadConfig, type RunningMaster, runMaster } from '@soda-scheduler/master';
import { API_BASE, type HealthView, type HelloFrame } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { RawExecutor } from '../../helpers/raw-executor.ts';
import { SodaCommand } from '../../helpers/soda/command.ts';
import { eventually } from '../../helpers/system/wait.ts';

describe('the health of a namespace', () => {
  let folder: string;
  let master: RunningMaster;
  let ns = '';
  let count = 0;
  const executors: RawExecutor[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-health-'));
    await start();
  });
  beforeEach(async () => {
    ns = `n${++count}`;
    await call('PUT', `/namespace/${ns}`, {});
  });
  afterEach(async () => {
    for (const executor of executors.splice(0)) {
      executor.socket.close();
      await executor.closed;
    }
  });
  after(async () => {
    await master.stop();
    await rm(folder, { recursive: true });
  });

  async function start(): Promise<void> {
    const env = { SODA_NOTIFY_ALLOW: '127.0.0.0/8' };
    const outcome = loadConfig({ env, flags: { port: '0', dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
  }

  async function call(method: string, route: string, body?: unknown, token?: string) {
    const answer = await fetch(master.url + API_BASE + route, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said = (await answer.json()) as Record<string, unknown>;
    expect(answer.status, JSON.stringify(said)).to.be.within(200, 202);
    return said;
  }

  const inNs = (method: string, route: string, body?: unknown) =>
    call(method, `/ns/${ns}${route}`, body);
  const submit = (task: object = {}, group = 'news') =>
    inNs('POST', '/task/submit', { task: { type: 'encode', ...task }, user: { group } });
  const health = async (token?: string) =>
    (await call('GET', `/ns/${ns}/health`, undefined, token)) as unknown as HealthView;

  async function join(id: string, hello: Partial<HelloFrame> = {}): Promise<RawExecutor> {
    const port = Number(new URL(master.url).port);
    const says = { executor_id: id, incarnation: `${ns}-${id}`, types: ['encode'], ...hello };
    const executor = await RawExecutor.join(port, says, ns);
    executors.push(executor);
    return executor;
  }

  /** Takes the next task, and ends it so. */
  async function end(executor: RawExecutor, seq: number, how: object): Promise<void> {
    const { task } = await executor.next('assign');
    const about = { ack: 0, task_id: task.id, attempt: task.attempt };
    executor.send({ type: 'accept', seq, ...about });
    executor.send({ type: 'result', seq: seq + 1, ...about, ...how });
  }

  /** In short: what it is about, how bad, how many, and what to type. */
  const brief = ({ findings }: HealthView) =>
    findings.map(
      ({ kind, severity, subject, count: of, command }) =>
        `${severity} ${kind} ${subject} ${of}: ${command}`,
    );

  it('is well with nothing to do, and with work that is to run later', async () => {
    expect(await health()).to.deep.include({ status: 'ok', findings: [] });
    await submit({ run_at: '2099-01-01T00:00:00Z' });
    const { status, message, flow, success, figures } = await health();
    expect(status).to.equal('ok');
    expect(message).to.equal('Nothing is due, and nothing runs; 1 task to run later.');
    expect(flow).to.deep.include({ state: 'idle', waiting: 1, running: 0, oldest_wait: null });
    expect(success).to.deep.include({ state: 'unknown', attempts: 0 });
    expect(figures).to.deep.include({ fresh: true, age: 0 });
  });

  it('is stopped where nobody runs a type, and degraded while others are run', async () => {
    await submit();
    await submit();
    const alone = await health();
    expect(alone).to.deep.include({
      status: 'stopped',
      message: alone.findings[0]?.message,
    });
    expect(alone.findings[0]).to.deep.include({
      kind: 'no_executor',
      count: 2,
      cause: 'No executor of type encode is connected.',
      advice: 'Start an executor of type encode.',
    });
    expect(alone.findings[0]?.message).to.match(/^2 tasks of type encode wait, the first one for /);
    expect(alone.findings[0]?.since).to.match(/^\d{4}-/);
    expect(brief(alone)).to.deep.equal([
      `critical no_executor type/encode 2: soda executor list --selector type=encode --namespace ${ns}`,
    ]);

    const other = await join('x', { types: ['pay'] });
    await submit({ type: 'pay' });
    await other.next('assign');
    const beside = await health();
    expect(beside).to.deep.include({ status: 'degraded' });
    expect(beside.flow).to.deep.include({ state: 'flowing', waiting: 2, running: 1 });
    expect(beside.flow?.executors).to.deep.equal({ connected: 1, ready: 1, free: 0 });
  });

  it('names the executor that says why none is ready', async () => {
    await join('x', { ready: { ok: false, reason: 'no ffmpeg' } });
    await submit();
    const seen = await health();
    expect(brief(seen)).to.deep.equal([
      `critical not_ready type/encode 1: soda executor get x --namespace ${ns}`,
    ]);
    expect(seen).to.deep.include({ status: 'stopped' });
    expect(seen.findings[0]?.cause).to.contain('x says: no ffmpeg.');
  });

  it('names all executors where none says what disk it has', async () => {
    await join('x');
    await submit({ needs: { disk_bytes: 8e9 } });
    const seen = await health();
    expect(brief(seen)).to.deep.equal([
      `critical not_ready type/encode 1: soda executor list --selector type=encode --namespace ${ns}`,
    ]);
  });

  it('is stopped by a pause of all of it, and says who ends that; a pause of a group is only told', async () => {
    await join('x');
    await inNs('POST', '/pause', { scope: 'group', value: 'night work', reason: 'by day' });
    await submit({}, 'night work');
    await submit();
    expect(await health()).to.deep.include({ status: 'ok' });
    expect(brief(await health())).to.deep.equal([
      `info paused type/encode 1: soda resume group 'night work' --namespace ${ns}`,
    ]);
    await inNs('POST', '/pause', { scope: 'namespace', value: ns, reason: 'disk full' });
    const seen = await health();
    expect(seen).to.deep.include({
      status: 'stopped',
      message: 'Nothing is started until somebody ends it: disk full',
    });
    expect(seen.flow).to.deep.include({ state: 'stopped' });
    expect(brief(seen)).to.deep.equal([`warning paused namespace 1: soda resume namespace ${ns}`]);
  });

  it('is well where only a limit keeps tasks, and degraded where that is 0', async () => {
    const executor = await join('x');
    await join('y');
    await inNs('PUT', '/type/encode', { limits: { max_running: 1 } });
    await submit();
    await executor.next('assign');
    await submit({ id: 'second' });
    const seen = await health();
    expect(seen).to.deep.include({ status: 'ok' });
    expect(seen.message).to.match(/^Work flows: 1 task with executors, 1 waiting, the first one /);
    expect(brief(seen)).to.deep.equal([
      `info limited type/encode 1: soda task why second --namespace ${ns}`,
    ]);
    await inNs('PUT', '/type/encode', { limits: { max_running: 0 } });
    expect(await health()).to.deep.include({ status: 'degraded' });
  });

  it('is degraded where what is started fails, and says with what', async () => {
    const executor = await join('x');
    for (let at = 0; at < 5; at++) {
      await submit({ id: `f${at}` });
      const error = { message: `connect ECONNREFUSED 10.0.0.${at}:5432`, retryable: false };
      await end(executor, 1 + 2 * at, { outcome: 'failed', error });
    }
    await executor.settled();
    const seen = await eventually('all have failed', async () => {
      const now = await health();
      return now.success?.failed === 5 && now;
    });
    expect(seen).to.deep.include({ status: 'degraded' });
    expect(seen.flow).to.deep.include({ state: 'idle' });
    expect(seen.success).to.deep.equal({
      state: 'failing',
      message: '5 of the newest 5 attempts failed.',
      attempts: 5,
      failed: 5,
    });
    expect(seen.findings[0]?.cause).to.equal('All with: connect ECONNREFUSED #');
    expect(brief(seen)).to.deep.equal([
      `critical failing type/encode 5: soda task errors --type encode --namespace ${ns}`,
    ]);
  });

  it('is degraded where callbacks do not arrive', async () => {
    const receiver = createServer((_, response) => response.writeHead(500).end());
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const executor = await join('x');
    try {
      for (let at = 0; at < 5; at++) {
        await submit({ id: `c${at}`, notify_url: `http://127.0.0.1:${port}/` });
        await end(executor, 1 + 2 * at, { outcome: 'succeeded', result: null });
      }
      const seen = await eventually('callbacks are found to fail', async () => {
        const now = await health();
        return now.findings.length > 0 && now;
      });
      expect(seen).to.deep.include({ status: 'degraded' });
      expect(seen.success).to.deep.include({ state: 'succeeding' });
      expect(seen.findings[0]).to.deep.include({ kind: 'callbacks', severity: 'warning' });
      expect(seen.findings[0]?.command).to.match(/^soda task why c\d --namespace /);
      expect(seen.findings[0]?.cause).to.match(/500|#/);
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
  });

  it('shows to whoever may see a group what is of that group', async () => {
    await submit({}, 'cash');
    await submit({ type: 'pay' });
    const { token } = await call('POST', '/tokens', {
      name: `only-${ns}`,
      role: 'read',
      scope: { namespaces: [ns], groups: ['news'] },
    });
    const seen = await health(token as string);
    expect(seen.flow).to.deep.include({ waiting: 1 });
    expect(seen.findings.map(({ subject }) => subject)).to.deep.equal(['type/pay']);
    await inNs('POST', '/pause', { scope: 'namespace', reason: 'disk full' });
    const paused = await health(token as string);
    expect(paused.findings[0]).to.deep.include({ subject: 'namespace', count: 1 });
  });

  it('tells it at a shell, with an exit code for scripts', async () => {
    const soda = new SodaCommand(folder);
    const run = (...args: string[]) =>
      soda.run(['health', '--namespace', ns, ...args], { SODA_URL: master.url });
    const well = await run();
    expect(well).to.deep.include({ code: 0, err: '' });
    expect(well.out).to.match(/^status: +ok\nflow: +Nothing is due, and nothing runs\.\n/);
    await submit();
    const stopped = await run();
    expect(stopped).to.deep.include({ code: 7, err: '' });
    expect(stopped.out).to.match(
      /\ncritical: +1 task of type encode waits, the first one for .*\n/,
    );
    expect(stopped.out).to.match(/\n  because: +No executor of type encode is connected\.\n/);
    expect(stopped.out).to.match(/\n  next: +soda executor list --selector type=encode /);
    expect(JSON.parse((await run('--json')).out)).to.deep.include({ status: 'stopped' });
    await (await join('x', { types: ['pay'] })).settled();
    await submit({ type: 'pay' });
    expect((await run()).code).to.equal(6);
  });

  it('knows after a restart what waits of what was not read', async () => {
    await submit();
    await submit({ run_at: '2099-01-01T00:00:00Z' });
    const { since } = (await health()).findings[0] ?? {};
    await master.stop();
    await start();
    const seen = await health();
    expect(seen).to.deep.include({ status: 'stopped' });
    expect(seen.findings[0]).to.deep.include({ kind: 'no_executor', count: 2, since });
    expect(since).to.be.a('string');
    expect(seen.flow?.oldest_wait).to.be.a('number');
  });
});
