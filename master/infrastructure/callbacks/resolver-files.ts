/**
 * What this machine says about names: `/etc/hosts`, and the servers and search list of
 * `/etc/resolv.conf`. Read again when they have changed, as containers and DHCP change them. A
 * file that is missing or cannot be read says nothing.
 */
import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Clock } from '../../application/ports.ts';

/** A file is looked at again after this. */
const FRESH_MS = 2_000;
const SEARCH_COUNT_MAX = 6;
const NDOTS_MAX = 15;

export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

export interface ResolvConf {
  /** Empty: those that the system's resolver would ask. */
  readonly servers: readonly string[];
  readonly search: readonly string[];
  /** A name with fewer dots is looked for in the search list before it is asked for as it is. */
  readonly ndots: number;
}

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of linesOf(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const addresses = hosts.get(name);
      if (addresses === undefined) hosts.set(name, [{ address, family }]);
      else if (!addresses.some((known) => known.address === address)) {
        addresses.push({ address, family });
      }
    }
  }
  return hosts;
}

export function parseResolvConf(text: string): ResolvConf {
  const servers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword = '', ...values] of linesOf(text)) {
    // Of `search` and `domain` the last one counts.
    if (keyword === 'search' || keyword === 'domain') search = values;
    else if (keyword === 'nameserver' && values[0] !== undefined) servers.push(values[0]);
    else if (keyword === 'options') {
      const given = /(?:^| )ndots:(\d+)(?: |$)/.exec(values.join(' '))?.[1];
      if (given !== undefined) ndots = Math.min(Number(given), NDOTS_MAX);
    }
  }
  search = search.map((domain) => domain.replace(/\.$/, '')).filter((domain) => domain !== '');
  return { servers, search: search.slice(0, SEARCH_COUNT_MAX), ndots };
}

/** The full names that a name may stand for, in the order in which they are asked for. */
export function candidatesOf(name: string, { search, ndots }: ResolvConf): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const inSearch = search.map((domain) => `${name}.${domain}`);
  const dotCount = name.split('.').length - 1;
  return dotCount >= ndots ? [name, ...inSearch] : [...inSearch, name];
}

/** A file as it was a moment ago, parsed. */
export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  readonly #clock: Clock;
  #value: T;
  #version = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(path: string, parse: (text: string) => T, clock: Clock) {
    this.#path = path;
    this.#parse = parse;
    this.#clock = clock;
    this.#value = parse('');
  }

  async read(): Promise<T> {
    if (this.#clock.now() - this.#lookedAt >= FRESH_MS) {
      this.#looking ??= this.#look().finally(() => (this.#looking = null));
      await this.#looking;
    }
    return this.#value;
  }

  async #look(): Promise<void> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${mtimeMs}/${size}/${ino}`;
      if (version !== this.#version) {
        this.#value = this.#parse(await readFile(this.#path, 'utf8'));
        this.#version = version;
      }
    } catch {
      this.#value = this.#parse('');
      this.#version = '';
    }
    this.#lookedAt = this.#clock.now();
  }
}

function linesOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.replace(/[#;].*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
}
