/**
 * One HTTP request that carries a callback, and what came of it. Never throws, never follows a
 * redirect, never waits longer than its limits, and never reads more of an answer than the cap.
 *
 * The lowest level of undici rather than `node:http` or axios: docs/decisions/002-callback-transport.md.
 */
import { createRequire } from 'node:module';
import type { LookupFunction, Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import type { Clock } from '../../application/ports.ts';
import { RECEIVER_ANSWER_BYTES_MAX } from '../../domain/bounds.ts';

// All of undici takes three times as long to load as these; the version is pinned.
const undici = createRequire(import.meta.url);
const ClientOf = undici('undici/lib/dispatcher/client.js') as typeof Client;
const connectorOf = undici('undici/lib/core/connect.js') as typeof buildConnector;

/** For the whole of a try, up to the head of the answer. */
const TRY_TIMEOUT_S = 15;
/** Of those: for the name, the connection and TLS. */
const CONNECT_TIMEOUT_S = 5;
/** A try that takes longer lets others begin. */
const SLOW_MS = 500;
/** After the head of the answer. It says all that counts; the rest may say why. */
const BODY_TIMEOUT_MS = 1_000;
const TEXT_LENGTH_MAX = 256;
const CLOSED = 'the connection was closed';
/** An idle connection is closed after this. */
const KEEP_ALIVE_MS = 30_000;
/** Where a name has several addresses: the default, 250 ms, is too short for the other side of the world. */
const ADDRESS_TIMEOUT_MS = 1_500;

export interface Answer {
  readonly status: number | null;
  readonly retryAfter: string | undefined;
  /** Why there is no status, or the beginning of the body. */
  readonly text: string;
  /** It was waited for in vain. */
  readonly timedOut: boolean;
  /** How often the callback may have reached the receiver. */
  readonly tryCount: 1 | 2;
}

type OneAnswer = Omit<Answer, 'tryCount'>;

export interface Callback {
  readonly url: URL;
  readonly json: string;
  /** Called for each request: a second one is signed for its own time. */
  readonly headers: () => Record<string, string>;
  /** Called once if there is no answer after half a second. */
  readonly onSlow: () => void;
}

export class CallbackRequests {
  readonly #clock: Clock;
  readonly #connector: Connector;
  readonly #inFlight = new Set<Connection>();
  /** By origin, the one used last at the end: others so grow old, and are closed. */
  readonly #idle = new Map<string, Connection[]>();
  #stopped = false;

  constructor(clock: Clock, lookup: LookupFunction) {
    this.#clock = clock;
    // Types know the options of TLS only; all are handed on to `net.connect` as well.
    const options = {
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      // The patience of a try covers it.
      timeout: 0,
    } as buildConnector.BuildOptions;
    this.#connector = connectorOf(options);
  }

  async post(callback: Callback): Promise<Answer> {
    const patience = new Patience(this.#clock, callback.onSlow);
    try {
      return await this.#post(callback, patience);
    } catch (error) {
      return { ...noAnswer(messageOf(error), false), tryCount: 1 };
    } finally {
      patience.end();
    }
  }

  async #post(callback: Callback, patience: Patience): Promise<Answer> {
    const { origin } = callback.url;
    const first = await this.#send(callback, this.#idleConnection(origin), patience);
    if (first !== null) return { tryCount: 1, ...first };
    // Most likely the receiver closed an idle connection just as it was used. It may have read the
    // request all the same, so that this is a second try, and counts as one.
    const second = await this.#send(callback, this.#connection(origin), patience);
    return { ...(second ?? noAnswer(CLOSED, false)), tryCount: 2 };
  }

  /** Ends what is in flight. Safe to repeat. */
  stop(): void {
    this.#stopped = true;
    for (const connection of this.#inFlight) connection.destroy(CLOSED);
    for (const idle of this.#idle.values()) for (const one of idle) one.destroy(CLOSED);
    this.#idle.clear();
  }

  #idleConnection(origin: string): Connection {
    const newest = this.#idle.get(origin)?.at(-1);
    if (newest === undefined) return this.#connection(origin);
    this.#forget(newest);
    return newest;
  }

  #connection(origin: string): Connection {
    return new Connection(origin, this.#connector, (gone) => this.#forget(gone));
  }

  #forget(connection: Connection): void {
    const idle = this.#idle.get(connection.origin);
    const index = idle?.lastIndexOf(connection) ?? -1;
    if (idle === undefined || index < 0) return;
    idle.splice(index, 1);
    if (idle.length === 0) this.#idle.delete(connection.origin);
  }

  #keep(connection: Connection): void {
    if (this.#stopped || !connection.isOpen) {
      connection.destroy(CLOSED);
      return;
    }
    const idle = this.#idle.get(connection.origin);
    if (idle === undefined) this.#idle.set(connection.origin, [connection]);
    else idle.push(connection);
  }

  /** Null: a kept connection turned out to be closed. */
  #send(
    { url, json, headers }: Callback,
    connection: Connection,
    patience: Patience,
  ): Promise<OneAnswer | null> {
    return new Promise((resolve) => {
      let head: { readonly status: number; readonly retryAfter: string | undefined } | null = null;
      let waitedFor: string | null = null;
      let text = '';
      let bytes = 0;
      this.#inFlight.add(connection);
      const giveUp = (what: string) => {
        waitedFor = what;
        connection.destroy(what);
      };
      const noConnection = `no connection within ${CONNECT_TIMEOUT_S} s`;
      const noAnswerYet = `no answer within ${TRY_TIMEOUT_S} s`;
      connection.onConnecting = () =>
        patience.limit(CONNECT_TIMEOUT_S * 1000, () => giveUp(noConnection));
      connection.onConnected = () =>
        patience.limit(TRY_TIMEOUT_S * 1000, () => giveUp(noAnswerYet));
      if (connection.isOpen) connection.onConnected();
      const end = (failure: Error | null) => {
        this.#inFlight.delete(connection);
        if (failure === null) this.#keep(connection);
        else connection.destroy(CLOSED);
        if (head !== null) resolve({ text, timedOut: false, ...head });
        else if (waitedFor !== null) resolve(noAnswer(waitedFor, true));
        else if (connection.isReused && isClosed(failure) && !this.#stopped) resolve(null);
        else resolve(noAnswer(messageOf(failure), false));
      };
      connection.send(
        { method: 'POST', path: url.pathname + url.search, headers: headers(), body: json },
        {
          onRequestStart() {},
          onResponseStart(_controller, status, answered) {
            if (status < 200) return;
            const [retryAfter] = [answered['retry-after'] ?? []].flat();
            head = { status, retryAfter };
            patience.limit(BODY_TIMEOUT_MS, () => giveUp('the rest of the answer'));
          },
          onResponseData(controller, chunk) {
            if (bytes < TEXT_LENGTH_MAX) text += chunk.toString('utf8', 0, TEXT_LENGTH_MAX);
            bytes += chunk.length;
            if (bytes > RECEIVER_ANSWER_BYTES_MAX)
              controller.abort(new Error('the answer is too long'));
          },
          onResponseEnd: () => end(null),
          onResponseError: (_controller, error) => end(error),
        },
      );
    });
  }
}

