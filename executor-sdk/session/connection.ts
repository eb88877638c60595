/** One WebSocket to the master, from dialling to its end. It knows nothing of what is said on it. */
import type { IncomingMessage } from 'node:http';
import { SESSION_LIMITS, SUBPROTOCOL, isFinalClose } from '@soda-scheduler/protocol';
import { WebSocket } from 'ws';

const CLOSE_TIMEOUT_MS = 2_000;
/** What WebSocket says of a socket that just ended. */
const ABNORMAL_CLOSE = 1006;
const QUOTED_CHARS_MAX = 200;

export interface Closed {
  /** A close code, or 1006 where the socket just ended. */
  readonly code: number;
  readonly reason: string;
  /** Dialling again would bring the same answer. */
  readonly isFinal: boolean;
}

/** What the session asks of a connection. */
export type Dialled = Pick<Connection, 'established' | 'send' | 'close' | 'giveUp'>;

export interface ConnectionOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** From dialling until the caller has called `established`. */
  readonly handshakeTimeoutMs: number;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Called once, whatever happened before. */
  readonly onClosed: (closed: Closed) => void;
}

export class Connection {
  readonly #socket: WebSocket;
  readonly #handshakeTimer: NodeJS.Timeout;
  /** How this side ended it; whatever the other says of that afterwards means nothing. */
  #givenUp: Omit<Closed, 'isFinal'> | null = null;

  constructor(options: ConnectionOptions) {
    const { url, token, onOpen, onText, onClosed } = options;
    const wsOptions = {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      closeTimeout: CLOSE_TIMEOUT_MS,
      maxPayload: SESSION_LIMITS.frameBytesMax,
      perMessageDeflate: false,
    };
    const socket = new WebSocket(url, SUBPROTOCOL, wsOptions);
    this.#socket = socket;
    this.#handshakeTimer = setTimeout(
      () => this.giveUp('the master did not answer in time'),
      options.handshakeTimeoutMs,
    );
    let failure = '';
    let status: number | undefined;
    socket.on('open', onOpen);
    socket.on('message', (data) => {
      // What arrives behind our close frame is void. A message is one Buffer by default.
      if (socket.readyState === socket.OPEN) onText((data as Buffer).toString());
    });
    socket.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException;
      const said = code === 'EPROTO' ? 'it speaks no TLS there: is it http?' : error.message;
      failure ||= said || String(code);
    });
    socket.on('unexpected-response', (_request, response) => {
      status = response.statusCode;
      failure = `the master answered HTTP ${status} ${response.statusMessage ?? ''}`;
      void sentenceOf(response).then((sentence) => {
        if (sentence !== '') failure += `: ${sentence}`;
        socket.terminate();
      });
    });
    socket.on('close', (code, reason) => {
      clearTimeout(this.#handshakeTimer);
      if (this.#givenUp !== null) return onClosed({ ...this.#givenUp, isFinal: false });
      onClosed({
        code,
        reason: reason.toString() || failure || describeCode(code),
        isFinal: isFinalClose(code) || status === 401 || status === 403,
      });
    });
  }

  /** The master has answered: the handshake is over. */
  established(): void {
    clearTimeout(this.#handshakeTimer);
  }

  send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
  }

  close(code: number, reason: string): void {
    this.#givenUp ??= { code, reason };
    this.#socket.close(code, reason);
  }

  /** Ends it at once, without a word to the other side: it does not listen. */
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
