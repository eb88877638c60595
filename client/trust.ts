/** Which certificates are trusted where nobody says, as executors do too. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expectCertificates } from '@soda-scheduler/protocol';

/** Undefined: none is named. */
export function caFileOfEnvironment(): string | undefined {
  // A variable without a value is none.
  return process.env['SODA_CA_FILE'] || undefined;
}

/** @throws {TypeError} it cannot be used. */
export function readCa(path: string): string {
  const what = `SODA_CA_FILE: ${path}`;
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new TypeError(`${what} cannot be read (${code})`, { cause: error });
  }
  expectCertificates(what, pem);
  try {
    // TLS takes one that is torn for none at all.
    void new X509Certificate(pem);
  } catch (error) {
    throw new TypeError(`${what} holds a certificate that cannot be read`, { cause: error });
  }
  return pem;
}