type Connector = ReturnType<typeof buildConnector>;

/** One connection to a receiver, with one request at a time; made anew where it was closed before the next. */
class Connection {
  readonly origin: string;
  readonly #client: Client;
  onConnecting: () => void = () => {};
  onConnected: () => void = () => {};
  #socket: Socket | null = null;
  #requestCount = 0;
  #isOpen = false;

  constructor(origin: string, connector: Connector, onGone: (connection: Connection) => void) {
    this.origin = origin;
    this.#client = new ClientOf(origin, {
      connect: (options, callback) => this.#connect(connector, options, callback),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Whatever the receiver would allow.
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // The patience of a try covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on('disconnect', () => {
      this.#isOpen = false;
      onGone(this);
    });
  }

  /** A request put on it is under way at once. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The newest request is not the first one on this connection: the receiver may just have closed it. */
  get isReused(): boolean {
    return this.#requestCount > 1;
  }

  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#requestCount++;
    this.#client.dispatch(request, handler);
  }

  /** Its request fails with `why`, also while it waits for the connection. Safe to repeat. */
  destroy(why: string): void {
    this.#isOpen = false;
    if (this.#client.destroyed) return;
    void this.#client.destroy(new Error(why));
    this.#socket?.destroy();
  }

  #connect(
    connector: Connector,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    this.#requestCount = 1;
    this.onConnecting();
    const connected = (...[error, socket]: Parameters<buildConnector.Callback>): void => {
      if (error === null) {
        this.#isOpen = true;
        this.onConnected();
        callback(error, socket);
      } else callback(error, null);
    };
    // Its type does not say what it returns. Needed where a receiver that says nothing is given up.
    this.#socket = (connector as (...args: Parameters<Connector>) => Socket)(options, connected);
  }
}

/** However the other side, or the system, says so. */
function isClosed(failure: Error | null): boolean {
  const { code } = (failure ?? {}) as NodeJS.ErrnoException;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

function messageOf(failure: unknown): string {
  if ((failure as NodeJS.ErrnoException | null)?.code === 'UND_ERR_SOCKET') return CLOSED;
  if (failure instanceof AggregateError && failure.message === '')
    return messageOf(failure.errors[0]);
  return failure instanceof Error ? failure.message : CLOSED;
}

/**
 * The time limits of a try. One timer for all of them, first of all for becoming slow: most tries end
 * before, and setting a timer anew at each phase would cost more than signing the callback.
 */
class Patience {
  readonly #clock: Clock;
  readonly #deadline: number;
  #limitAt: number;
  #atLimit: () => void = () => {};
  #armedAt: number;
  #callOff: () => void;

  constructor(clock: Clock, onSlow: () => void) {
    const now = clock.now();
    this.#clock = clock;
    this.#deadline = now + TRY_TIMEOUT_S * 1000;
    this.#limitAt = this.#deadline;
    this.#armedAt = now + SLOW_MS;
    this.#callOff = clock.wakeAt(this.#armedAt, () => {
      this.#arm();
      onSlow();
    });
  }

  /** In place of the limit before; none is later than the end of the whole. */
  limit(ms: number, atLimit: () => void): void {
    this.#limitAt = Math.min(this.#clock.now() + ms, this.#deadline);
    this.#atLimit = atLimit;
    if (this.#limitAt < this.#armedAt) this.#arm();
  }

  end(): void {
    this.#callOff();
  }

  #arm(): void {
    this.#callOff();
    this.#armedAt = this.#limitAt;
    this.#callOff = this.#clock.wakeAt(this.#limitAt, () => {
      if (this.#limitAt > this.#armedAt) this.#arm();
      else this.#atLimit();
    });
  }
}

function noAnswer(text: string, timedOut: boolean): OneAnswer {
  return { status: null, retryAfter: undefined, text, timedOut };
}
