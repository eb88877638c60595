/**
 * The named tokens: all of them are in memory, so that whoever comes with one waits for no store, and a
 * change holds from its commit on. Knows a token by its digest only.
 */
import { TOKEN_SCOPES_LENGTH_MAX, TOKEN_USES_COUNT_MAX, TOKENS_MAX } from '../../domain/bounds.ts';
import { type Author, changeMadeBy, type Fields } from '../../domain/model/audit.ts';
import type { Clock, Log, Store, TokenRecord } from '../ports.ts';
import { Turnstile } from '../turnstile.ts';
import type { Part } from './lifecycle.ts';

const SWEEP_MS = 1_000;
/** Between two notes that a token is in use. */
const NOTE_MS = 60_000;
/** Few, and one after another. */
const CHANGES = { countMax: 1, waitingMax: 100, what: 'changes of tokens' };

/** No token can be made: there is one of that name, or there are too many. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

export interface TokensOptions {
  readonly store: Pick<Store, 'tokens'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Waits for the answer of the store as long as it is worth. @throws {Unavailable} */
  readonly ask: <T>(question: () => Promise<T>) => Promise<T>;
  /** Some may not be valid any more. Called often. */
  readonly onChange: () => void;
}

interface Holder {
  readonly record: TokenRecord;
  usedAt: number | null;
  /** The use that is, or is about to be, in the store, and since when. */
  notedUse: number | null;
  notedAt: number;
}

export class Tokens implements Part {
  readonly #options: TokensOptions;
  readonly #changes = new Turnstile(CHANGES);
  #byName = new Map<string, Holder>();
  #byDigest = new Map<string, Holder>();
  #scopesLength = 0;
  #isLoaded = false;
  /** A change failed, and nobody knows whether it took place. */
  #isStale = false;
  #isNoting = false;
  #callOff: () => void = () => undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** False: nobody can say yet whether a token is valid. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Of those that are known, also expired ones. */
  get count(): number {
    return this.#byName.size;
  }

