/**
 * Who may call what. Three bearer tokens, one for each role; the admin token opens every door.
 *
 * Once any token is configured, every route but the public ones needs one, and a role whose token
 * is missing is left to the admin. With no token at all (`config.ts` allows that on loopback
 * only) programs of this machine may do everything, and web pages nothing: a page can reach
 * loopback, but it cannot hide its `Origin`, nor, with a rebound name, its `Host`; and of an image
 * or a frame, which has no `Origin`, the browser says in `Sec-Fetch-Site` for whom it is.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from './http/problem.ts';

/** `executor` is the role of the WebSocket upgrade alone. */
export type Role = 'public' | 'submit' | 'executor' | 'admin';

export interface Tokens {
  readonly submitToken: string | null;
  readonly executorToken: string | null;
  readonly adminToken: string | null;
}

export interface Authorizer {
  /** As whom it may go ahead; where there are no tokens everybody is the admin. */
  authorize(req: IncomingMessage, role: Role): Problem | Role;
  /** For the WebSocket upgrade of an executor, before it is answered. Null: go ahead. */
  authorizeExecutor(req: IncomingMessage): Problem | null;
}

interface Holder {
  readonly role: Role;
  readonly digest: Buffer;
}

export function createAuthorizer(tokens: Tokens): Authorizer {
  const holders: Holder[] = [];
  const add = (role: Role, token: string | null) => {
    if (token !== null) holders.push({ role, digest: digestOf(token) });
  };
  add('submit', tokens.submitToken);
  add('executor', tokens.executorToken);
  add('admin', tokens.adminToken);

  function authorize(req: IncomingMessage, role: Role): Problem | Role {
    if (role === 'public') return role;
    if (holders.length === 0) return refuseWebPage(req) ?? 'admin';
    const held = roleOf(req.headers.authorization, holders);
    if (held === null) {
      const message = `${whyUnknown(req.headers.authorization)} A valid bearer token is required.`;
      return new Problem('noToken', message);
    }
    if (held === role || held === 'admin') return held;
    const wanted = role === 'admin' ? 'the admin token' : `the ${role} token, or the admin token`;
    return new Problem('forbidden', `The ${held} token does not open this: it takes ${wanted}.`);
  }

  return {
    authorize,
    authorizeExecutor(req) {
      const refusal = authorize(req, 'executor');
      return refusal instanceof Problem ? refusal : null;
    },
  };
}

/** Digests have one length and an unforeseeable prefix, so that the comparison tells nothing. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function roleOf(authorization: string | undefined, holders: readonly Holder[]): Role | null {
  const token = /^Bearer +([!-~]+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) return null;
  const digest = digestOf(token);
  let role: Role | null = null;
  // No early end: the time must not tell which token was nearly right.
  for (const holder of holders) if (timingSafeEqual(digest, holder.digest)) role = holder.role;
  return role;
}

/** An empty one is what is sent of a variable that is not set. */
function whyUnknown(authorization = ''): string {
  if (/^(Bearer *)?$/i.test(authorization)) return 'No token was sent.';
  if (!/^Bearer /i.test(authorization)) return 'Another scheme than Bearer was sent.';
  return 'This master does not know the token.';
}

function refuseWebPage(req: IncomingMessage): Problem | null {
  const { host, origin } = req.headers;
  if (host === undefined || !isLoopbackHost(host)) {
    return new Problem('forbidden', 'Without tokens, only a loopback Host is served.');
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return new Problem('forbidden', 'Without tokens, other web origins are not served.');
  }
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return new Problem('forbidden', 'Without tokens, web pages of others are not served.');
  }
  return null;
}

function isLoopbackHost(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
