/** The calls about what has been changed, by whom: in all of a master, whatever namespace the client is of. */
import {
  API_BASE,
  type AuditQuery,
  type AuditVerified,
  type AuditView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

export interface AuditCalls {
  readonly audit: {
    /** Newest first; read page by page while iterated, most of them empty where what is asked for is rare. */
    list(query?: AuditQuery, options?: CallOptions): AsyncIterableIterator<AuditView>;
    /** Whether all of it is as it was written, up to the first row that is not; read piece by piece. */
    verify(options?: CallOptions): Promise<Omit<AuditVerified, 'next_cursor'>>;
  };
}

export function auditCalls(api: ApiCaller): AuditCalls {
  const path = `${API_BASE}/audit`;
  return {
    audit: {
      list: (query, options) => allOf(api, path, 'changes', options, query),
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
