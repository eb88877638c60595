/** The directory of the embedded database and of the callback secret. Looks at nothing in it. */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes the directory if need be, for its owner only: it will hold what every task is about. One
 * that is there keeps the rights that it has.
 * @throws in words, where it cannot be made or written to.
 */
export function openDataDirectory(directory: string): void {
  let what = 'made';
  try {
    makeDirectory(path.resolve(directory));
    what = 'written to';
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    throw new Error(
      `the data directory ${directory} cannot be ${what}${isFile ? ', a file is in its place' : ''} ` +
        `(${code}): set SODA_DATA_DIR, or give the user of this process the right to write there`,
      { cause: error },
    );
  }
}

/**
 * Node's own `recursive` tries for ever where the parent is there and can hold no directory, as
 * `/proc`: in one call, which no signal ends.
 */
function makeDirectory(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found === undefined) makeDirectory(path.dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another master was first, perhaps.
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
