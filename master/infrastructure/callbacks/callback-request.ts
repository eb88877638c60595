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

interface Sending {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly json: string;
  readonly deadline: number;
  readonly agent: http.Agent;
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

  /** @param headers Called for each request: a second one is signed for its own time. */
  async post(url: URL, json: string, headers: () => OutgoingHttpHeaders): Promise<Answer> {
    const secure = url.protocol === 'https:';
    const deadline = this.#clock.now() + TRY_TIMEOUT_S * 1000;
    const kept = secure ? this.#https : this.#http;
    const send = (agent: http.Agent) =>
      this.#send({ url, json, deadline, headers: headers(), agent }).catch((error: Error) =>
        noAnswer(error.message, false),
      );
    const first = await send(kept);
    if (first !== null) return { ...first, tryCount: 1 };
    // Most likely the receiver closed an idle connection just as it was used. It may have read the
    // request all the same, so that this is a second try, and counts as one.
    const fresh = new (secure ? https : http).Agent(AGENT_OPTIONS);
    const second = await send(fresh);
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
  #send({ url, headers, json, deadline, agent }: Sending): Promise<OneAnswer | null> {
    return new Promise((resolve) => {
      const secure = url.protocol === 'https:';
      const lookup = this.#lookup;
      const options = { method: 'POST', headers, agent, lookup };
      const request = (secure ? https : http).request(url, options);
      let head: { readonly status: number | null; readonly retryAfter: string | undefined } | null =
        null;
      let failure: NodeJS.ErrnoException | undefined;
      let waitedFor: string | null = null;
      let text = '';
      let bytes = 0;
      this.#inFlight.add(request);
      let callOff = () => {};
      const within = (at: number, what: string) => {
        callOff();
        callOff = this.#clock.wakeAt(Math.min(at, deadline), () => {
          waitedFor = what;
          request.destroy();
        });
      };
      const begun = this.#clock.now();
      within(begun + CONNECT_TIMEOUT_S * 1000, `no connection within ${CONNECT_TIMEOUT_S} s`);
      const connected = () => within(deadline, `no answer within ${TRY_TIMEOUT_S} s`);
      request.on('socket', (socket) => {
        if (request.reusedSocket) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      request.on('response', (response) => {
        const { statusCode = null, headers: answered } = response;
        head = { status: statusCode, retryAfter: answered['retry-after'] };
        within(this.#clock.now() + BODY_TIMEOUT_MS, 'the rest of the answer');
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
        callOff();
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

function noAnswer(text: string, timedOut: boolean): OneAnswer {
  return { status: null, retryAfter: undefined, text, timedOut };
}
