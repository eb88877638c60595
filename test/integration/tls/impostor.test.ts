/** Somebody who is not the master, where the variable of Node is set that trusts anybody. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SodaCommand } from '../../helpers/soda/command.ts';
import { makePair, OPENSSL_MISSING } from '../../helpers/system/certificates.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const CLIENT = `
  import { createClient } from '@soda-scheduler/client';
  const client = createClient({ url: process.env.SODA_URL, token: 'secret', retryCount: 0 });
  await client.get('t').catch((error) => console.log(error.message));
`;
const EXECUTOR = `
  import { createExecutor } from '@soda-scheduler/executor-sdk';
  const executor = createExecutor({ url: process.env.SODA_URL, token: 'secret', onEvent });
  executor.handle('hello', () => 'hi');
  void executor.start().catch(() => undefined);
  function onEvent({ message }) {
    console.log(message);
    process.exit();
  }
`;

describe('an impostor, with NODE_TLS_REJECT_UNAUTHORIZED=0 (openssl)', () => {
  const heard: string[] = [];
  let folder: string;
  let impostor: Server;
  let env: Record<string, string>;

  before(async function () {
    if (OPENSSL_MISSING) this.skip();
    folder = mkdtempSync(join(tmpdir(), 'soda-impostor-'));
    const own = makePair(folder, 'impostor');
    impostor = createServer({ cert: readFileSync(own.cert), key: readFileSync(own.key) });
    impostor.on('request', (req, res) => {
      heard.push(`${req.url} ${req.headers.authorization}`);
      res.end('{"status":"ready"}');
    });
    impostor.on('upgrade', (req, socket) => {
      heard.push(`${req.url} ${req.headers.authorization}`);
      socket.destroy();
    });
    impostor.listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    const url = `https://127.0.0.1:${(impostor.address() as AddressInfo).port}`;
    env = { SODA_URL: url, SODA_TOKEN: 'secret', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  });
  beforeEach(() => heard.splice(0));
  after(() => {
    impostor?.close();
    impostor?.closeAllConnections();
    if (folder) rmSync(folder, { recursive: true });
  });

  async function said(script: string): Promise<string> {
    const args = ['--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
    return text(child.stdout);
  }

  it('hears nothing from the client', async () => {
    expect(await said(CLIENT)).to.include('its certificate is not trusted');
    expect(heard).to.deep.equal([]);
  });

  it('hears nothing from an executor', async () => {
    expect(await said(EXECUTOR)).to.include('its certificate is not trusted');
    expect(heard).to.deep.equal([]);
  });

  it("hears nothing from soda, whatever is asked, and with a CA of one's own too", async () => {
    const command = new SodaCommand(folder);
    // Long: where the machine is slow, the reason is to come before the limit.
    const limit = ['--request-timeout', '60'];
    const listed = await command.spawned(['task', 'list', ...limit], env);
    expect(listed.err).to.include('its certificate is not trusted');
    for (const more of [{}, { SODA_CA_FILE: makePair(folder, 'other').cert }]) {
      const found = await command.spawned(['doctor', '--json', ...limit], { ...env, ...more });
      expect(found.out).to.match(/"master","state":"failed","detail":".* is not trusted/);
    }
    expect(heard).to.deep.equal([]);
  });
});
