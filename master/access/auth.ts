/**
 * Who asks. A bearer token says it: one of the three of the configuration, or a named one, which an admin has
 * made; or, of the console, the cookie of a login, which stands for one (`console/logins.ts`). This is the one place that knows an actor; what he may do is in `rights.ts`.
 *
 * Once any token is configured, every route but the public ones needs one, and a role whose token
 * is missing is left to the admin. With no token at all (`config.ts` allows that on loopback
 * only) programs of this machine may do everything, and web pages nothing: a page can reach
 * loopback, but it cannot hide its `Origin`, nor, with a rebound name, its `Host`; and of an image
 * or a frame, which has no `Origin`, the browser says in `Sec-Fetch-Site` for whom it is.
 */
import type { IncomingMessage } from 'node:http';
import type { Log, Role, Scope, TokenRecord } from '../application/ports.ts';
import type { Tokens } from '../application/process/tokens.ts';
import { digestOf } from './digest.ts';
import { isSecure } from './http/listener.ts';
import { Problem } from './http/problem.ts';
import { senderBehind } from './http/sender.ts';
import { type Logins, refuseForeignPage } from './console/logins.ts';

/** The tokens of the configuration: the way in, whatever becomes of the database. */
export interface ConfiguredTokens {
  readonly submitToken: string | null;
  readonly executorToken: string | null;
  readonly adminToken: string | null;
}

export interface Actor {
  /** Of the token; `config:admin` and the like of the configured ones, a name that no other has. Null: none was needed. */
  readonly name: string | null;
  readonly role: Role;
  /** Null: everything. */
  readonly scope: Scope | null;
  /** Where the request came from, as `http/sender.ts` knows it. */
  readonly address: string;
  readonly expiresAt: number | null;
  /** Of a named token. */
  readonly digest: string | null;
}

export interface Authorizer {
  /** @throws {Problem} nobody that is known. */
  identify(req: IncomingMessage): Actor;
  /** Who needs no name: what he asks for is for anyone. */
  nobody(req: IncomingMessage): Actor;
  /** Why somebody who was identified would not be any more; null: he would. */
  endOf(actor: Actor): string | null;
  /** Logs in at the console: whose the token is, and the headers that say so to the browser. @throws {Problem} */
  logIn(token: string, headers: IncomingMessage['headers'], address: string): LoggedIn;
  /** What a page that has logged in has to send with whatever changes something; null: none has. */
  csrfIn(headers: IncomingMessage['headers']): string | null;
  /** Logs out: the headers that make the browser forget it. */
  logOut(req: Pick<IncomingMessage, 'method' | 'headers'>): Readonly<Record<string, string>>;
}

export interface LoggedIn {
  readonly actor: Actor;
  readonly headers: Readonly<Record<string, string>>;
}

type Known = Pick<Tokens, 'isLoaded' | 'count' | 'use' | 'expired' | 'endOf'>;
type Identity = Omit<Actor, 'address'>;

const unlimited = { scope: null, expiresAt: null, digest: null } as const;

