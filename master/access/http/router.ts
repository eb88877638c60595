/** Finds the route of a request by its path, and says what there is where there is none. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { Problem } from './problem.ts';
import { queryIn } from './query.ts';
import { type GuardedRoute, sendError, serve, type Serving } from './route.ts';

/** A beginning of paths, up to a slash or the end. */
interface Branch {
  /** What may follow as it is spelled; it goes before what stands for any text but none. */
  readonly spelled: Map<string, Branch>;
  any: Branch | null;
  /** Of the path that ends here, one for each method. */
  readonly routes: GuardedRoute[];
}

/** Answers every request, also one that there is no route for. */
export function routerOf(
  routes: readonly GuardedRoute[],
  serving: Serving,
): (req: IncomingMessage, res: ServerResponse) => void {
  const root = treeOf(routes);
  const headers = safeHeaders();
  return (req, res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    const refuse = (problem: Problem, path = 'unknown'): void =>
      serving.metrics.answered(path, sendError(serving, req, res, problem), 0);

    const texts = pathIn(req.url ?? '')?.split('/');
    if (texts === undefined) {
      return refuse(new Problem('invalid', 'The address of the request is not valid.'));
    }
    const there = routesAt(root, texts);
    const [first] = there;
    if (first === undefined) return refuse(new Problem('noRoute', 'There is no such route.'));
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const route = there.find((each) => each.method === method);
    if (route === undefined) return refuse(wrongMethod(there), first.path);
    const params = paramsOf(route.path, texts);
    if (params === null) return refuse(new Problem('invalid', 'The path is not valid.'));
    void serve(serving, route, req, res, {
      params,
      // Read where it is known who asks.
      get query() {
        return queryIn(req.url ?? '');
      },
    });
  };
}

function treeOf(routes: readonly GuardedRoute[]): Branch {
  const root = newBranch();
  for (const route of routes) {
    let branch = root;
    for (const part of route.path.split('/')) {
      const next = (nameIn(part) === null ? branch.spelled.get(part) : branch.any) ?? newBranch();
      if (nameIn(part) === null) branch.spelled.set(part, next);
      else branch.any = next;
      branch = next;
    }
    branch.routes.push(route);
  }
  return root;
}

const newBranch = (): Branch => ({ spelled: new Map(), any: null, routes: [] });

/** Of what stands in braces; null: the part is as it is spelled. */
function nameIn(part: string): string | null {
  return part.startsWith('{') ? part.slice(1, -1) : null;
}

/** None: there is no such path. `from`: the first of the texts that are behind the branch. */
function routesAt(branch: Branch, texts: readonly string[], from = 0): readonly GuardedRoute[] {
  const text = texts[from];
  if (text === undefined) return branch.routes;
  const spelled = branch.spelled.get(text);
  const found = spelled === undefined ? [] : routesAt(spelled, texts, from + 1);
  if (found.length > 0 || branch.any === null || text === '') return found;
  return routesAt(branch.any, texts, from + 1);
}

/** Null: one of them cannot be decoded. */
function paramsOf(path: string, texts: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  try {
    for (const [index, part] of path.split('/').entries()) {
      const name = nameIn(part);
      if (name !== null) params[name] = decodeURIComponent(texts[index] ?? '');
    }
    return params;
  } catch {
    return null;
  }
}

/** Null: there is none in it. Proxies are asked by a whole address. */
function pathIn(url: string): string | null {
  if (!/^https?:/i.test(url)) return url.replace(/[?#].*$/s, '');
  return URL.canParse(url) ? new URL(url).pathname : null;
}

function wrongMethod(there: readonly GuardedRoute[]): Problem {
  const allowed = there.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method));
  const headers = { Allow: allowed.join(', ') };
  return new Problem('wrongMethod', `Allowed here: ${headers.Allow}.`, { headers });
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
