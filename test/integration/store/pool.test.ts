/** That the settings of the pool are those of the connections that a server sees. */
import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import { failureOf } from '../../contract/sample.ts';
import { openDefault } from '../../contract/subjects.ts';
import { useMariadb } from '../../helpers/mariadb.ts';
import { NOW } from '../../helpers/task.ts';

describe('the pool of connections: MariaDB', function () {
  const server = useMariadb();
  let client: Knex;

  afterEach(() => client?.destroy());

  const countOf = async (): Promise<number> => {
    const [[{ count }]] = await client.raw(
      `SELECT COUNT(*) AS count FROM information_schema.PROCESSLIST
       WHERE DB = DATABASE() AND ID <> CONNECTION_ID()`,
    );
    return count;
  };

  it('has so many at most, gives up waiting for one, and ends those that are idle', async () => {
    const url = await server.url();
    client = knex({ client: 'mysql2', connection: url, pool: { min: 1, max: 1 } });
    const pool = { max: 3, idleMs: 100, waitMs: 300 };
    const store = await openDefault({ url, allowWeakDurability: false, pool });
    try {
      await store.takeTerm('m-1', NOW);
      await client.raw('LOCK TABLES task WRITE');
      const held = [store.readTask('a'), store.readTask('b')];
      const failure = await failureOf(store.readTask('c'));
      expect(failure.message).to.match(/no connection to the database became free/);
      expect(await countOf(), 'two read, one is for scheduling').to.be.within(2, 3);
      await client.raw('UNLOCK TABLES');
      expect(await Promise.all(held)).to.deep.equal([null, null]);
      // Long before the server ends them, or the default would.
      const begun = performance.now();
      while ((await countOf()) > 0);
      expect(performance.now() - begun).to.be.below(8_000);
    } finally {
      await store.close();
    }
  });
});
