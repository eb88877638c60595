/** Names that were given and do not exist: without a word a misspelt one would mean its default. */

/** @throws {TypeError} naming the option that there is not, and the nearest that there is. */
export function expectKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${unknown}: there is no such option${didYouMean(unknown, known)}`);
}

/** `; did you mean maxRetries?`, or nothing where none is near. */
export function didYouMean(unknown: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(unknown.toLowerCase(), name.toLowerCase()) }))
    .toSorted(
      (a, b) =>
        a.distance - b.distance ||
        sharedBeginning(unknown, b.name) - sharedBeginning(unknown, a.name),
    );
  const isNear =
    nearest !== undefined &&
    nearest.distance <= Math.min(4, Math.max(unknown.length, nearest.name.length) / 2);
  return isNear ? `; did you mean ${nearest.name}?` : '';
}

/** Of names that are as near, the one that begins alike is meant. */
function sharedBeginning(a: string, b: string): number {
  const end = [...a].findIndex((letter, index) => letter !== b[index]);
  return end < 0 ? a.length : end;
}

/** Levenshtein's: single letters inserted, removed or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
