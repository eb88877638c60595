/**
 * Decides whether an HTTP upgrade may become an executor session, before anything of WebSocket is
 * spoken, and answers those that may not in plain HTTP.
 */
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { EXECUTOR_PATH, SUBPROTOCOL } from '@soda-scheduler/protocol';
import type { MasterStatus } from '../application/master-handle.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** Looks at the headers of a request; null lets it pass. */
export type Authorize = (request: IncomingMessage) => Refusal | null;

/** Null: the upgrade may go on. */
export function refusalOf(
  request: IncomingMessage,
  authorize: Authorize,
  status: MasterStatus,
): Refusal | null {
  if (request.url?.split('?', 1)[0] !== EXECUTOR_PATH) {
    return { status: 404, message: 'There is nothing at this path.' };
  }
  // Executors are programs; a page in someone's browser must not become one.
  if (request.headers.origin !== undefined) {
    return { status: 403, message: 'Requests with an Origin are refused.' };
  }
  const offered = request.headers['sec-websocket-protocol']?.split(',') ?? [];
  if (!offered.some((name) => name.trim() === SUBPROTOCOL)) {
    return { status: 400, message: `Expected the WebSocket subprotocol ${SUBPROTOCOL}.` };
  }
  const refusal = authorize(request);
  if (refusal !== null) return refusal;
  // A master that rebuilds its state keeps its executors, and their leases.
  if (status === 'ready' || status === 'recovering') return null;
  return { status: 503, message: `The master is ${status}.` };
}

export function refuseUpgrade(socket: Duplex, { status, message }: Refusal): void {
  socket.on('error', () => socket.destroy());
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(message)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(status === 503 ? ['Retry-After: 1'] : []),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${message}`);
}
