/** What a child gets of the environment: names that are listed, and never what this process holds besides. */

/** Enough for a program to find others, its home and its language. */
const ORDINARY = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** @param passed Names that the operator has listed; those that are not set are left out. */
export function environmentFor(
  passed: readonly string[],
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [...ORDINARY, ...passed]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...given };
}
