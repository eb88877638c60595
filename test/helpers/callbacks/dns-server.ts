/** A DNS server on loopback that knows what a test tells it, and is silent about the rest. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

const CODE_NO_SUCH_NAME = 3;
const TYPE_A = 1;
const TYPE_AAAA = 28;

export class DnsServer {
  readonly #socket: Socket = createSocket('udp4');
  readonly #records = new Map<string, readonly string[]>();
  readonly #waiting: { readonly name: string; readonly heard: () => void }[] = [];
  readonly asked: string[] = [];
  /** Names not named to it: no such name, or no answer. */
  isSilent = false;

  async open(): Promise<this> {
    this.#socket.on('message', (query, from) => {
      const answer = this.#answer(query);
      if (answer !== null) this.#socket.send(answer, from.port, from.address);
    });
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    return this;
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  knows(name: string, ...addresses: string[]): void {
    this.#records.set(name, addresses);
  }

  /** Resolves when somebody asks for this name. */
  hears(name: string): Promise<void> {
    return new Promise((heard) => this.#waiting.push({ name, heard }));
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  #answer(query: Buffer): Buffer | null {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join('.').toLowerCase();
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(12, at + 5);
    this.asked.push(name);
    for (const each of this.#waiting.filter((waiting) => waiting.name === name)) each.heard();
    const known = this.#records.get(name);
    if (known === undefined && this.isSilent) return null;
    const records = (known ?? []).filter(
      (address) => (isIPv6(address) ? TYPE_AAAA : TYPE_A) === type,
    );
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (known === undefined ? CODE_NO_SUCH_NAME : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    return Buffer.concat([head, question, ...records.map((address) => recordOf(type, address))]);
  }
}

function recordOf(type: number, address: string): Buffer {
  const data = isIPv6(address)
    ? Buffer.from(new URL(`http://[${address}]`).hostname.slice(1, -1).replace(/^.*$/, hex), 'hex')
    : Buffer.from(address.split('.').map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** The 32 digits of a canonical IPv6 address. */
function hex(address: string): string {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join('');
}
