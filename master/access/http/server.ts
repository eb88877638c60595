/**
 * The HTTP face of the master: one server, one table of routes. The router of express finds the route of most
 * requests; the hot ones are found by their exact URL, because it alone costs several times
 * what the master does for a submit. Holds no rule about tasks.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Disk, Log } from '../../application/ports.ts';
import type { AuditTrail } from '../../application/process/audit-trail.ts';
import type { Alerts } from '../../application/alerts/alerts.ts';
import type { Duties } from '../../application/process/duties.ts';
import type { NamespacesHandle } from '../../application/process/namespaces-handle.ts';
import type { Tokens } from '../../application/process/tokens.ts';
import type { Fill } from '../../domain/bounds.ts';
import type { FeedLevel } from '../../domain/feed/feed-event.ts';
import { executorRoutes, governanceRoute, probeRoutes } from '../routes/admin.ts';
import { type Authorizer, hasOneHost } from '../auth.ts';
import { actionOf } from '../actions.ts';
import { rightOf } from '../rights.ts';
import { BodyBudget } from '../body/read-body.ts';
import {
  IN_NAMESPACE,
  inNamespaces,
  NAMESPACE_BASE,
  namespaceRoutes,
} from '../routes/namespaces.ts';
import type { Connections } from './connections.ts';
import { createListener, type ServerCertificate } from './listener.ts';
import type { ServedFiles } from './files.ts';
import { openApiRoute } from './openapi-route.ts';
import { isWebSocketOffer, pipelines, UnreadAnswers } from './pipeline.ts';
import { answerSocket, Problem } from './problem.ts';
import {
  type GuardedRoute,
  type HttpMetrics,
  type Route,
  sendError,
  serve,
  type Serving,
} from './route.ts';
import { routerOf } from './router.ts';
import { Turns } from './turns.ts';
import { alertRoutes, sayAlertRoute } from '../routes/alerts/alerts.ts';
import { alertSettingRoutes } from '../routes/alerts/settings.ts';
import { auditRoutes } from '../routes/audit.ts';
import { consoleRoutes } from '../console/routes.ts';
import { docsRoutes } from '../docs/routes.ts';
import { feedRoutes } from '../routes/feed/feed.ts';
import { Followers } from '../routes/feed/followers.ts';
import { findRoutes } from '../routes/find/find.ts';
import { healthRoutes } from '../routes/find/health.ts';
import { whyRoute } from '../routes/find/why.ts';
import { calendarRoutes } from '../routes/jobs/calendar-routes.ts';
import { backfillRoute } from '../routes/jobs/backfill-route.ts';
import { jobRoutes } from '../routes/jobs/job-routes.ts';
import { bookingRoutes } from '../routes/bookings/booking-routes.ts';
import { limitRoutes } from '../routes/limits.ts';
import { pauseRoutes } from '../routes/pauses.ts';
import { loadRoutes } from '../routes/reports/load-routes.ts';
import { usageRoutes } from '../routes/reports/usage-routes.ts';
import { savedViewRoutes } from '../routes/find/saved-views.ts';
import { operationRoutes } from '../routes/operations.ts';
import { typeRoutes } from '../routes/types.ts';
import { submitRoutes } from '../routes/submit.ts';
import { taskRoutes } from '../routes/tasks.ts';
import { tokenRoutes } from '../routes/tokens.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** For the whole request, body included: a client that trickles does not hold a socket longer. */
const REQUEST_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 1_000;
/** Of a socket that neither sends nor takes anything, while an answer is due. */
const SOCKET_TIMEOUT_MS = 60_000;
/** Longer than the usual keep-alive of a proxy, which must be the side that hangs up. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const CLOSE_GRACE_MS = 5_000;
/** How long clients that keep their connection may learn by an answer that they should not. */
const FAREWELL_MS = 100;

export interface HttpServerOptions {
  readonly namespaces: NamespacesHandle;
  readonly authorizer: Authorizer;
  readonly tokens: Pick<Tokens, 'add' | 'remove' | 'after'>;
  readonly audit: AuditTrail;
  readonly alerts: Alerts;
  readonly connections: Connections;
  /** Null: no TLS. */
  readonly certificate: ServerCertificate | null;
  readonly duties: Pick<Duties, 'views'>;
  readonly console: ServedFiles;
  readonly docs: ServedFiles;
  readonly disk: Disk;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** For what strangers can cause as often as they like. */
  readonly rareLog: Log;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly version: string;
  /** Why a `notify_url` will not be called, as far as it can be told before; null: it may be. */
  readonly refusalOfReceiver: (url: string) => string | null;
  readonly feedLevel: FeedLevel;
  /** For tests of slow clients. */
  readonly timeoutsMs?: { readonly headers: number; readonly request: number };
}

