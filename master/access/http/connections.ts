/**
 * How many connections there are, of clients and executors together: without a bound new ones would find no
 * file descriptor, and hang. Beyond it one may still ask how the process is, so that it is not
 * taken for dead.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../application/ports.ts';
import { type Fill, SPARE_CONNECTION_COUNT_MAX } from '../../domain/bounds.ts';
import { Problem } from './problem.ts';

const OF_THE_PROCESS = /^\/(?:livez|readyz|metrics)(?:\?|$)/;
/** Those who ask for it do so at once. */
const SPARE_TIMEOUT_MS = 1_000;

export class Connections {
  readonly #countMax: number;
  readonly #rareLog: Log;
  readonly #spare = new WeakSet<Socket>();
  #count = 0;

  constructor(countMax: number, rareLog: Log) {
    this.#countMax = countMax;
    this.#rareLog = rareLog;
  }

  fills(): Fill[] {
    return [{ bound: 'connection_count', used: this.#count, limit: this.#countMax }];
  }

  /** Begins to count those of a server. Once only. */
  watch(server: Server): void {
    server.maxConnections = this.#countMax + SPARE_CONNECTION_COUNT_MAX;
    // Of those with TLS a request names another socket than the one that was taken.
    server.on('connection', (socket) => this.#take(socket));
    server.on('secureConnection', (socket: Socket) => this.#mark(socket));
    server.on('drop', (dropped) => this.#tell(dropped?.remoteAddress));
    // Without anybody who listens to it this would be the end of the process.
    server.once('listening', () =>
      server.on('error', ({ message }) =>
        this.#rareLog.warn('a connection cannot be taken', {
          event: 'connections',
          error: message,
        }),
      ),
    );
  }

  /** Why a request is not served, whatever else it is; null: it is. */
  refusalOf({ socket, url = '' }: IncomingMessage): Problem | null {
    if (!this.isSpare(socket) || OF_THE_PROCESS.test(url)) return null;
    return new Problem('unavailable', 'The master has as many connections as it may have.');
  }

  /** It is to be closed after one answer. */
  isSpare(socket: Socket): boolean {
    return this.#spare.has(socket);
  }

  #take(socket: Socket): void {
    this.#count += 1;
    socket.once('close', () => (this.#count -= 1));
    this.#mark(socket);
  }

  #mark(socket: Socket): void {
    if (this.#count <= this.#countMax) return;
    this.#spare.add(socket);
    socket.setTimeout(SPARE_TIMEOUT_MS);
    this.#tell(socket.remoteAddress);
  }

  #tell(address: string | undefined): void {
    this.#rareLog.warn('there are as many connections as may be: others are turned away', {
      event: 'connections',
      limit: this.#countMax,
      address,
    });
  }
}
