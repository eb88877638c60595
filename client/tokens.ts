/** The calls about named tokens, and about what is done with them. They are about all of a master, whatever namespace the client is of. */
import {
  API_BASE,
  type AuditList,
  type AuditQuery,
  type AuditVerified,
  type AuditView,
  type TokenMade,
  type TokenRequest,
  type TokenView,
  type Whoami,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from './api-call.ts';
import { allOf, eachOf } from './pages.ts';

export interface TokenCalls {
  /** All of them by name, read page by page while iterated; never what is to be sent. */
  tokens(options?: CallOptions): AsyncIterableIterator<TokenView>;
  /**
   * Makes one: `token` of the answer is told this once. Asked once only, whatever `retryCount` is: where the answer
   * is lost, nobody knows the token, and it has to be revoked.
   */
  createToken(request: TokenRequest, options?: CallOptions): Promise<TokenMade>;
  /** It opens nothing from then on, and executors with it are sent away. */
  revokeToken(name: string, options?: CallOptions): Promise<void>;
  /** Whose the token of this client is, and what it opens. */
  whoami(options?: CallOptions): Promise<Whoami>;
}

export interface AuditCalls {
  readonly audit: {
    /** Newest first; read page by page while iterated, most of them empty where what is asked for is rare. */
    list(query?: AuditQuery, options?: CallOptions): AsyncIterableIterator<AuditView>;
    /** Whether all of it is as it was written, up to the first row that is not; read piece by piece. */
    verify(options?: CallOptions): Promise<Omit<AuditVerified, 'next_cursor'>>;
  };
}

export function tokenCalls(api: ApiCaller): TokenCalls {
  const path = `${API_BASE}/tokens`;
  return {
    tokens: (options) => allOf(api, path, 'tokens', options),
    async createToken(request, options = {}) {
      const call = { path, field: 'token', body: request, signal: signalOf(options) };
      return (await api.tryOnce({ method: 'POST', ...call })) as TokenMade;
    },
    async revokeToken(name, options = {}) {
      const one = `${API_BASE}/token/${encodeURIComponent(name)}`;
      await api.call({ method: 'DELETE', path: one, field: 'name', signal: signalOf(options) });
    },
    async whoami(options = {}) {
      const question = { path: `${API_BASE}/whoami`, field: 'role', signal: signalOf(options) };
      return (await api.call({ method: 'GET', ...question })) as Whoami;
    },
  };
}

export function auditCalls(api: ApiCaller): AuditCalls {
  const path = `${API_BASE}/audit`;
  return {
    audit: {
      list: (query = {}, options = {}) =>
        eachOf(
          async (cursor) => {
            const asked = { ...query, ...(cursor !== undefined && { cursor }) };
            const question = { path, field: 'changes', query: asked, signal: signalOf(options) };
            return (await api.call({ method: 'GET', ...question })) as AuditList;
          },
          ({ changes }) => changes,
        ),
      async verify(options = {}) {
        const verify = { path: `${path}/verify`, field: 'count', signal: signalOf(options) };
        let count = 0;
        let from: string | null = null;
        for (let cursor: string | undefined; ; ) {
          const query = { cursor };
          const piece = (await api.call({ method: 'GET', ...verify, query })) as AuditVerified;
          count += piece.count;
          from ??= piece.from;
          const { to, misfit, next_cursor } = piece;
          if (next_cursor === null) return { count, from, to, misfit };
          cursor = next_cursor;
        }
      },
    },
  };
}
