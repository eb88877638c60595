/** The calls about pauses of groups, labels, namespaces and all of them. Those of types are with the types. */
import type {
  PauseCommandResponse,
  PauseList,
  PauseRequest,
  ResumeRequest,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

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
