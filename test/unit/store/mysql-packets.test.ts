/** What a server of MySQL or MariaDB is sent. */
import { expect } from 'chai';
import { DEFAULT_POOL } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';

type Column = { readonly name: string; readonly kind: 'integer' };

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

  it('say once what rows have alike, and choose the rest by what tells them apart', async () => {
    expect(await sentOf([[1, 2, 'off?', "it's \\"]])).to.deep.equal([
      "UPDATE task SET state = 'off?', executor_id = 'it''s \\\\' WHERE seq = 1 AND version = 2",
      'DELETE FROM task WHERE seq = 1 AND version = 2',
    ]);
    expect(
      await sentOf([
        [1, 2, 'off?', "a'"],
        [3, 2, 'off?', 'b?'],
      ]),
    ).to.deep.equal([
      "UPDATE task SET state = 'off?', executor_id = CASE seq WHEN 1 THEN 'a''' WHEN 3 THEN 'b?' END WHERE version = 2 AND seq IN (1, 3)",
      'DELETE FROM task WHERE version = 2 AND seq IN (1, 3)',
    ]);
  });

  it('find rows by the whole of their keys, and set them one by one where no column tells all apart', async () => {
    expect(
      await sentOf([
        [1, 1, 'off', 'a'],
        [1, 2, 'off', 'b'],
        [2, 1, 'off', 'a'],
      ]),
    ).to.deep.equal([
      "UPDATE task SET state = 'off', executor_id = 'a' WHERE seq = 1 AND version = 1",
      "UPDATE task SET state = 'off', executor_id = 'b' WHERE seq = 1 AND version = 2",
      "UPDATE task SET state = 'off', executor_id = 'a' WHERE seq = 2 AND version = 1",
      'DELETE FROM task WHERE (seq = 1 AND version = 1 OR seq = 1 AND version = 2 OR seq = 2 AND version = 1)',
    ]);
  });

  it('choose by no column that is set as well, since a server goes by what it has become', () => {
    const [ns, name, version, reason] = ['ns', 'name', 'version', 'reason'].map(
      (column) => ({ name: column, kind: 'integer' }) as const,
    ) as [Column, Column, Column, Column];
    const texts = dialect.update(
      'pause',
      [ns, name, version],
      [version, reason],
      [
        [1, 1, 3, 4, 7],
        [1, 2, 4, 5, 8],
        [2, 1, 5, 6, 9],
      ],
    );
    const alone =
      'UPDATE pause SET version = ?, reason = ? WHERE ns = ? AND name = ? AND version = ?';
    expect(texts.map(({ sql }) => sql)).to.deep.equal([alone, alone, alone]);
    expect(texts.map(({ touches }) => touches)).to.deep.equal([1, 1, 1]);
  });

  it('hold no more rows than their choices are cheap for', () => {
    const [seq, ...set] = ['seq', 'executor_id'].map(
      (name) => ({ name, kind: 'integer' }) as const,
    );
    const countsOf = (idOf: (n: number) => number) =>
      dialect
        .update(
          'task',
          seq === undefined ? [] : [seq],
          set,
          Array.from({ length: 250 }, (_, n) => [n, idOf(n)]),
        )
        .map(({ touches }) => touches);
    expect(countsOf((n) => n)).to.deep.equal([100, 100, 50]);
    expect(countsOf(() => 7)).to.deep.equal([250]);
  });
});
