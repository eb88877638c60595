/** Receivers of alerts on loopback: one that is posted to, and one that takes mail. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Posted {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Answers 200, unless a test says otherwise. */
export class HookReceiver {
  readonly #server: Server;
  readonly #posted: Posted[] = [];
  readonly #waiting: ((posted: Posted) => void)[] = [];
  answer = { status: 200, text: 'ok' };

  constructor() {
    this.#server = createServer((req, res) => {
      let text = '';
      req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      req.on('end', () => {
        res.writeHead(this.answer.status).end(this.answer.text);
        const posted = { path: req.url ?? '', headers: req.headers, text };
        const next = this.#waiting.shift();
        if (next === undefined) this.#posted.push(posted);
        else next(posted);
      });
    });
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** The next one that nobody has taken yet. */
  next(): Promise<Posted> {
    const posted = this.#posted.shift();
    if (posted !== undefined) return Promise.resolve(posted);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** Takes whatever comes, by SMTP. */
export class MailReceiver {
  readonly #server: SMTPServer;
  readonly #mails: Mail[] = [];
  readonly #waiting: ((mail: Mail) => void)[] = [];
  /** What it answers to an address in place of taking it: a code. */
  readonly refused = new Map<string, number>();

  constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) => {
        const responseCode = this.refused.get(address);
        if (responseCode === undefined) done();
        else done(Object.assign(new Error('not here'), { responseCode }));
      },
      onData: (stream, { envelope }, done) => {
        let text = '';
        stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        stream.on('end', () => {
          const to = envelope.rcptTo.map(({ address }) => address);
          const mail = { from: envelope.mailFrom.address, to, text };
          const next = this.#waiting.shift();
          if (next === undefined) this.#mails.push(mail);
          else next(mail);
          done();
        });
      },
    });
  }

  async open(): Promise<this> {
    const server = this.#server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return this;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  next(): Promise<Mail> {
    const mail = this.#mails.shift();
    if (mail !== undefined) return Promise.resolve(mail);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve));
  }
}
