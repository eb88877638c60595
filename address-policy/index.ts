/**
 * Decides which addresses a request may be sent to whose URL comes from others: that of a callback, or what an
 * executor is to fetch. Without this the sender would be a way into its own network. Names are resolved once, every address of
 * the answer is checked, and the connection goes to a checked address: an answer that changes
 * between check and connect cannot win. Never trusts the spelling of an address, only its value.
 */
import type { LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Beyond it all are forgotten: addresses whose verdict is remembered. */
const KNOWN_ADDRESSES_MAX = 1_000;

const METADATA = 'cloud metadata';

/** Address ranges that are refused, by what they are. The first match names the refusal. */
const REFUSED: readonly (readonly [rule: string, ...ranges: string[]])[] = [
  [
    METADATA,
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
/** Outside this, IPv6 holds nothing that a request could want. */
const globalUnicast = blockListOf(['2000::/3']);
/** What `private` in the allow list stands for; metadata services come before it in `REFUSED`. */
const PRIVATE_RULES: ReadonlySet<string> = new Set(['loopback', 'private']);

/** The address may not be connected to. The message names the rule and how to lift it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor(host: string, rule: string, setting: string) {
    super(
      `refused: ${host} is ${/^[aiu]/i.test(rule) ? 'an' : 'a'} ${rule} address` +
        // Nobody should be led to give the keys of their machine away.
        (rule === METADATA ? '' : `; to allow it, add the host or its range to ${setting}`),
    );
  }
}

/** The addresses of a name. Rejects where there are none, or nobody knows. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** Addresses, and ranges such as `10.0.0.0/8`. */
export class AddressRanges {
  /** Apart by family: `::/0` says nothing about IPv4. */
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  /** @throws on an entry that is neither. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      if (!isRange(entry)) throw new Error(`expected an address or a CIDR range, got "${entry}"`);
      addRange(this.#lists[familyOf(entry)], entry);
    }
  }

  /** Whether an address is among them, however it is spelled. What is no address is not. */
  has(spelled: string): boolean {
    if (isIP(spelled) === 0) return false;
    const { address, family } = valueOf(spelled);
    return this.#lists[family].check(address, family);
  }
}

/** Of a host without its final dot: labels of 1 to 63 characters, 253 in all. */
function isName(host: string): boolean {
  return host.length <= 253 && /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(host);
}

export class AddressPolicy {
  readonly #hosts = new Set<string>();
  readonly #allowed: AddressRanges;
  #allowsPrivate = false;
  readonly #setting: string;
  /** By address, as it is spelled: which rule is against it. Receivers are few, and each callback asks twice. */
  readonly #known = new Map<string, string | null>();

  /**
   * @param allow Host names (exact; whatever they resolve to is then allowed), addresses, ranges
   *   such as `10.0.0.0/8`, or the word `private`: loopback and private ranges, and no other.
   * @param setting What lists them, for refusals to name.
   * @throws on an entry that is none of these.
   */
  constructor(allow: readonly string[], setting: string) {
    this.#setting = setting;
    this.#allowed = new AddressRanges(allow.filter(isRange));
    for (const entry of allow) {
      if (isRange(entry)) continue;
      if (entry === 'private') this.#allowsPrivate = true;
      else if (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(entry)) this.#hosts.add(plainHost(entry));
      else throw new Error(`expected a host name, an address or a CIDR range, got "${entry}"`);
    }
  }

  /**
   * Checks what can be told without resolving: scheme, user info, the address of a URL that spells
   * one out, for which a connection never asks a resolver, and `localhost`.
   * @returns why it is refused, or null.
   */
  checkUrl(url: URL): Error | null {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return new Error(`refused: expected an http or https URL, got ${url.protocol}`);
    }
    if (url.username !== '' || url.password !== '') {
      return new Error('refused: a URL with a user name or password is not called');
    }
    if (url.port === '0') return new Error('refused: nobody listens on port 0');
    const host = plainHost(url.hostname);
    if (isIP(host) === 0 && !isName(host)) {
      return new Error('refused: the host is no name that can be resolved');
    }
    if (isIP(host) !== 0) return this.#refusalOf(host, [host]);
    // With one of the two allowed it depends on which of them the machine gives to the name.
    const refusals = isLocalhost(host)
      ? LOCALHOST.map((ip) => this.checkAddresses(host, [ip]))
      : [];
    return refusals.includes(null) ? null : (refusals[0] ?? null);
  }

  /** Every address of a name must be fit: a connection may go to any of them. */
  checkAddresses(host: string, addresses: readonly string[]): Error | null {
    return this.#hosts.has(plainHost(host)) ? null : this.#refusalOf(host, addresses);
  }

  #refusalOf(host: string, addresses: readonly string[]): Error | null {
    for (const address of addresses) {
      const rule = this.#ruleAgainst(address);
      if (rule !== null) return new AddressRefused(host, rule, this.#setting);
    }
    return null;
  }

  #ruleAgainst(spelled: string): string | null {
    const known = this.#known.get(spelled);
    if (known !== undefined) return known;
    const rule = this.#findRule(spelled);
    if (this.#known.size >= KNOWN_ADDRESSES_MAX) this.#known.clear();
    this.#known.set(spelled, rule);
    return rule;
  }

  #findRule(spelled: string): string | null {
    if (this.#allowed.has(spelled)) return null;
    const { address, family, groups } = valueOf(spelled);
    const broken = rules.find(({ list }) => list.check(address, family))?.rule;
    if (broken !== undefined) {
      return this.#allowsPrivate && PRIVATE_RULES.has(broken) ? null : broken;
    }
    // An IPv4 address that an IPv6 one stands for is no public receiver either.
    if (family === 'ipv4') return spelled === address ? null : 'reserved';
    // ISATAP: the last four bytes are an IPv4 address, whatever network stands before them.
    if ((groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe) return 'tunnel';
    return globalUnicast.check(address, family) ? null : 'reserved';
  }
}

/**
 * For `http.request`: resolves a name, and yields its addresses if the policy lets all of them
 * through. The connection goes to these very addresses.
 */
export function checkedLookup(policy: AddressPolicy, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    const answer = (addresses: readonly LookupAddress[]) => {
      const refusal = policy.checkAddresses(
        host,
        addresses.map(({ address }) => address),
      );
      const [first] = addresses;
      if (refusal !== null || first === undefined) {
        callback(refusal ?? new Error(`${host} has no address`), []);
      } else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    };
    resolve(host).then(answer, (error: Error) => callback(error, []));
  };
}

/** `localhost` and what ends in it never leave the machine: RFC 6761. */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost$/.test(plainHost(host));
}

/** What `localhost` is where nothing else is said. */
export const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];

