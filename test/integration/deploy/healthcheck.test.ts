/** The health check of the image, beside masters that listen elsewhere than where their variables say. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { freePort } from '../../helpers/free-port.ts';
import { commandSuite } from '../../helpers/soda/command.ts';
import { makePair, OPENSSL_MISSING } from '../../helpers/system/certificates.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = join(root, 'deploy/docker/healthcheck.mjs');

describe('the health check of the image (/proc, openssl)', () => {
  const suite = commandSuite();

  before(function () {
    if (OPENSSL_MISSING || !existsSync('/proc/self/net/tcp')) this.skip();
  });

  async function checked(id: number | undefined): Promise<number | null> {
    const child = spawn(process.execPath, [script, String(id)], { stdio: 'inherit' });
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  }

  async function started(...args: string[]) {
    const port = String(await freePort());
    const child = suite.start(['master', '--port', port, '--data-dir', port, ...args]);
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('the master takes work')) break;
    }
    return child;
  }

  it('asks a master at the port and the address of its options', async () => {
    expect(await checked((await started('--host', '127.0.0.5')).pid)).to.equal(0);
  });

  it('asks a master by TLS where that is what it speaks', async () => {
    const { cert, key } = makePair(suite.folder, 'own');
    expect(await checked((await started('--tls-cert', cert, '--tls-key', key)).pid)).to.equal(0);
  });

  it('says so where nobody listens', async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1e6)']);
    expect(await checked(child.pid)).to.equal(1);
    child.kill('SIGKILL');
    await once(child, 'close');
  });
});
