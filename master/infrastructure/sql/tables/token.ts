/** Tokens as rows, of all namespaces together. Itself a token is in none of them. */
import type { Role, Scope, TokenRecord, TokenStore } from '../../../application/ports.ts';
import type { AuditRecord } from '../../../domain/model/audit.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../database.ts';
import { plain, type Statement, type Types } from '../dialects/dialect.ts';
import { columns, type Row } from '../rows.ts';

export const tokenDefinition = (t: Types): string => `
  name ${t.key(64)} NOT NULL PRIMARY KEY,
  digest ${t.key(64)} NOT NULL,
  role ${t.key(16)} NOT NULL,
  scope ${t.text} NULL,
  created_at ${t.instant} NOT NULL,
  created_by ${t.name(64)} NULL,
  expires_at ${t.instant} NULL,
  last_used_at ${t.instant} NULL`;

const tokenColumns = columns<TokenRecord>(
  ['name', 'text', (record) => record.name],
  ['digest', 'text', (record) => record.digest],
  ['role', 'text', (record) => record.role],
  ['scope', 'text', ({ scope }) => scope && JSON.stringify(scope)],
  ['created_at', 'integer', (record) => record.createdAt],
  ['created_by', 'text', (record) => record.createdBy],
  ['expires_at', 'integer', (record) => record.expiresAt],
  ['last_used_at', 'integer', (record) => record.lastUsedAt],
);
const NAMES = tokenColumns.map(({ name }) => name);

export class TokenRows implements TokenStore {
  readonly #database: Database;

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database) {
    this.#database = database;
  }

  async list(): Promise<TokenRecord[]> {
    const rows = await this.#database.rows(`SELECT ${NAMES.join(', ')} FROM token`);
    return rows.map(recordOf);
  }

  async add(record: TokenRecord, audit: AuditRecord | null = null): Promise<boolean> {
    const places = NAMES.map(() => '?').join(', ');
    const sql = `INSERT INTO token (${NAMES.join(', ')}) VALUES (${places})`;
    const values = tokenColumns.map(({ of }) => of(record, 0));
    try {
      await this.#write({ sql, runs: [values], touches: null }, audit);
      return true;
    } catch (error) {
      if (this.#database.dialect.isDuplicate(error)) return false;
      throw error;
    }
  }

  remove(name: string, audit: AuditRecord | null = null): Promise<void> {
    const sql = 'DELETE FROM token WHERE name = ?';
    return this.#write({ sql, runs: [[name]], touches: null }, audit);
  }

  noteUses(uses: readonly Pick<TokenRecord, 'name' | 'lastUsedAt'>[]): Promise<void> {
    return this.#write({
      sql: 'UPDATE token SET last_used_at = ? WHERE name = ?',
      runs: uses.map(({ name, lastUsedAt }) => [lastUsedAt, name]),
      touches: null,
    });
  }

  #write(statement: Statement, audit: AuditRecord | null = null): Promise<void> {
    const { dialect } = this.#database;
    return this.#database.transaction(async (connection) => {
      const [, outcome] = await dialect.run(connection, [plain(dialect.begin), statement]);
      if (audit !== null && outcome?.touched === 1) await appendAudit(dialect, connection, [audit]);
    });
  }
}

function recordOf(row: Row): TokenRecord {
  const get = <T>(name: string): T => row[name] as T;
  const scope = get<string | null>('scope');
  return {
    name: get('name'),
    digest: get('digest'),
    role: get<Role>('role'),
    scope: scope === null ? null : (JSON.parse(scope) as Scope),
    createdAt: get('created_at'),
    createdBy: get('created_by'),
    expiresAt: get('expires_at'),
    lastUsedAt: get('last_used_at'),
  };
}
