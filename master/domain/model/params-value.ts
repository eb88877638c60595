/** Reads one value of params, which the scheduler otherwise keeps as text. */

/**
 * @param pointer RFC 6901. The value there as JSON text, the same for equal values: members of objects in the order of
 * their names. Null: there is none.
 */
export function valueAt(params: string, pointer: string): string | null {
  let value: unknown = JSON.parse(params);
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    // Of an array the numbers of its items only: its length is nothing that was sent.
    if (Array.isArray(value) && name === 'length') return null;
    value = (value as Record<string, unknown>)[name];
  }
  return value === undefined ? null : JSON.stringify(value, inOrder);
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
