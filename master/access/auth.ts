/**
 * Who asks. A bearer token says it: one of the three of the configuration, or a named one, which an admin has
 * made. This is the one place that knows an actor; what he may do is in `rights.ts`.
 *
 * Once any token is configured, every route but the public ones needs one, and a role whose token
 * is missing is left to the admin. With no token at all (`config.ts` allows that on loopback
 * only) programs of this machine may do everything, and web pages nothing: a page can reach
 * loopback, but it cannot hide its `Origin`, nor, with a rebound name, its `Host`; and of an image
 * or a frame, which has no `Origin`, the browser says in `Sec-Fetch-Site` for whom it is.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TOKEN_PATTERN } from '@soda-scheduler/protocol';
import type { Log, Role, Scope, TokenRecord } from '../application/ports.ts';
import type { Tokens } from '../application/process/tokens.ts';
import { Problem } from './http/problem.ts';

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
  /** Where the request came from, which may be a proxy. */
  readonly address: string;
  readonly expiresAt: number | null;
  /** Of a named token. */
  readonly digest: string | null;
}

export interface Authorizer {
  /** @throws {Problem} nobody that is known. */
  identify(req: IncomingMessage): Actor;
  /** Why somebody who was identified would not be any more; null: he would. */
  endOf(actor: Actor): string | null;
}

type Known = Pick<Tokens, 'isLoaded' | 'use' | 'expired' | 'endOf'>;
type Identity = Omit<Actor, 'address'>;

const unlimited = { scope: null, expiresAt: null, digest: null } as const;

/** @param rareLog For those who come without a token that is known: as often as they like. */
export function createAuthorizer(
  configured: ConfiguredTokens,
  tokens: Known,
  rareLog: Log,
): Authorizer {
  const holders = new Map<string, Identity>();
  for (const [role, token] of [
    ['submit', configured.submitToken],
    ['executor', configured.executorToken],
    ['admin', configured.adminToken],
  ] as const) {
    if (token !== null)
      holders.set(digestOf(token), { name: `config:${role}`, role, ...unlimited });
  }

  function identityOf(req: IncomingMessage): Identity {
    const token = /^Bearer +([!-~]+)$/i.exec(req.headers.authorization ?? '')?.[1];
    if (holders.size === 0) {
      refuseWebPage(req);
      if (token === undefined || !TOKEN_PATTERN.test(token)) {
        return { name: null, role: 'admin', ...unlimited };
      }
    }
    if (token === undefined) throw unknownToken(req);
    // What is compared are digests, of which nobody can choose a part: the time tells nothing.
    const digest = digestOf(token);
    const held = holders.get(digest);
    if (held !== undefined) return held;
    const record = tokens.use(digest);
    if (record !== null) return record;
    const expired = tokens.expired(digest);
    if (expired !== null) throw expiredToken(req, expired);
    if (!tokens.isLoaded) {
      throw new Problem('unavailable', 'The master is starting: it does not know its tokens yet.');
    }
    throw unknownToken(req);
  }

  function unknownToken(req: IncomingMessage): Problem {
    const why = whyUnknown(req.headers.authorization);
    rareLog.warn('a request without a valid token', { why, address: addressOf(req) });
    return new Problem('noToken', `${why} A valid bearer token is required.`);
  }

  /** Whoever has it once knew it: it may be named. */
  function expiredToken(req: IncomingMessage, { name, expiresAt }: TokenRecord): Problem {
    rareLog.warn('a request with a token that has expired', { name, address: addressOf(req) });
    const at = new Date(expiresAt ?? 0).toISOString();
    const detail = `The token ${name} has expired at ${at}. A valid bearer token is required.`;
    return new Problem('noToken', detail, { reason: 'token_expired' });
  }

  return {
    identify(req) {
      const { name, role, scope, expiresAt, digest } = identityOf(req);
      return { name, role, scope, expiresAt, digest, address: addressOf(req) };
    },
    endOf: ({ digest, expiresAt }) =>
      digest === null ? null : tokens.endOf({ digest, expiresAt }),
  };
}

/** Under which a token is known: whoever reads it knows no token. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? '';
}

/** An empty one is what is sent of a variable that is not set. */
function whyUnknown(authorization = ''): string {
  if (/^(Bearer *)?$/i.test(authorization)) return 'No token was sent.';
  if (!/^Bearer /i.test(authorization)) return 'Another scheme than Bearer was sent.';
  return 'This master does not know the token.';
}

function refuseWebPage(req: IncomingMessage): void {
  const { host, origin } = req.headers;
  if (host === undefined || !isLoopbackHost(host)) {
    throw new Problem('forbidden', 'Without tokens, only a loopback Host is served.');
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    throw new Problem('forbidden', 'Without tokens, other web origins are not served.');
  }
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Problem('forbidden', 'Without tokens, web pages of others are not served.');
  }
}

function isLoopbackHost(host: string): boolean {
  return /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
