/** Reads the certificate that the master shows, and its key. Keeps nothing, and knows no socket. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { BoundedFile, type Content } from './bounded-file.ts';

export interface PairFiles {
  /** PEM: the certificate, then those between it and its CA. */
  readonly cert: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/**
 * Reads a pair that TLS can be spoken with; whether it has expired is not looked at. Rejects naming the variable whose
 * file is wrong, or both where they do not belong together.
 */
export function tlsPairReader(files: PairFiles) {
  const certFile = new BoundedFile(files.cert);
  const keyFile = new BoundedFile(files.key);
  return async () => {
    const cert = (await readNamed('SODA_TLS_CERT', files.cert, certFile)).bytes;
    const { bytes: key, mode } = await readNamed('SODA_TLS_KEY', files.key, keyFile);
    const leaf = parsed('SODA_TLS_CERT', 'holds no certificate', () => new X509Certificate(cert));
    parsed('SODA_TLS_KEY', 'holds no key without a passphrase', () => createSecureContext({ key }));
    parsed('SODA_TLS_CERT', 'holds what TLS does not take', () => secureOf(cert));
    // OpenSSL says nothing of two that are of different kinds.
    if (!leaf.checkPrivateKey(createPrivateKey(key))) {
      throw new Error('SODA_TLS_CERT, SODA_TLS_KEY: do not belong together');
    }
    parsed('SODA_TLS_CERT, SODA_TLS_KEY', 'cannot be used', () =>
      createSecureContext({ cert, key }),
    );
    return {
      cert,
      key,
      expiresAt: Date.parse(leaf.validTo),
      /** Every user of this machine can read the key. */
      isKeyOpen: (mode & 0o004) !== 0,
    };
  };
}

/** @throws in words where it is below the floor that OpenSSL has for keys and signatures. */
function secureOf(cert: Buffer): void {
  try {
    createSecureContext({ cert });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!/_(?:KEY_TOO_SMALL|MD_TOO_WEAK)$/.test(code)) throw error;
    const why = message.replace(/^.*::/, '');
    throw new Error(`a key or a signature that is too weak for it: ${why}`, { cause: error });
  }
}

async function readNamed(variable: string, path: string, file: BoundedFile): Promise<Content> {
  try {
    return await file.read();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${variable}: ${path} cannot be read (${code ?? message})`, { cause: error });
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
