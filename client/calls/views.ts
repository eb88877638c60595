/** The calls about saved views: lists that people look at again and again, shared by all of a namespace. */
import type { ViewQuery, ViewView } from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

export interface ViewCalls {
  readonly views: {
    /** All of them by name; read page by page while iterated. */
    list(options?: CallOptions): AsyncIterableIterator<ViewView>;
    /** Saves it, in place of what had that name. */
    put(name: string, query: ViewQuery, options?: CallOptions): Promise<ViewView>;
    delete(name: string, options?: CallOptions): Promise<void>;
  };
}

export function viewCalls(api: ApiCaller): ViewCalls {
  const field = 'name';
  const pathOf = (name: string) => `${api.base}/view/${encodeURIComponent(name)}`;
  return {
    views: {
      list: (options) => allOf(api, `${api.base}/views`, 'views', options),
      async put(name, query, options = {}) {
        const call = { method: 'PUT', path: pathOf(name), field, body: { query } } as const;
        return (await api.call({ ...call, signal: signalOf(options) })) as ViewView;
      },
      async delete(name, options = {}) {
        const signal = signalOf(options);
        await api.call({ method: 'DELETE', path: pathOf(name), field, signal });
      },
    },
  };
}
