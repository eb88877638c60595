/** The directory of the embedded database and of the callback secret. Looks at nothing in it. */
import { accessSync, constants, mkdirSync } from 'node:fs';

/**
 * Makes the directory if need be, for its owner only: it will hold what every task is about. One
 * that is there keeps the rights that it has.
 * @throws in words, where it cannot be made or written to.
 */
export function openDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const what = isFile ? 'made, a file is in its place' : 'written to';
    throw new Error(
      `the data directory ${directory} cannot be ${what} (${code}): set SODA_DATA_DIR, ` +
        'or give the user of this process the right to write there',
      { cause: error },
    );
  }
}
