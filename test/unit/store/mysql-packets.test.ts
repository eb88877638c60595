/** What a server of MySQL or MariaDB is sent. */
import { expect } from 'chai';
import { escape } from 'mysql2';
import { DEFAULT_POOL } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';

describe('the statements of a packet', () => {
  const columns = [
    { name: 'id', kind: 'integer' },
    { name: 'reason', kind: 'text' },
  ] as const;
  const dialect = mysqlDialect(new URL('mysql://user@localhost/soda'), DEFAULT_POOL);

  it('have no value put where a row has a question mark, whatever the driver takes for a place', async () => {
    const sent: string[] = [];
    const connection = {
      query(sql: string, ...rest: unknown[]) {
        const done = rest.pop() as (error: null, result: unknown) => void;
        const values = [...((rest[0] ?? []) as string[])];
        sent.push(sql.replace(/\?/g, () => (values.length === 0 ? '?' : escape(values.shift()))));
        done(null, [{ affectedRows: 1 }, { affectedRows: 1 }]);
      },
    };
    const outcomes = await dialect.run(connection, [
      ...dialect.insert('task', columns, [[1, "why? 'what?'"]]),
      { sql: 'UPDATE lane SET reason = ? WHERE id = ?', runs: [['who?', 2]], touches: 1 },
    ]);
    expect(sent).to.deep.equal([
      "INSERT INTO task (id, reason) VALUES (1, 'why? \\'what?\\''); UPDATE lane SET reason = 'who?' WHERE id = 2",
    ]);
    expect(outcomes.map(({ touched }) => touched)).to.deep.equal([1, 1]);
  });

  it('say once what rows have alike, and join nothing for a row that is alone', () => {
    const key = [
      { name: 'seq', kind: 'integer' },
      { name: 'version', kind: 'integer' },
    ] as const;
    const set = [
      { name: 'state', kind: 'text' },
      { name: 'executor_id', kind: 'text' },
    ] as const;
    const textsOf = (rows: (string | number)[][]): string[] =>
      [
        ...dialect.update('task', key, set, rows),
        ...dialect.remove(
          'task',
          key,
          rows.map((row) => row.slice(0, 2)),
        ),
      ].map(({ sql }) => sql);
    expect(textsOf([[1, 2, 'off?', "it's"]])).to.deep.equal([
      "UPDATE task SET state = 'off?', executor_id = 'it\\'s' WHERE seq = 1 AND version = 2",
      'DELETE FROM task WHERE seq = 1 AND version = 2',
    ]);
    const [updated, removed] = textsOf([
      [1, 2, 'off?', 'a'],
      [3, 2, 'off?', 'b'],
    ]);
    expect(updated).to.equal(
      `UPDATE JSON_TABLE('[[1,\\"a\\"],[3,\\"b\\"]]', '$[*]' COLUMNS (v0 BIGINT PATH '$[0]', v3 MEDIUMTEXT CHARACTER SET utf8mb4 PATH '$[1]')) AS v ` +
        "STRAIGHT_JOIN task SET state = 'off?', executor_id = v3 WHERE seq = v0 AND version = 2",
    );
    expect(removed).to.equal(
      `DELETE task FROM JSON_TABLE('[[1],[3]]', '$[*]' COLUMNS (v0 BIGINT PATH '$[0]')) AS v STRAIGHT_JOIN task WHERE seq = v0 AND version = 2`,
    );
  });
});
