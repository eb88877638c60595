/**
 * The port through which a session reaches its master: a connection that carries texts, in order,
 * until it ends. `connection.ts` is the one over WebSocket.
 */

export interface Closed {
  /** A close code, or 1006 where the connection just ended. */
  readonly code: number;
  readonly reason: string;
  /** Dialling again would bring the same answer. */
  readonly isFinal: boolean;
  /** The namespace that is asked for is none of a master as old as that: until people change something it stays so. */
  readonly knowsNoNamespace?: boolean;
}

/** What the session asks of a connection. */
export interface Dialled {
  /** Does nothing where there is no connection yet, or no longer. */
  send(text: string): void;
  /** What was sent, and has not left this process yet. */
  readonly unsentBytes: number;
  close(code: number, reason: string): void;
  /** Ends it at once, without a word to the other side: it does not listen. */
  giveUp(why: string): void;
}

export interface DialOptions {
  readonly url: string;
  readonly token: string | undefined;
  /** PEM; undefined: those that Node trusts. */
  readonly ca?: string | undefined;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Called once, whatever happened before, and never from within a call of this side. */
  readonly onClosed: (closed: Closed) => void;
}

export type Dial = (options: DialOptions) => Dialled;
