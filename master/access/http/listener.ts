/**
 * The server of sockets below HTTP: plain, or with TLS by itself. WebSocket comes in by the same one. Knows no
 * request.
 */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';

/** For a client that says nothing, or speaks no TLS. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const MIN_VERSION = 'TLSv1.2';

/** PEM. */
export interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Shown to whoever connects. */
export interface ServerCertificate {
  readonly pair: Credentials;
  /** Whom to give what takes its place. */
  onChange(take: (pair: Credentials) => void): void;
}

/** @param certificate null: no TLS. Another one is for connections from then on; those there are stay. */
export function createListener<Request extends NonNullable<ServerOptions['IncomingMessage']>>(
  options: ServerOptions<Request>,
  certificate: ServerCertificate | null,
  take: RequestListener<Request>,
): Server {
  if (certificate === null) return createServer(options, take);
  const secure = ({ cert, key }: Credentials) => ({ cert, key, minVersion: MIN_VERSION }) as const;
  const server = createTlsServer(
    { ...options, ...secure(certificate.pair), handshakeTimeout: HANDSHAKE_TIMEOUT_MS },
    take,
  );
  certificate.onChange((pair) => server.setSecureContext(secure(pair)));
  const shaking = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    shaking.add(socket);
    socket.once('close', () => shaking.delete(socket));
  });
  // HTTP knows only those whose handshake is done: the others would hold up the end.
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeAll();
    for (const socket of shaking) socket.destroy();
  };
  return server;
}

/** Whether what goes over it is encrypted by this process. */
export function isSecure(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}
