/** The calls about named tokens: of all of a master, whatever namespace the client is of. */
import {
  API_BASE,
  type TokenMade,
  type TokenRequest,
  type TokenView,
  type Whoami,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

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
