/**
 * A receiver of callbacks that answers as the test says and remembers every delivery. A delivery
 * whose signature does not verify is remembered as such, never dropped.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallbackBody, verifyCallback } from '@soda-scheduler/client';

export interface Delivery {
  readonly path: string;
  readonly id: string;
  /** Null where the signature did not verify. */
  readonly body: CallbackBody | null;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, headers).end();
  };

export class Receiver {
  readonly deliveries: Delivery[] = [];
  readonly #secret: string;
  readonly #verify: typeof verifyCallback;
  readonly #answers = new Map<string, Answer[]>();
  #server: Server | null = null;
  #port = 0;

  constructor(secret: string, verify = verifyCallback) {
    this.#secret = secret;
    this.#verify = verify;
  }

  /** Listens; after `close` on the same port as before. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#receive(request, response));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async close(): Promise<void> {
    if (this.#server === null) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#server = null;
    await closed;
  }

  /** A URL whose deliveries are answered in turn as given, and with 204 after that. */
  url(path: string, ...answers: readonly Answer[]): string {
    this.#answers.set(`/${path}`, [...answers]);
    return `http://127.0.0.1:${this.#port}/${path}`;
  }

  at(path: string): readonly Delivery[] {
    return this.deliveries.filter((delivery) => delivery.path === `/${path}`);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const path = request.url ?? '';
    const id = String(request.headers['webhook-id']);
    this.deliveries.push({ path, id, body: this.#verified(Buffer.concat(chunks), request) });
    const answer = this.#answers.get(path)?.shift() ?? answerWith(204);
    answer(request, response);
  }

  #verified(body: Buffer, { headers }: IncomingMessage): CallbackBody | null {
    try {
      return this.#verify(body, headers, this.#secret);
    } catch {
      return null;
    }
  }
}
