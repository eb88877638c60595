/** The nginx that is shipped, with TLS before a master: what clients, streams and executors say goes through it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get, request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@soda-scheduler/client';
import { createExecutor } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { freePort } from '../../helpers/free-port.ts';
import { makePair, OPENSSL_MISSING } from '../../helpers/system/certificates.ts';
import { masterSuite } from '../../helpers/system/in-process.ts';
import { eventually } from '../../helpers/system/wait.ts';

const SHIPPED = fileURLToPath(new URL('../../../deploy/nginx/soda.conf', import.meta.url));

describe('nginx before a master (nginx, openssl)', () => {
  let folder: string;
  let nginx: ChildProcess | null = null;
  before(function () {
    if (OPENSSL_MISSING || spawnSync('nginx', ['-v']).error !== undefined) this.skip();
  });
  const { url, call } = masterSuite({ trustedProxies: '127.0.0.1' });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'soda-nginx-'));
  });
  afterEach(async () => {
    if (nginx?.exitCode === null) {
      const ended = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true });
  });

  /** As it is shipped, but for where it listens and where its files are. */
  async function start(): Promise<{ readonly front: string; readonly ca: string }> {
    const port = await freePort();
    const { cert } = makePair(folder, 'soda');
    const { host } = new URL(url());
    writeFileSync(
      join(folder, 'soda-upstream.conf'),
      `upstream soda { server ${host}; keepalive 32; }`,
    );
    const site = readFileSync(SHIPPED, 'utf8')
      .replaceAll('/etc/nginx/', `${folder}/`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`);
    writeFileSync(join(folder, 'site.conf'), site);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
    const whole =
      `pid ${folder}/pid; error_log stderr; daemon off; master_process off; events {} ` +
      `http { access_log off; ${temporary} include ${folder}/site.conf; }`;
    writeFileSync(join(folder, 'nginx.conf'), whole);
    nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'inherit' });
    await eventually('nginx listens', async () => {
      const socket = connect(port, '127.0.0.1');
      const isOpen = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.destroy();
      return isOpen;
    });
    return { front: `https://localhost:${port}`, ca: readFileSync(cert, 'utf8') };
  }

  it('lets requests, a stream of events and executors through', async () => {
    const { front, ca } = await start();
    const executor = createExecutor({ url: front, ca, handleSignals: false, onEvent: () => {} });
    executor.handle('hello', () => 'hi');
    await executor.start();

    const headers = { accept: 'text/event-stream' };
    const stream = get(`${front}/scheduler/v2/events`, { ca, headers });
    const [answer] = (await once(stream, 'response')) as [IncomingMessage];
    expect(answer.headers['content-type']).to.match(/^text\/event-stream/);
    const client = createClient({ url: front, ca });
    const params = { text: 'x'.repeat(200_000) };
    const { task_id } = await client.submit({ type: 'hello', params }, { group: 'tests' });
    let told = '';
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      told += chunk.toString();
      if (told.includes(task_id)) break;
    }
    expect((await client.wait(task_id)).result).to.equal('hi');
    stream.destroy();
    await executor.stop();
  });

  it('tells a master that trusts it where a request came from, whatever that says itself', async () => {
    const { front, ca } = await start();
    const change = request(`${front}/scheduler/v2/limit/licences`, {
      ...{ ca, method: 'PUT', localAddress: '127.0.0.2' },
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
    }).end('{"max":1}');
    const [answer] = (await once(change, 'response')) as [IncomingMessage];
    expect(answer.resume().statusCode).to.equal(201);
    const { body } = await call('GET', '/audit');
    expect(body['changes']).to.have.length(1);
    expect(body['changes']).to.have.nested.property('[0].address', '127.0.0.2');
  });
});
