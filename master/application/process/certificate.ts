/**
 * The certificate of the master, looked at again while it runs: who renews it restarts nothing. What cannot be
 * used never takes the place of what can. Reads no file, and knows no socket.
 */
import type { Clock, Log } from '../ports.ts';
import type { Duties, Duty, Found } from './duties.ts';
import type { Part } from './lifecycle.ts';

/** Files are looked at, not watched: what Kubernetes and certbot replace is a link. */
const PERIOD_MS = 10_000;
const DAY_SECONDS = 86_400;

export interface TlsPair {
  /** PEM, as the key. */
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly expiresAt: number;
  readonly isKeyOpen: boolean;
}

export interface CertificateOptions {
  /** Reads it anew. Rejects, in words for people, where it cannot be used. */
  readonly read: () => Promise<TlsPair>;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
}

export class Certificate implements Part {
  readonly #options: CertificateOptions;
  readonly #duty: Duty;
  #pair: TlsPair;
  #take: (pair: TlsPair) => void = () => undefined;
  /** Why what is there now is not in use; null: it is. */
  #trouble: string | null = null;
  #callOff: () => void = () => undefined;
  #isStopped = false;

  private constructor(pair: TlsPair, options: CertificateOptions) {
    this.#pair = pair;
    this.#options = options;
    this.#duty = options.duties.add('tls_certificate', PERIOD_MS);
  }

  /** Rejects as `read` does. */
  static async begin(options: CertificateOptions): Promise<Certificate> {
    const certificate = new Certificate(await options.read(), options);
    certificate.#tell('the master speaks TLS');
    return certificate;
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  /** Until it expires, by the wall clock; below zero once it has. */
  get secondsLeft(): number {
    return this.#leftOf(this.#pair);
  }

  /** Another one is there, and cannot be used. */
  get isStale(): boolean {
    return this.#trouble !== null;
  }

  /** Who is to be given each pair that takes the place of another: one at a time. */
  onChange(take: (pair: TlsPair) => void): void {
    this.#take = take;
  }

  start(): void {
    const { clock } = this.#options;
    this.#callOff = clock.wakeAt(clock.now() + PERIOD_MS, () => void this.#run());
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff();
  }

  async #run(): Promise<void> {
    await this.#duty.run(() => this.#look()).catch((error: Error) => this.#keep(error.message));
    if (!this.#isStopped) this.start();
  }

  async #look(): Promise<Found> {
    const read = await this.#options.read();
    const { cert, key } = this.#pair;
    const isSame = read.cert.equals(cert) && read.key.equals(key);
    if (!isSame && this.#leftOf(read) <= 0 && this.secondsLeft > 0) {
      throw new Error('SODA_TLS_CERT: it has expired, and the one in use has not');
    }
    this.#trouble = null;
    if (isSame) return { foundCount: 0, doneCount: 0 };
    this.#take(read);
    this.#pair = read;
    this.#tell('the certificate was replaced');
    return { foundCount: 1, doneCount: 1 };
  }

  #leftOf({ expiresAt }: TlsPair): number {
    const { clock } = this.#options;
    return (expiresAt - clock.now() - clock.departureMs()) / 1000;
  }

  /** Said once for each trouble: it may last. */
  #keep(trouble: string): void {
    if (trouble !== this.#trouble) {
      const fields = { event: 'tls', error: trouble };
      this.#options.log.error('the new certificate cannot be used: the old one is kept', fields);
    }
    this.#trouble = trouble;
  }

  #tell(message: string): void {
    const { log } = this.#options;
    const fields = { event: 'tls', days_left: Math.floor(this.secondsLeft / DAY_SECONDS) };
    if (this.secondsLeft > 0) log.info(message, fields);
    else log.error(`${message}, with a certificate that has expired`, fields);
    if (this.#pair.isKeyOpen) {
      log.warn('every user of this machine can read SODA_TLS_KEY: chmod o-r it', { event: 'tls' });
    }
  }
}
