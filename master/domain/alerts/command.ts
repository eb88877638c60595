/** Commands of the remedies that alerts name: whoever pastes one acts in the namespace that it is about. */

/** The one that commands mean where neither they nor `SODA_NAMESPACE` name one. */
const DEFAULT_NAMESPACE = 'default';

/** @param words as `task why a`. */
export function commandIn(namespace: string, words: string): string {
  return `soda ${words}${namespace === DEFAULT_NAMESPACE ? '' : ` --namespace ${namespace}`}`;
}
