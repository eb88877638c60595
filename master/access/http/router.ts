/** Finds the route of a request by its path, and says what there is where there is none. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import Router from 'router';
import { Problem } from './problem.ts';
import { queryIn } from './query.ts';
import { type GuardedRoute, type Route, sendError, serve, type Serving } from './route.ts';

export function routerOf(routes: readonly GuardedRoute[], serving: Serving): Router.Router {
  const router = new Router({ caseSensitive: true, strict: true });
  const headers = safeHeaders();
  router.use((_req: IncomingMessage, res: ServerResponse, next: Router.NextFunction) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  });

  const refuse = (req: IncomingMessage, res: ServerResponse, problem: unknown, path: string) =>
    serving.metrics.answered(path, sendError(serving, req, res, problem), 0);

  for (const [path, methods] of groupByPath(routes)) {
    const there = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const route of methods) {
      const verb = route.method.toLowerCase() as Lowercase<Route['method']>;
      there[verb]((req: Router.Request<Record<string, string>>, res) =>
        serve(serving, route, req, res, addressIn(req)),
      );
    }
    const allowed = methods.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
    there.all((req, res) => {
      const headers = { Allow: allowed.join(', ') };
      refuse(
        req,
        res,
        new Problem('wrongMethod', `Allowed here: ${headers.Allow}.`, { headers }),
        path,
      );
    });
  }
  router.use((req: IncomingMessage, res: ServerResponse) =>
    refuse(req, res, new Problem('noRoute', 'There is no such route.'), 'unknown'),
  );
  router.use(
    // Four parameters make it an error handler. What gets here is a path that cannot be decoded.
    (error: unknown, req: IncomingMessage, res: ServerResponse, _next: Router.NextFunction) => {
      const undecodable = error instanceof URIError;
      const problem = undecodable ? new Problem('invalid', 'The path is not valid.') : error;
      refuse(req, res, problem, 'unknown');
    },
  );
  return router;
}

/** What helmet sets is the same for all answers: asked for each, it takes longer than to find the route. */
function safeHeaders(): readonly (readonly [name: string, value: string])[] {
  const headers: [string, string][] = [];
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  res.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return res;
  };
  // Whoever ends TLS in front decides about it; the master speaks plain HTTP.
  helmet({ strictTransportSecurity: false })(req, res, () => undefined);
  return headers;
}

/** The query is read where it is known who asks. */
function addressIn(req: Router.Request<Record<string, string>>) {
  return {
    params: req.params,
    get query() {
      return queryIn(req.url ?? '');
    },
  };
}

function groupByPath(routes: readonly GuardedRoute[]): Map<string, GuardedRoute[]> {
  const groups = new Map<string, GuardedRoute[]>();
  for (const route of routes) {
    const group = groups.get(route.path);
    if (group === undefined) groups.set(route.path, [route]);
    else group.push(route);
  }
  return groups;
}
