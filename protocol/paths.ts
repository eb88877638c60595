/** Where a master is found, and what of it where: the paths that both ends of the wire agree on. */

/** The port a master listens on unless told otherwise. */
export const DEFAULT_PORT = 18890;
/** The subprotocol a session asks for in the WebSocket upgrade. */
export const SUBPROTOCOL = 'soda.v2';
/** The base of every HTTP route but the probes. */
export const API_BASE = '/scheduler/v2';
/** Where an executor of the default namespace dials in. */
export const EXECUTOR_PATH = `${API_BASE}/executor`;
/** The namespace of all that names none. */
export const DEFAULT_NAMESPACE = 'default';

/** The base of the routes of a namespace. Of the default one it is that of 2.0.0, which knows no other. */
export function apiBaseOf(namespace: string): string {
  return namespace === DEFAULT_NAMESPACE ? API_BASE : `${API_BASE}/ns/${namespace}`;
}

/** Where an executor of a namespace dials in. */
export function executorPathOf(namespace: string): string {
  return `${apiBaseOf(namespace)}/executor`;
}

/** Behind the host and what a proxy puts before it: the base, perhaps with a namespace and a route. */
const COPIED = new RegExp(
  `^([a-z]+://[^/?#]+(?:/[^?#]*?)?)${API_BASE}(?:/ns/([^/?#]+))?` +
    '(?:/(?:tasks?|executors?|namespaces?)(?:/[^?#]*)?)?/?(?=[?#]|$)',
  'i',
);

/** Where the master is, of a URL that may have been copied together with that base, or a route. */
export function withoutApiBase(url: string): string {
  return url.replace(COPIED, '$1');
}

/** The namespace in a URL that was copied so; null where it names none. It need not be a valid one. */
export function namespaceIn(url: string): string | null {
  return COPIED.exec(url)?.[2] ?? null;
}
