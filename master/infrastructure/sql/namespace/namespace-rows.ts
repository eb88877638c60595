/**
 * The rows of namespaces: makes them, changes their settings, marks them as deleted. Whose term it is
 * they say too, but that is the business of `terms.ts`.
 */
import type { NamespaceRecord } from '../../../application/ports.ts';
import {
  DEFAULT_NAMESPACE_ID,
  inNamespace,
  NAMESPACE_COUNT_MAX,
  NamespaceLimit,
} from '../../../application/ports.ts';
import { WHOLE_TABLES } from '../../../domain/changes.ts';
import type { AuditRecord } from '../../../domain/model/audit.ts';
import { NOT_OVER } from '../bookings/booking-table.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../database.ts';
import type { Connection, Statement } from '../dialects/dialect.ts';
import { plain } from '../dialects/dialect.ts';
import type { History } from '../history.ts';
import type { Row } from '../rows.ts';
import { tables } from '../tables/all.ts';
import { outboxOf } from '../tables/history.ts';
import { SETTINGS, settingsOf, settingsValues } from './settings.ts';

const LIST = `SELECT id, name, created_at, ${SETTINGS.join(', ')} FROM namespace`;
const SET = SETTINGS.map((name) => `${name} = ?`).join(', ');

/** Masters that make namespaces at the same time: each time one of them has been first. */
const MAKE_TRIES_MAX = 5;
/** Tables that one statement asks for all namespaces: SQLite answers none of it before it has asked all. */
const TABLE_COUNT = 10;

