/** The calls about shared limits, which tasks of many types take of while they run. */
import type { LimitRequest, LimitView } from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

export interface LimitCalls {
  readonly limits: {
    /** All of them by name; read page by page while iterated. */
    list(options?: CallOptions): AsyncIterableIterator<LimitView>;
    get(name: string, options?: CallOptions): Promise<LimitView>;
    /** Sets it, or changes it: from here on it holds. What has more of it already goes on. */
    put(name: string, limit: LimitRequest, options?: CallOptions): Promise<LimitView>;
    /** Refused while a type uses it. */
    delete(name: string, options?: CallOptions): Promise<void>;
  };
}

export function limitCalls(api: ApiCaller): LimitCalls {
  const field = 'name';
  const pathOf = (name: string) => `${api.base}/limit/${encodeURIComponent(name)}`;
  return {
    limits: {
      list: (options) => allOf(api, `${api.base}/limits`, 'limits', options),
      async get(name, options = {}) {
        const signal = signalOf(options);
        return (await api.call({ method: 'GET', path: pathOf(name), field, signal })) as LimitView;
      },
      async put(name, limit, options = {}) {
        const call = { method: 'PUT', path: pathOf(name), field, body: limit } as const;
        return (await api.call({ ...call, signal: signalOf(options) })) as LimitView;
      },
      async delete(name, options = {}) {
        const signal = signalOf(options);
        await api.call({ method: 'DELETE', path: pathOf(name), field, signal });
      },
    },
  };
}
