/** Whom a callback may be sent to, by every spelling of an address that URLs and resolvers allow. */
import { expect } from 'chai';
import type { LookupAddress } from 'node:dns';
import { AddressPolicy, AddressRefused, checkedLookup } from '@soda-scheduler/address-policy';

const refusedHosts: Record<string, readonly string[]> = {
  loopback: [
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0x7F.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '１２７.０.０.１',
    '127。0。0。1',
    '127%2e0%2e0%2e1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
  ],
  unspecified: ['0.0.0.0', '0', '0x0', '0.1.2.3', '[::]', '[0:0:0:0:0:0:0:0]', '[::ffff:0:0]'],
  private: [
    '10.0.0.1',
    '10.255.255.255',
    '0xa000001',
    '167772161',
    '012.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.257',
    '0xc0a80001',
    '[fc00::1]',
    '[fd12:3456:789a::1]',
    '[fec0::1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:c0a8:1]',
  ],
  'cloud metadata': [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[fd00:ec2::254]',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
  ],
  'link-local': ['169.254.0.1', '[fe80::1]', '[febf::1]', '[::ffff:169.254.1.1]'],
  'shared (CGNAT)': ['100.64.0.1', '100.127.255.255', '[::ffff:100.64.0.1]'],
  multicast: ['224.0.0.1', '239.255.255.255', '[ff02::1]', '[ff0e::1]'],
  'IPv4 in IPv6': [
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[::8.8.8.8]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::a00:1]',
  ],
  tunnel: [
    '[2002:7f00:1::]',
    '[2002:a00:1::1]',
    '[2001:0:7f00:1::]',
    '192.88.99.1',
    '[2a00:1450::5efe:127.0.0.1]',
    '[2a00:1450:1:2:200:5efe:a00:1]',
  ],
  reserved: [
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '240.0.0.1',
    '255.255.255.255',
    '[100::1]',
    '[2001:db8::1]',
    '[4000::1]',
    '[::ffff:8.8.8.8]',
  ],
};

const publicHosts = [
  '8.8.8.8',
  '93.184.216.34',
  '1.1',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '169.253.255.255',
  '192.167.255.255',
  '223.255.255.255',
  '[2606:4700:4700::1111]',
  '[2a00:1450:4001:80b::200e]',
];

const check = (policy: AddressPolicy, url: string) => policy.checkUrl(new URL(url));

/** What a connection to `host` would get, the resolver answering `addresses`. */
function lookUp(addresses: readonly string[], host: string, allow: readonly string[] = []) {
  const answer = addresses.map(
    (address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
  );
  const lookup = checkedLookup(new AddressPolicy(allow, 'SODA_NOTIFY_ALLOW'), async () => answer);
  return new Promise<string[]>((resolve, reject) =>
    lookup(host, { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve((found as LookupAddress[]).map(({ address }) => address));
    }),
  );
}

const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: Error) => error.message,
  );