export class NamespaceRows {
  readonly #database: Database;
  readonly #history: History;
  #making: Promise<unknown> = Promise.resolve();

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database, history: History) {
    this.#database = database;
    this.#history = history;
  }

  async list(): Promise<NamespaceRecord[]> {
    const rows = await this.#database.rows(`${LIST} WHERE is_deleted = 0 ORDER BY id`);
    return rows.map(recordOf);
  }

  /** One by one: each takes the number after the newest. @see Store.createNamespace */
  create(record: Omit<NamespaceRecord, 'id'>, audit: AuditRecord | null): Promise<NamespaceRecord> {
    const made = this.#making.then(() => this.#create(record, audit));
    this.#making = made.catch(() => undefined);
    return made;
  }

  async #create(
    record: Omit<NamespaceRecord, 'id'>,
    audit: AuditRecord | null,
  ): Promise<NamespaceRecord> {
    for (let tries = 1; ; tries++) {
      await this.#revive(record, audit);
      const [found] = await this.#database.rows(`${LIST} WHERE name = ?`, [record.name]);
      if (found !== undefined) return recordOf(found);
      const [newest] = await this.#database.rows('SELECT MAX(id) AS id FROM namespace');
      const id = (newest?.['id'] as number) + 1;
      if (id >= NAMESPACE_COUNT_MAX) {
        throw new NamespaceLimit(
          `${NAMESPACE_COUNT_MAX} namespaces have been made in this database, which has no numbers for more`,
        );
      }
      try {
        await this.#insert(id, record, audit);
      } catch (error) {
        // The name, or the number.
        if (!this.#database.dialect.isDuplicate(error) || tries === MAKE_TRIES_MAX) throw error;
      }
    }
  }

  /** One that was deleted comes back with new settings. */
  #revive(record: Omit<NamespaceRecord, 'id'>, audit: AuditRecord | null): Promise<void> {
    const revive = {
      sql: `UPDATE namespace SET is_deleted = 0, created_at = ?, ${SET}
        WHERE name = ? AND is_deleted = 1`,
      runs: [[record.createdAt, ...settingsValues(record), record.name]],
      touches: null,
    };
    return this.#write(revive, audit);
  }

  #insert(
    id: number,
    record: Omit<NamespaceRecord, 'id'>,
    audit: AuditRecord | null,
  ): Promise<void> {
    const begin = ['id', 'name', 'created_at', 'is_deleted', 'term', 'owner', 'started_at'];
    const row = [id, record.name, record.createdAt, 0, 0, '', 0, inNamespace(id, 1)];
    const values = [...row, ...settingsValues(record)];
    const places = values.map(() => '?').join(', ');
    const insert = {
      sql: `INSERT INTO namespace (${[...begin, 'next_seq', ...SETTINGS].join(', ')}) VALUES (${places})`,
      runs: [values],
      touches: null,
    };
    return this.#write(insert, audit);
  }

  /** @see Store.deleteNamespace */
  async delete(id: number, audit: AuditRecord | null): Promise<boolean> {
    if (id === DEFAULT_NAMESPACE_ID) return false;
    const { dialect } = this.#database;
    return this.#transaction(async (connection) => {
      // Whoever commits waits for this row, and then finds that its term is over.
      const lock: Statement = {
        sql: `SELECT id FROM namespace WHERE id = ?${dialect.lockRow}`,
        runs: [[id]],
        touches: null,
      };
      await dialect.run(connection, [lock]);
      const hasWork = await this.#history.reading(() => this.#hasWork(connection, id));
      if (hasWork) return false;
      const mark: Statement = {
        sql: `UPDATE namespace SET is_deleted = 1, term = term + 1, owner = ''
          WHERE id = ? AND is_deleted = 0`,
        runs: [[id]],
        touches: null,
      };
      // Whoever makes it again begins with no types, executors and the like, and with what is left of its history.
      const empty = WHOLE_TABLES.map((name): Statement => {
        return {
          sql: `DELETE FROM ${String(tables[name].place)} WHERE ns = ?`,
          runs: [[id]],
          touches: null,
        };
      });
      const [marked] = await dialect.run(connection, [mark, ...empty]);
      if (audit !== null && marked?.touched === 1) await appendAudit(dialect, connection, [audit]);
      return true;
    });
  }

  async #hasWork(connection: Connection, id: number): Promise<boolean> {
    const tasks = { sql: 'SELECT ns FROM task WHERE ns = ? LIMIT 1', runs: [[id]], touches: null };
    const callbacks = this.#history.segments.of(id).map((segment): Statement => {
      const { from, where, values } = outboxOf(this.#database.dialect, segment, id);
      const sql = `SELECT ns FROM ${from} WHERE ${where}notify_state = 'pending' LIMIT 1`;
      return { sql, runs: [values], touches: null };
    });
    const work = {
      sql: `SELECT ns FROM work WHERE ns = ? AND ended_at IS NULL LIMIT 1`,
      runs: [[id]],
      touches: null,
    };
    const jobs = { sql: 'SELECT ns FROM job WHERE ns = ? LIMIT 1', runs: [[id]], touches: null };
    const bookings = {
      sql: `SELECT ns FROM booking WHERE ns = ? AND ${NOT_OVER} LIMIT 1`,
      runs: [[id]],
      touches: null,
    };
    const asked = [tasks, work, jobs, bookings, ...callbacks];
    const outcomes = await this.#database.dialect.run(connection, asked);
    return outcomes.some(({ rows }) => rows.length > 0);
  }

  /** @see Store.withWork */
  async withWork(): Promise<number[]> {
    const found = await this.#history.reading(async () => {
      const { dialect } = this.#database;
      const callbacks = this.#history.segments.newestFirst.map((segment) => {
        const { from, where } = outboxOf(dialect, segment, DEFAULT_NAMESPACE_ID, 'namespace.id');
        const ofIt = where === '' ? 'id = 0 AND ' : '';
        const outbox = `${from} WHERE ${where}notify_state = 'pending'`;
        return `SELECT id FROM namespace WHERE is_deleted = 0 AND ${ofIt}EXISTS (SELECT 1 FROM ${outbox})`;
      });
      const live = `SELECT id FROM namespace
        WHERE is_deleted = 0 AND EXISTS (SELECT 1 FROM ${dialect.readBy('task', 'task_ns_id')} WHERE ns = namespace.id)`;
      const ids = new Set<number>();
      const work = `SELECT id FROM namespace
        WHERE is_deleted = 0 AND EXISTS (SELECT 1 FROM work WHERE ns = namespace.id AND ended_at IS NULL)`;
      const triggers = `SELECT id FROM namespace WHERE is_deleted = 0 AND EXISTS (SELECT 1
        FROM ${dialect.readBy('job_trigger', 'job_trigger_ns_next')}
        WHERE ns = namespace.id AND next_at IS NOT NULL)`;
      // Runs of a job have ended, and nobody has looked at that yet.
      const ends = `SELECT id FROM namespace WHERE is_deleted = 0 AND EXISTS (SELECT 1
        FROM job_activity WHERE ns = namespace.id)`;
      // Somebody has to say in time that nobody is there for it.
      const bookings = `SELECT id FROM namespace WHERE is_deleted = 0 AND EXISTS (SELECT 1
        FROM booking WHERE ns = namespace.id AND ${NOT_OVER})`;
      const selects = [live, work, triggers, ends, bookings, ...callbacks];
      for (let at = 0; at < selects.length; at += TABLE_COUNT) {
        const union = selects.slice(at, at + TABLE_COUNT).join(' UNION ');
        for (const row of await this.#database.rows(union)) ids.add(row['id'] as number);
      }
      return ids;
    });
    return [...found].sort((a, b) => a - b);
  }

  /** Where it touches nothing, nobody has changed anything. */
  #write(statement: Statement, audit: AuditRecord | null): Promise<void> {
    const { dialect } = this.#database;
    return this.#transaction(async (connection) => {
      const [outcome] = await dialect.run(connection, [statement]);
      if (audit !== null && outcome?.touched === 1) await appendAudit(dialect, connection, [audit]);
    });
  }

  #transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { dialect } = this.#database;
    return this.#database.transaction(async (connection) => {
      await dialect.run(connection, [plain(dialect.begin)]);
      return work(connection);
    });
  }
}

function recordOf(row: Row): NamespaceRecord {
  const get = <T>(name: string): T => row[name] as T;
  return {
    id: get('id'),
    name: get('name'),
    createdAt: get('created_at'),
    ...settingsOf(row),
  };
}
