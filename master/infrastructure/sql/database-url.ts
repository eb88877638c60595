/**
 * What a database URL says, and what is wrong with one. Connects to nothing, and never repeats the
 * URL: there is a password in it.
 */

export type DatabaseUrl =
  | { readonly file: string }
  | { readonly server: URL }
  /** Begins with `expected`: how it is to be written. */
  | { readonly problem: string };

const FORMS = 'sqlite:<path> or mysql://user:password@host:port/database (or mariadb://...)';
const ENCODED =
  'in the user and the password, percent-encode what has a meaning in a URL: ' +
  '%25 for %, %2F for /, %3A for :, %40 for @, %3F for ?, %23 for #';

/** `sqlite:<file>`, or a MySQL or MariaDB server with a database on it. */
export function readDatabaseUrl(text: string): DatabaseUrl {
  if (text.startsWith('sqlite:')) {
    const file = text.slice('sqlite:'.length);
    return file === '' ? { problem: `expected ${FORMS}` } : { file };
  }
  if (!/^(mysql|mariadb):\/\//i.test(text)) return { problem: `expected ${FORMS}` };
  if (!URL.canParse(text)) return { problem: `expected ${FORMS}; ${ENCODED}` };
  const server = new URL(text);
  const { username, password, hostname, pathname, hash, searchParams } = server;
  if (hostname === '') return { problem: `expected ${FORMS}` };
  // A `/`, `?` or `#` in the password ends the part that it is in: the true host comes behind it.
  const behind = [pathname, hash, ...searchParams.keys()];
  if (hash !== '' || behind.some((part) => part.includes('@'))) {
    return { problem: `expected ${FORMS}; ${ENCODED}` };
  }
  if (![username, password, pathname].every(isEncoded)) {
    return { problem: `expected two hexadecimal digits behind each %; ${ENCODED}` };
  }
  const unknown = [...searchParams.keys()].filter((name) => name !== 'ssl');
  if (unknown.length > 0) {
    return { problem: `expected no parameter but ssl in the URL, not ${unknown.join(', ')}` };
  }
  if (pathname.length <= 1) {
    return { problem: 'expected the name of a database behind the host: mysql://.../database' };
  }
  return { server };
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
