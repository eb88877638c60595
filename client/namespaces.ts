/** The calls about namespaces. They are about all of a master, whatever namespace the client is of. */
import {
  API_BASE,
  type NamespaceList,
  type NamespaceSettings,
  type NamespaceView,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from './api-call.ts';

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
  const field = 'name';
  const pathOf = (name: string) => `${API_BASE}/namespace/${encodeURIComponent(name)}`;
  return {
    namespaces: (options = {}) =>
      listNamespaces(async (cursor) => {
        const path = `${API_BASE}/namespaces`;
        const call = { method: 'GET', path, field: 'namespaces', query: { cursor } } as const;
        return (await api.call({ ...call, signal: signalOf(options) })) as NamespaceList;
      }),
    async namespace(name, options = {}) {
      const signal = signalOf(options);
      return (await api.call({
        method: 'GET',
        path: pathOf(name),
        field,
        signal,
      })) as NamespaceView;
    },
    async setNamespace(name, settings = {}, options = {}) {
      const signal = signalOf(options);
      const path = pathOf(name);
      return (await api.call({
        method: 'PUT',
        path,
        field,
        body: settings,
        signal,
      })) as NamespaceView;
    },
    async deleteNamespace(name, options = {}) {
      await api.call({ method: 'DELETE', path: pathOf(name), field, signal: signalOf(options) });
    },
  };
}

async function* listNamespaces(
  page: (cursor: string | undefined) => Promise<NamespaceList>,
): AsyncIterableIterator<NamespaceView> {
  let cursor: string | undefined;
  for (;;) {
    const { namespaces, next_cursor } = await page(cursor);
    yield* namespaces;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}
