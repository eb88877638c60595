/** What people set by name, rules and receivers: as it is in the store, in memory too. */
import { type AlertReceiver, type AlertRule, shownUrl } from '../../domain/alerts/rule.ts';
import { type Author, changeMadeBy, type Fields } from '../../domain/model/audit.ts';
import type { AuditRecord } from '../../domain/model/audit.ts';

/** There are as many of them as there may be. */
export class TooManyOfAlerts extends Error {
  override readonly name = 'TooManyOfAlerts';
}

interface NamedOptions<T> {
  readonly countMax: number;
  /** For the audit. */
  readonly fieldsOf: (one: T) => Fields;
  readonly write: (name: string, one: T | null, audit: AuditRecord | null) => Promise<void>;
}

export class Named<T extends { readonly name: string }> {
  readonly #options: NamedOptions<T>;
  readonly #all = new Map<string, T>();

  constructor(options: NamedOptions<T>) {
    this.#options = options;
  }

  get byName(): ReadonlyMap<string, T> {
    return this.#all;
  }

  /** They are in the store, and no others. */
  take(all: readonly T[]): void {
    this.#all.clear();
    for (const one of all) this.#all.set(one.name, one);
  }

  /** True: it is new. @throws {TooManyOfAlerts} */
  async set(one: T, author: Author | null, now: number): Promise<boolean> {
    const { countMax } = this.#options;
    const known = this.#all.get(one.name);
    if (known === undefined && this.#all.size >= countMax) {
      throw new TooManyOfAlerts(`There are ${countMax} of them: delete one that is not needed.`);
    }
    await this.#write(one.name, known ?? null, one, author, now);
    this.#all.set(one.name, one);
    return known === undefined;
  }

  /** False: there is none. */
  async delete(name: string, author: Author | null, now: number): Promise<boolean> {
    const known = this.#all.get(name);
    if (known === undefined) return false;
    await this.#write(name, known, null, author, now);
    this.#all.delete(name);
    return true;
  }

  #write(target: string, from: T | null, to: T | null, author: Author | null, now: number) {
    const { fieldsOf, write } = this.#options;
    const change = { target, before: from && fieldsOf(from), after: to && fieldsOf(to) };
    return write(target, to, changeMadeBy(author, now, change));
  }
}

export function ruleFields({
  name: _,
  windowMs,
  repeatMs,
  checkCount,
  isEnabled,
  ...rule
}: AlertRule) {
  return {
    ...rule,
    window_ms: windowMs,
    repeat_ms: repeatMs,
    checks: checkCount,
    enabled: isEnabled,
  };
}

/** What it is known by is none of it; that it has that, is. */
export function receiverFields({ name: _, secret, url, ...receiver }: AlertReceiver): Fields {
  return { ...receiver, url: url && shownUrl(url), secret: secret === null ? null : '(set)' };
}
