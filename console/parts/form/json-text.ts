/** JSON as text that is changed in places: what nobody has touched keeps every digit. */

/** An object with these members, each as it is written; those that are undefined are left out. */
export function joined(
  keys: readonly string[],
  textAt: (key: string) => string | undefined,
): string {
  const members = keys.flatMap((key) => {
    const value = textAt(key);
    return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`];
  });
  return `{${members.join(',')}}`;
}
