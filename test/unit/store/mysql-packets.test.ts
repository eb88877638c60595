/** What a server of MySQL or MariaDB is sent. */
import { expect } from 'chai';
import { DEFAULT_POOL } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';

describe('the statements of a packet', () => {
  const columns = [
    { name: 'id', kind: 'integer' },
    { name: 'reason', kind: 'text' },
  ] as const;
  const dialect = mysqlDialect(new URL('mysql://user@localhost/soda'), DEFAULT_POOL);

  it('have no value put where a row has a question mark', async () => {
    const sent: string[] = [];
    const connection = {
      query(sql: string, done: (error: null, result: unknown) => void) {
        sent.push(sql);
        done(null, [{ affectedRows: 1 }, { affectedRows: 1 }]);
      },
    };
    const outcomes = await dialect.run(connection, [
      ...dialect.insert('task', columns, [[1, "why? 'what?'"]]),
      { sql: 'UPDATE lane SET reason = ? WHERE id = ?', runs: [['who?', 2]], touches: 1 },
    ]);
    expect(sent).to.deep.equal([
      "INSERT INTO task (id, reason) VALUES (1, 'why? ''what?'''); UPDATE lane SET reason = 'who?' WHERE id = 2",
    ]);
    expect(outcomes.map(({ touched }) => touched)).to.deep.equal([1, 1]);
  });

  /** What an update of such rows sends, and a removal by the first two columns. */
  async function sentOf(rows: (string | number)[][]): Promise<string[]> {
    const key = [
      { name: 'seq', kind: 'integer' },
      { name: 'version', kind: 'integer' },
    ] as const;
    const set = [
      { name: 'state', kind: 'text' },
      { name: 'executor_id', kind: 'text' },
    ] as const;
    const keys = rows.map((row) => row.slice(0, 2));
    let sent = '';
    const connection = {
      query(sql: string, done: (error: null, result: unknown) => void) {
        sent = sql;
        done(null, [{ affectedRows: rows.length }, { affectedRows: rows.length }]);
      },
    };
    const statements = [
      ...dialect.update('task', key, set, rows),
      ...dialect.remove('task', key, keys),
    ];
    await dialect.run(connection, statements);
    return sent.split('; ');
  }

  it('say once what rows have alike, and join nothing for a row that is alone', async () => {
    expect(await sentOf([[1, 2, 'off?', "it's \\"]])).to.deep.equal([
      "UPDATE task SET state = 'off?', executor_id = 'it''s \\\\' WHERE seq = 1 AND version = 2",
      'DELETE FROM task WHERE seq = 1 AND version = 2',
    ]);
    const [updated, removed] = await sentOf([
      [1, 2, 'off?', "a'"],
      [3, 2, 'off?', 'b?'],
    ]);
    expect(updated).to.equal(
      `UPDATE JSON_TABLE('[[1,"a''"],[3,"b?"]]', '$[*]' COLUMNS (v0 BIGINT PATH '$[0]', v3 MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]')) AS v ` +
        "STRAIGHT_JOIN task SET state = 'off?', executor_id = v3 WHERE seq = v0 AND version = 2",
    );
    expect(removed).to.equal(
      `DELETE task FROM JSON_TABLE('[[1],[3]]', '$[*]' COLUMNS (v0 BIGINT PATH '$[0]')) AS v STRAIGHT_JOIN task WHERE seq = v0 AND version = 2`,
    );
  });

  it('have no half of a surrogate pair in JSON, which servers refuse', async () => {
    const [updated] = await sentOf([
      [1, 2, 'a', 'cut \ud83d'],
      [3, 2, 'a', 'whole \ud83d\ude00'],
    ]);
    expect(updated).to.include(`'[[1,"cut \ufffd"],[3,"whole \ud83d\ude00"]]'`);
  });
});
