/** The packages of a built clone of any version, by what they export: so that one scenario runs each alike. */
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

interface Packages {
  readonly master: typeof import('@soda-scheduler/master');
  readonly 'executor-sdk': typeof import('@soda-scheduler/executor-sdk');
}

const THIS_CLONE = fileURLToPath(new URL('../..', import.meta.url));

/** @param clone its folder; without one, what this clone has. */
export async function packageOf<Name extends keyof Packages>(
  name: Name,
  clone: string = THIS_CLONE,
): Promise<Packages[Name]> {
  return (await import(pathToFileURL(entryOf(name, clone)).href)) as Packages[Name];
}

/** Why that folder cannot be run as a clone, or would run parts of another, in one sentence; null: it can be. */
export function problemOf(folder: string): string | null {
  const root = path.resolve(folder);
  // Also what the two of them bring along.
  for (const name of ['master', 'executor-sdk', 'protocol']) {
    try {
      const entry = entryOf(name, root);
      if (!entry.startsWith(realpathSync(root) + path.sep))
        return `${root} would run @soda-scheduler/${name} of another folder: ${entry}`;
    } catch {
      return `${root} is not a clone of Soda that is installed and built: @soda-scheduler/${name} is not there`;
    }
  }
  return null;
}

function entryOf(name: string, clone: string): string {
  return createRequire(path.join(clone, 'package.json')).resolve(`@soda-scheduler/${name}`);
}
