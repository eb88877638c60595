/** A master that speaks TLS by itself, and those who come to it. */
import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { get } from 'node:https';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { createClient } from '@soda-scheduler/client';
import { createExecutor, type ExecutorEvent } from '@soda-scheduler/executor-sdk';
import { loadConfig, runMaster } from '@soda-scheduler/master';
import { expect } from 'chai';
import { createListener } from '../../../master/access/http/listener.ts';
import { Certificate } from '../../../master/application/process/certificate.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { tlsPairReader } from '../../../master/infrastructure/tls-pair.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { SodaCommand } from '../../helpers/soda/command.ts';
import { type MadePair, makePair, OPENSSL_MISSING } from '../../helpers/system/certificates.ts';

describe('TLS by the master itself (openssl)', () => {
  let folder: string;
  let ca: MadePair;
  let pair: MadePair;
  const closing: (() => unknown)[] = [];

  before(function () {
    if (OPENSSL_MISSING) this.skip();
    folder = mkdtempSync(join(tmpdir(), 'soda-tls-'));
    ca = makePair(folder, 'ca');
    pair = makePair(folder, 'master', { ca });
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  after(() => folder && rmSync(folder, { recursive: true }));

  async function start(files: MadePair, flags: Record<string, string> = {}) {
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const tls = { tlsCert: files.cert, tlsKey: files.key };
    const outcome = loadConfig({ env: {}, flags: { port: '0', dataDir, ...tls, ...flags } });
    if (!('config' in outcome)) throw new Error(outcome.problems.join('; '));
    const master = await runMaster(outcome.config, { logTo: new PassThrough().resume() });
    closing.push(() => master.stop());
    return master.url;
  }

  /** `trusted` runs something with the file as `SODA_CA_FILE`. */
  function trustedFile() {
    const caFile = join(mkdtempSync(join(folder, 'ca-')), 'ca.crt');
    const trusted = <T>(make: () => T): T => {
      process.env['SODA_CA_FILE'] = caFile;
      try {
        return make();
      } finally {
        delete process.env['SODA_CA_FILE'];
      }
    };
    return { caFile, trusted };
  }

  const trust = () => readFileSync(ca.cert, 'utf8');

  async function dial(port: number, options: { maxVersion?: SecureVersion } = {}) {
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca: trust(),
      minVersion: 'TLSv1',
      ...options,
    });
    closing.push(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  }

  it('takes tasks, runs them and is looked after, by HTTP and WebSocket at one port', async () => {
    const url = await start(pair);
    expect(url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    const executor = createExecutor({ url, ca: trust(), handleSignals: false, onEvent: () => {} });
    executor.handle('hello', () => 'hi');
    await executor.start();
    closing.push(() => executor.stop());
    const client = createClient({ url, ca: trust() });
    const { task_id } = await client.submit({ type: 'hello' }, { group: 'tests' });
    expect((await client.wait(task_id)).result).to.equal('hi');

    const page = get(`${url}/metrics`, { ca: trust(), headers: { origin: url } });
    const [answer] = (await once(page, 'response')) as [IncomingMessage];
    expect(await text(answer)).to.match(
      /^scheduler_tls_certificate_seconds_left 25\d{5}(\.\d+)?$/m,
    );

    const env = { SODA_URL: url, SODA_CA_FILE: ca.cert };
    // As a process: what users run is bundled.
    const said = await new SodaCommand(folder).spawned(['doctor', '--json'], env);
    expect(said.code, said.out + said.err).to.equal(0);
    expect(said.out).to.match(/"certificate","state":"ok","detail":"fits 127\.0\.0\.1, expires on/);
  });

  it('is found again by who runs on while it and SODA_CA_FILE change, even past a torn file', async () => {
    const { caFile, trusted } = trustedFile();
    const [old, renewed] = [makePair(folder, 'old'), makePair(folder, 'renewed')];
    copyFileSync(old.cert, caFile);
    const url = await start(old);
    const events: ExecutorEvent[] = [];
    const told = new EventEmitter();
    const onEvent = (event: ExecutorEvent) => {
      events.push(event);
      told.emit(event.type);
    };
    const { executor, client } = trusted(() => ({
      executor: createExecutor({ url, handleSignals: false, onEvent }),
      client: createClient({ url, retryCount: 0 }),
    }));
    executor.handle('hello', () => 'hi');
    await trusted(() => executor.start());
    closing.push(() => executor.stop());
    const run = async () => {
      const { task_id } = await client.submit({ type: 'hello' }, { group: 'tests' });
      return (await client.wait(task_id)).result;
    };
    expect(await run()).to.equal('hi');

    const warned = once(process, 'warning');
    const broken = once(told, 'ca_file_broken');
    writeFileSync(caFile, readFileSync(renewed.cert, 'utf8').slice(0, 100));
    await closing.splice(0, 1)[0]?.();
    await start(renewed, { port: new URL(url).port });
    await broken;
    const why = `SODA_CA_FILE: ${caFile} holds a certificate that cannot be read: what it held is trusted on`;
    const refused = await client.submit({ type: 'hello' }, { group: 'tests' }).catch(String);
    expect(refused).to.include('its certificate is not trusted');
    expect(await warned).to.have.nested.property('[0].message', why);
    const connected = once(told, 'connected');
    copyFileSync(renewed.cert, caFile);
    await connected;
    expect(await run()).to.equal('hi');
    const said = events.filter(({ type }) => type === 'ca_file_broken');
    expect(said.map(({ message }) => message)).to.deep.equal([why]);
  });

  it('is refused, in words that help, by whoever does not trust it or calls it otherwise', async () => {
    const url = await start(pair);
    const client = createClient({ url, retryCount: 0 });
    const submit = client.submit({ type: 'hello' }, { group: 'tests' });
    const words = /its certificate is not trusted: name its CA in SODA_CA_FILE/;
    const refusal = await submit.catch((error: Error) => error);
    expect(refusal).to.have.property('message').that.matches(words);
    const events = new PassThrough({ objectMode: true });
    const onEvent = (event: ExecutorEvent) => void events.write(event);
    const executor = createExecutor({ url, handleSignals: false, onEvent });
    executor.handle('hello', () => 'hi');
    void executor.start().catch(() => undefined);
    closing.push(() => executor.stop());
    const [event] = (await once(events, 'data')) as [ExecutorEvent];
    expect(event.message).to.match(words);

    const command = new SodaCommand(folder);
    const mistrusted = await command.run(['doctor', '--json'], { SODA_URL: url });
    expect(mistrusted.out).to.match(/"certificate","state":"failed","detail":"it is not trusted/);
    const elsewhere = makePair(folder, 'elsewhere', { ca, names: 'DNS:elsewhere', days: 2 });
    const other = await start(elsewhere);
    const env = { SODA_URL: other, SODA_CA_FILE: ca.cert };
    const misnamed = await command.run(['doctor', '--json'], env);
    expect(misnamed.code).to.equal(1);
    expect(misnamed.out).to.match(/it is made out to other names; DNS:elsewhere; to \d{4}-/);
    const bad = await command.run(['task', 'list'], { ...env, SODA_CA_FILE: '/no/such' });
    expect(bad.code).to.equal(2);
    expect(bad.err).to.include('SODA_CA_FILE: /no/such cannot be read (ENOENT)');
  });

  it('speaks no TLS older than 1.2, and cuts off what is none', async () => {
    const { port } = new URL(await start(pair));
    const old = await dial(Number(port), { maxVersion: 'TLSv1.1' }).catch((error: Error) => error);
    expect(old).to.be.instanceOf(Error);
    expect((await dial(Number(port))).getProtocol()).to.equal('TLSv1.3');
    const plain = connectPlain(Number(port), '127.0.0.1', () =>
      plain.write('GET / HTTP/1.1\r\n\r\n'),
    );
    plain.on('error', () => undefined).resume();
    await once(plain, 'close');
    expect(plain.bytesRead).to.equal(0);
  });

  it('wants both files, and says which is wrong', async () => {
    const half = loadConfig({ env: {}, flags: { tlsCert: pair.cert } });
    expect(half).to.have.deep.property('problems', [
      'SODA_TLS_CERT, SODA_TLS_KEY: set both, or none of them',
    ]);
    const failed = (files: MadePair) =>
      start(files).then(expect.fail, (error: Error) => error.message);
    expect(await failed({ ...pair, cert: '/no/such' })).to.match(/^SODA_TLS_CERT: .*\(ENOENT\)/);
    expect(await failed({ ...pair, key: pair.cert })).to.match(/^SODA_TLS_KEY: holds no key/);
    expect(await failed({ ...pair, key: ca.key })).to.match(/CERT, SODA_TLS_KEY: do not belong/);
    const rsa = makePair(folder, 'rsa', { ca, kind: ['rsa:2048'] });
    expect(await failed({ ...pair, key: rsa.key })).to.match(/CERT, SODA_TLS_KEY: do not belong/);
    const weak = makePair(folder, 'weak', { ca, kind: ['rsa:512'] });
    expect(await failed(weak)).to.match(/^SODA_TLS_CERT: .*too weak for it: ee key too small\)$/);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reason = 'cannot be read (it is no regular file)';
    expect(await failed({ ...pair, cert: pipe })).to.equal(`SODA_TLS_CERT: ${pipe} ${reason}`);
    expect(await failed({ ...pair, key: pipe })).to.equal(`SODA_TLS_KEY: ${pipe} ${reason}`);
    const large = join(folder, 'large');
    writeFileSync(large, Buffer.alloc(1_048_577));
    expect(await failed({ ...pair, cert: large })).to.match(/\(it has more than 1048576 bytes\)$/);
  });

  it('shows a certificate that is replaced, keeps the old one for a broken one, and cuts nobody off', async () => {
    const files = { cert: join(folder, 'live.crt'), key: join(folder, 'live.key') };
    const put = (from: MadePair) => {
      copyFileSync(from.cert, files.cert);
      copyFileSync(from.key, files.key);
    };
    put(makePair(folder, 'first', { ca }));
    const clock = new ManualClock();
    clock.setWall(Date.now() - clock.now());
    const lines: string[] = [];
    const say = (message: string) => void lines.push(message);
    const log = { debug: say, info: say, warn: say, error: say };
    const duties = new Duties(clock);
    const read = tlsPairReader(files);
    const certificate = await Certificate.begin({ read, clock, log, duties });
    const server = createListener({}, certificate, (req, res) => res.end(req.url));
    await serve(server);
    const { port } = server.address() as AddressInfo;
    const nameOf = (socket: TLSSocket) => socket.getPeerX509Certificate()?.subject;
    certificate.start();
    closing.push(() => certificate.stop());
    const looked = async () => {
      const { runCount } = duties.views()[0] ?? { runCount: 0 };
      clock.advance(10_000);
      while (duties.views()[0]?.runCount === runCount) await new Promise(setImmediate);
    };

    const early = await dial(port);
    expect(nameOf(early)).to.equal('CN=first');
    writeFileSync(files.cert, 'torn');
    await looked();
    await looked();
    expect(certificate.isStale).to.equal(true);
    expect(duties.views()[0]?.last?.error).to.match(/SODA_TLS_CERT: holds no certificate/);
    expect(lines.filter((line) => line.includes('the old one is kept'))).to.have.length(1);
    expect(nameOf(await dial(port))).to.equal('CN=first');
    // Whoever reads it waits for somebody who writes.
    rmSync(files.cert);
    execFileSync('mkfifo', [files.cert]);
    await looked();
    expect(certificate.isStale).to.equal(true);
    expect(duties.views()[0]?.last?.error).to.include('it is no regular file');
    rmSync(files.cert);

    const nowMs = Date.now() - clock.now();
    clock.setWall(nowMs + 2 * 86_400_000);
    put(makePair(folder, 'expired', { ca, days: 1 }));
    await looked();
    expect(certificate.isStale).to.equal(true);
    expect(duties.views()[0]?.last?.error).to.include('SODA_TLS_CERT: it has expired, and');
    expect(nameOf(await dial(port))).to.equal('CN=first');
    clock.setWall(nowMs);

    put(makePair(folder, 'second', { ca, days: 5 }));
    await looked();
    expect(certificate.isStale).to.equal(false);
    expect(Math.round(certificate.secondsLeft / 86_400)).to.equal(5);
    expect(nameOf(await dial(port))).to.equal('CN=second');
    early.write('GET /still HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = (await once(early, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/\/still/);
  });

  async function serve(server: Server): Promise<void> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
  }
});
