/** Of the commits on SQLite those of logs alone may be lost with the power: which of them waits for the disk. */
import { expect } from 'chai';
import type Libsql from 'libsql';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitConflict } from '../../../master/application/ports.ts';
import { Database, poolOf } from '../../../master/infrastructure/sql/database.ts';
import { type Dialect, plain } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { sqliteDialect } from '../../../master/infrastructure/sql/dialects/sqlite.ts';
import { LogRows } from '../../../master/infrastructure/sql/logs/log-rows.ts';
import { migrate } from '../../../master/infrastructure/sql/migrations.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import { NOW } from '../../helpers/task.ts';

/** Of `PRAGMA synchronous`. */
const [NORMAL, FULL] = [1, 2];

describe('commits of logs on SQLite', () => {
  let folder: string;
  let database: Database;
  let logs: LogRows;
  /** How each commit was made. */
  let levels: unknown[] = [];
  /** Of what is written, not of what ends it. */
  let failsWith: Error | null = null;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-log-flush-'));
    const pace = new Pace(() => 0);
    const dialect = sqliteDialect(join(folder, 'soda.db'), pace);
    const watched: Dialect = {
      ...dialect,
      async run(connection, statements) {
        const outcomes = await dialect.run(connection, statements);
        const does = (what: string) => statements.some(({ sql }) => sql.startsWith(what));
        if (does('COMMIT')) levels.push(levelOf(connection as Libsql.Database));
        if (failsWith !== null && does('BEGIN')) throw failsWith;
        return outcomes;
      },
    };
    database = new Database(poolOf(dialect.connections), watched, pace);
    logs = new LogRows(database);
    await migrate(database, NOW);
    [levels, failsWith] = [[], null];
  });

  afterEach(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const levelOf = (connection: Libsql.Database): unknown =>
    (connection.prepare('PRAGMA synchronous').raw().get() as unknown[])[0];
  const commit = () =>
    database.transaction((connection) =>
      database.dialect.run(connection, [plain(database.dialect.begin)]),
    );
  const writeLog = (taskSeq = 1) => {
    const put = [{ n: 1, lastN: 1, bytes: 2, text: '{}' }];
    return logs.writeLogs([{ taskSeq, attempt: 1, put, remove: [] }]);
  };

  it('do not wait for the disk, and those of the engine between them do', async () => {
    await commit();
    for (let turn = 0; turn < 2; turn++) {
      await writeLog();
      await commit();
    }
    expect(levels).to.deep.equal([FULL, NORMAL, FULL, NORMAL, FULL]);
    levels = [];
    logs.noteDeleted(new Set([1]));
    await writeLog(2);
    await commit();
    expect(levels.at(-1)).to.equal(FULL);
  });

  it('leave none of the engine that does not, also where they fail', async () => {
    // One that is understood is rolled back, of another the connection is restored.
    for (const error of [new CommitConflict('a rival'), new Error('something else')]) {
      failsWith = error;
      const failed = await writeLog().then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(failed).to.equal(error);
      failsWith = null;
      await commit();
    }
    expect(levels).to.deep.equal([FULL, FULL]);
  });
});
