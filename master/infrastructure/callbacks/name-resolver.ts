/**
 * Finds the addresses of receivers. `dns.lookup` would ask getaddrinfo, which holds one of the four
 * threads of the process for as long as a DNS server is silent: a few dead names would stop every
 * other one, and the files too. This one asks by c-ares, which holds no thread, and
 * ends every question by itself.
 *
 * It does what getaddrinfo does in a container: `/etc/hosts`, then DNS with the search list. What
 * else a system may know (mDNS, NIS, LDAP) it does not: such names belong into `/etc/hosts`.
 */
import { type LookupAddress, promises } from 'node:dns';
import type { Clock } from '../../application/ports.ts';
import { ASKED_NAMES_MAX, KNOWN_NAMES_MAX } from '../../domain/bounds.ts';
import { isLocalhost, LOCALHOST, plainHost } from '@soda-scheduler/address-policy';
import {
  candidatesOf,
  type Hosts,
  parseHosts,
  parseResolvConf,
  type ResolvConf,
  WatchedFile,
} from './resolver-files.ts';

/** For one server; then the next is asked, and the first once more. */
const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
/** For all names that a name may stand for, of both families. */
const NAME_TIMEOUT_MS = 4_000;
const FOUND_MS = 10_000;
/** Long enough to spare the servers, and shorter than the wait before a second try. */
const NOT_FOUND_MS = 4_000;

export interface ResolverFiles {
  readonly hosts: string;
  readonly resolvConf: string;
}

const SYSTEM_FILES: ResolverFiles = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

interface Known {
  readonly until: number;
  readonly addresses: readonly LookupAddress[];
  /** Why there are none. */
  readonly error: Error | null;
}

export class NameResolver {
  readonly #clock: Clock;
  readonly #hosts: WatchedFile<Hosts>;
  readonly #resolvConf: WatchedFile<ResolvConf>;
  readonly #known = new Map<string, Known>();
  /** Whoever asks for the same name meanwhile gets the same answer. */
  readonly #asking = new Map<string, Promise<Known>>();
  readonly #questions = new Set<promises.Resolver>();
  #stopped = false;

  constructor(clock: Clock, files: ResolverFiles = SYSTEM_FILES) {
    this.#clock = clock;
    this.#hosts = new WatchedFile(files.hosts, parseHosts, clock);
    this.#resolvConf = new WatchedFile(files.resolvConf, parseResolvConf, clock);
  }

  /** IPv4 first. Rejects within seconds where there is no address, and says why. */
  async resolve(host: string): Promise<readonly LookupAddress[]> {
    const hosts = await this.#hosts.read();
    const name = plainHost(host);
    const listed = hosts.get(name);
    if (listed !== undefined) return listed;
    if (isLocalhost(name)) {
      return LOCALHOST.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    }
    const { addresses, error } = await this.#ask(host.toLowerCase());
    if (error !== null) throw error;
    return addresses;
  }

  /** Ends every question; whoever waits is told that there is no answer. */
  stop(): void {
    this.#stopped = true;
    for (const question of this.#questions) question.cancel();
  }

  #ask(name: string): Promise<Known> {
    const known = this.#known.get(name);
    if (known !== undefined && this.#clock.now() < known.until) return Promise.resolve(known);
    const asking = this.#asking.get(name);
    if (asking !== undefined) return asking;
    if (this.#asking.size >= ASKED_NAMES_MAX) {
      return Promise.reject(new Error(`${name}: too many names are being resolved`));
    }
    const answer = this.#find(name).finally(() => this.#asking.delete(name));
    this.#asking.set(name, answer);
    return answer;
  }

  async #find(name: string): Promise<Known> {
    const conf = await this.#resolvConf.read();
    const resolver = new promises.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    let timedOut = false;
    const callOff = this.#clock.wakeAt(this.#clock.now() + NAME_TIMEOUT_MS, () => {
      timedOut = true;
      resolver.cancel();
    });
    this.#questions.add(resolver);
    try {
      setServers(resolver, conf.servers);
      let code: string | null = null;
      for (const candidate of candidatesOf(name, conf)) {
        if (timedOut || this.#stopped) break;
        const found = await addressesOf(resolver, candidate);
        if (found.addresses.length > 0) return this.#keep(name, found.addresses, null);
        code = worse(code, found.code);
        // Nobody answers: the other names would be asked for in vain.
        if (code === 'ETIMEOUT' || code === 'ECONNREFUSED') break;
      }
      return this.#keep(name, [], noAddress(name, timedOut ? 'ETIMEOUT' : code));
    } catch (error) {
      return this.#keep(name, [], error as Error);
    } finally {
      callOff();
      this.#questions.delete(resolver);
    }
  }

  #keep(name: string, addresses: readonly LookupAddress[], error: Error | null): Known {
    const until = this.#clock.now() + (error === null ? FOUND_MS : NOT_FOUND_MS);
    const known = { until, addresses, error };
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_NAMES_MAX && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

/** c-ares has read the file as well, for what this one cannot set: an address with a zone. */
function setServers(resolver: promises.Resolver, servers: readonly string[]): void {
  try {
    if (servers.length > 0) resolver.setServers(servers);
  } catch {}
}

interface Found {
  readonly addresses: readonly LookupAddress[];
  readonly code: string | null;
}

/** Of both families; one that has none, or fails, does not spoil the other. */
async function addressesOf(resolver: promises.Resolver, name: string): Promise<Found> {
  const ask = async (family: 4 | 6): Promise<Found> => {
    try {
      const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
      return { addresses: found.map((address) => ({ address, family })), code: null };
    } catch (error) {
      return { addresses: [], code: (error as NodeJS.ErrnoException).code ?? 'EUNKNOWN' };
    }
  };
  const [ipv4, ipv6] = await Promise.all([ask(4), ask(6)]);
  return {
    addresses: [...ipv4.addresses, ...ipv6.addresses],
    code: worse(ipv4.code, ipv6.code),
  };
}

const NO_SUCH_NAME = new Set<string | null>([null, 'ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** That somebody did not answer says more than that others know nothing. */
function worse(first: string | null, second: string | null): string | null {
  return NO_SUCH_NAME.has(first) ? (second ?? first) : first;
}

function noAddress(name: string, code: string | null): Error {
  if (NO_SUCH_NAME.has(code)) return new Error(`${name}: no such name`);
  if (code === 'ETIMEOUT' || code === 'ECANCELLED') {
    return new Error(`${name}: the name servers do not answer`);
  }
  return new Error(`${name}: the name servers cannot say (${code})`);
}
