/** Sends alerts by mail: plain text, to all addresses of a receiver at once. Loads what it needs with the first one. */
import type { Transporter } from 'nodemailer';
import { textOf, titleOf, type Told } from './message.ts';

/** For the connection, the greeting, and each answer: a try ends within a minute. */
const LIMITS_MS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

export class Mailer {
  readonly #url: string;
  readonly #from: string;
  #transport: Promise<Transporter> | null = null;

  /** @param url `smtp://user:password@host:port`, or `smtps://`. */
  constructor(url: string, from: string) {
    this.#url = url;
    this.#from = from;
  }

  /** @throws what the server says; or that nobody answers. */
  async send(to: readonly string[], message: Told): Promise<void> {
    this.#transport ??= this.#open();
    const transport = await this.#transport;
    await transport.sendMail({
      from: this.#from,
      to: [...to],
      subject: `Soda Scheduler ${titleOf(message)}`,
      text: `${textOf(message)}\n`,
      // The same for each try: whoever has it already may tell.
      messageId: `<${message.id}@soda-scheduler>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  }

  stop(): void {
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
