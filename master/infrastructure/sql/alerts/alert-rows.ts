/**
 * Alerts as rows. What is raised and what is to be told of it are one transaction, and with it the audit of a change;
 * a master that was deposed writes none.
 */
import type {
  AlertDelivery,
  AlertStore,
  StoredAlerts,
  ToldAlert,
} from '../../../application/ports.ts';
import type { Alert } from '../../../domain/alerts/alert.ts';
import type { AlertReceiver, AlertRule } from '../../../domain/alerts/rule.ts';
import type { AuditRecord } from '../../../domain/model/audit.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database, Read } from '../database.ts';
import { plain, type Statement } from '../dialects/dialect.ts';
import type { Terms } from '../namespace/terms.ts';
import type { Column, Row } from '../rows.ts';
import {
  alertColumns,
  type AlertSetting,
  deliveryColumns,
  settingColumns,
} from './alert-tables.ts';

/** Rows that go at once. */
const DROP_COUNT = 500;

const ALERT_LIST = alertColumns.map(({ name }) => name).join(', ');
const ALERTS = `SELECT ${ALERT_LIST} FROM alert`;
const DELIVERIES = `SELECT ${deliveryColumns.map(({ name }) => name).join(', ')} FROM alert_delivery`;

export class AlertRows implements AlertStore {
  readonly #database: Database;
  readonly #terms: Terms;

  /** @param database not the engine's: nobody waits for it there. */
  constructor(database: Database, terms: Terms) {
    this.#database = database;
    this.#terms = terms;
  }