describe('address policy', () => {
  for (const [rule, hosts] of Object.entries(refusedHosts)) {
    it(`refuses ${rule} addresses in each of ${hosts.length} spellings`, () => {
      for (const host of hosts) {
        const refusal = check(
          new AddressPolicy([], 'SODA_NOTIFY_ALLOW'),
          `http://${host}:8080/callback`,
        );
        expect(refusal, host).to.be.instanceOf(AddressRefused);
        expect(refusal?.message, host).to.include(`${rule} address`);
        const isAdvised = refusal?.message.includes('SODA_NOTIFY_ALLOW');
        expect(isAdvised, host).to.equal(rule !== 'cloud metadata');
      }
    });
  }

  it('covers at least 60 spellings', () => {
    expect(Object.values(refusedHosts).flat().length).to.be.at.least(60);
  });

  it('lets public addresses through', () => {
    for (const host of publicHosts) {
      expect(check(new AddressPolicy([], 'SODA_NOTIFY_ALLOW'), `https://${host}/`), host).to.equal(
        null,
      );
    }
  });

  it('refuses other schemes and user info', () => {
    const policy = new AddressPolicy([], 'SODA_NOTIFY_ALLOW');
    expect(check(policy, 'ftp://8.8.8.8/')?.message).to.include('http or https');
    expect(check(policy, 'file:///etc/passwd')?.message).to.include('http or https');
    expect(check(policy, 'http://8.8.8.8@10.0.0.1/')?.message).to.include('user name');
    expect(check(policy, 'http://:secret@example.com/')?.message).to.include('password');
  });

  it('checks what a name resolves to, all of it', async () => {
    expect(await lookUp(['93.184.216.34', '2606:4700::1'], 'example.com')).to.have.length(2);
    expect(await messageOf(lookUp(['127.0.0.1'], 'localtest.example'))).to.include('loopback');
    expect(await messageOf(lookUp(['127.0.0.1'], 'localhost.'))).to.include('loopback');
    expect(await messageOf(lookUp(['93.184.216.34', '10.0.0.7'], 'both.example'))).to.include(
      'private',
    );
    expect(await messageOf(lookUp(['93.184.216.34', '::1'], 'both.example'))).to.include(
      'loopback',
    );
    expect(await messageOf(lookUp(['64:ff9b::a9fe:a9fe'], 'nat64.example'))).to.include('IPv4 in');
    expect(await messageOf(lookUp([], 'nothing.example'))).to.equal(
      'nothing.example has no address',
    );
  });

  it('names the host but not the address it resolved to', async () => {
    expect(await messageOf(lookUp(['10.9.8.7'], 'db.internal'))).to.not.include('10.9.8.7');
  });

  it('resolves anew for each connection and yields only what it checked', async () => {
    const answers = ['93.184.216.34', '127.0.0.1'];
    let asked = 0;
    const lookup = checkedLookup(new AddressPolicy([], 'SODA_NOTIFY_ALLOW'), async () => [
      { address: answers[asked++] ?? '', family: 4 },
    ]);
    const connectTo = () =>
      new Promise((resolve) =>
        lookup('rebind.example', {}, (error, address) => resolve(error ?? address)),
      );
    expect(await connectTo()).to.equal('93.184.216.34');
    expect(asked).to.equal(1);
    expect(await connectTo()).to.be.instanceOf(AddressRefused);
  });

  it('allows what is listed: addresses, ranges, host names', async () => {
    const policy = new AddressPolicy(['10.1.0.0/16', '::1', '127.0.0.1'], 'SODA_NOTIFY_ALLOW');
    expect(check(policy, 'http://10.1.2.3/')).to.equal(null);
    expect(check(policy, 'http://[::1]/')).to.equal(null);
    expect(check(policy, 'http://0x7f.1/')).to.equal(null);
    expect(check(policy, 'http://10.2.0.1/')?.message).to.include('private');
    expect(check(policy, 'http://127.0.0.2/')?.message).to.include('loopback');
    expect(await lookUp(['10.9.9.9'], 'Hooks.Internal.', ['hooks.internal'])).to.have.length(1);
    expect(await lookUp(['10.1.9.9'], 'other.internal', ['10.1.0.0/16'])).to.have.length(1);
    expect(
      await messageOf(lookUp(['10.9.9.9'], 'x.hooks.internal', ['hooks.internal'])),
    ).to.include('private');
    expect(
      check(new AddressPolicy(['0.0.0.0/0', '::/0'], 'SODA_NOTIFY_ALLOW'), 'http://[fe80::1]/'),
    ).to.equal(null);
  });

  it('allows each family for itself', () => {
    const ipv6 = new AddressPolicy(['::/0'], 'SODA_NOTIFY_ALLOW');
    expect(check(ipv6, 'http://[::1]/')).to.equal(null);
    for (const host of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]']) {
      expect(check(ipv6, `http://${host}/`), host).to.be.instanceOf(AddressRefused);
    }
    const ipv4 = new AddressPolicy(['0.0.0.0/0'], 'SODA_NOTIFY_ALLOW');
    expect(check(ipv4, 'http://[::ffff:127.0.0.1]/'), 'which is an IPv4 address').to.equal(null);
    expect(check(ipv4, 'http://[::1]/')).to.be.instanceOf(AddressRefused);
  });

  it('advises nobody to allow a metadata service', () => {
    const refusalOf = (host: string) =>
      new AddressPolicy([], 'SETTING').checkUrl(new URL(`http://${host}/`))?.message;
    expect(refusalOf('169.254.169.254')).to.equal(
      'refused: 169.254.169.254 is a cloud metadata address',
    );
    expect(refusalOf('10.0.0.1')).to.include('to allow it, add the host or its range to SETTING');
  });

  it('allows loopback and private ranges by one word, and no metadata service', () => {
    const policy = new AddressPolicy(['private'], 'SODA_NOTIFY_ALLOW');
    for (const rule of ['loopback', 'private']) {
      for (const host of refusedHosts[rule] ?? []) {
        expect(check(policy, `http://${host}/`), host).to.equal(null);
      }
    }
    for (const [rule, hosts] of Object.entries(refusedHosts)) {
      if (rule === 'loopback' || rule === 'private') continue;
      for (const host of hosts) {
        expect(check(policy, `http://${host}/`)?.message, host).to.include(`${rule} address`);
      }
    }
    expect(check(policy, 'http://localhost:8080/')).to.equal(null);
  });

  it('knows without resolving where localhost is', () => {
    for (const host of ['localhost', 'LOCALHOST.', 'hooks.localhost']) {
      const refusal = check(new AddressPolicy([], 'SODA_NOTIFY_ALLOW'), `http://${host}:8080/done`);
      expect(refusal?.message, host).to.include('a loopback address');
    }
    for (const allow of ['localhost', '127.0.0.0/8', '::1']) {
      expect(
        check(new AddressPolicy([allow], 'SODA_NOTIFY_ALLOW'), 'http://localhost/'),
        allow,
      ).to.equal(null);
    }
    expect(check(new AddressPolicy([], 'SODA_NOTIFY_ALLOW'), 'http://notlocalhost/')).to.equal(
      null,
    );
  });

  it('refuses an allow list it cannot read', () => {
    for (const entry of [
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      'http://x',
      '*.example.com',
      '',
      '::1/x',
      '::ffff:a00:1',
    ]) {
      expect(() => new AddressPolicy([entry], 'SODA_NOTIFY_ALLOW'), entry).to.throw(
        /expected a host name/,
      );
    }
  });
});
