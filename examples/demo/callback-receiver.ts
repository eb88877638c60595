/** Receives the callbacks of the demo on a free port, and believes only those that verify. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallbackBody, CallbackRefused, verifyCallback } from '@soda-scheduler/client';

const BODY_BYTES_MAX = 1024 * 1024;

export interface CallbackReceiver {
  readonly url: string;
  close(): void;
}

/** `onCallback` is called once for each callback, however often it is delivered. */
export async function receiveCallbacks(
  secret: string,
  onCallback: (body: CallbackBody) => void,
): Promise<CallbackReceiver> {
  const seen = new Set<unknown>();
  const take = async (request: IncomingMessage): Promise<number> => {
    const body = verifyCallback(await readBody(request), request.headers, secret);
    const id = request.headers['webhook-id'];
    if (!seen.has(id)) onCallback(body);
    seen.add(id);
    return 204;
  };
  const server = createServer((request, response) => {
    void take(request)
      .catch((error: unknown) => (error instanceof CallbackRefused ? 401 : 400))
      .then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callback`,
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
    if (bytes > BODY_BYTES_MAX) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
