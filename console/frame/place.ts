/**
 * Where one is: the part of the URL behind `#` says all of it (namespace, page, what is looked at, filters), so that a
 * link shows somebody else the same, and the buttons of the browser do what they say.
 */
export interface Place {
  readonly namespace: string;
  /** `tasks`, `task`, and so on; empty: the first page. */
  readonly page: string;
  /** What is looked at, by its name; null: all of them. */
  readonly name: string | null;
  readonly query: Readonly<Record<string, string>>;
}

const HASH = /^#?\/?(?:ns\/([a-z0-9-]{1,32})(?:\/|$))?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;

export function placeOf(hash: string): Place {
  const [, namespace = 'default', page = '', name = '', query = ''] = HASH.exec(hash) ?? [];
  return {
    namespace,
    page,
    name: name === '' ? null : decoded(name),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** `{ page: 'task', name: 'clip-1' }` -> `#/task/clip-1`. */
export function hrefOf({ namespace, page, name = null, query = {} }: PlaceLike): string {
  const twin = namespace === 'default' ? '' : `/ns/${namespace}`;
  const rest = name === null ? '' : `/${encodeURIComponent(name)}`;
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(pairs as [string, string][]).toString();
  return `#${twin}/${page}${rest}${search === '' ? '' : `?${search}`}`;
}

export interface PlaceLike {
  readonly namespace: string;
  readonly page: string;
  readonly name?: string | null;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
