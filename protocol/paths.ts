/** Where a master is found, and what of it where: the paths that both ends of the wire agree on. */
import { NAMESPACE_PATTERN } from './limits.ts';

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
    '(?:/(?:tasks?|executors?|namespaces?|types?|limits?|pauses?|resume|tokens?|audit|history|whoami|' +
    'events|logs|views?|operations?|alerts?|alert-(?:rules?|receivers?)|reports|health|governance|session|jobs?|calendars?|blackouts|bookings?)(?:/[^?#]*)?)?/?(?=[?#]|$)',
  'i',
);

/** Where the master is, of a URL that may have been copied together with that base, or a route. */
export function withoutApiBase(url: string): string {
  return url.replace(COPIED, '$1');
}

/** @throws {TypeError} who calls there would send a password that stands in the URL in place of the token. */
export function expectNoPassword(url: { readonly username: string; readonly password: string }) {
  const { username, password } = url;
  if (username === '' && password === '') return;
  throw new TypeError(
    'url: expected one without a user or password, which would be sent in place of the token: ' +
      'give the token by SODA_TOKEN, or by the option token',
  );
}

/**
 * The namespace that is meant: the one given, or that of a URL which was copied so, or the default one.
 * @throws {TypeError} it is no name of a namespace, or the two differ.
 */
export function namespaceOf(url: string, given: string | undefined): string {
  const copied = COPIED.exec(url)?.[2];
  const name = given ?? copied ?? DEFAULT_NAMESPACE;
  // An empty one too: a variable that is not set must not lead to the tasks of others.
  if (typeof name !== 'string' || !NAMESPACE_PATTERN.test(name)) {
    throw new TypeError(
      `namespace: expected 1 to 32 characters of a-z 0-9 -, as in "video-eu", not "${name}"`,
    );
  }
  if (copied !== undefined && copied !== name) {
    throw new TypeError(`namespace: the url names "${copied}", and "${name}" is asked for`);
  }
  return name;
}
