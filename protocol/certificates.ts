/** What both ends of TLS say of certificates, for people. Reads and checks none. */

/** @throws {TypeError} naming `what`, unless it holds certificates in PEM, or is not given. */
export function expectCertificates(what: string, pem: string | undefined): void {
  if (pem === undefined) return;
  if (typeof pem === 'string' && pem.includes('-----BEGIN CERTIFICATE-----')) return;
  throw new TypeError(`${what}: expected certificates in PEM: -----BEGIN CERTIFICATE-----...`);
}

/** Certificates in a file that may be replaced at any time, as they are renewed. */
export class RenewedCertificates {
  readonly #read: () => string;
  readonly #onBroken: (why: string) => void;
  #pem: string;
  #isBroken = false;

  /**
   * `pem`: what `read` gave last. It throws where they cannot be used: `onBroken` is told of that once, until they can be
   * again.
   */
  constructor(read: () => string, pem: string, onBroken: (why: string) => void) {
    this.#read = read;
    this.#pem = pem;
    this.#onBroken = onBroken;
  }

  /** For the connection that is about to be made: those that there are, or were last that can be used. */
  get pem(): string {
    try {
      this.#pem = this.#read();
      this.#isBroken = false;
    } catch (error) {
      const wasBroken = this.#isBroken;
      this.#isBroken = true;
      if (!wasBroken) this.#onBroken(`${(error as Error).message}: what it held is trusted on`);
    }
    return this.#pem;
  }
}

const REMEDY = 'name its CA in SODA_CA_FILE, or by the option ca';
const TROUBLES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is not trusted: ${REMEDY}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate is not trusted: ${REMEDY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate is not trusted: ${REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT: `its certificate is not trusted: ${REMEDY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate is not trusted: ${REMEDY}`,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is the clock right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is made out to other names',
};

/** Why a certificate was refused, by the code of the error of Node; undefined: it is about something else. */
export function certificateTrouble(code: string | undefined): string | undefined {
  return code === undefined ? undefined : TROUBLES[code];
}
