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
});
