/** Which certificates are trusted where nobody says, as the client does too. */
import { readFileSync } from 'node:fs';

/** What is in the file that `SODA_CA_FILE` names; undefined: none is named. @throws {TypeError} */
export function caOfEnvironment(): string | undefined {
  const file = process.env['SODA_CA_FILE'];
  // A variable without a value is none.
  if (file === undefined || file === '') return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TypeError(`SODA_CA_FILE: ${file} cannot be read (${code})`, { cause: error });
  }
}
