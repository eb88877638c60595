/** Named tokens: who has one, and what it opens. A token itself is told once, by the answer that made it. */
import { randomBytes } from 'node:crypto';
import {
  API_BASE,
  HTTP_LIMITS,
  TOKEN_NAME_PATTERN,
  type TokenRequest,
  type TokenView,
} from '@soda-scheduler/protocol';
import {
  tokenCommandResponse,
  tokenList,
  tokenListQuery,
  tokenMade,
  tokenRequest,
  whoami,
} from '@soda-scheduler/protocol/schemas';
import type { Scope, TokenRecord } from '../../application/ports.ts';
import type { Tokens } from '../../application/process/tokens.ts';
import type { Authorizer } from '../auth.ts';
import { digestOf } from '../digest.ts';
import { answers } from '../http/answers.ts';
import { checkShape, validate } from '../body/fields.ts';
import { instantOf, iso } from '../body/instants.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import type { ApiRequest, Route } from '../http/route.ts';

const TOKEN_BYTES = 32;

export function tokenRoutes(
  tokens: Pick<Tokens, 'add' | 'remove' | 'after'>,
  authorizer: Pick<Authorizer, 'csrfIn'>,
): Route[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/whoami`,
      summary: 'Whose the token of this request is, and what it opens.',
      replies: { done: whoami },
      handle: ({ actor: { name, ...actor }, headers }) => {
        const csrf = authorizer.csrfIn(headers);
        return { body: { name, ...viewOfRight(actor), ...(csrf !== null && { csrf }) } };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/tokens`,
      summary: 'Make a token. The answer has it, and nobody is told it again.',
      body: { schema: tokenRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { created: tokenMade },
      handle: async (request) => {
        const token = `soda_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
        const record = recordOf(request, digestOf(token));
        await tokens.add(record, request.author);
        const { name, role: made } = record;
        return { kind: 'created', body: { ...viewOf(record), token }, logged: { name, made } };
      },
    },
    {
      method: 'GET',
      path: `${API_BASE}/tokens`,
      summary: 'The named tokens, by name; never what is to be sent.',
      query: tokenListQuery,
      replies: { done: tokenList },
      handle: ({ query }) => {
        const { limit, cursor = '' } = checkShape(tokenListQuery, query);
        const found = tokens.after(cursor, limit + 1);
        const page = found.slice(0, limit);
        const next = found.length > limit ? (page.at(-1)?.name ?? null) : null;
        return { body: { tokens: page.map(viewOf), next_cursor: next } };
      },
    },
    {
      method: 'DELETE',
      path: `${API_BASE}/token/{name}`,
      summary:
        'Revoke a token: it opens nothing from here on, and executors with it are sent away.',
      replies: { done: tokenCommandResponse },
      handle: async ({ params: { name = '' }, author }) => {
        if (!TOKEN_NAME_PATTERN.test(name)) {
          const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . -';
          throw invalidFields([{ field: 'name', message }]);
        }
        if (!(await tokens.remove(name, author)))
          throw new Problem('unknown', `There is no token ${name}.`);
        return { body: { name, code: answers.done.status } };
      },
    },
  ];
}

function recordOf({ body, actor }: ApiRequest, digest: string): TokenRecord {
  const { name, role, scope, expires_at } = validate(tokenRequest, body);
  const expiresAt = instantOf(expires_at);
  const now = Date.now();
  if (expiresAt !== null && expiresAt <= now) {
    const message = 'expected an instant that is yet to come';
    throw invalidFields([{ field: 'expires_at', message }]);
  }
  if (role === 'executor' && scope?.groups !== undefined) {
    const message = 'not for the role executor: what it is given to run is not told apart by group';
    throw invalidFields([{ field: 'scope.groups', message }]);
  }
  const made = { createdAt: now, createdBy: actor.name, lastUsedAt: null };
  return { name, digest, role, scope: scopeOf(scope), expiresAt, ...made };
}

function scopeOf({ namespaces, groups, types }: NonNullable<TokenRequest['scope']> = {}) {
  const listOf = (list: string[] | undefined) => (list === undefined ? null : [...new Set(list)]);
  const scope: Scope = {
    namespaces: listOf(namespaces),
    groups: listOf(groups),
    types: listOf(types),
  };
  return Object.values(scope).every((list) => list === null) ? null : scope;
}

function viewOf(record: TokenRecord): TokenView {
  const { name, createdAt, createdBy, lastUsedAt } = record;
  return {
    name,
    ...viewOfRight(record),
    created_at: iso(createdAt),
    created_by: createdBy,
    last_used_at: iso(lastUsedAt),
  };
}

function viewOfRight({
  role,
  scope,
  expiresAt,
}: Pick<TokenRecord, 'role' | 'scope' | 'expiresAt'>) {
  return {
    role,
    scope: scope && scopeView(scope),
    expires_at: iso(expiresAt),
  };
}

function scopeView({ namespaces, groups, types }: Scope): NonNullable<TokenView['scope']> {
  return {
    ...(namespaces && { namespaces: [...namespaces] }),
    ...(groups && { groups: [...groups] }),
    ...(types && { types: [...types] }),
  };
}
