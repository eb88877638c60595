/** Which namespaces there are; and every route about tasks and executors, in each of them. */
import {
  API_BASE,
  DEFAULT_NAMESPACE,
  HTTP_LIMITS,
  NAMESPACE_PATTERN,
  type NamespaceView as View,
} from '@soda-scheduler/protocol';
import {
  namespaceCommandResponse,
  namespaceList,
  namespaceListQuery,
  namespaceSettings,
  namespaceView,
} from '@soda-scheduler/protocol/schemas';
import type { Scope } from '../../application/ports.ts';
import type {
  NamespaceChange,
  NamespacesHandle,
  NamespaceView,
} from '../../application/process/namespaces-handle.ts';
import { answers } from '../http/answers.ts';
import { checkShape, validate } from '../body/fields.ts';
import { instantOf } from '../body/instants.ts';
import { invalidFields } from '../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Route } from '../http/route.ts';
import { within } from '../scoped-master.ts';
import { includes } from '../scope.ts';
import { pauseView } from './views.ts';

/** Of the routes of a namespace, in the table of routes. */
export const NAMESPACE_BASE = `${API_BASE}/ns/{namespace}`;
/** And in a URL, with the name as the first group. */
export const IN_NAMESPACE = new RegExp(`^${API_BASE}/ns/([a-z0-9-]{1,32})/`);

/** Each twice: for `default`, and for the namespace that its path names. */
export function inNamespaces(
  namespaces: Pick<NamespacesHandle, 'use'>,
  routes: readonly NamespaceRoute[],
): Route[] {
  return routes.flatMap((route) => {
    const handle = (request: ApiRequest) =>
      namespaces.use(nameOf(request), ({ master }) => {
        const { actor, author } = request;
        // Of a submit nothing is kept, and it stands in no line.
        const own = route.hot === true ? master : master.by(author, actor.name ?? '');
        return route.handle(request, within(actor, own));
      });
    const path = route.path.replace(API_BASE, NAMESPACE_BASE);
    return [
      { ...route, handle, isInNamespace: true },
      { ...route, path, handle, isInNamespace: true },
    ];
  });
}

export function namespaceRoutes(namespaces: NamespacesHandle): Route[] {
  const path = `${API_BASE}/namespace/{namespace}`;
  return [
    {
      method: 'GET',
      path: `${API_BASE}/namespaces`,
      summary: 'The namespaces, by name, with what waits and runs in each.',
      query: namespaceListQuery,
      replies: { done: namespaceList },
      handle: ({ query, actor }) => ({
        body: pageOf(namespaces, actor.scope, checkShape(namespaceListQuery, query)),
      }),
    },
    {
      method: 'GET',
      path,
      summary: 'A namespace: its settings, and what waits and runs in it.',
      replies: { done: namespaceView },
      handle: async (request) => ({
        body: viewOf(await namespaces.get(nameOf(request)), namespaces),
      }),
    },
    {
      method: 'PUT',
      path,
      summary: 'Make a namespace, or change its settings. What is left out stays as it is.',
      body: { schema: namespaceSettings, bytesMax: HTTP_LIMITS.bodyBytesMax, optional: true },
      replies: { done: namespaceView, created: namespaceView },
      handle: async (request) => {
        const change = changeOf(request);
        const { view, isNew } = await namespaces.put(nameOf(request), change, request.author);
        return { kind: isNew ? 'created' : 'done', body: viewOf(view, namespaces) };
      },
    },
    {
      method: 'DELETE',
      path,
      summary: 'Delete a namespace without tasks that live, callbacks to send, and executors.',
      replies: { done: namespaceCommandResponse },
      handle: async (request) => {
        const name = nameOf(request);
        await namespaces.delete(name, request.author);
        return { body: { name, code: answers.done.status } };
      },
    },
  ];
}

function nameOf({ params }: ApiRequest): string {
  const { namespace = DEFAULT_NAMESPACE } = params;
  if (NAMESPACE_PATTERN.test(namespace)) return namespace;
  const message = 'expected 1 to 32 characters of a-z 0-9 -';
  throw invalidFields([{ field: 'namespace', message }]);
}

function pageOf(
  namespaces: NamespacesHandle,
  scope: Scope | null,
  { limit, cursor = '' }: { readonly limit: number; readonly cursor?: string | undefined },
) {
  const rest = namespaces
    .list()
    .filter(({ record: { name } }) => name > cursor && includes(scope, 'namespaces', name));
  const page = rest.slice(0, limit);
  const next = rest.length > limit ? (page.at(-1)?.record.name ?? null) : null;
  return { namespaces: page.map((view) => viewOf(view, namespaces)), next_cursor: next };
}

function viewOf(
  { record, counts, pausedCount }: NamespaceView,
  { pauseOfAll }: Pick<NamespacesHandle, 'pauseOfAll'>,
): View {
  const { name, paused: own, retention, maxWaiting, maxRunning } = record;
  const paused = pauseOfAll ?? own;
  return {
    name,
    paused: paused && { scope: pauseOfAll === null ? 'namespace' : 'all', ...pauseView(paused) },
    pauses: pausedCount,
    retention,
    max_waiting: maxWaiting,
    max_running: maxRunning,
    counts,
  };
}

/** What is not said stays as it is. */
function changeOf({ body, actor: { name: by } }: ApiRequest): NamespaceChange {
  const { paused, max_waiting, max_running, retention } = validate(namespaceSettings, body);
  return {
    ...(max_waiting !== undefined && { maxWaiting: max_waiting }),
    ...(max_running !== undefined && { maxRunning: max_running }),
    ...(retention !== undefined && { retention }),
    ...(paused !== undefined && {
      paused: paused && { by, reason: paused.reason ?? null, until: instantOf(paused.until) },
    }),
  };
}