/** Without the brackets of an IPv6 literal and the dot that ends a fully qualified name. */
export function plainHost(host: string): string {
  const inner = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return (inner.endsWith('.') ? inner.slice(0, -1) : inner).toLowerCase();
}

type Family = 'ipv4' | 'ipv6';

function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/**
 * An IPv4 address in an IPv6 one (`::ffff:10.0.0.1`) is an IPv4 address: that is what a connection
 * goes to. `groups` are the eight of an IPv6 address.
 */
function valueOf(spelled: string): {
  readonly address: string;
  readonly family: Family;
  readonly groups: readonly number[];
} {
  if (isIP(spelled) === 4) return { address: spelled, family: 'ipv4', groups: [] };
  const address = spelled.replace(/%.*$/, '');
  const groups = groupsOf(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) return { address, family: 'ipv6', groups };
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]);
  return { address: bytes.join('.'), family: 'ipv4', groups: [] };
}

/** The URL parser knows every spelling, and writes hexadecimal groups with one `::` at most. */
function groupsOf(address: string): number[] {
  const plain = plainHost(new URL(`http://[${address}]/`).hostname);
  const [head = [], tail] = plain.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const texts = [...head, ...Array.from({ length: zeros }, () => '0'), ...(tail ?? [])];
  return texts.map((text) => Number.parseInt(text, 16));
}

function isRange(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (family === 6 && valueOf(address).family === 'ipv4') return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32);
}

function addRange(list: BlockList, range: string): void {
  const [address = '', prefix] = range.split('/');
  const family = familyOf(address);
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

function blockListOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range);
  return list;
}
