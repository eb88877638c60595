/**
 * Decides which addresses a callback may be sent to. Callback URLs come from clients, so without
 * this the master would be a way into its own network. Names are resolved once, every address of
 * the answer is checked, and the connection goes to a checked address: an answer that changes
 * between check and connect cannot win. Never trusts the spelling of an address, only its value.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Address ranges that are refused, by what they are. The first match names the refusal. An
 * IPv4-mapped IPv6 address matches the IPv4 ranges; naming its own range, ::ffff:0:0/96, would in
 * turn match every IPv4 address.
 */
const REFUSED: readonly (readonly [rule: string, ...ranges: string[]])[] = [
  [
    'cloud metadata',
    '169.254.169.254/32',
    '169.254.170.2/32',
    '100.100.100.200/32',
    '168.63.129.16/32',
    '192.0.0.192/32',
    'fd00:ec2::/32',
  ],
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  ['link-local', '169.254.0.0/16', 'fe80::/10'],
  ['shared (CGNAT)', '100.64.0.0/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['IPv4 in IPv6', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'],
  ['tunnel', '192.88.99.0/24', '2001::/32', '2002::/16'],
  [
    'reserved',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '3fff::/20',
    '5f00::/16',
  ],
];

const rules = REFUSED.map(([rule, ...ranges]) => ({ rule, list: blockListOf(ranges) }));
/** Outside this, IPv6 holds nothing that a callback could want. */
const globalUnicast = blockListOf(['2000::/3']);

/** The address may not be connected to. The message names the rule and how to lift it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor(host: string, rule: string) {
    super(
      `refused: ${host} is a ${rule} address; to allow it, add the host or its range ` +
        'to SODA_NOTIFY_ALLOW',
    );
  }
}

type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const resolveBySystem: Resolve = (host, done) => systemLookup(host, { all: true }, done);

export class AddressPolicy {
  /** For `http.request`: resolves a name and yields its addresses if all of them may be used. */
  readonly lookup: LookupFunction;
  readonly #hosts = new Set<string>();
  readonly #allowed = new BlockList();

  /**
   * @param allow Host names (exact; whatever they resolve to is then allowed), addresses, or
   *   ranges such as `10.0.0.0/8`. @throws on an entry that is none of these.
   */
  constructor(allow: readonly string[], resolve: Resolve = resolveBySystem) {
    for (const entry of allow) {
      if (isRange(entry)) addRange(this.#allowed, entry);
      else if (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(entry)) this.#hosts.add(plainHost(entry));
      else throw new Error(`expected a host name, an address or a CIDR range, got "${entry}"`);
    }
    this.lookup = (host, options, callback) =>
      resolve(host, (error, addresses) => {
        const refusal = error ?? this.#refusalOfName(host, addresses);
        const first = addresses?.[0];
        if (refusal !== null || first === undefined)
          callback(refusal ?? new Error('no address'), []);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      });
  }

  /**
   * Checks what can be told without resolving: scheme, user info, and the address of a URL that
   * spells one out, for which a connection never asks `lookup`.
   * @returns why it is refused, or null.
   */
  checkUrl(url: URL): Error | null {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return new Error(`refused: expected an http or https URL, got ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '') {
      return new Error('refused: a URL with a user name or password is not called');
    }
    const host = plainHost(url.hostname);
    const rule = isIP(host) === 0 ? null : this.#ruleAgainst(host);
    return rule === null ? null : new AddressRefused(host, rule);
  }

  #refusalOfName(host: string, addresses: readonly LookupAddress[]): Error | null {
    if (this.#hosts.has(plainHost(host))) return null;
    for (const { address } of addresses) {
      const rule = this.#ruleAgainst(address);
      if (rule !== null) return new AddressRefused(host, rule);
    }
    return null;
  }

  #ruleAgainst(address: string): string | null {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (this.#allowed.check(address, family)) return null;
    const broken = rules.find(({ list }) => list.check(address, family));
    if (broken !== undefined) return broken.rule;
    return family === 'ipv6' && !globalUnicast.check(address, 'ipv6') ? 'reserved' : null;
  }
}

/** Without the brackets of an IPv6 literal and the dot that ends a fully qualified name. */
function plainHost(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

function isRange(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32);
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return list;
}
