/**
 * Writes rows of the audit into a transaction that is under way, as its last statements: whoever does so keeps all
 * others from it until the transaction has ended.
 *
 * The key and the head of the chain are rows of `installation`: `audit_key`, which the first change makes, and
 * `audit_head`. To replace the key, an operator renames its row to `audit_key_before`, and a digit where there is one:
 * the next change makes another, seals the head with it, and what was written under the older ones stays valid.
 */
import { randomBytes } from 'node:crypto';
import type { AuditRecord } from '../../../domain/model/audit.ts';
import {
  type Connection,
  type Dialect,
  plain,
  type Statement,
  type Types,
} from '../dialects/dialect.ts';
import { columns, type Row, type Value } from '../rows.ts';
import { type Head, hashOf, NO_LINK, sealed, unsealed } from './chain.ts';

const KEY = 'audit_key';
const HEAD = 'audit_head';
const KEY_BYTES = 32;

/** Rows that one hash is of, at most: so that any longer piece of the chain has one, and each is soon made. */
export const HASHED_COUNT_MAX = 50;

export const auditDefinition = (t: Types): string => `
  seq ${t.seq},
  made_at ${t.instant} NOT NULL,
  actor ${t.name(64)} NULL,
  role ${t.key(16)} NOT NULL,
  address ${t.key(64)} NOT NULL,
  action ${t.key(64)} NOT NULL,
  namespace ${t.key(32)} NULL,
  target ${t.name(128)} NULL,
  outcome ${t.key(16)} NOT NULL,
  filter_text ${t.text} NULL,
  item_count ${t.instant} NULL,
  state_before ${t.text} NULL,
  state_after ${t.text} NULL,
  reason ${t.text} NULL,
  hash ${t.key(64)} NULL`;

/** The table, and a row of `installation` that whoever writes the first row locks. */
export function createAudit(dialect: Dialect): string[] {
  const index = { name: 'made', columns: 'made_at, seq' };
  return [
    ...dialect.createTable('audit', auditDefinition(dialect.types), [index]),
    `INSERT INTO installation (name, value) SELECT '${HEAD}', '' FROM (SELECT 1) AS one
     WHERE NOT EXISTS (SELECT name FROM installation WHERE name = '${HEAD}')`,
  ];
}

/** Its number and its hash come when it is written. */
export const auditColumns = columns<AuditRecord>(
  ['made_at', 'integer', (record) => record.at],
  ['actor', 'text', (record) => record.actor],
  ['role', 'text', (record) => record.role],
  ['address', 'text', (record) => record.address],
  ['action', 'text', (record) => record.action],
  ['namespace', 'text', (record) => record.namespace],
  ['target', 'text', (record) => record.target],
  ['outcome', 'text', (record) => record.outcome],
  ['filter_text', 'text', (record) => record.filter],
  ['item_count', 'integer', (record) => record.count],
  ['state_before', 'text', (record) => record.before],
  ['state_after', 'text', (record) => record.after],
  ['reason', 'text', (record) => record.reason],
);
const WRITTEN = [
  { name: 'seq', kind: 'integer' },
  ...auditColumns,
  { name: 'hash', kind: 'text' },
] as const;

/** What is known of the chain beside its rows. */
export interface Chain {
  /** Null: none was made since the last was renamed, or ever. */
  readonly key: string | null;
  /** Under which rows may have been written. */
  readonly keys: readonly string[];
  /** Null: it is not as it was written. */
  readonly head: Head | null;
  readonly hasHead: boolean;
}

export const CHAIN = `SELECT name, value FROM installation
  WHERE name = '${HEAD}' OR name LIKE '${KEY}%'`;

/** Nobody else appends, or drops, before the transaction has ended. */
export async function lockChain(dialect: Dialect, connection: Connection): Promise<Chain> {
  const [outcome] = await dialect.run(connection, [plain(CHAIN + dialect.lockRow)]);
  return chainOf(outcome?.rows ?? []);
}

/** Of what `CHAIN` reads. */
export function chainOf(rows: readonly Row[]): Chain {
  const values = new Map(rows.map(({ name, value }) => [name as string, value as string]));
  const text = values.get(HEAD);
  const key = values.get(KEY) ?? null;
  const keys = [...values].filter(([name]) => name !== HEAD).map(([, value]) => value);
  const isNew = keys.length === 0 && (text ?? '') === '';
  // A newer key is made together with a head under it.
  const head = isNew
    ? { first: NO_LINK, last: NO_LINK, brokenSeq: null }
    : unsealed(key === null ? keys : [key], text ?? '');
  return { key, keys, head, hasHead: text !== undefined };
}

/** The one that is there, or another. */
export function keyOf({ key }: Chain): string {
  return key ?? randomBytes(KEY_BYTES).toString('base64url');
}

/** `key`: `keyOf` the chain. */
export function headWritten(chain: Chain, key: string, head: Head): Statement[] {
  const insert = (name: string, value: string): Statement => {
    const sql = 'INSERT INTO installation (name, value) VALUES (?, ?)';
    return { sql, runs: [[name, value]], touches: 1 };
  };
  const value = sealed(key, head);
  const set = `UPDATE installation SET value = ? WHERE name = '${HEAD}'`;
  return [
    ...(chain.key === null ? [insert(KEY, key)] : []),
    chain.hasHead ? { sql: set, runs: [[value]], touches: 1 } : insert(HEAD, value),
  ];
}

/** Its number, and all that is hashed, in order. */
const hashed = (record: AuditRecord, seq: number): Value[] => [
  seq,
  ...auditColumns.map(({ of }) => of(record, 0)),
];

/** As one link of the chain, or more where there are many. */
export async function appendAudit(
  dialect: Dialect,
  connection: Connection,
  records: readonly AuditRecord[],
): Promise<void> {
  const chain = await lockChain(dialect, connection);
  const [newest] = await dialect.run(connection, [plain('SELECT MAX(seq) AS seq FROM audit')]);
  // A head that was changed by hand may say less than there is.
  const newestSeq = (newest?.rows[0]?.['seq'] as number | null | undefined) ?? 0;
  const { first, last, brokenSeq } = chain.head ?? {
    first: NO_LINK,
    last: NO_LINK,
    brokenSeq: newestSeq + 1,
  };
  const key = keyOf(chain);
  let { hash } = last;
  let seq = Math.max(last.seq, newestSeq);
  const rows: Value[][] = [];
  for (let at = 0; at < records.length; at += HASHED_COUNT_MAX) {
    const some = records.slice(at, at + HASHED_COUNT_MAX).map((record) => hashed(record, ++seq));
    hash = hashOf(key, hash, some);
    const lastOfSome = some.length - 1;
    rows.push(...some.map((row, index) => [...row, index === lastOfSome ? hash : null]));
  }
  await dialect.run(connection, [
    ...dialect.insert('audit', WRITTEN, rows),
    ...headWritten(chain, key, { first, last: { seq, hash }, brokenSeq }),
  ]);
}