export interface HttpServer {
  /** The executor gateway attaches to its `upgrade` event. */
  readonly server: Server;
  readonly routes: readonly GuardedRoute[];
  /** How much of what requests hold is in use. */
  fills(): readonly Fill[];
  listen(): Promise<AddressInfo>;
  /**
   * Takes no more connections, lets requests that are under way end, and cuts off the rest after
   * five seconds. Upgraded sockets are the gateway's: it must close them for this to resolve. Also
   * while it begins to listen.
   */
  close(): Promise<void>;
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { authorizer, metrics, log, rareLog, audit } = options;
  const followers = new Followers();
  const routes = routeTable(options, followers);
  const answers = new UnreadAnswers();
  const bodies = new BodyBudget();
  const turns = new Turns();
  const serving: Serving = { authorizer, metrics, log, rareLog, bodies, answers, turns, audit };
  const answer = answering(options, routes, serving);
  const newest = new WeakMap<Socket, ServerResponse>();
  let closing = false;
  let opening: Promise<unknown> = Promise.resolve();
  const { Request, inTurn } = pipelines(({ remoteAddress }) =>
    rareLog.warn('a connection is cut: it sends requests and does not wait for answers', {
      address: remoteAddress,
    }),
  );

  const take = (req: IncomingMessage, res: ServerResponse): void => {
    newest.set(req.socket, res);
    // A client that keeps its connection would otherwise hold up the end.
    res.on('close', () => closing && server.closeIdleConnections());
    inTurn(req, res, () => void turns.run(() => req.socket.writable && answer(req, res)));
  };
  const server = createListener(
    {
      headersTimeout: options.timeoutsMs?.headers ?? HEADERS_TIMEOUT_MS,
      requestTimeout: options.timeoutsMs?.request ?? REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(
        TIMEOUT_CHECK_MS,
        options.timeoutsMs?.headers ?? TIMEOUT_CHECK_MS,
      ),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // Ours has a body.
      requireHostHeader: false,
      IncomingMessage: Request,
    },
    options.certificate,
    take,
  );
  server.timeout = SOCKET_TIMEOUT_MS;
  options.connections.watch(server);
  server.on('clientError', answeringBroken(newest));
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    // Where it is refused, nobody knows whether its body comes.
    res.shouldKeepAlive = false;
    take(req, res);
  });
  server.on('checkExpectation', take);
  server.on('connect', (_: IncomingMessage, socket: Socket) => {
    const problem = new Problem('wrongMethod', 'This is no proxy.', { headers: { Allow: 'GET' } });
    if (!socket.destroyed) answerSocket(socket, problem);
  });

  return {
    server,
    routes,
    fills: () =>
      [options.connections, bodies, answers, followers].flatMap((part) => [...part.fills()]),
    listen() {
      const address = listen(server, options.host, options.port);
      opening = address.catch(() => undefined);
      return address;
    },
    async close() {
      await opening;
      if (server.listening) await delay(FAREWELL_MS);
      closing = true;
      await close(server);
    },
  };
}

/** How a request is answered whose turn it is. */
function answering(options: HttpServerOptions, routes: readonly GuardedRoute[], serving: Serving) {
  const { namespaces, metrics, connections } = options;
  const hot = new Map(
    routes.filter((route) => route.hot).map((route) => [`${route.method} ${route.path}`, route]),
  );
  const router = routerOf(routes, serving);
  const refuse = (req: IncomingMessage, res: ServerResponse, problem: Problem): void =>
    metrics.answered('unknown', sendError(serving, req, res, problem), 0);

  return (req: IncomingMessage, res: ServerResponse): void => {
    // The next request on this connection would be met by a reset, and nobody knows what became
    // of it.
    const { status } = namespaces;
    if (status === 'draining' || status === 'stopped') res.shouldKeepAlive = false;
    // What came behind such a request in one segment was dropped with the offer: to be sent anew.
    if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
    if (connections.isSpare(req.socket)) res.shouldKeepAlive = false;
    const refusal = connections.refusalOf(req) ?? refusalOf(req);
    const { path, params } = hotPathOf(req.url ?? '');
    const route = hot.get(`${req.method} ${path}`);
    if (refusal !== null) {
      res.shouldKeepAlive = false;
      refuse(req, res, refusal);
    } else if (route === undefined) {
      // What it finds no path in does not even reach its own handlers.
      router(req, res, () =>
        refuse(req, res, new Problem('invalid', 'The address of the request is not valid.')),
      );
    } else void serve(serving, route, req, res, { params, query: {} });
  };
}

