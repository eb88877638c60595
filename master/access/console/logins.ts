/**
 * Who has logged in at the console. A cookie that no page can read stands for the token it was given for, which is
 * looked up anew with every request: a token that is revoked or over ends what was begun with it. Kept in memory:
 * after a restart of the master people log in again. Never keeps a token, nor what the cookie says.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LOGINS_MAX, TOKEN_LOGINS_MAX } from '../../domain/bounds.ts';
import { digestOf } from '../digest.ts';
import { Problem } from '../http/problem.ts';
import { WrongLogins } from './wrong-logins.ts';

type Headers = IncomingMessage['headers'];

const COOKIE_BYTES = 32;
/** Of a digest of the place, at the end of the name of the cookie. */
const PLACE_LENGTH = 8;
const HOUR_MS = 3_600_000;
/** Without a request; and in all. */
const IDLE_MS = 12 * HOUR_MS;
const LIFE_MS = 7 * 24 * HOUR_MS;

interface Login {
  /** Of the token. */
  readonly digest: string;
  readonly endsAt: number;
  usedAt: number;
}

export class Logins {
  /** Those that were none. */
  readonly wrong: WrongLogins;
  readonly #now: () => number;
  readonly #name: string;
  readonly #cookie: RegExp;
  /** By what their cookies say, digested; whoever was here last is the last. */
  readonly #byCookie = new Map<string, Login>();

  /** @param place Where this master is: to a browser the cookies of all ports of a host are of one place. */
  constructor(place: string, now: () => number) {
    this.#now = now;
    this.wrong = new WrongLogins(now);
    this.#name = `soda_session_${digestOf(place).slice(0, PLACE_LENGTH)}`;
    this.#cookie = new RegExp(`(?:^|;\\s*)${this.#name}=([\\w-]{43})(?:;|$)`);
  }

  /** The headers that make it the login of whoever reads the answer. Beyond a bound the one that was idle for longest ends: of its token, or of all. */
  begin(digest: string, { origin = '' }: Headers): Readonly<Record<string, string>> {
    const now = this.#now();
    const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
    this.#byCookie.set(digestOf(cookie), { digest, endsAt: now + LIFE_MS, usedAt: now });
    const ofToken = [...this.#byCookie].filter(([, login]) => login.digest === digest);
    this.#endIdlest(
      ofToken.map(([key]) => key),
      TOKEN_LOGINS_MAX,
    );
    this.#endIdlest([...this.#byCookie.keys()], LOGINS_MAX);
    return this.#cookieOf(cookie, LIFE_MS / 1000, origin.startsWith('https:'));
  }

  #endIdlest(keys: readonly string[], count: number): void {
    const [idlest] = keys;
    if (keys.length > count && idlest !== undefined) this.#byCookie.delete(idlest);
  }

  /** The digest of the token that the cookie of a request stands for, which is used now; null: it stands for none. */
  use(headers: Headers): string | null {
    const key = this.#keyIn(headers);
    const login = key === null ? undefined : this.#byCookie.get(key);
    if (key === null || login === undefined) return null;
    const now = this.#now();
    this.#byCookie.delete(key);
    if (now >= login.endsAt || now - login.usedAt >= IDLE_MS) return null;
    login.usedAt = now;
    this.#byCookie.set(key, login);
    return login.digest;
  }

  /** The headers that make the cookie be forgotten: here it is already. */
  end(headers: Headers): Readonly<Record<string, string>> {
    const key = this.#keyIn(headers);
    if (key !== null) this.#byCookie.delete(key);
    return this.#cookieOf('', 0, false);
  }

  /** What a page has to send with whatever changes something; null: there is no cookie. No other page can know it. */
  csrfIn(headers: Headers): string | null {
    const said = this.#saidIn(headers);
    return said === null ? null : digestOf(`csrf ${said}`);
  }

  /** Of a request that only its cookie speaks for. @throws {Problem} it may be a page of somebody else that asks. */
  checkPage({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): void {
    refuseForeignPage(headers);
    if (method === 'GET' || method === 'HEAD') return;
    const given = headers['x-soda-csrf'];
    const expected = this.csrfIn(headers);
    if (expected !== null && typeof given === 'string' && isSame(given, expected)) return;
    throw new Problem(
      'forbidden',
      'A request that changes something and has a cookie in place of a token needs x-soda-csrf, as GET /whoami tells it.',
    );
  }

  #keyIn(headers: Headers): string | null {
    const said = this.#saidIn(headers);
    return said === null ? null : digestOf(said);
  }

  #saidIn({ cookie = '' }: Headers): string | null {
    return this.#cookie.exec(cookie)?.[1] ?? null;
  }

  #cookieOf(value: string, seconds: number, isSecure: boolean): Record<string, string> {
    const secure = isSecure ? '; Secure' : '';
    const kept = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    return { 'Set-Cookie': `${this.#name}=${value}; ${kept}` };
  }
}

/**
 * Browsers say for whom they ask: in `Sec-Fetch-Site`, or, where the page came without TLS, in `Origin` only.
 * @throws {Problem}
 */
export function refuseForeignPage({ host, origin, 'sec-fetch-site': site }: Headers): void {
  const isOurs =
    typeof site === 'string'
      ? site === 'same-origin' || site === 'none'
      : origin === undefined || hostOf(origin) === host;
  if (!isOurs) throw new Problem('forbidden', 'Web pages of others are not served.');
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
