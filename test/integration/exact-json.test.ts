/** The JSON of others goes through every part of the system byte for byte. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { createClient, exactJson, rawJson, verifyCallback } from '@soda-scheduler/client';
import { createExecutor, RetryableError } from '@soda-scheduler/executor-sdk';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { API_BASE } from '@soda-scheduler/protocol';
import { RawExecutor } from '../helpers/raw-executor.ts';
import { SodaCommand } from '../helpers/soda/command.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const user = { group: 'tests' };
/** What `JSON.parse` and `JSON.stringify` would change in every part. */
const exact = (name: string) =>
  `{"${name}": 12345678901234567890,"z":[1.0,1e2,-0 ,0.10],"10":1,"9":"\\u00e9\\/é","half":"\\ud83d"}`;

describe('JSON of others', function () {
  let folder: string;
  let master: Awaited<ReturnType<typeof runMaster>>;
  let receiver: Server;
  let commands: SodaCommand;
  const callbacks: { readonly body: string; readonly headers: Record<string, string> }[] = [];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'soda-exact-'));
    const env = { SODA_NOTIFY_SECRET: SECRET };
    const outcome = loadConfig({ env, flags: { port: '0', dataDir: folder } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    commands = new SodaCommand(folder);
    receiver = createServer((req, res) => {
      void textOf(req).then((body) => {
        callbacks.push({ body, headers: req.headers as Record<string, string> });
        res.end();
        receiver.emit('called');
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
  });

  after(async () => {
    commands.killAll();
    await master.stop();
    receiver.close();
    await rm(folder, { recursive: true });
  });

  const notifyUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const get = async (route: string) => (await fetch(master.url + API_BASE + route)).text();

  it('reaches an executor, and comes back, as it is written', async () => {
    const params = exact('params');
    const task = `{"id":"raw","type":"test","params": ${params} ,"retry":{"interval":[0]},"notify_url":"${notifyUrl()}"}`;
    const called = once(receiver, 'called');
    const submitted = await fetch(`${master.url}${API_BASE}/task/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"task":${task},"user":{"group":"tests"}}`,
    });
    expect(submitted.status).to.equal(202);

    const executor = await RawExecutor.join(Number(new URL(master.url).port));
    const assign = async () => {
      await executor.next('assign');
      return executor.texts.findLast((text) => text.includes('"type":"assign"'));
    };
    const about = (seq: number, attempt: number) =>
      `"seq":${seq},"ack":${attempt},"task_id":"raw","attempt":${attempt}`;
    expect(await assign()).to.contain(`"params":${params}`);
    executor.send(`{"type":"accept",${about(1, 1)}}`);
    const news = `"percent":50,"state": ${exact('state')} ,"checkpoint":${exact('checkpoint')}`;
    executor.send(`{"type":"progress",${about(2, 1)},${news}}`);
    const error = `{"message":"m","details": ${exact('details')}}`;
    executor.send(`{"type":"result","outcome":"failed","error":${error},${about(3, 1)}}`);
    const second = await assign();
    expect(second).to.contain(`"params":${params}`);
    expect(second).to.contain(`"checkpoint":${exact('checkpoint')}`);
    executor.send(`{"type":"accept",${about(4, 2)}}`);
    executor.send(`{"type":"progress",${about(5, 2)},${news}}`);
    const result = exact('result');
    executor.send(`{"type":"result","outcome":"succeeded",${about(6, 2)},"result":${result} }`);
    await called;
    executor.socket.close();

    const { body, headers } = callbacks[0]!;
    expect(body).to.contain(`"result":${result}`);
    expect(exactJson(verifyCallback(body, headers, SECRET), 'result')).to.equal(result);
    const view = await get('/task/raw');
    expect(view).to.contain(`"params":${params}`).and.to.contain(`"result":${result}`);
    expect(view).to.contain(`"state":${exact('state')}`);
    expect(view).to.contain(`"details":${exact('details')}`);
    expect(await get('/task/raw/attempt/1')).to.contain(`"details":${exact('details')}`);
    expect(await get('/tasks')).to.contain(`"state":${exact('state')}`);
    expect(JSON.parse(view)).to.have.nested.property('timeline[0].error.details.10', 1);
  });

  it('is given to handlers, taken from them, and shown to clients', async () => {
    const [params, checkpoint, details] = [exact('params'), exact('checkpoint'), exact('details')];
    const executor = createExecutor({
      url: master.url,
      handleSignals: false,
      onEvent: () => undefined,
    }).handle('echo', ({ paramsText }, ctx) => {
      ctx.progress(10, rawJson(exact('state')));
      ctx.event('echoed', rawJson(exact('data').replace(' ', '\n')));
      if (ctx.attempt > 1) return rawJson(`[${paramsText},${ctx.lastCheckpointText}]`);
      ctx.checkpoint(rawJson(checkpoint));
      throw new RetryableError('again', { details: rawJson(details), retryAfterMs: 1 });
    });
    await executor.start();
    const client = createClient({ url: master.url });
    try {
      const task = { type: 'echo', params: rawJson(params) };
      const { task_id: id } = await client.submit(task, user);
      const ended = await client.wait(id);
      expect(ended.result).to.deep.equal([JSON.parse(params), JSON.parse(checkpoint)]);
      expect(exactJson(ended, 'result')).to.equal(`[${params},${checkpoint}]`);
      expect(exactJson(ended, 'params')).to.equal(params);
      expect(exactJson(ended, 'progress', 'state')).to.equal(exact('state'));
      expect(exactJson(ended, 'timeline', 0, 'error', 'details')).to.equal(details);
      expect(JSON.parse(exactJson(ended))).to.deep.equal(ended);
      const attempt = await client.attempt(id, 1);
      expect(exactJson(attempt, 'error', 'details')).to.equal(details);
      const told: string[] = [];
      for await (const event of client.events({ kind: 'user' }, { follow: false })) {
        expect(event).to.include({ kind: 'user.echoed', type: 'echo', task_id: id });
        told.push(`${event.attempt} ${exactJson(event, 'data')}`);
      }
      const data = exact('data').replace(' ', '\n');
      expect(told).to.deep.equal([`1 ${data}`, `2 ${data}`]);
      for await (const listed of client.list({ type: 'echo' })) {
        expect(exactJson(listed, 'progress', 'state')).to.equal(exact('state'));
      }
      expect(() => exactJson({ ...ended }, 'result')).to.throw(TypeError, 'copy');
      expect(() => exactJson(ended, 'none')).to.throw(TypeError, 'none');
    } finally {
      await executor.stop();
    }
  });

  it('is sent and printed by the command line', async () => {
    const env = { SODA_URL: master.url, SODA_GROUP: 'tests' };
    const params = exact('params');
    await writeFile(path.join(folder, 'params.json'), `${params.replace(' ', '\n')}\n`);
    const submit = ['task', 'submit', '--type', 'shown', '--params'];
    const sent = await commands.run([...submit, '@params.json', '--id', 'shown'], env);
    expect(sent).to.include({ code: 0, out: 'shown\n' });
    expect(await get('/task/shown')).to.contain(`"params":${params.replace(' ', '\n')}`);
    const run = async (...args: string[]) => (await commands.run(['task', ...args], env)).out;
    expect(await run('get', 'shown')).to.contain(params);
    const json = await run('get', 'shown', '--json');
    expect(json)
      .to.contain(`"params":${params}`)
      .and.to.match(/^.+\n$/);
    expect(await run('get', 'raw', '--json')).to.contain(`"result":${exact('result')}`);
    expect(await run('get', 'raw', '--attempt', '1')).to.contain(exact('details'));
    expect(await run('list', '--json')).to.contain(`"state":${exact('state')}`);
    expect(await run('watch', 'raw')).to.contain(exact('result'));
    expect(await run('watch', 'raw', '--json')).to.contain(`"result":${exact('result')}`);

    const refused = async (text: string) => (await commands.run([...submit, text], env)).err;
    expect(await refused('{"a":1,}')).to.contain(
      '--params: not JSON: unexpected character at line 1',
    );
    expect(await refused('{"a":{"b":1,"b":1}}')).to.contain(
      '--params: a.b: this key is there twice',
    );
  });
});
