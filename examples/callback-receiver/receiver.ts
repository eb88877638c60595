/**
 * Receives callbacks: verifies each, hands it on once however often it is delivered, and answers.
 * 204 once a callback is taken, 401 for what does not verify. The ids of those taken are kept in
 * memory: a real receiver keeps them in its database, with what the callback has changed.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallbackBody, CallbackRefused, verifyCallback } from '@soda-scheduler/client';

const BODY_BYTES_MAX = 1024 * 1024;

export interface ReceiverOptions {
  /** 0 for any free one. */
  readonly port: number;
  /** What the master signs with; several while it is replaced. */
  readonly secrets: readonly string[];
  readonly onCallback: (callback: CallbackBody) => void;
  /** Something that does not verify, or is no callback at all. */
  readonly onRefused?: (error: unknown) => void;
}

export interface Receiver {
  readonly url: string;
  close(): void;
}

export async function receiveCallbacks(options: ReceiverOptions): Promise<Receiver> {
  const { port, secrets, onCallback, onRefused } = options;
  const taken = new Set<unknown>();
  const take = async (request: IncomingMessage): Promise<number> => {
    // The bytes as they came: the signature is about them, not about what they mean.
    const callback = verifyCallback(await readBody(request), request.headers, secrets);
    const id = request.headers['webhook-id'];
    if (!taken.has(id)) onCallback(callback);
    taken.add(id);
    return 204;
  };
  const server = createServer((request, response) => {
    void take(request)
      .catch((error: unknown) => {
        onRefused?.(error);
        return error instanceof CallbackRefused ? 401 : 400;
      })
      .then((status) => response.writeHead(status).end());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
