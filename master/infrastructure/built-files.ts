/** Reads the console and the documentation as the build has left them. All is held: what replaces it is for the next start. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
};

/** By name; none, where the first of the folders that is there is empty, or none of them is. */
export function readBuiltFiles(
  folders: readonly URL[],
): ReadonlyMap<string, { readonly contentType: string; readonly bytes: Buffer }> {
  for (const folder of folders) {
    const names = namesIn(folder);
    if (names === null) continue;
    return new Map(
      names.flatMap((name) => {
        const contentType = CONTENT_TYPES[extname(name)];
        if (contentType === undefined) return [];
        return [[name, { contentType, bytes: readFileSync(new URL(name, folder)) }]];
      }),
    );
  }
  return new Map();
}

function namesIn(folder: URL): string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