/** @param rareLog For those who come without a token that is known: as often as they like. */
export function createAuthorizer(
  configured: ConfiguredTokens & { readonly trustedProxies: readonly string[] },
  tokens: Known,
  logins: Logins,
  rareLog: Log,
): Authorizer {
  const identities = identitiesByDigest(configured);
  const addressOf = senderBehind(configured.trustedProxies);

  function identityOf(req: IncomingMessage, address: string): Identity {
    const token = bearerOf(req.headers);
    const loggedIn = token === undefined ? logins.use(req.headers) : null;
    const identity = loggedIn === null ? null : identityUnder(loggedIn);
    if (identity !== null) {
      logins.checkPage(req);
      return identity;
    }
    if (identities.size === 0) {
      refuseWebPage(req);
      if (!isToBeKnown(req.headers)) return { name: null, role: 'admin', ...unlimited };
    }
    return identityBy(token, whyUnknown(req.headers.authorization), address);
  }

  /**
   * Where nobody needs a token, one that is sent may limit whoever sends it, also if it has suffered on its way. Others,
   * such as are left of masters that had tokens, mean nothing as long as there is none at all.
   */
  function isToBeKnown({ authorization = '' }: IncomingMessage['headers']): boolean {
    if (NOTHING_SENT.test(authorization)) return false;
    return /soda_/i.test(authorization) || !tokens.isLoaded || tokens.count > 0;
  }

  function identityBy(token: string | undefined, why: string, address: string): Identity {
    if (token === undefined) throw unknownToken(why, address);
    // What is compared are digests, of which nobody can choose a part: the time tells nothing.
    const digest = digestOf(token);
    const identity = identityUnder(digest);
    if (identity !== null) return identity;
    const expired = tokens.expired(digest);
    if (expired !== null) {
      rareLog.warn('a request with a token that has expired', { name: expired.name, address });
      throw expiredToken(expired);
    }
    throw unknownToken(why, address);
  }

  /** Null: it opens nothing. @throws {Problem} nobody knows yet. */
  function identityUnder(digest: string): Identity | null {
    const identity = identities.get(digest) ?? tokens.use(digest);
    if (identity !== null || tokens.isLoaded) return identity;
    throw new Problem('unavailable', 'The master is starting: it does not know its tokens yet.');
  }

  function unknownToken(why: string, address: string): Problem {
    rareLog.warn('a request without a valid token', { why, address });
    const need =
      identities.size > 0 ? 'A valid bearer token is required.' : 'Here it may be left out.';
    return new Problem('noToken', `${why} ${need}`);
  }

  return {
    identify(req) {
      const address = addressOf(req);
      return actorOf(identityOf(req, address), address);
    },
    nobody: (req) => actorOf({ name: null, role: 'read', ...unlimited }, addressOf(req)),
    endOf: ({ digest, expiresAt }) =>
      digest === null ? null : tokens.endOf({ digest, expiresAt }),
    logIn(token, headers, address) {
      refuseForeignPage(headers);
      const why = whyUnknown(`Bearer ${token}`);
      const identity = logins.wrong.guard(address, () => identityBy(token, why, address));
      return { actor: actorOf(identity, address), headers: logins.begin(digestOf(token), headers) };
    },
    csrfIn: (headers) => logins.csrfIn(headers),
    logOut(req) {
      if (logins.csrfIn(req.headers) !== null) logins.checkPage(req);
      return logins.end(req.headers);
    },
  };
}

/** By the digests of their tokens. */
function identitiesByDigest(configured: ConfiguredTokens): ReadonlyMap<string, Identity> {
  const identities = new Map<string, Identity>();
  for (const [role, token] of [
    ['submit', configured.submitToken],
    ['executor', configured.executorToken],
    ['admin', configured.adminToken],
  ] as const) {
    if (token !== null)
      identities.set(digestOf(token), { name: `config:${role}`, role, ...unlimited });
  }
  return identities;
}

function bearerOf({ authorization = '' }: IncomingMessage['headers']): string | undefined {
  return /^Bearer +([!-~]+)$/i.exec(authorization)?.[1];
}

function actorOf({ name, role, scope, expiresAt, digest }: Identity, address: string): Actor {
  return { name, role, scope, expiresAt, digest, address };
}

/** Also what is sent of a variable that is not set. */
const NOTHING_SENT = /^(Bearer *)?$/i;

function whyUnknown(authorization = ''): string {
  if (NOTHING_SENT.test(authorization)) return 'No token was sent.';
  if (!/^Bearer /i.test(authorization)) return 'Another scheme than Bearer was sent.';
  return 'This master does not know the token.';
}

/** Whoever has it once knew it: it may be named. */
function expiredToken({ name, expiresAt }: TokenRecord): Problem {
  const at = new Date(expiresAt ?? 0).toISOString();
  const detail = `The token ${name} has expired at ${at}. A valid bearer token is required.`;
  return new Problem('noToken', detail, { reason: 'token_expired' });
}

function refuseWebPage(req: IncomingMessage): void {
  const { host, origin } = req.headers;
  const own = `${isSecure(req.socket) ? 'https' : 'http'}://${host}`;
  if (host === undefined || !isLoopbackHost(host)) {
    throw new Problem('forbidden', 'Without tokens, only a loopback Host is served.');
  }
  if (origin !== undefined && origin !== own) {
    throw new Problem('forbidden', 'Without tokens, other web origins are not served.');
  }
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Problem('forbidden', 'Without tokens, web pages of others are not served.');
  }
}

/** HTTP/1.0 needs none. Of several, Node shows the first, and a proxy may have gone by another. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count === 1 || (count === 0 && httpVersion !== '1.1');
}

function isLoopbackHost(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
