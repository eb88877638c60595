/** JSON as text that is changed in places: what nobody has touched keeps every digit. */

/** An object with these members, each as it is written; those that are undefined are left out. */
export function joined(members: Iterable<readonly [string, string | undefined]>): string {
  const texts: string[] = [];
  for (const [key, value] of members) {
    if (value !== undefined) texts.push(`${JSON.stringify(key)}:${value}`);
  }
  return `{${texts.join(',')}}`;
}
