/**
 * Numbers of namespaces, and the numbers that belong to each. Every number that the engine of a
 * namespace gives is one of its own: so it is unique in the database, and says whose it is. Pure.
 */

/** The namespace of paths that name none. */
export const DEFAULT_NAMESPACE_ID = 0;

/** Its first one stays free: counting begins with 1. */
const NUMBERS_PER_NAMESPACE = 2 ** 40;

/** In the life of a store, `default` among them: beyond it numbers would no longer be exact. */
export const NAMESPACE_COUNT_MAX = 8_192;

/** The `n`th number of a namespace, from 1; with 0, the one before them. */
export function inNamespace(namespaceId: number, n: number): number {
  return namespaceId * NUMBERS_PER_NAMESPACE + n;
}
