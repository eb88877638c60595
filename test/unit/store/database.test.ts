/** Connections of a database, and whoever needs one. */
import { expect } from 'chai';
import type { Connections, Dialect } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { Database, poolOf } from '../../../master/infrastructure/sql/database.ts';
import { Pace } from '../../../master/infrastructure/sql/pace.ts';

describe('a database that is closed', () => {
  it('refuses at once, and lets nobody wait for a connection', async () => {
    const never = () => Promise.reject(new Error('it is not to be opened'));
    const connections = { min: 0, max: 1, idleMs: 1, waitMs: 2 ** 31 - 1, open: never };
    const pool = poolOf(connections as Partial<Connections> as Connections);
    const database = new Database(pool, {} as Dialect, new Pace());
    await database.close();
    const outcome = await database.rows('SELECT 1').then(String, String);
    expect(outcome).to.equal('Error: the database is closed');
  });
});
