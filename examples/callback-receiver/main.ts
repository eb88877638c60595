/**
 * A receiver of callbacks: verifies each, prints it as a line of JSON, and answers.
 *
 *   SODA_NOTIFY_SECRET=whsec_... node examples/dist/callback-receiver/main.js [port]
 *
 * 204 once a callback is taken, 401 for what does not verify. A callback that comes again is
 * answered but not printed again: real receivers keep the ids in their database.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallbackRefused, verifyCallback } from '@soda-scheduler/client';

const BODY_BYTES_MAX = 1024 * 1024;
const secrets = (process.env['SODA_NOTIFY_SECRET'] ?? '').split(',').filter(Boolean);
const handled = new Set<unknown>();

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    // The bytes as they came: the signature is about them, not about what they mean.
    const body = await readBody(request);
    const callback = verifyCallback(body, request.headers, secrets);
    const id = request.headers['webhook-id'];
    if (!handled.has(id)) console.log(JSON.stringify(callback));
    handled.add(id);
    response.writeHead(204).end();
  } catch (error) {
    console.error(`refused: ${error instanceof Error ? error.message : String(error)}`);
    response.writeHead(error instanceof CallbackRefused ? 401 : 400).end();
  }
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

if (secrets.length === 0) {
  console.error('SODA_NOTIFY_SECRET is not set: nothing could be verified');
  process.exit(2);
}
const server = createServer((request, response) => void take(request, response));
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1');
await once(server, 'listening');
console.error(`callbacks to http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
