/**
 * The file of a SQLite database: opens it for one process alone, and knows whether it is still the one
 * that its name leads to. Knows nothing of what is in it.
 */
import { closeSync, openSync, type Stats, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type Libsql from 'libsql';
import { StoreUnusable } from '../../../application/ports.ts';

/** With the first file: a master whose database is a server does without it. */
const loadDriver = () => createRequire(import.meta.url)('libsql') as typeof Libsql;

/** How long to wait for a predecessor that is just letting go of the file. */
const BUSY_TIMEOUT_MS = 5_000;
/** Enough for the upper levels of every index of a million tasks. */
const CACHE_KIB = 65_536;
/**
 * At 6 MiB the log is folded into the file: a page that changes often is then written once. The commit that does so copies
 * all of it in one piece, 4 µs a page beside what the disk takes.
 */
const LOG_PAGES = 1_500;

/** The low byte of SQLite's codes. */
const [IOERR, CORRUPT, FULL, NOTADB] = [10, 11, 13, 26];

const RESTORE = 'restore a backup, as docs/operations.md says, or use another file';

export class SqliteFile {
  readonly path: string;
  /** The file and its log, as they were opened; null before. */
  #opened: readonly [file: Stats, log: Stats] | null = null;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Throws what the disk has against it as it is: there may be room again, or an answer, at the next try.
   * @throws {StoreUnusable} where no further try would help.
   */
  open(): Libsql.Database {
    let database: Libsql.Database | null = null;
    try {
      this.#make();
      const Driver = loadDriver();
      database = new Driver(this.#uri(), { timeout: BUSY_TIMEOUT_MS });
      // Exclusive before WAL: then the index of the log lives in memory and no other process, not
      // even a second master of this version, can open the file.
      database.exec(
        `PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         PRAGMA cache_size=-${CACHE_KIB}; PRAGMA wal_autocheckpoint=${LOG_PAGES}; BEGIN IMMEDIATE; COMMIT`,
      );
      this.#opened = [statSync(this.path), statSync(`${this.path}-wal`)];
      return database;
    } catch (error) {
      database?.close();
      if (error instanceof StoreUnusable || isOfDisk(error)) throw error;
      if (codeOf(error).startsWith('SQLITE_BUSY')) {
        throw new StoreUnusable(`another master owns this file: ${this.path}`, { cause: error });
      }
      const refusal = this.damageIn(error) ?? `${this.path} cannot be opened: ${String(error)}`;
      throw new StoreUnusable(refusal, { cause: error });
    }
  }

  /**
   * The driver keeps a closed file open, and locked, until its last statement is garbage collected.
   * So the lock is given back first; it is bound to the log, which is folded into the file.
   */
  close(database: Libsql.Database): void {
    // SQLite would remove what has the name of its log now.
    if (this.findLoss() !== null) return;
    try {
      if (database.inTransaction) database.exec('ROLLBACK');
      database.exec(
        'PRAGMA journal_mode=DELETE; PRAGMA locking_mode=NORMAL; SELECT COUNT(*) FROM sqlite_master',
      );
    } finally {
      database.close();
    }
  }

  /**
   * Why what is written to the open file would be lost; null where it would not. SQLite holds on to a
   * file whose name is gone, and goes on writing to it.
   */
  findLoss(): string | null {
    if (this.#opened === null) return null;
    for (const [index, path] of [this.path, `${this.path}-wal`].entries()) {
      const now = statSync(path, { throwIfNoEntry: false });
      const { dev, ino } = this.#opened[index] as Stats;
      if (now?.ino === ino && now.dev === dev) continue;
      const what = now === undefined ? 'is gone' : 'is another file';
      return `${path} ${what} since this master opened it: put the file back, or ${RESTORE}`;
    }
    return null;
  }

  /** What to do about a file that holds no sound database; null for other errors. */
  damageIn(error: unknown): string | null {
    if (sqliteCodeOf(error) === NOTADB) return `${this.path} is no SQLite database: ${RESTORE}`;
    if (sqliteCodeOf(error) !== CORRUPT) return null;
    return `${this.path} is damaged, or its disk cannot be read: look at the disk, then ${RESTORE}`;
  }

  /**
   * For its owner only, as its log will be. One that is there is not even opened: closing it would give
   * back the locks that this process has on it.
   */
  #make(): void {
    const loss = this.findLoss();
    if (loss !== null) throw new StoreUnusable(loss);
    const found = statSync(this.path, { throwIfNoEntry: false });
    if (found === undefined) closeSync(openSync(this.path, 'wx', 0o600));
    else if (!found.isFile()) {
      const what = found.isDirectory() ? 'a directory' : 'no regular file';
      throw new StoreUnusable(`${this.path} is ${what}: move it away, or set SODA_DATA_DIR`);
    }
  }

  /** By its own way to the disk: the one that the driver prefers takes a failed read for zeros. */
  #uri(): string {
    const url = pathToFileURL(this.path);
    url.searchParams.set('vfs', process.platform === 'win32' ? 'win32' : 'unix');
    return url.href;
  }
}

/** The disk may have room again, or answer, at the next try. */
function isOfDisk(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === IOERR || code === FULL || /^(ENOSPC|EDQUOT|EIO)$/.test(codeOf(error));
}

/** Null where it is none of SQLite's. What fails while the file is opened has it in words only. */
export function sqliteCodeOf(error: unknown): number | null {
  const { rawCode, message } = (error ?? {}) as { rawCode?: unknown; message?: unknown };
  const inWords = /^ConnectionFailed\(.*: (\d+)"\)$/.exec(String(message))?.[1];
  const code = typeof rawCode === 'number' ? rawCode : inWords;
  return code === undefined ? null : Number(code) & 0xff;
}

export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
