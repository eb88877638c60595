/** Reads the certificate that the master shows, and its key. Keeps nothing, and knows no socket. */
import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

export interface PairFiles {
  /** PEM: the certificate, then those between it and its CA. */
  readonly cert: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/**
 * A pair that TLS can be spoken with; whether it has expired is not looked at.
 * @throws naming the variable whose file is wrong, or both where they do not belong together.
 */
export async function readTlsPair(files: PairFiles) {
  const [cert, key] = await Promise.all([
    readNamed('SODA_TLS_CERT', files.cert),
    readNamed('SODA_TLS_KEY', files.key),
  ]);
  const leaf = parsed('SODA_TLS_CERT', 'holds no certificate', () => new X509Certificate(cert));
  parsed('SODA_TLS_KEY', 'holds no key without a passphrase', () => createSecureContext({ key }));
  const both = 'SODA_TLS_CERT, SODA_TLS_KEY';
  parsed(both, 'do not belong together', () => createSecureContext({ cert, key }));
  return {
    cert,
    key,
    expiresAt: Date.parse(leaf.validTo),
    /** Every user of this machine can read the key. */
    isKeyOpen: ((await stat(files.key)).mode & 0o004) !== 0,
  };
}

async function readNamed(variable: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${variable}: ${file} cannot be read (${code})`, { cause: error });
  }
}

function parsed<T>(variable: string, complaint: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${variable}: ${complaint} (${why})`, { cause: error });
  }
}
