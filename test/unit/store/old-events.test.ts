/** What it takes to remove what feeds have told long ago. */
import { expect } from 'chai';
import type { Database } from '../../../master/infrastructure/sql/database.ts';
import { dropEvents } from '../../../master/infrastructure/sql/feed/event-rows.ts';
import type { Row, Value } from '../../../master/infrastructure/sql/rows.ts';

describe('removing old events', () => {
  it('reads one row of a feed that has none, however many there are', async () => {
    let rowCount = 0;
    const database = {
      dialect: { readByKey: (table: string) => table },
      aside: <T>(piece: () => Promise<T>) => piece(),
      rows: (sql: string, values: readonly Value[] = []): Promise<readonly Row[]> => {
        const count = sql.includes('FROM namespace') ? 200 : (values.at(-1) as number);
        const rows = Array.from({ length: count }, (_, id): Row => ({ id, seq: id, told_at: 1 }));
        if (!sql.includes('FROM namespace')) rowCount += count;
        return Promise.resolve(rows);
      },
    };
    expect(await dropEvents(database as unknown as Database, 1)).to.equal(0);
    expect(rowCount).to.equal(200);
  });
});
