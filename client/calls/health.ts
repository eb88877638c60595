/** How the work flows. */
import type { HealthView } from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';

export interface HealthCalls {
  /**
   * Whether work flows, whether started tasks succeed, how old these figures are, and what is in the way. Answers
   * also while the master cannot do anything else: look at `status`.
   */
  health(options?: CallOptions): Promise<HealthView>;
}

export function healthCalls(api: ApiCaller): HealthCalls {
  return {
    async health(options = {}) {
      const [path, signal] = [`${api.base}/health`, signalOf(options)];
      return (await api.call({ method: 'GET', path, field: 'status', signal })) as HealthView;
    },
  };
}
