/**
 * The database, as all namespaces share it: opens it, and hands out the store of each. Who may write
 * is in `namespace/`, the tables of history in `history.ts`, what differs between databases behind
 * `dialects/`. Knows nothing of tasks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Archive, Log, NamespaceRecord, Store } from '../../application/ports.ts';
import { StoreUnusable } from '../../application/ports.ts';
import type { AuditRecord } from '../../domain/model/audit.ts';
import type { Pause } from '../../domain/model/pause.ts';
import type { Retention } from '../../domain/model/task.ts';
import { AlertRows } from './alerts/alert-rows.ts';
import { AuditRows } from './audit/audit-rows.ts';
import type { Dialect } from './dialects/dialect.ts';
import { dropEvents } from './feed/event-rows.ts';
import { History } from './history.ts';
import { dropOccurrences } from './jobs/job-rows.ts';
import { LoadRows } from './load/load-rows.ts';
import { LogRows } from './logs/log-rows.ts';
import { keepPause, keepSecrets, readPause } from './installation.ts';
import { migrate } from './migrations.ts';
import { Committer } from './namespace/committer.ts';
import { NamespaceRows } from './namespace/namespace-rows.ts';
import { Terms } from './namespace/terms.ts';
import type { Databases } from './database.ts';
import { checkColumns } from './schema-check.ts';
import { TokenRows } from './tables/token.ts';
import { refused, type Shared, SqlTaskStore } from './task-store.ts';
import { UsageRows } from './usage/usage-rows.ts';

const CLOSE_MS_MAX = 1_000;

export class SqlStore implements Store {
  readonly tokens: TokenRows;
  readonly audit: AuditRows;
  readonly alerts: AlertRows;
  readonly #shared: Shared;
  readonly #dialect: Dialect;
  readonly #history: History;
  readonly #namespaces: NamespaceRows;
  readonly #allowWeakDurability: boolean;
  readonly #log: Log;
  #opening: Promise<readonly string[]> | null = null;
  #isOpen = false;
  /** What served once is not refused for what somebody has done to it since. */
  #hasServed = false;

  constructor(
    databases: Databases,
    options: { readonly allowWeakDurability: boolean; readonly log: Log },
  ) {
    const { log, allowWeakDurability } = options;
    this.#dialect = databases.engine.dialect;
    this.#history = new History(databases.readers);
    this.#namespaces = new NamespaceRows(databases.readers, this.#history);
    this.tokens = new TokenRows(databases.readers);
    this.audit = new AuditRows(databases.readers);
    this.#allowWeakDurability = allowWeakDurability;
    this.#log = log;
    const terms = new Terms(databases, log);
    this.alerts = new AlertRows(databases.readers, terms);
    this.#shared = {
      databases,
      history: this.#history,
      terms,
      usage: new UsageRows(databases.readers),
      committer: new Committer(databases.engine, this.#history, terms),
      log,
      load: new LoadRows(databases.readers),
      logs: new LogRows(databases.readers),
      prepare: (now) => this.#prepare(now),
      doubt: () => this.#doubt(),
    };
  }

  async open(now: number): ReturnType<Store['open']> {
    try {
      const secrets = await this.#prepare(now);
      const pauseOfAll = await readPause(this.#shared.databases.readers);
      return { secrets, namespaces: await this.#namespaces.list(), pauseOfAll };
    } catch (error) {
      throw refused(this.#dialect, error);
    }
  }

  setPauseOfAll(pause: Pause | null, audit: AuditRecord | null = null): Promise<void> {
    return keepPause(this.#shared.databases.readers, pause, audit);
  }

  withWork(): Promise<number[]> {
    return this.#namespaces.withWork();
  }

  createNamespace(
    record: Omit<NamespaceRecord, 'id'>,
    audit: AuditRecord | null = null,
  ): Promise<NamespaceRecord> {
    return this.#namespaces.create(record, audit);
  }

  deleteNamespace(id: number, audit: AuditRecord | null = null): Promise<boolean> {
    return this.#namespaces.delete(id, audit);
  }

  tasks(namespaceId: number): SqlTaskStore {
    return new SqlTaskStore(this.#shared, namespaceId);
  }

  async readClock(): Promise<number> {
    const { readers } = this.#shared.databases;
    const [row] = await readers.rows(`SELECT ${this.#dialect.clockSeconds} AS seconds`);
    return (row?.['seconds'] as number) * 1000;
  }

  prepareSegments(now: number): Promise<number> {
    return this.#history.prepare(now);
  }

  async dropSegments(
    retention: Retention,
    before: number,
    servedCount = 0,
    archive: Archive | null = null,
  ): Promise<number> {
    const { terms, committer, logs } = this.#shared;
    await logs.sweep();
    const which = { before, servedCount };
    const confirm = () => terms.confirmOwner();
    const settled = () => committer.settled();
    return this.#history.drop(retention, which, { confirm, settled, archive });
  }

  dropEvents(before: number): Promise<number> {
    return dropEvents(this.#shared.databases.readers, before);
  }

  dropOccurrences(before: number): Promise<number> {
    return dropOccurrences(this.#shared.databases.readers, before);
  }

  foldUsage(): Promise<number> {
    return this.#shared.usage.fold();
  }

  dropUsage(before: string): Promise<number> {
    return this.#shared.usage.drop(before);
  }

  addLoad(...of: Parameters<Store['addLoad']>): Promise<void> {
    return this.#shared.load.add(...of);
  }

  dropLoad(...of: Parameters<Store['dropLoad']>): Promise<number> {
    return this.#shared.load.drop(...of);
  }

  learnIds(now: number): Promise<number> {
    return this.#history.ids.learn(this.#history.segments.newestFirst, now);
  }

  async close(): Promise<void> {
    await this.#history.ids.stop();
    const { engine, readers } = this.#shared.databases;
    const closed = Promise.all([...new Set([engine, readers])].map((database) => database.close()));
    if (this.#dialect.isInProcess) await closed;
    // A server that does not answer has its connections for as long as a statement is waited for.
    else await Promise.race([closed, delay(CLOSE_MS_MAX, undefined, { ref: false })]);
  }

  #prepare(now: number): Promise<readonly string[]> {
    this.#opening ??= this.#prepareOnce(now).then(
      (secrets) => {
        this.#isOpen = true;
        this.#hasServed = true;
        return secrets;
      },
      (error: unknown) => {
        this.#opening = null;
        throw error;
      },
    );
    return this.#opening;
  }

  #doubt(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#opening = null;
  }

  async #prepareOnce(now: number): Promise<readonly string[]> {
    const { readers } = this.#shared.databases;
    await this.#checkServer();
    await migrate(readers, now);
    if (!this.#hasServed) await checkColumns(readers);
    await this.#history.find();
    await this.#history.prepare(now);
    return keepSecrets(readers);
  }

  async #checkServer(): Promise<void> {
    const { readers } = this.#shared.databases;
    const fault = await this.#dialect.findFault(readers);
    if (fault !== null) throw new StoreUnusable(fault);
    const weakness = await this.#dialect.findWeakness(readers);
    if (weakness === null) return;
    const message = `a power cut could lose accepted tasks: ${weakness}`;
    if (!this.#allowWeakDurability) throw new StoreUnusable(message);
    this.#log.warn(message);
  }
}
