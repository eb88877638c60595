/** How receivers' names become addresses: hosts file, search list, silence, and what is remembered. */
import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NameResolver } from '../../../master/infrastructure/callbacks/name-resolver.ts';
import { DnsServer } from '../../helpers/callbacks/dns-server.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('name resolver', () => {
  let server: DnsServer;
  let clock: ManualClock;
  let folder: string;
  let resolver: NameResolver;

  const write = (hosts: string, resolvConf: string) => {
    writeFileSync(path.join(folder, 'hosts'), hosts);
    writeFileSync(path.join(folder, 'resolv.conf'), resolvConf);
  };
  const addressesOf = async (name: string) =>
    (await resolver.resolve(name)).map(({ address }) => address);
  const failureOf = (name: string) =>
    resolver.resolve(name).then(
      () => 'none',
      (error: Error) => error.message,
    );

  beforeEach(async () => {
    server = await new DnsServer().open();
    clock = new ManualClock();
    folder = mkdtempSync(path.join(tmpdir(), 'soda-names-'));
    write('127.0.0.1 localhost\n', `nameserver ${server.address}\n`);
    const files = {
      hosts: path.join(folder, 'hosts'),
      resolvConf: path.join(folder, 'resolv.conf'),
    };
    resolver = new NameResolver(clock, files);
  });

  afterEach(async () => {
    resolver.stop();
    rmSync(folder, { recursive: true });
    await server.close();
  });

  it('asks for both families, IPv4 first', async () => {
    server.knows('both.example', '2001:db8::7', '192.0.2.7', '192.0.2.8');
    server.knows('six.example', '2001:db8::1');
    expect(await resolver.resolve('both.example')).to.deep.equal([
      { address: '192.0.2.7', family: 4 },
      { address: '192.0.2.8', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ]);
    expect(await addressesOf('Six.Example.')).to.deep.equal(['2001:db8::1']);
    expect(await failureOf('none.example')).to.equal('none.example: no such name');
  });

  it('looks into the hosts file first, and again when it has changed', async () => {
    write('192.0.2.1 hooks hooks.example # ours\n::1\thooks\n', `nameserver ${server.address}\n`);
    expect(await addressesOf('HOOKS')).to.deep.equal(['192.0.2.1', '::1']);
    expect(await addressesOf('hooks.example.')).to.deep.equal(['192.0.2.1']);
    write('192.0.2.2 hooks other\n', `nameserver ${server.address}\n`);
    clock.advance(2_000);
    expect(await addressesOf('hooks')).to.deep.equal(['192.0.2.2']);
    expect(server.asked).to.deep.equal([]);
  });

  it('knows localhost without any file or server', async () => {
    write('', '');
    expect(await addressesOf('localhost')).to.deep.equal(['127.0.0.1', '::1']);
    expect(await addressesOf('hooks.localhost.')).to.deep.equal(['127.0.0.1', '::1']);
  });

  it('finds a service by its short name, as in a pod', async () => {
    const search = 'shop.svc.cluster.local svc.cluster.local cluster.local';
    write('', `nameserver ${server.address}\nsearch ${search}\noptions ndots:5\n`);
    server.knows('hooks.media.svc.cluster.local', '10.96.0.7');
    server.knows('hooks.example.com', '192.0.2.7');
    expect(await addressesOf('hooks.media')).to.deep.equal(['10.96.0.7']);
    expect([...new Set(server.asked)]).to.deep.equal([
      'hooks.media.shop.svc.cluster.local',
      'hooks.media.svc.cluster.local',
    ]);
    expect(await addressesOf('hooks.example.com'), 'after the search list').to.deep.equal([
      '192.0.2.7',
    ]);
    server.asked.length = 0;
    expect(await addressesOf('hooks.example.com.')).to.deep.equal(['192.0.2.7']);
    expect(new Set(server.asked), 'with a dot at its end as it is').to.deep.equal(
      new Set(['hooks.example.com']),
    );
  });

  it('asks for a name with enough dots before it searches', async () => {
    write('', `domain ignored.example\nnameserver ${server.address}\nsearch lan\n`);
    server.knows('a.b', '192.0.2.1');
    server.knows('c.d.lan', '192.0.2.2');
    expect(await addressesOf('a.b')).to.deep.equal(['192.0.2.1']);
    expect([...new Set(server.asked)]).to.deep.equal(['a.b']);
    expect(await addressesOf('c.d')).to.deep.equal(['192.0.2.2']);
  });

  it('remembers what it found, and what it did not find, for some seconds', async () => {
    server.knows('known.example', '192.0.2.1');
    await addressesOf('known.example');
    expect(await failureOf('unknown.example')).to.include('no such name');
    const askedCount = server.asked.length;
    server.knows('known.example', '192.0.2.2');
    server.knows('unknown.example', '192.0.2.3');
    expect(await addressesOf('known.example')).to.deep.equal(['192.0.2.1']);
    expect(await failureOf('unknown.example')).to.include('no such name');
    expect(server.asked).to.have.length(askedCount);
    clock.advance(4_000);
    expect(await addressesOf('unknown.example')).to.deep.equal(['192.0.2.3']);
    clock.advance(6_000);
    expect(await addressesOf('known.example')).to.deep.equal(['192.0.2.2']);
  });

  it('asks once for whoever wants to know', async () => {
    server.knows('known.example', '192.0.2.1');
    await Promise.all(Array.from({ length: 20 }, () => addressesOf('known.example')));
    expect(server.asked).to.deep.equal(['known.example', 'known.example']);
  });

  it('gives up on a silent server, and lets no name wait for another', async () => {
    server.isSilent = true;
    server.knows('known.example', '192.0.2.1');
    const names = Array.from({ length: 100 }, (_, i) => `h${i}.blackhole.example`);
    const heard = Promise.all(names.map((name) => server.hears(name)));
    const failures = Promise.all(names.map(failureOf));
    await heard;
    expect(await addressesOf('known.example')).to.deep.equal(['192.0.2.1']);
    clock.advance(4_000);
    expect((await failures)[99]).to.equal('h99.blackhole.example: the name servers do not answer');
  });

  it('ends what is under way when it is stopped', async () => {
    server.isSilent = true;
    const heard = server.hears('slow.example');
    const failure = failureOf('slow.example');
    await heard;
    resolver.stop();
    expect(await failure).to.equal('slow.example: the name servers do not answer');
  });
});
