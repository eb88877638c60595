/** For how long a server of MySQL or MariaDB has not answered what engines have handed it. */
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { DEFAULT_POOL, type Dialect } from '../../../master/infrastructure/sql/dialects/dialect.ts';
import { mysqlDialect } from '../../../master/infrastructure/sql/dialects/mysql.ts';
import { Handed } from '../../../master/infrastructure/sql/dialects/mysql-pool.ts';

describe('the silence of a server', () => {
  describe('that says nothing to whoever dials', () => {
    let server: Server;
    let dialect: Dialect;
    beforeEach(async () => {
      server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      dialect = mysqlDialect(new URL(`mysql://u@127.0.0.1:${port}/soda`), DEFAULT_POOL);
    });
    afterEach(() => server.close());

    const dial = async (open: () => Promise<unknown>) => {
      const dialled = once(server, 'connection') as Promise<[Socket]>;
      const failed = open().catch(() => undefined);
      const [socket] = await dialled;
      const owedMs = dialect.owedMs();
      socket.destroy();
      await failed;
      return owedMs;
    };

    it('counts where an engine dials, and no longer than that', async () => {
      expect(await dial(dialect.connections.open)).to.be.above(0);
      expect(dialect.owedMs()).to.equal(0);
    });

    it('does not count where somebody reads', async () => {
      expect(
        await dial(dialect.readers?.open ?? (() => Promise.reject(new Error('none')))),
      ).to.equal(0);
    });
  });

  it('is that of the oldest statement on a connection of engines, until it is answered or has failed', async () => {
    const handed = new Handed();
    const [engine, reader] = [{}, {}];
    const none = {
      min: 0,
      max: 1,
      idleMs: 0,
      waitMs: 0,
      close: async () => undefined,
      isSound: () => true,
    };
    await handed.watched({ ...none, open: async () => engine }).open();
    const open: { resolve(): void; reject(error: Error): void }[] = [];
    const statement = (connection: object) =>
      handed
        .during(
          connection,
          () => new Promise<void>((resolve, reject) => open.push({ resolve, reject })),
        )
        .catch(() => undefined);
    void statement(reader);
    expect(handed.owedMs).to.equal(0);
    const statements = [statement(engine), statement(engine)];
    expect(handed.owedMs).to.be.above(0);
    open[1]?.reject(new Error('lost'));
    await statements[0];
    expect(handed.owedMs).to.be.above(0);
    open[2]?.resolve();
    await statements[1];
    expect(handed.owedMs).to.equal(0);
  });
});
