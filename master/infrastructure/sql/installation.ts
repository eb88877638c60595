/**
 * What all masters of one database share. The pause of all namespaces; and what nobody else may know, the secret that
 * proofs of attempts are made with. The first master makes it. To replace it, an operator renames the row
 * `mac_secret` to `mac_secret_before` and starts the master again: both are valid then.
 */
import { randomBytes } from 'node:crypto';
import type { AuditRecord } from '../../domain/model/audit.ts';
import type { Pause } from '../../domain/model/pause.ts';
import { appendAudit } from './audit/append.ts';
import type { Database } from './database.ts';
import { plain, type Statement, type Types } from './dialects/dialect.ts';

export const installationDefinition = (t: Types): string => `
  name ${t.key(64)} NOT NULL PRIMARY KEY,
  value ${t.text} NOT NULL`;

const NEWEST = 'mac_secret';
const BEFORE = 'mac_secret_before';
const SECRET_BYTES = 32;
const PAUSE = 'pause';

/** Of all namespaces; null: there is none. */
export async function readPause(database: Database): Promise<Pause | null> {
  const [row] = await database.rows('SELECT value FROM installation WHERE name = ?', [PAUSE]);
  return row === undefined ? null : (JSON.parse(row['value'] as string) as Pause);
}

export async function keepPause(
  database: Database,
  pause: Pause | null,
  audit: AuditRecord | null,
): Promise<void> {
  const { dialect } = database;
  const gone = { sql: 'DELETE FROM installation WHERE name = ?', runs: [[PAUSE]], touches: null };
  const sql = 'INSERT INTO installation (name, value) VALUES (?, ?)';
  const come: Statement[] =
    pause === null ? [] : [{ sql, runs: [[PAUSE, JSON.stringify(pause)]], touches: null }];
  await database.transaction(async (connection) => {
    await dialect.run(connection, [plain(dialect.begin)]);
    // First: whoever looks for the head of the chain among these rows would hold that, and wait here.
    if (audit !== null) await appendAudit(dialect, connection, [audit]);
    await dialect.run(connection, [gone, ...come]);
  });
}

/** Base64url, newest first. */
export async function keepSecrets(database: Database): Promise<readonly string[]> {
  const secrets = await readSecrets(database);
  if (secrets.has(NEWEST)) return inOrder(secrets);
  const value = randomBytes(SECRET_BYTES).toString('base64url');
  try {
    await database.rows('INSERT INTO installation (name, value) VALUES (?, ?)', [NEWEST, value]);
  } catch (error) {
    // Another master that starts at the same time has been first: its secret counts.
    if (!database.dialect.isDuplicate(error)) throw error;
  }
  return inOrder(await readSecrets(database));
}

async function readSecrets(database: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows('SELECT name, value FROM installation WHERE name IN (?, ?)', [
    NEWEST,
    BEFORE,
  ]);
  return new Map(rows.map((row) => [String(row['name']), String(row['value'])]));
}

function inOrder(secrets: ReadonlyMap<string, string>): string[] {
  return [NEWEST, BEFORE].flatMap((name) => secrets.get(name) ?? []);
}
