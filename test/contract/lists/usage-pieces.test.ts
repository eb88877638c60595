/** How much of a day of usage one statement reads: a commit on a file would wait for all of it. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fold } from '../../../master/application/engine/fold.ts';
import { type UsageCount, usageId } from '../../../master/domain/usage/usage.ts';
import { Database, poolOf, type Read } from '../../../master/infrastructure/sql/database.ts';
import type { Dialect } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { sqliteDialect } from '../../../master/infrastructure/sql/dialects/sqlite.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';
import { SqlStore } from '../../../master/infrastructure/sql/store.ts';
import { NOW } from '../../helpers/task.ts';
import { ofDefault } from '../subjects.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const DAY = '2026-11-22';
const KEY_COUNT = 2_100;
/** As many as a statement may add up. */
const PIECE_COUNT = 500;

describe('a day of usage', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soda-usage-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is added up by statements that find few rows each, by the key', async () => {
    const asked: Read[] = [];
    const pace = new Pace(() => 0);
    const dialect = sqliteDialect(join(folder, 'soda.db'), pace);
    const watched: Dialect = {
      ...dialect,
      run: (connection, statements) => {
        asked.push(...statements.map(({ sql, runs }) => ({ sql, values: runs[0] ?? [] })));
        return dialect.run(connection, statements);
      },
    };
    const database = new Database(poolOf(dialect.connections), watched, pace);
    const databases = { engine: database, readers: database };
    const store = ofDefault(new SqlStore(databases, { allowWeakDurability: false, log: silent }));
    const { term } = await store.takeTerm('m-1', NOW);
    const counts = Array.from({ length: KEY_COUNT }, (_, at): UsageCount => {
      const who = { group: 'g', project: null, env: null, user: `u${at}` };
      return { ...who, day: DAY, type: 'encode', figures: { submitted: 1 } };
    });
    const row = { term, number: 1, counts: new Map(counts.map((one) => [usageId(one), one])) };
    const change = { op: 'insert', table: 'usage', key: [term, 1], row } as const;
    await store.commit(fold([change], { term, lastSeq: 0 }, NOW));
    await store.foldUsage();
    asked.length = 0;
    const [sum] = await store.readUsage({
      ...{ day: DAY, by: [], type: null, group: null, within: null },
    });
    expect(sum?.figures.submitted).to.equal(KEY_COUNT);
    const reads = asked.filter(({ sql }) => /SUM\(/.test(sql));
    const found: number[] = [];
    for (const { sql, values } of reads) {
      const rest = sql.slice(sql.indexOf('FROM')).replace(/GROUP BY.*/, '');
      const [counted] = await database.rows(`SELECT COUNT(*) AS n ${rest}`, values);
      found.push(Number(counted?.['n']));
    }
    expect(Math.max(...found)).to.be.at.most(PIECE_COUNT);
    for (const { sql, values } of asked.filter(({ sql: one }) => /usage_day/.test(one))) {
      const [plan] = await database.rows(`EXPLAIN QUERY PLAN ${sql}`, values);
      expect(plan?.['detail']).to.match(/^SEARCH usage_day USING .*autoindex/);
      // Those before it are not read again.
      if (sql.includes(') > (')) expect(plan?.['detail']).to.match(/user_group,.*\)>\(/);
    }
    await store.close();
  });
});
