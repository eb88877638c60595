/**
 * The console: files for a browser, which are for anyone and tell nothing, and the login that lets their page use the
 * API. All else it asks for goes by the same routes as of any other client.
 */
import { gzipSync } from 'node:zlib';
import { API_BASE, HTTP_LIMITS } from '@soda-scheduler/protocol';
import { sessionEnded, sessionRequest, sessionView } from '@soda-scheduler/protocol/schemas';
import type { Authorizer } from '../auth.ts';
import { validate } from '../body/fields.ts';
import { answers } from '../http/answers.ts';
import { Problem } from '../http/problem.ts';
import type { ApiRequest, Reply, Route } from '../http/route.ts';

export interface ConsoleFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** By name, `index.html` too; none: the console was not built. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

const INDEX = 'index.html';
/** Nothing but what this master serves: no other host, no script or style that stands in a page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
/** The names of these have a digest of what is in them. */
const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export function consoleRoutes(files: ConsoleFiles, authorizer: Authorizer): Route[] {
  const zipped = new Map<ConsoleFile, Buffer>();

  function replyWith(
    name: string,
    { headers: asked }: ApiRequest,
    headers: Readonly<Record<string, string>>,
  ): Reply {
    const file = files.get(name);
    if (file === undefined) {
      const why = files.size === 0 ? ' The console is not built: npm run build.' : '';
      throw new Problem('noRoute', `There is no such route.${why}`);
    }
    const { contentType, bytes } = file;
    const vary = { Vary: 'Accept-Encoding', ...headers };
    if (!takesGzip(asked['accept-encoding'])) {
      return { body: bytes, contentType, headers: vary };
    }
    const body = zipped.get(file) ?? gzipSync(bytes);
    zipped.set(file, body);
    return { body, contentType, headers: { 'Content-Encoding': 'gzip', ...vary } };
  }

  return [
    {
      method: 'GET',
      path: '/',
      summary: 'The console.',
      replies: { done: 'text/html' },
      handle: (request) =>
        replyWith(INDEX, request, { 'Content-Security-Policy': CONTENT_SECURITY_POLICY }),
    },
    {
      method: 'GET',
      path: '/assets/{file}',
      summary: 'What the console is made of.',
      replies: { done: '*/*' },
      handle: (request) => {
        const { file = '' } = request.params;
        return replyWith(file === INDEX ? '' : file, request, FOR_EVER);
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/session`,
      summary: 'Log in at the console: a cookie stands for the token from here on.',
      body: { schema: sessionRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: sessionView },
      handle: ({ body, headers, actor: { address } }) => {
        const { token } = validate(sessionRequest, body);
        const { actor, headers: made } = authorizer.logIn(token, headers, address);
        const { name, role } = actor;
        return { body: { name, role }, headers: made, logged: { by: name, role } };
      },
    },
    {
      method: 'DELETE',
      path: `${API_BASE}/session`,
      summary: 'Log out: the cookie stands for nothing any more.',
      replies: { done: sessionEnded },
      handle: ({ headers }) => ({
        body: { code: answers.done.status },
        headers: authorizer.logOut({ method: 'DELETE', headers }),
        logged: null,
      }),
    },
  ];
}

/** It is named, or stands for the rest under `*`; what has the weight 0 is not wanted (RFC 9110, 12.5.3). */
function takesGzip(accepted = ''): boolean {
  const weights = new Map(
    accepted.split(',').map((one) => {
      const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((part) => part.startsWith('q='));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
