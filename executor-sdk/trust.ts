/** Which certificates are trusted where nobody says, as the client does too. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expectCertificates } from '@soda-scheduler/protocol';

/** Undefined: none is named. */
export function caFileOfEnvironment(): string | undefined {
  // A variable without a value is none.
  return process.env['SODA_CA_FILE'] || undefined;
}

/** The file that `SODA_CA_FILE` names: it may be replaced at any time, as certificates are renewed. */
export class CaFile {
  readonly #path: string;
  readonly #onBroken: (why: string) => void;
  #pem: string;
  #isBroken = false;

  /** `pem`: what it held when it was read last. `onBroken` is told once, until it can be used again. */
  constructor(path: string, pem: string, onBroken: (why: string) => void) {
    this.#path = path;
    this.#pem = pem;
    this.#onBroken = onBroken;
  }

  /** For the connection that is about to be made: what it holds, or held last that can be used. */
  get pem(): string {
    try {
      this.#pem = readCa(this.#path);
      this.#isBroken = false;
    } catch (error) {
      const wasBroken = this.#isBroken;
      this.#isBroken = true;
      if (!wasBroken) this.#onBroken(`${(error as Error).message}: what it held is trusted on`);
    }
    return this.#pem;
  }
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
