/** Notices an option that does not exist: without it a misspelt one would mean its default. */

/** @throws {TypeError} naming the option and the nearest that there is. */
export function expectKnown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(unknown.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const hint = nearest !== undefined && nearest.distance <= 4 ? nearest.name : null;
  throw new TypeError(
    `${unknown}: there is no such option${hint === null ? '' : `; did you mean ${hint}?`}`,
  );
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
