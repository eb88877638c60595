/**
 * One HTTP request that carries a callback, and what came of it. Never throws, never follows a
 * redirect, never waits longer than its limits, and never reads more of an answer than the cap.
 *
 * Plain `node:http` rather than axios: docs/decisions/002-callback-transport.md.
 */
import http, { type ClientRequest, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../application/ports.ts';

/** For the whole of a try, up to the head of the answer. */
const TRY_TIMEOUT_S = 15;
/** Of those: for the name, the connection and TLS. */
const CONNECT_TIMEOUT_S = 5;
/** A try that takes longer lets others begin. */
const SLOW_MS = 500;
/** After the head of the answer. It says all that counts; the rest may say why. */
const BODY_TIMEOUT_MS = 1_000;
const BODY_BYTES_MAX = 64 * 1024;
const TEXT_LENGTH_MAX = 256;
/** An idle connection is closed after this. */
const KEEP_ALIVE_MS = 30_000;
/** Where a name has several addresses: the default, 250 ms, is too short for the other side of the world. */
const ADDRESS_TIMEOUT_MS = 1_500;

const AGENT_OPTIONS = {
  timeout: KEEP_ALIVE_MS,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
};

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
  readonly headers: () => OutgoingHttpHeaders;
  /** Called once if there is no answer after half a second. */
  readonly onSlow: () => void;
}

export class CallbackRequests {
  readonly #clock: Clock;
  readonly #lookup: LookupFunction;
  readonly #inFlight = new Set<ClientRequest>();
  readonly #http = new http.Agent({ ...AGENT_OPTIONS, keepAlive: true });
  readonly #https = new https.Agent({ ...AGENT_OPTIONS, keepAlive: true });
  #stopped = false;

  constructor(clock: Clock, lookup: LookupFunction) {
    this.#clock = clock;
    this.#lookup = lookup;
  }

  async post(callback: Callback): Promise<Answer> {
    const secure = callback.url.protocol === 'https:';
    const patience = new Patience(this.#clock, callback.onSlow);
    try {
      return await this.#post(callback, secure, patience);
    } catch (error) {
      return { ...noAnswer((error as Error).message, false), tryCount: 1 };
    } finally {
      patience.end();
    }
  }

  async #post(callback: Callback, secure: boolean, patience: Patience): Promise<Answer> {
    const first = await this.#send(callback, secure ? this.#https : this.#http, patience);
    if (first !== null) return { ...first, tryCount: 1 };
    // Most likely the receiver closed an idle connection just as it was used. It may have read the
    // request all the same, so that this is a second try, and counts as one.
    const fresh = new (secure ? https : http).Agent(AGENT_OPTIONS);
    const second = await this.#send(callback, fresh, patience);
    return { ...(second ?? noAnswer('the connection was closed', false)), tryCount: 2 };
  }

  /** Ends what is in flight. Safe to repeat. */
  stop(): void {
    this.#stopped = true;
    for (const request of this.#inFlight) request.destroy();
    this.#http.destroy();
    this.#https.destroy();
  }

  /** Null: a kept connection turned out to be closed. */
  #send(
    { url, json, headers }: Callback,
    agent: http.Agent,
    patience: Patience,
  ): Promise<OneAnswer | null> {
    return new Promise((resolve) => {
      const secure = url.protocol === 'https:';
      const lookup = this.#lookup;
      const options = { method: 'POST', headers: headers(), agent, lookup };
      const request = (secure ? https : http).request(url, options);
      let head: { readonly status: number | null; readonly retryAfter: string | undefined } | null =
        null;
      let failure: NodeJS.ErrnoException | undefined;
      let waitedFor: string | null = null;
      let text = '';
      let bytes = 0;
      this.#inFlight.add(request);
      const giveUp = (what: string) => {
        waitedFor = what;
        request.destroy();
      };
      const noConnection = `no connection within ${CONNECT_TIMEOUT_S} s`;
      patience.limit(CONNECT_TIMEOUT_S * 1000, () => giveUp(noConnection));
      const noAnswerYet = `no answer within ${TRY_TIMEOUT_S} s`;
      const connected = () => patience.limit(TRY_TIMEOUT_S * 1000, () => giveUp(noAnswerYet));
      request.on('socket', (socket) => {
        if (request.reusedSocket) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      request.on('response', (response) => {
        const { statusCode = null, headers: answered } = response;
        head = { status: statusCode, retryAfter: answered['retry-after'] };
        patience.limit(BODY_TIMEOUT_MS, () => giveUp('the rest of the answer'));
        response.on('error', () => {}); // How the body ends does not matter.
        response.on('data', (chunk: Buffer) => {
          if (bytes < TEXT_LENGTH_MAX) text += chunk.toString('utf8', 0, TEXT_LENGTH_MAX);
          bytes += chunk.length;
          if (bytes > BODY_BYTES_MAX) request.destroy();
        });
      });
      request.on('error', (error) => (failure = error));
      // Comes once, after everything else, whichever way the exchange ends.
      request.on('close', () => {
        this.#inFlight.delete(request);
        const isStale = request.reusedSocket && failure?.code === 'ECONNRESET';
        if (head !== null) resolve({ ...head, text, timedOut: false });
        else if (waitedFor !== null) resolve(noAnswer(waitedFor, true));
        else if (isStale && !this.#stopped) resolve(null);
        else resolve(noAnswer(failure?.message ?? 'the connection was closed', false));
      });
      request.end(json);
    });
  }
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
