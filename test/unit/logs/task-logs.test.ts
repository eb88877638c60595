/** How lines are brought to the store: a piece at a time, in turn, and again where it does not answer. */
import { expect } from 'chai';
import { TaskLogs } from '../../../master/application/logs/task-logs.ts';
import type { LogWrite } from '../../../master/application/ports.ts';
import { LOG_HELD_BYTES_MAX, LOG_WRITE_BYTES_MAX } from '../../../master/domain/bounds.ts';
import { MemoryLogs } from '../../../master/infrastructure/memory/logs.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

class Store extends MemoryLogs {
  isAway = false;
  readonly writes: (readonly LogWrite[])[] = [];

  override async writeLogs(writes: readonly LogWrite[]): Promise<void> {
    if (this.isAway) throw new Error('away');
    this.writes.push(writes);
    await super.writeLogs(writes);
  }
}

describe('the writing of logs', () => {
  let clock: ManualClock;
  let store: Store;
  let warned: string[];
  const create = (held = { bytes: 0 }) => {
    const warn = (message: string) => void warned.push(message);
    const log = { debug() {}, info() {}, warn, error() {} };
    return new TaskLogs({ store, clock, log, bytesMax: 1_048_576, held });
  };
  const of = (taskSeq: number) => ({ taskId: `t-${taskSeq}`, taskSeq, attempt: 1 });
  const lines = (from: number, count: number, bytes = 10) =>
    Array.from({ length: count }, (_, index) => {
      return { n: from + index, text: `${from + index}`.padEnd(bytes, '.'), bytes };
    });
  const read = async (taskSeq: number) => {
    const all = { taskSeq, attempt: null, after: null, limit: 1_000 };
    const chunks = await store.readLogChunks(all);
    return chunks.flatMap(({ text }) => text.split('\n').map((line) => Number.parseInt(line, 10)));
  };

  beforeEach(() => {
    [clock, store, warned] = [new ManualClock(), new Store(), []];
  });

  it('writes what has come in a quarter of a second at once, a bounded piece, in turn', async () => {
    const logs = create();
    for (let n = 1; n <= 9; n++) logs.take(of(1), lines(n, 1));
    logs.take(of(2), lines(1, 9_000, 99));
    logs.take(of(3), lines(1, 1));
    expect(logs.mayGrow(1, null)).to.equal(true);
    await clock.pass(250);
    expect(await read(1)).to.have.length(9);
    expect(store.writes).to.have.length(1);
    const bytes = store.writes.flat().flatMap(({ put }) => put.map((chunk) => chunk.bytes));
    expect(bytes.reduce((a, b) => a + b)).to.be.within(
      LOG_WRITE_BYTES_MAX,
      LOG_WRITE_BYTES_MAX + 9_000,
    );
    await clock.pass(250);
    expect(await read(3), 'who says little does not wait for who says much').to.deep.equal([1]);
    await clock.pass(1_000);
    expect(await read(2)).to.have.length(9_000);
    expect(logs.mayGrow(2, null)).to.equal(false);
    await logs.stop();
    expect(logs.fills()[0]?.used).to.equal(0);
  });

  it('tries again what the store has not taken, says so once, and holds so much at most', async () => {
    const logs = create();
    store.isAway = true;
    logs.take(of(1), lines(1, 3));
    await clock.pass(3_000);
    logs.take(of(1), lines(4, 1));
    expect(warned).to.have.length(1);
    for (let seq = 2; !logs.isFull; seq++) logs.take(of(seq), lines(1, 1_000, 1_000));
    expect(logs.fills()[0]?.used).to.be.within(LOG_HELD_BYTES_MAX, LOG_HELD_BYTES_MAX + 2_000_000);
    logs.take(of(1), lines(5, 1));
    store.isAway = false;
    await clock.pass(60_000);
    expect(await read(1), 'for the fifth there was no room').to.deep.equal([1, 2, 3, 4]);
    logs.take(of(1), lines(6, 1));
    await clock.pass(250);
    expect(await read(1)).to.deep.equal([1, 2, 3, 4, 6]);
    await logs.stop();
  });

  it('goes on where another master has left off, and tells whoever waits', async () => {
    const [first, second] = [create(), create()];
    first.take(of(1), lines(1, 2));
    await first.stop();
    expect(await read(1), 'also at its end').to.deep.equal([1, 2]);
    const after = { attempt: 1, n: 2 };
    const told: string[] = [];
    const heard = second.news(1, null, after, 60_000).then(() => told.push('more'));
    second.take(of(1), lines(2, 2));
    await clock.pass(250);
    await heard;
    expect(told).to.deep.equal(['more']);
    expect(await read(1)).to.deep.equal([1, 2, 3]);
    await second.news(1, null, after, 60_000);
    const late = second.news(1, null, { attempt: 1, n: 3 }, 1_000);
    await clock.pass(1_000);
    await late;
    await second.stop();
    await second.news(1, null, { attempt: 9, n: 9 }, 60_000);
  });

  it('tells whoever waits for one attempt nothing of what a later one says', async () => {
    const logs = create();
    logs.take(of(1), lines(1, 1));
    await clock.pass(5_000);
    logs.take({ ...of(1), attempt: 2 }, lines(1, 1));
    await clock.pass(250);
    const told: string[] = [];
    const after = { attempt: 1, n: 1 };
    void logs.news(1, 1, after, 60_000).then(() => told.push('of the first'));
    void logs.news(1, null, after, 60_000).then(() => told.push('of any'));
    expect([logs.mayGrow(1, 1), logs.mayGrow(1, null)]).to.deep.equal([false, true]);
    await clock.pass(1);
    expect(told).to.deep.equal(['of any']);
    await clock.pass(60_000);
    await logs.stop();
  });

  it('holds what may still grow as long as there is room, in whatever namespace, and then reads it again', async () => {
    const held = { bytes: 0 };
    const namespaces = Array.from({ length: 6 }, () => create(held));
    for (const [index, logs] of namespaces.entries()) {
      for (let one = 0; one < 900; one++) logs.take(of(index * 900 + one), lines(1, 1, 7_000));
      await clock.pass(10_000);
    }
    const [oldest] = namespaces;
    expect(oldest?.isFull, 'though all that was said would be more than is held').to.equal(false);
    expect(held.bytes).to.be.within(1, LOG_HELD_BYTES_MAX / 2);
    for (const [index, logs] of namespaces.entries()) logs.take(of(index * 900), lines(2, 1));
    await clock.pass(1_000);
    for (const index of namespaces.keys()) expect(await read(index * 900)).to.deep.equal([1, 2]);
    for (const logs of namespaces) await logs.stop();
    expect(held.bytes).to.equal(0);
  });

  it('counts nothing of one that was forgotten while it was read', async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const { readLogHeads } = store;
    store.readLogHeads = async (...asked) => {
      await gate;
      return readLogHeads.apply(store, asked);
    };
    const logs = create();
    logs.take(of(1), lines(2, 3));
    await clock.pass(250);
    logs.take({ ...of(1), taskSeq: 2 }, lines(1, 1));
    go();
    await clock.pass(1_000);
    await logs.stop();
    expect(await read(2)).to.deep.equal([1]);
    expect(logs.fills()[0]?.used).to.equal(0);
  });
});
