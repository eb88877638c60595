/**
 * The calls about what holds for tasks of many types: shared limits, which they take of while they run; and pauses of
 * groups, labels, namespaces and all of them. Those of types are with the types.
 */
import type {
  LimitRequest,
  LimitView,
  PauseCommandResponse,
  PauseList,
  PauseRequest,
  ResumeRequest,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from './api-call.ts';
import { allOf } from './pages.ts';

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

/** What is paused, by whom, why, and until when. */
export type ScopedPause = PauseList['pauses'][number];

export interface PauseCalls {
  readonly pauses: {
    /** What is paused here, types too; read page by page while iterated. */
    list(options?: CallOptions): AsyncIterableIterator<ScopedPause>;
    /** Once it resolves nothing of that is begun, until then or until it is resumed. What runs goes on. */
    begin(pause: PauseRequest, options?: CallOptions): Promise<PauseCommandResponse>;
    /** Where there is no such pause nothing changes. */
    end(what: ResumeRequest, options?: CallOptions): Promise<PauseCommandResponse>;
  };
}

export function pauseCalls(api: ApiCaller): PauseCalls {
  const call = async (command: string, body: object, options: CallOptions) => {
    const path = `${api.base}/${command}`;
    const asked = { method: 'POST', path, field: 'pauses', body } as const;
    return (await api.call({ ...asked, signal: signalOf(options) })) as PauseCommandResponse;
  };
  return {
    pauses: {
      list: (options) => allOf(api, `${api.base}/pauses`, 'pauses', options),
      begin: async (pause, options = {}) => call('pause', pause, options),
      end: async (what, options = {}) => call('resume', what, options),
    },
  };
}
