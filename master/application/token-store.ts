/** What the application needs of the store of tokens: see `ports.ts`. */
import type { AuditRecord } from '../domain/model/audit.ts';

/** `admin` includes `operate`, and that `read`; `submit` and `executor` stand by themselves. */
export type Role = 'read' | 'submit' | 'operate' | 'admin' | 'executor';

/** What somebody may see and touch: one of each list; null: any. */
export interface Scope {
  readonly namespaces: readonly string[] | null;
  readonly groups: readonly string[] | null;
  readonly types: readonly string[] | null;
}

/** A token as it is stored. Itself nobody knows but who was told it once. */
export interface TokenRecord {
  /** Unique. */
  readonly name: string;
  /** SHA-256 of the token, in base64url. */
  readonly digest: string;
  readonly role: Role;
  /** Null: everything. */
  readonly scope: Scope | null;
  readonly createdAt: number;
  /** The name of a token; null: whoever needs none. */
  readonly createdBy: string | null;
  /** From when on it opens nothing. */
  readonly expiresAt: number | null;
  /** To the minute. */
  readonly lastUsedAt: number | null;
}

/** The tokens of the database, of all namespaces. `Store.open` comes first. */
export interface TokenStore {
  list(): Promise<TokenRecord[]>;
  /** False: there is one of that name. */
  add(record: TokenRecord, audit?: AuditRecord | null): Promise<boolean>;
  remove(name: string, audit?: AuditRecord | null): Promise<void>;
  /** When tokens were used last; of those that are there. Some hundred at a time. */
  noteUses(uses: readonly Pick<TokenRecord, 'name' | 'lastUsedAt'>[]): Promise<void>;
}
