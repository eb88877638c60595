/** Sends alerts by mail: plain text, to all addresses of a receiver at once. Loads what it needs with the first one. */
import type { Transporter } from 'nodemailer';
import type { Clock } from '../../application/ports.ts';
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

export class Mailer {
  readonly #url: string;
  readonly #from: string;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  #transport: Promise<Transporter> | null = null;

  /** @param url `smtp://user:password@host:port`, or `smtps://`. */
  constructor(url: string, from: string, clock: Clock) {
    this.#url = url;
    this.#from = from;
    this.#clock = clock;
  }

  /** Ends within a minute. @throws what the server says; or that nobody answers. */
  async send(to: readonly string[], message: Told): Promise<void> {
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
      await transport.sendMail(mail);
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
