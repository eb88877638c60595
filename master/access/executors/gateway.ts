/**
 * Where executors dial in: decides whether an HTTP upgrade may become a WebSocket, before
 * anything of WebSocket is spoken, and carries frames between those sockets and the sessions of their
 * namespace (`sessions.ts`). It never looks into a frame.
 */
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  API_BASE,
  CloseCode,
  DEFAULT_NAMESPACE,
  SESSION_LIMITS,
  SUBPROTOCOL,
} from '@soda-scheduler/protocol';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { MasterStatus } from '../../application/master-handle.ts';
import type { Log } from '../../application/ports.ts';
import {
  FRAME_COUNT_MAX,
  FRAMES_MS_MAX,
  HELLO_BYTES_MAX,
  PONGS_UNSENT_MAX,
} from '../../domain/bounds.ts';
import { type Actor, hasOneHost } from '../auth.ts';
import { Problem, problemOf } from '../http/problem.ts';
import { Share } from '../share.ts';
import type { ExecutorSessions } from './sessions.ts';

/** A constant of its own, since the types of ws do not know `closeTimeout` yet. */
const SOCKET_OPTIONS = {
  noServer: true,
  // That it is among those offered was checked.
  handleProtocols: () => SUBPROTOCOL,
  /** Ours is bounded too, and says so. */
  autoPong: false,
  maxPayload: SESSION_LIMITS.frameBytesMax,
  maxFragments: 64,
  maxBufferedChunks: 4096,
  perMessageDeflate: false,
  /** How long a peer may take to answer a close frame before its socket is destroyed. */
  closeTimeout: 2_000,
};

const PATH = new RegExp(`^${API_BASE}(?:/ns/([a-z0-9-]{1,32}))?/executor(?:\\?|$)`);

/** What leads a namespace, as far as its executors are concerned. */
interface Leader {
  readonly sessions: ExecutorSessions;
  readonly master: { readonly status: MasterStatus };
}

export interface GatewayOptions {
  /** Looks at the headers of a request. @throws {Problem} it may not be an executor of that namespace. */
  readonly authorize: (request: IncomingMessage, namespace: string) => Actor;
  /** Why somebody who came in would not do so any more; null: he would. */
  readonly endOf: (actor: Actor) => string | null;
  readonly namespaces: {
    /** @throws {UnknownNamespace} @throws {Unavailable} */
    use(name: string, work: (leader: Leader) => void): Promise<void>;
  };
  readonly log: Log;
}

