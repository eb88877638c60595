/** `Dial` over WebSocket: one socket, from dialling to its end. It knows nothing of what is said on it. */
import type { IncomingMessage } from 'node:http';
import {
  SESSION_LIMITS,
  SUBPROTOCOL,
  certificateTrouble,
  isFinalClose,
} from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';
import type { Closed, DialOptions, Dialled } from './dial.ts';

const CLOSE_TIMEOUT_MS = 2_000;
/** What WebSocket says of a socket that just ended. */
const ABNORMAL_CLOSE = 1006;
const QUOTED_CHARS_MAX = 200;
const PATH_OF_NAMESPACE = /\/ns\/[^/]+\/executor$/;
/** As a master of 2.0.0 says it. Later ones say of such a path that there is no such namespace. */
const NO_SUCH_PATH = 'There is nothing at this path.';

export class Connection implements Dialled {
  readonly #socket: WebSocket;
  /** How this side ended it; whatever the other says of that afterwards means nothing. */
  #givenUp: Omit<Closed, 'isFinal'> | null = null;

  constructor({ url, token, ca, onOpen, onText, onClosed }: DialOptions) {
    const wsOptions = {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(ca !== undefined && { ca }),
      // Said, so that no NODE_TLS_REJECT_UNAUTHORIZED of the surroundings hands the token to anybody.
      rejectUnauthorized: true,
      closeTimeout: CLOSE_TIMEOUT_MS,
      maxPayload: SESSION_LIMITS.frameBytesMax,
      perMessageDeflate: false,
    };
    const socket = new WebSocket(url, SUBPROTOCOL, wsOptions);
    this.#socket = socket;
    let failure = '';
    let status: number | undefined;
    let knowsNoNamespace = false;
    socket.on('open', onOpen);
    socket.on('message', (data) => {
      // What arrives behind our close frame is void. A message is one Buffer by default.
      if (socket.readyState === socket.OPEN) onText((data as Buffer).toString());
    });
    socket.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException;
      const said =
        code === 'EPROTO'
          ? 'it speaks no TLS there: is it http?'
          : (certificateTrouble(code) ?? error.message);
      failure ||= said || String(code);
    });
    socket.on('unexpected-response', (_request, response) => {
      status = response.statusCode;
      failure = `the master answered HTTP ${status} ${response.statusMessage ?? ''}`;
      void sentenceOf(response).then((sentence) => {
        if (sentence !== '') failure += `: ${sentence}`;
        knowsNoNamespace =
          status === 404 &&
          sentence === NO_SUCH_PATH &&
          PATH_OF_NAMESPACE.test(new URL(url).pathname);
        socket.terminate();
      });
    });
    socket.on('close', (code, reason) => {
      if (this.#givenUp !== null) return onClosed({ ...this.#givenUp, isFinal: false });
      onClosed({
        code,
        reason: reason.toString() || failure || describeCode(code),
        isFinal: isFinalClose(code) || status === 401 || status === 403,
        knowsNoNamespace,
      });
    });
  }

  send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
  }

  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  close(code: number, reason: string): void {
    this.#givenUp ??= { code, reason };
    this.#socket.close(code, reason);
  }

  giveUp(why: string): void {
    this.#givenUp ??= { code: ABNORMAL_CLOSE, reason: why };
    this.#socket.terminate();
  }
}

/** Why a master refuses stands in plain text behind its head. What proxies show is for people. */
async function sentenceOf(response: IncomingMessage): Promise<string> {
  if (!response.headers['content-type']?.startsWith('text/plain')) return '';
  try {
    // What comes first is all of it; the time for the handshake goes on meanwhile.
    for await (const chunk of response as AsyncIterable<Buffer>) {
      return chunk.toString().replaceAll(/\s+/g, ' ').trim().slice(0, QUOTED_CHARS_MAX);
    }
  } catch {
    // The status says enough.
  }
  return '';
}

function describeCode(code: number): string {
  return code === ABNORMAL_CLOSE ? 'the connection broke' : `closed with code ${code}`;
}
