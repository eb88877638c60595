/**
 * A TCP proxy in front of a server of the test, with the faults of a network: delay, silence
 * (packets vanish, nobody is told), cut, cut inside a frame, and a peer that stops reading.
 * Faults hold for connections that are open and for those that come, until `heal()`.
 */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** `up`: from who connects to the server. `down`: the other way. */
export type Direction = 'up' | 'down';

interface Fault {
  delayMs: number;
  drop: boolean;
  freeze: boolean;
  /** Bytes that still pass; then both sockets are destroyed. */
  cutAfter: number;
}

const noFault: Fault = {
  delayMs: 0,
  drop: false,
  freeze: false,
  cutAfter: Number.POSITIVE_INFINITY,
};

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** The last request of MySQL, where that may have changed a database. */
  write: string | null;
}

/** The byte before the text of a statement. */
const QUERY = 3;
const CHANGES_NOTHING = /^(SELECT|SHOW|SET|DO)/i;

const writeIn = (request: Buffer): string | null =>
  request[4] === QUERY && !CHANGES_NOTHING.test(request.toString('latin1', 5, 11))
    ? request.toString('latin1', 5)
    : null;

/** The same for each start that asks for the same: without terms, times and secrets. */
const alike = (write: string): string =>
  write.replace(/'[^']{24,}'/g, "'?'").replace(/\b\d+\b/g, '?');

/**
 * Statements that it says are done: some that were sent together are answered together where the machine is busy. Each
 * packet of MySQL has its length in three bytes, one more before what it says, and begins with 0 where that is "done".
 */
function doneIn(answer: Buffer): number {
  let count = 0;
  for (let at = 0; at + 4 < answer.length; at += 4 + answer.readUIntLE(at, 3)) {
    if (answer[at + 4] === 0) count += 1;
  }
  return count;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  /** Those included whose other half is gone without their knowledge. */
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #faults: Record<Direction, Fault> = { up: { ...noFault }, down: { ...noFault } };
  #refuses = false;
  /** Bytes passed on since the start, to place a cut. */
  readonly passed: Record<Direction, number> = { up: 0, down: 0 };
  #writesLeft = Number.POSITIVE_INFINITY;
  #known: Set<string> | null = null;
  /** How often each write has come. */
  readonly #writes = new Map<string, number>();
  connectionCount = 0;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openCount(): number {
    return this.#pairs.size;
  }

  /** Each chunk arrives so much later; order is kept. */
  delay(ms: number, directions: readonly Direction[] = ['up', 'down']): void {
    for (const direction of directions) this.#faults[direction].delayMs = ms;
  }

  /** What is sent vanishes; connections stay open. */
  drop(directions: readonly Direction[] = ['up', 'down']): void {
    for (const direction of directions) this.#faults[direction].drop = true;
  }

  /** Nothing is read: the sender's buffers fill up. */
  freeze(directions: readonly Direction[] = ['up', 'down']): void {
    for (const direction of directions) this.#faults[direction].freeze = true;
    for (const pair of this.#pairs) this.#pauseOrResume(pair);
  }

  /** Destroys the connection once so many more bytes have passed, in the middle of a frame or not. */
  cutAfter(bytes: number, direction: Direction): void {
    this.#faults[direction].cutAfter = bytes;
  }

  /**
   * The nth answer from now, of small ones, to what may have changed a database of MySQL, is lost with every
   * connection; no new one is let in. One that is lost after a read leaves nothing that is not left before it.
   */
  cutAtWrite(nth: number): void {
    this.#writesLeft = nth;
  }

  /**
   * The same with the first answer to a write that is not among those known, which it is from then on: in a chain of
   * starts on one database, each of which gets one write further than the one before it.
   */
  cutAtNewWrite(known: Set<string>): void {
    this.#known = known;
  }

  /** Whether the answer came that was to be lost. */
  get wasReached(): boolean {
    return this.#refuses;
  }

  /** Destroys what is open. New connections pass, unless `refuse()` was called. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** New connections are closed at once. */
  refuse(): void {
    this.#refuses = true;
  }

  heal(): void {
    this.#refuses = false;
    Object.assign(this.#faults.up, noFault);
    Object.assign(this.#faults.down, noFault);
    for (const pair of this.#pairs) this.#pauseOrResume(pair);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#refuses) {
      client.destroy();
      return;
    }
    this.connectionCount += 1;
    const server = connect(this.#targetPort, '127.0.0.1');
    const pair: Pair = { client, server, write: null };
    this.#pairs.add(pair);
    this.#pipe(pair, 'up', client, server);
    this.#pipe(pair, 'down', server, client);
    this.#pauseOrResume(pair);
  }

  #pipe(pair: Pair, direction: Direction, from: Socket, to: Socket): void {
    const fault = this.#faults[direction];
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk) => {
      if (fault.drop) return;
      if (direction === 'up') pair.write = this.#countedWrite(chunk);
      else if (pair.write !== null && this.#isLost(pair.write, chunk)) {
        this.refuse();
        return this.cut();
      }
      this.#later(fault.delayMs, () => this.#pass(pair, direction, to, chunk));
    });
    from.on('error', () => undefined);
    from.on('end', () => {
      if (!fault.drop) this.#later(fault.delayMs, () => to.end());
    });
    from.on('close', () => {
      this.#sockets.delete(from);
      this.#pairs.delete(pair);
      if (!fault.drop) this.#later(fault.delayMs, () => to.destroy());
    });
  }

  #countedWrite(request: Buffer): string | null {
    const write = writeIn(request);
    if (write === null || this.#known === null) return write;
    const name = alike(write);
    const count = (this.#writes.get(name) ?? 0) + 1;
    this.#writes.set(name, count);
    return `${count} ${name}`;
  }

  #isLost(write: string, answer: Buffer): boolean {
    if (this.#known === null) return (this.#writesLeft -= doneIn(answer)) <= 0;
    if (this.#known.has(write)) return false;
    this.#known.add(write);
    return true;
  }

  #pass(pair: Pair, direction: Direction, to: Socket, chunk: Buffer): void {
    const fault = this.#faults[direction];
    const part = chunk.subarray(0, fault.cutAfter);
    this.passed[direction] += part.length;
    to.write(part);
    if (Number.isFinite(fault.cutAfter)) fault.cutAfter -= part.length;
    if (fault.cutAfter > 0) return;
    fault.cutAfter = Number.POSITIVE_INFINITY;
    // What was passed on is flushed first: a cut inside a frame is a different fault from none.
    pair.client.destroySoon();
    pair.server.destroySoon();
  }

  #later(ms: number, call: () => void): void {
    if (ms === 0) return call();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      call();
    }, ms);
    this.#timers.add(timer);
  }

  #pauseOrResume({ client, server }: Pair): void {
    if (this.#faults.up.freeze) client.pause();
    else client.resume();
    if (this.#faults.down.freeze) server.pause();
    else server.resume();
  }
}