export class ExecutorGateway {
  readonly #options: GatewayOptions;
  readonly #server = new WebSocketServer(SOCKET_OPTIONS);
  /** For frames, whosever they are. */
  readonly #share = new Share(FRAMES_MS_MAX, () => this.#goOn());
  /** Sockets that have had their share, and what had been read of them by then: some thousand frames at most. */
  readonly #paused = new Map<WebSocket, (() => void)[]>();
  #isShutDown = false;
  /** Those that came with a token that may be revoked, and how to send them away. */
  readonly #revocable = new Map<Actor, (reason: string) => void>();

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** Begins to take upgrades. Once only. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // It sent too many requests at once.
      if (socket.destroyed) return;
      // It may have to wait for its namespace, and go away meanwhile.
      socket.on('error', () => socket.destroy());
      void this.#take(request, socket, head);
    });
  }

  /** Takes no new executor, and resolves when no socket is left: the sessions must have sent them away. */
  async shutdown(): Promise<void> {
    this.#isShutDown = true;
    const closed = [...this.#server.clients].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    await Promise.all(closed);
  }

  /** Sends away whoever came with a token that is not valid any more. */
  checkTokens(): void {
    for (const [actor, dismiss] of this.#revocable) {
      const reason = this.#options.endOf(actor);
      if (reason !== null) dismiss(reason);
    }
  }

  async #take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const path = PATH.exec(request.url ?? '');
    if (path === null) {
      return refuseUpgrade(socket, new Problem('noRoute', 'There is nothing at this path.'));
    }
    const [, namespace = DEFAULT_NAMESPACE] = path;
    try {
      checkUpgrade(request);
      const actor = this.#options.authorize(request, namespace);
      await this.#options.namespaces.use(namespace, ({ sessions, master }) => {
        const status = this.#isShutDown ? 'stopped' : master.status;
        // A master that rebuilds its state keeps its executors, and their leases.
        if (status !== 'ready' && status !== 'recovering') {
          throw new Problem('unavailable', `The master is ${status}.`);
        }
        if (socket.destroyed) return;
        this.#server.handleUpgrade(request, socket, head, (ws) => this.#open(ws, sessions, actor));
      });
    } catch (error) {
      refuseUpgrade(socket, problemOf(error));
    }
  }

  /** In this turn of the event loop, unless the socket has had its share of it; in the order of calls. */
  #inTurn(socket: WebSocket, work: () => void): void {
    const behind = this.#paused.get(socket);
    if (behind !== undefined) {
      behind.push(work);
      return;
    }
    this.#share.spend(work);
    if (!this.#share.isUsedUp) return;
    socket.pause();
    this.#paused.set(socket, []);
  }

  #goOn(): void {
    for (const [socket, behind] of this.#paused) {
      for (let next = behind[0]; next && !this.#share.isUsedUp; next = behind[0]) {
        behind.shift();
        this.#share.spend(next);
      }
      if (behind.length > 0) continue;
      this.#paused.delete(socket);
      socket.resume();
    }
  }

  #open(socket: WebSocket, sessions: ExecutorSessions, actor: Actor): void {
    const { log } = this.#options;
    // `closed` follows every close, after `closeTimeout` at most.
    let isClosed = false;
    const close = (code: CloseCode, reason: string): void => {
      if (socket.readyState !== socket.OPEN) return;
      isClosed = true;
      const level = code === CloseCode.reattach ? 'debug' : 'warn';
      const { namespace } = sessions;
      const fields = { namespace, executor_id: connection.executorId ?? undefined, code, reason };
      log[level]('an executor is sent away', fields);
      socket.close(code, closeReason(reason));
    };
    const connection = sessions.open(
      {
        send: (text) => {
          if (socket.readyState !== socket.OPEN) return;
          if (socket.bufferedAmount <= SESSION_LIMITS.unackedBytesMax) socket.send(text);
          else close(CloseCode.overflow, 'the receiver is too slow');
        },
        close,
      },
      actor.scope?.types ?? null,
    );
    if (actor.digest !== null) {
      this.#revocable.set(actor, (reason) => close(CloseCode.unauthorized, reason));
    }
    limitMessages(socket, HELLO_BYTES_MAX);
    let unsentPongCount = 0;
    let voidCount = 0;
    socket.on('ping', (data) => {
      if (socket.readyState !== socket.OPEN) return;
      if (++unsentPongCount > PONGS_UNSENT_MAX) return close(CloseCode.overflow, 'too many pings');
      socket.pong(data, false, () => (unsentPongCount -= 1));
    });
    socket.on('message', (data, isBinary) => {
      // What arrives behind our close frame is void, and is not to be much.
      if (socket.readyState !== socket.OPEN) {
        if (++voidCount > FRAME_COUNT_MAX) socket.terminate();
        return;
      }
      this.#inTurn(socket, () => {
        if (isClosed) return;
        if (isBinary) return sessions.badFrame(connection, 'binary frame');
        const isNew = connection.session === null;
        // With the default `binaryType` a message is one Buffer.
        sessions.receive(connection, (data as Buffer).toString());
        if (isNew && connection.session !== null) {
          limitMessages(socket, SESSION_LIMITS.frameBytesMax);
        }
      });
    });
    socket.on('error', (error: Error & { readonly code?: string }) => {
      if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
        this.#inTurn(socket, () => sessions.tooLarge(connection));
      }
      log.warn('executor socket failed', {
        namespace: sessions.namespace,
        executor_id: connection.executorId ?? undefined,
        error: error.message,
      });
    });
    // Behind what it has said before.
    socket.on('close', (code) => {
      this.#revocable.delete(actor);
      this.#inTurn(socket, () => sessions.closed(connection, code));
    });
    // It may have been revoked while this waited for its namespace.
    const reason = actor.digest === null ? null : this.#options.endOf(actor);
    if (reason !== null) close(CloseCode.unauthorized, reason);
  }
}

/** @throws {Problem} it cannot be an executor. */
function checkUpgrade(request: IncomingMessage): void {
  const { method, headers } = request;
  if (!hasOneHost(request)) throw new Problem('invalid', 'A request has one Host header.');
  if (method !== 'GET') {
    throw new Problem('wrongMethod', 'Allowed here: GET.', { headers: { Allow: 'GET' } });
  }
  // Executors are programs; a page in someone's browser must not become one.
  if (headers.origin !== undefined) {
    throw new Problem('forbidden', 'Requests with an Origin are refused.');
  }
  const offered = headers['sec-websocket-protocol']?.split(',') ?? [];
  if (!offered.some((name) => name.trim() === SUBPROTOCOL)) {
    throw new Problem('invalid', `Expected the WebSocket subprotocol ${SUBPROTOCOL}.`);
  }
}

/** From its next message on. ws has no way to say so for one connection: a test holds this to it. */
function limitMessages(socket: WebSocket, bytesMax: number): void {
  const { _receiver } = socket as unknown as { readonly _receiver: { _maxPayload: number } };
  _receiver._maxPayload = bytesMax;
}

/** With a sentence as its body: executors show it as it is. */
function refuseUpgrade(socket: Duplex, { status, message, headers }: Problem): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(message)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${message}`);
}

/** A close reason holds 123 bytes of UTF-8. */
function closeReason(reason: string): string {
  return Buffer.byteLength(reason) <= 123
    ? reason
    : reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 123);
}