  /** Reads all of them. What is in use already stays so. */
  async load(): Promise<void> {
    const before = this.#byName;
    this.#isStale = false;
    const records = await this.#options.store.tokens.list().catch((error: unknown) => {
      this.#isStale = true;
      throw error;
    });
    this.#byName = new Map();
    this.#byDigest = new Map();
    this.#scopesLength = 0;
    for (const record of records) this.#keep(record, before.get(record.name));
    this.#isLoaded = true;
    this.#options.onChange();
  }

  start(): void {
    const { clock } = this.#options;
    const sweep = (): void => {
      this.#options.onChange();
      void this.#noteUses();
      if (this.#isStale) void this.#changes.during(() => this.load()).catch(() => undefined);
      this.#callOff = clock.wakeAt(clock.now() + SWEEP_MS, sweep);
    };
    this.#callOff = clock.wakeAt(clock.now() + SWEEP_MS, sweep);
  }

  stop(): void {
    this.#callOff();
  }

  /** The one with that digest, which is used now; null: there is none, or it has expired. */
  use(digest: string): TokenRecord | null {
    const holder = this.#byDigest.get(digest);
    const now = this.#options.clock.now();
    if (holder === undefined || hasExpired(holder.record, now)) return null;
    holder.usedAt = now;
    return holder.record;
  }

  /** The one with that digest, where it opened something once; null: there is none, or it does still. */
  expired(digest: string): TokenRecord | null {
    const record = this.#byDigest.get(digest)?.record;
    return record !== undefined && hasExpired(record, this.#options.clock.now()) ? record : null;
  }

  /** Why it opens nothing any more; null: it does. */
  endOf({ digest, expiresAt }: Pick<TokenRecord, 'digest' | 'expiresAt'>): string | null {
    if (hasExpired({ expiresAt }, this.#options.clock.now())) return 'its token has expired';
    return this.#byDigest.has(digest) ? null : 'its token was revoked';
  }

  /** Up to `count` of them by name, after that one. */
  after(name: string, count: number): readonly TokenRecord[] {
    const names = [...this.#byName.keys()].filter((one) => one > name).sort();
    return names.slice(0, count).flatMap((one) => {
      const holder = this.#byName.get(one);
      return holder === undefined ? [] : [{ ...holder.record, lastUsedAt: holder.usedAt }];
    });
  }

  /**
   * It opens what it opens once this has resolved. `author`: for whom; null: for nobody, and it is not kept.
   * @throws {TokenRefused} @throws {Unavailable}
   */
  async add(record: TokenRecord, author: Author | null = null): Promise<void> {
    const audit = changeMadeBy(author, this.#options.clock.now(), {
      target: record.name,
      before: null,
      after: fieldsOf(record),
    });
    const refusal = await this.#change(async () => {
      const why = this.#refusalOf(record);
      if (why !== null) return why;
      const isAdded = await this.#write(() => this.#options.store.tokens.add(record, audit));
      // Somebody else has made it.
      if (!isAdded) await this.load();
      else this.#keep(record);
      return isAdded ? null : takenName(record);
    });
    if (refusal !== null) throw new TokenRefused(refusal);
  }

  #refusalOf(record: TokenRecord): string | null {
    if (this.#byName.has(record.name)) return takenName(record);
    if (this.#byName.size >= TOKENS_MAX) {
      return `There are ${TOKENS_MAX} tokens: revoke one that is not needed.`;
    }
    if (this.#scopesLength + scopeLength(record) <= TOKEN_SCOPES_LENGTH_MAX) return null;
    return `The scopes of all tokens would have more than ${TOKEN_SCOPES_LENGTH_MAX} characters.`;
  }

  /** It opens nothing once this has resolved. False: there is none. @throws {Unavailable} */
  remove(name: string, author: Author | null = null): Promise<boolean> {
    return this.#change(async () => {
      const holder = this.#byName.get(name);
      if (holder === undefined) return false;
      const before = fieldsOf(holder.record);
      const audit = changeMadeBy(author, this.#options.clock.now(), {
        target: name,
        before,
        after: null,
      });
      await this.#write(() => this.#options.store.tokens.remove(name, audit));
      this.#byName.delete(name);
      this.#byDigest.delete(holder.record.digest);
      this.#scopesLength -= scopeLength(holder.record);
      this.#options.onChange();
      return true;
    });
  }

  /** It goes on where nobody waits for it any more: what is in memory is what was committed. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.ask(() =>
      this.#changes.during(async () => {
        if (this.#isStale) await this.load();
        return work();
      }),
    );
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #keep(record: TokenRecord, before?: Holder): void {
    const usedAt = before?.record.digest === record.digest ? before.usedAt : record.lastUsedAt;
    const notedAt = before?.notedAt ?? 0;
    const holder = { record, usedAt, notedUse: record.lastUsedAt, notedAt };
    this.#byName.set(record.name, holder);
    this.#byDigest.set(record.digest, holder);
    this.#scopesLength += scopeLength(record);
  }

  async #noteUses(): Promise<void> {
    if (this.#isNoting) return;
    this.#isNoting = true;
    try {
      const now = this.#options.clock.now();
      const isDue = ({ usedAt, notedUse, notedAt }: Holder): boolean =>
        usedAt !== notedUse && now - notedAt >= NOTE_MS;
      const due = [...this.#byName.values()].filter(isDue).slice(0, TOKEN_USES_COUNT_MAX);
      if (due.length === 0) return;
      const uses = due.map(({ record: { name }, usedAt }) => ({ name, lastUsedAt: usedAt }));
      // Also where it fails: nobody depends on it, and the next use is noted again.
      for (const holder of due) {
        holder.notedUse = holder.usedAt;
        holder.notedAt = now;
      }
      await this.#options.store.tokens.noteUses(uses);
    } catch (error) {
      this.#options.log.debug('uses of tokens were not noted', { error: String(error) });
    } finally {
      this.#isNoting = false;
    }
  }
}

function takenName({ name }: TokenRecord): string {
  return `There is a token ${name}: revoke it first, or choose another name.`;
}

/** Without what a token is known by. */
function fieldsOf({ role, scope, expiresAt, createdBy }: TokenRecord): Fields {
  return { role, scope, expires_at: expiresAt, created_by: createdBy };
}

function hasExpired({ expiresAt }: Pick<TokenRecord, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function scopeLength({ scope }: TokenRecord): number {
  if (scope === null) return 0;
  const lists = [scope.namespaces, scope.groups, scope.types];
  return lists.flatMap((list) => list ?? []).reduce((sum, one) => sum + one.length, 0);
}
