/** The calls about namespaces. They are about all of a master, whatever namespace the client is of. */
import { API_BASE, type NamespaceSettings, type NamespaceView } from '@soda-scheduler/protocol';
import { type ApiCaller, type Call, type CallOptions, signalOf } from '../api-call.ts';
import { allOf } from '../pages.ts';

export interface NamespaceCalls {
  /** All of them by name, read page by page while iterated. */
  namespaces(options?: CallOptions): AsyncIterableIterator<NamespaceView>;
  namespace(name: string, options?: CallOptions): Promise<NamespaceView>;
  /** Makes it, or changes it: what is left out stays as it is. */
  setNamespace(
    name: string,
    settings?: NamespaceSettings,
    options?: CallOptions,
  ): Promise<NamespaceView>;
  /** Refused while it has tasks that have not ended, callbacks that are due, or executors. */
  deleteNamespace(name: string, options?: CallOptions): Promise<void>;
}

export function namespaceCalls(api: ApiCaller): NamespaceCalls {
  const pathOf = (name: string) => `${API_BASE}/namespace/${encodeURIComponent(name)}`;
  const call = async (method: Call['method'], name: string, more: Partial<Call>) =>
    (await api.call({ method, path: pathOf(name), field: 'name', ...more })) as NamespaceView;
  return {
    namespaces: (options) => allOf(api, `${API_BASE}/namespaces`, 'namespaces', options),
    async namespace(name, options = {}) {
      return call('GET', name, { signal: signalOf(options) });
    },
    async setNamespace(name, settings = {}, options = {}) {
      return call('PUT', name, { body: settings, signal: signalOf(options) });
    },
    async deleteNamespace(name, options = {}) {
      await call('DELETE', name, { signal: signalOf(options) });
    },
  };
}