/** Whatever it asks for; null: it may go on. */
function refusalOf(req: IncomingMessage): Problem | null {
  const { expect } = req.headers;
  if (!hasOneHost(req)) {
    return new Problem('invalid', 'A request has one Host header.');
  }
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    return new Problem('unmet', 'The only expectation that is met is 100-continue.');
  }
  if (!isWebSocketOffer(req) || !/\/executor(\?|$)/.test(req.url ?? '')) return null;
  const expected = 'an upgrade is a request without a body, and waits for the answers before it';
  return new Problem('invalid', `Expected another upgrade: ${expected}.`);
}

/** As the table has it, and what stands for the parameter in it. */
function hotPathOf(url: string): {
  readonly path: string;
  readonly params: Record<string, string>;
} {
  const [before = '', namespace] = IN_NAMESPACE.exec(url) ?? [];
  // A template that nobody has filled in is none of these routes.
  if (namespace === undefined) return { path: url.includes('{') ? '' : url, params: {} };
  return { path: `${NAMESPACE_BASE}/${url.slice(before.length)}`, params: { namespace } };
}

/** A route that is not in this table does not exist: the router and the document are made of it. */
function routeTable(options: HttpServerOptions, followers: Followers): readonly GuardedRoute[] {
  const { namespaces, metrics, version } = options;
  const all: Route[] = [
    ...inNamespaces(namespaces, [
      ...submitRoutes(options.refusalOfReceiver),
      ...taskRoutes(options.refusalOfReceiver),
      whyRoute,
      ...findRoutes(),
      ...loadRoutes(),
      ...usageRoutes(),
      ...savedViewRoutes(),
      ...feedRoutes(followers, options.feedLevel),
      ...executorRoutes(),
      ...typeRoutes(options.refusalOfReceiver),
      ...bookingRoutes(),
      ...limitRoutes(),
      ...jobRoutes(options.refusalOfReceiver),
      backfillRoute(),
      ...calendarRoutes(),
      sayAlertRoute(options.alerts),
      ...pauseRoutes(options.namespaces),
      ...operationRoutes(options.refusalOfReceiver),
    ]),
    ...namespaceRoutes(namespaces),
    ...tokenRoutes(options.tokens, options.authorizer),
    ...auditRoutes(options.audit),
    ...alertRoutes(options.alerts),
    ...alertSettingRoutes(options.alerts),
    governanceRoute(options.duties),
    ...healthRoutes(options),
    ...probeRoutes(namespaces, metrics),
    ...consoleRoutes(options.console, options.authorizer),
    ...docsRoutes(options.docs),
    openApiRoute(() => routes, version),
  ];
  const routes = all.map((route): GuardedRoute => {
    const { method, path } = route;
    return { ...route, right: rightOf(method, path), action: actionOf(method, path) };
  });
  return routes;
}

/** Once on each connection, of which `newest` knows the last response that was begun. */
function answeringBroken(newest: WeakMap<Socket, ServerResponse>) {
  const broken = new WeakSet<Socket>();
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const isFirst = !broken.has(socket);
    broken.add(socket);
    answerBrokenRequest(error, socket, newest.get(socket), isFirst);
  };
}

/**
 * The parser gave up on a request: it was not HTTP, too large in its head, or too slow. `newest` is
 * the last response that was begun on the connection: a client would take what follows it for the
 * answer to a request of which it has one, or what precedes it for the answer to another.
 */
function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  newest: ServerResponse | undefined,
  isFirst: boolean,
): void {
  const isHttp = /^(?:HPE|ERR_HTTP)_/.test(error.code ?? '');
  if (!isHttp || !socket.writable) {
    socket.destroy();
    return;
  }
  // Each packet that follows is one more, for as long as the answer before it takes. It is read all the same: what a
  // socket is closed over takes the end of that answer with it.
  if (!isFirst) return;
  if (newest !== undefined && !newest.req.complete && newest.headersSent) {
    socket.end(() => socket.destroy());
    return;
  }
  if (newest?.req.complete === true && !newest.writableFinished) {
    newest.shouldKeepAlive = false;
    newest.once('close', () => socket.end(() => socket.destroy()));
    return;
  }
  const problem =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? new Problem('tooSlow', 'The request took too long to arrive.')
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? new Problem('headTooLarge', 'The header fields are too large.')
        : new Problem('invalid', 'The request is not valid HTTP.');
  answerSocket(socket, problem);
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // A TCP server that listens has an address object; only pipes have a string.
      resolve(server.address() as AddressInfo);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(cutOff);
      resolve();
    });
  });
}