  async load(now: number): Promise<StoredAlerts> {
    const { dialect } = this.#database;
    const raised = `${dialect.readBy('alert', 'alert_cleared')} WHERE cleared_at IS NULL`;
    const silenced = `${dialect.readBy('alert', 'alert_silenced')} WHERE silenced_until > ?`;
    const [settings = [], alerts = [], quiet = [], deliveries = []] =
      await this.#database.rowsOfEach([
        { sql: 'SELECT what, definition FROM alert_setting', values: [] },
        // Each by an index of its own: there may be many that are over.
        { sql: `SELECT ${ALERT_LIST} FROM ${raised}`, values: [] },
        { sql: `SELECT ${ALERT_LIST} FROM ${silenced} AND cleared_at IS NOT NULL`, values: [now] },
        { sql: `${DELIVERIES} WHERE state = 'pending' ORDER BY made_at`, values: [] },
      ]);
    const { pace } = this.#database;
    const pending: AlertDelivery[] = [];
    for (const row of deliveries) {
      // Each may name twenty alerts, and there may be thousands.
      if (pace.isOver) await pace.pause();
      pending.push(deliveryOf(row));
    }
    return {
      rules: settings.filter(isA('rule')).map((row) => definitionIn(row) as AlertRule),
      receivers: settings.filter(isA('receiver')).map((row) => definitionIn(row) as AlertReceiver),
      alerts: [...alerts, ...quiet].map(alertOf),
      deliveries: pending,
    };
  }

  setRule(name: string, rule: AlertRule | null, audit: AuditRecord | null = null): Promise<void> {
    return this.#set('rule', name, rule, audit);
  }

  setReceiver(
    name: string,
    receiver: AlertReceiver | null,
    audit: AuditRecord | null = null,
  ): Promise<void> {
    return this.#set('receiver', name, receiver, audit);
  }

  write(
    alerts: readonly Alert[],
    deliveries: readonly AlertDelivery[],
    audit: AuditRecord | null = null,
  ): Promise<void> {
    return this.#commit(
      [
        ...this.#replaced('alert', alertColumns, alerts),
        ...this.#replaced('alert_delivery', deliveryColumns, deliveries),
      ],
      audit,
    );
  }

  async listCleared(
    before: { readonly raisedAt: number; readonly id: string } | null,
    limit: number,
  ): Promise<Alert[]> {
    const from = before === null ? '' : ' AND (raised_at < ? OR (raised_at = ? AND id < ?))';
    const place = before === null ? [] : [before.raisedAt, before.raisedAt, before.id];
    const rows = await this.#database.rows(
      `${ALERTS} WHERE cleared_at IS NOT NULL${from} ORDER BY raised_at DESC, id DESC LIMIT ${limit}`,
      place,
    );
    return rows.map(alertOf);
  }

  async drop(before: number): Promise<void> {
    const past = 'cleared_at < ? AND (silenced_until IS NULL OR silenced_until < ?)';
    await this.#dropAll({ sql: `alert WHERE ${past}`, values: [before, before] });
    const over = `state IN ('delivered', 'failed') AND ended_at < ?`;
    await this.#dropAll({ sql: `alert_delivery WHERE ${over}`, values: [before] });
  }

  async #dropAll(of: Read): Promise<void> {
    let count = DROP_COUNT;
    while (count === DROP_COUNT) count = await this.#database.aside(() => this.#dropSome(of));
  }

  #dropSome({ sql, values }: Read): Promise<number> {
    const { dialect } = this.#database;
    const [table = ''] = sql.split(' ', 1);
    return this.#database.transaction(async (connection) => {
      const select = `SELECT id FROM ${sql} LIMIT ${DROP_COUNT}`;
      const read = { sql: select, runs: [values], touches: null };
      const [, found] = await dialect.run(connection, [plain(dialect.begin), read]);
      const ids = (found?.rows ?? []).map(({ id }) => [id as string]);
      await dialect.run(connection, dialect.remove(table, [{ name: 'id', kind: 'text' }], ids));
      await this.#terms.fenceAsOwner(connection);
      return ids.length;
    });
  }

  #set(
    what: AlertSetting['what'],
    name: string,
    one: AlertSetting['one'] | null,
    audit: AuditRecord | null,
  ): Promise<void> {
    const sql = 'DELETE FROM alert_setting WHERE what = ? AND name = ?';
    const gone = { sql, runs: [[what, name]], touches: null };
    const set = one && this.#replaced('alert_setting', settingColumns, [{ what, one }]);
    return this.#commit(set ?? [gone], audit);
  }

  #replaced<T>(table: string, columns: readonly Column<T>[], all: readonly T[]): Statement[] {
    if (all.length === 0) return [];
    const rows = all.map((one) => columns.map(({ of }) => of(one, 0)));
    return this.#database.dialect.replace(table, columns, rows);
  }

  #commit(statements: readonly Statement[], audit: AuditRecord | null = null): Promise<void> {
    const { dialect } = this.#database;
    return this.#database.transaction(async (connection) => {
      await dialect.run(connection, [plain(dialect.begin), ...statements]);
      await this.#terms.fenceAsOwner(connection);
      // In the order of the commits of an engine, which would wait for it in a circle else.
      if (audit !== null) await appendAudit(dialect, connection, [audit]);
    });
  }
}

const isA = (what: AlertSetting['what']) => (row: Row) => row['what'] === what;
const definitionIn = (row: Row): unknown => JSON.parse(row['definition'] as string);

function alertOf(row: Row): Alert {
  const get = <T>(name: string): T => row[name] as T;
  return {
    id: get('id'),
    rule: get('rule'),
    kind: get('kind'),
    severity: get('severity'),
    namespace: get('namespace'),
    type: get('type'),
    group: get('user_group'),
    subject: get('subject'),
    message: get('message'),
    change: get('remedy'),
    fields: get('fields'),
    raisedAt: get('raised_at'),
    seenAt: get('seen_at'),
    count: get('said_count'),
    clearedAt: get('cleared_at'),
    toldAt: get('told_at'),
    repeatCount: get('repeat_count'),
    silencedUntil: get('silenced_until'),
    silencedBy: get('silenced_by'),
    silenceReason: get('silence_reason'),
  };
}

function deliveryOf(row: Row): AlertDelivery {
  const get = <T>(name: string): T => row[name] as T;
  return {
    id: get('id'),
    receiver: get('receiver'),
    madeAt: get('made_at'),
    told: JSON.parse(get('told')) as ToldAlert[],
    moreCount: get('more_count'),
    state: get('state'),
    tries: get('tries'),
    nextTryAt: get('next_try_at'),
    error: get('error'),
    endedAt: get('ended_at'),
  };
}
