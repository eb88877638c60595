/**
 * The requests of one connection. Node hands on all that it has read of them at once, some thousand: here
 * they are answered one after another, each in a turn of the event loop of its own, and only when the
 * answer before has left the process. Knows nothing of what they ask for.
 */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Fill, PIPELINED_COUNT_MAX, UNREAD_ANSWER_BYTES_MAX } from '../../domain/bounds.ts';

interface Line {
  /** Requests that have come and are not answered, the one that is being answered included. */
  count: number;
  readonly waiting: (() => void)[];
  /** Too many have come: nothing more of it is read or answered. */
  isCut: boolean;
}

export interface Pipelines {
  /** The class for the server's requests: it counts them. */
  readonly Request: typeof IncomingMessage;
  /**
   * Calls `answer` once those before it on its connection are answered, at once where there are none,
   * and never where the connection has ended by then.
   */
  readonly inTurn: (req: IncomingMessage, res: ServerResponse, answer: () => void) => void;
}

/** @param cut Told of a connection with too many unanswered requests, before it is destroyed. */
export function pipelines(cut: (socket: Socket) => void): Pipelines {
  const lines = new WeakMap<Socket, Line>();

  function lineOf(socket: Socket): Line {
    let line = lines.get(socket);
    if (line === undefined) {
      line = { count: 0, waiting: [], isCut: false };
      lines.set(socket, line);
    }
    return line;
  }

  function arrived(socket: Socket): void {
    const line = lineOf(socket);
    line.count += 1;
    if (line.count <= PIPELINED_COUNT_MAX || line.isCut) return;
    line.isCut = true;
    line.waiting.length = 0;
    cut(socket);
    socket.destroy();
  }

  class Request extends IncomingMessage {
    declare isOffered: boolean;
    declare isHandedOver: boolean | undefined;

    constructor(socket: Socket) {
      super(socket);
      arrived(socket);
    }

    /**
     * Whether the parser is to read no further, and to hand over the connection. Java's client and
     * others offer HTTP/2 with every request (`Upgrade: h2c`), which a server may ignore. But where
     * anything listens to `upgrade`, Node hands over all that ask for one. Of a WebSocket, the answers
     * to requests before it would come into its stream, and so would its own body.
     */
    get upgrade(): boolean {
      const line = lineOf(this.socket);
      this.isHandedOver ??=
        line.isCut ||
        (this.isOffered &&
          (this.method === 'CONNECT' ||
            (isWebSocketOffer(this) && line.count === 1 && !announcesBody(this))));
      return this.isHandedOver;
    }

    /** Node's parser sets it before it adds the headers, and once more when it knows who listens. */
    set upgrade(isUpgrade: boolean | null) {
      if (this.isHandedOver === undefined) this.isOffered = isUpgrade === true;
      else this.isHandedOver = isUpgrade === true;
    }
  }

  function inTurn({ socket }: IncomingMessage, res: ServerResponse, answer: () => void): void {
    const line = lineOf(socket);
    if (line.isCut) return;
    const begin = () => socket.writable && answer();
    res.once('close', () => {
      line.count -= 1;
      const next = line.waiting.shift();
      // Not at once: many connections may have as many requests.
      if (next !== undefined) setImmediate(next);
    });
    if (line.count === 1) begin();
    else line.waiting.push(begin);
  }

  return { Request, inTurn };
}

export function isWebSocketOffer({ headers }: IncomingMessage): boolean {
  return /\bwebsocket\b/i.test(headers.upgrade ?? '');
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

/** What answers hold that were not taken yet, of all connections together. */
export class UnreadAnswers {
  readonly #bytesMax: number;
  readonly #held = new Map<ServerResponse, number>();
  #byteCount = 0;

  constructor(bytesMax = UNREAD_ANSWER_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  fills(): Fill[] {
    return [{ bound: 'unread_answer_bytes', used: this.#byteCount, limit: this.#bytesMax }];
  }

  /** Of an answer that is whole. Beyond the bound the connections are destroyed that have not read for longest. */
  hold(res: ServerResponse): void {
    const bytes = res.socket?.writableLength ?? 0;
    if (bytes === 0) return;
    this.#held.set(res, bytes);
    this.#byteCount += bytes;
    res.once('close', () => this.#release(res));
    for (const oldest of this.#held.keys()) {
      if (this.#byteCount <= this.#bytesMax) break;
      this.#release(oldest);
      oldest.socket?.destroy();
    }
  }

  #release(res: ServerResponse): void {
    this.#byteCount -= this.#held.get(res) ?? 0;
    this.#held.delete(res);
  }
}
