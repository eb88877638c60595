/**
 * Sends alerts by mail: plain text, to all addresses of a receiver at once, and again to those alone that have not taken
 * it yet. Which have is in memory: another process tells all of them once more. Loads what it needs with the first one.
 */
import type { Refusal, Transporter } from 'nodemailer';
import type { AlertTry, Clock } from '../../application/ports.ts';
import { textOf, titleOf, type Told } from './message.ts';

/** For the connection, the greeting, and each answer; and for the end of it, once nobody waits any more. */
const LIMITS_MS = {
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
  socketCloseTimeout: 1_000,
};
/** For all of it: a server may be slow with each of many addresses. */
const TRY_MS = 50_000;
/** Mails that some have taken and others have not; the oldest are forgotten. */
const PARTLY_COUNT_MAX = 500;

/** How far a mail has come, by address in lower case. */
interface Partly {
  readonly taken: Set<string>;
  /** For good, and what was answered. */
  readonly refused: Map<string, string>;
}

export class Mailer {
  readonly #url: string;
  readonly #from: string;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  /** By the id of the message. */
  readonly #partly = new Map<string, Partly>();
  #transport: Promise<Transporter> | null = null;

  /** @param url `smtp://user:password@host:port`, or `smtps://`. */
  constructor(url: string, from: string, clock: Clock) {
    this.#url = url;
    this.#from = from;
    this.#clock = clock;
  }

  /** Ends within a minute. @throws what the server says where nobody takes it; or that nobody answers. */
  async send(to: readonly string[], message: Told): Promise<AlertTry> {
    const { id } = message;
    const known = this.#partly.get(id) ?? { taken: new Set(), refused: new Map() };
    const isOpen = (one: string) => !known.taken.has(keyOf(one)) && !known.refused.has(keyOf(one));
    const open = to.filter(isOpen);
    const refusals = open.length === 0 ? [] : await this.#try(open, message, known.taken.size > 0);
    const waiting = new Map<string, string>();
    for (const { recipient = '', response = '', responseCode = 0 } of refusals) {
      const isForGood = responseCode >= 500;
      (isForGood ? known.refused : waiting).set(keyOf(recipient), response);
    }
    for (const one of open.map(keyOf)) {
      if (!waiting.has(one) && !known.refused.has(one)) known.taken.add(one);
    }
    this.#partly.delete(id);
    if (waiting.size > 0) this.#partly.set(id, known);
    const [oldest] = this.#partly.size > PARTLY_COUNT_MAX ? this.#partly.keys() : [];
    if (oldest !== undefined) this.#partly.delete(oldest);
    return { error: errorOf(to, known, waiting), isFinal: waiting.size === 0 };
  }

  /** Who has not taken it. */
  async #try(to: readonly string[], message: Told, isPartly: boolean): Promise<readonly Refusal[]> {
    try {
      return (await this.#send(to, message)).rejectedErrors ?? [];
    } catch (error) {
      const { rejectedErrors = [] } = error as { rejectedErrors?: readonly Refusal[] };
      // Where nobody has taken it, that is tried again, also what is refused for good: the server may be set up wrong.
      if (!isPartly || rejectedErrors.length < to.length) throw error;
      return rejectedErrors;
    }
  }

  async #send(to: readonly string[], message: Told) {
    this.#transport ??= this.#open();
    const transport = await this.#transport;
    const late = new AbortController();
    const callOff = this.#clock.wakeAt(this.#clock.now() + TRY_MS, () => late.abort());
    const mail = {
      from: this.#from,
      to: [...to],
      subject: `Soda Scheduler ${titleOf(message)}`,
      text: `${textOf(message)}\n`,
      // The same for each try: whoever has it already may tell.
      messageId: `<${message.id}@soda-scheduler>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([late.signal, this.#stopped.signal]),
    };
    try {
      return await transport.sendMail(mail);
    } catch (error) {
      if (!late.signal.aborted) throw error;
      throw new Error(`the mail server has not taken it within ${TRY_MS / 1000} s`, {
        cause: error,
      });
    } finally {
      callOff();
    }
  }

  /** Ends what is in flight. */
  stop(): void {
    this.#stopped.abort();
    void this.#transport?.then((transport) => transport.close()).catch(() => undefined);
  }

  async #open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    const url = new URL(this.#url);
    // The text of an alert is never a file or an address to be read.
    const settings = { ...LIMITS_MS, disableFileAccess: true, disableUrlAccess: true };
    for (const [name, value] of Object.entries(settings)) {
      if (!url.searchParams.has(name)) url.searchParams.set(name, String(value));
    }
    return createTransport(url.href);
  }
}

const keyOf = (address: string): string => address.toLowerCase();

/** Null: all have taken it. Those that are tried again come first: there may be many, and it is cut. */
function errorOf(
  to: readonly string[],
  { taken, refused }: Partly,
  waiting: ReadonlyMap<string, string>,
): string | null {
  const asked = new Set(to.map(keyOf));
  const missing = [...waiting, ...refused].filter(([address]) => asked.has(address));
  if (missing.length === 0) return null;
  const takenCount = [...asked].filter((address) => taken.has(address)).length;
  const each = missing.map(([address, response]) => `${address}: ${response}`).join('; ');
  return `taken by ${takenCount} of ${asked.size} addresses; not by ${each}`;
}
