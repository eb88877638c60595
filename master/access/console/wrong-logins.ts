/**
 * Slows whoever guesses tokens at the login of the console, by the address he comes from. What was begun already, and
 * requests with a token of their own, never ask here. Knows no token.
 */
import { Problem } from '../http/problem.ts';

/** Wrong logins of one address in a minute; beyond it none from there is looked at for a minute. */
export const WRONG_LOGINS_PER_MINUTE_MAX = 10;
/** Addresses of which they are counted. */
export const WRONG_LOGIN_ADDRESSES_MAX = 1_000;
const MINUTE_MS = 60_000;

interface Wrong {
  count: number;
  /** When they are forgotten. */
  endsAt: number;
}

export class WrongLogins {
  readonly #now: () => number;
  /** Of each address; beyond the bound the one that began first is forgotten. */
  readonly #byAddress = new Map<string, Wrong>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What a login from there comes to, which counts where it knows no token. @throws {Problem} too many from there were wrong: it is not tried. */
  guard<T>(address: string, logIn: () => T): T {
    const wrong = this.#wrongOf(address);
    if (wrong !== undefined && wrong.count >= WRONG_LOGINS_PER_MINUTE_MAX) {
      const seconds = Math.ceil((wrong.endsAt - this.#now()) / 1000);
      const detail = `Too many wrong logins have come from this address: try again in ${seconds} s.`;
      throw new Problem('full', detail, { retryAfter: seconds });
    }
    try {
      return logIn();
    } catch (error) {
      if (error instanceof Problem && error.kind === 'noToken') this.#note(address, wrong);
      throw error;
    }
  }

  /** With the last that is let through the minute begins anew. */
  #note(address: string, wrong: Wrong | undefined): void {
    const endsAt = this.#now() + MINUTE_MS;
    if (wrong !== undefined) {
      wrong.count++;
      if (wrong.count === WRONG_LOGINS_PER_MINUTE_MAX) wrong.endsAt = endsAt;
      return;
    }
    this.#byAddress.set(address, { count: 1, endsAt });
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > WRONG_LOGIN_ADDRESSES_MAX && oldest !== undefined) {
      this.#byAddress.delete(oldest);
    }
  }

  #wrongOf(address: string): Wrong | undefined {
    const wrong = this.#byAddress.get(address);
    if (wrong === undefined || this.#now() < wrong.endsAt) return wrong;
    this.#byAddress.delete(address);
    return undefined;
  }
}
