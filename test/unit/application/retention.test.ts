/** The hourly work on history, while the disk is full and after. */
import { expect } from 'chai';
import type { Log } from '../../../master/application/ports.ts';
import { retention } from '../../../master/application/process/retention.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const HOUR_MS = 3_600_000;

/** Refuses work of the given kinds, and notes what was asked of it. */
class FullStore extends MemoryStore {
  readonly asked: string[] = [];
  readonly refused = new Set(['prepare', 'drop']);

  override async prepareSegments(now: number): Promise<void> {
    this.#note('prepare');
    await super.prepareSegments(now);
  }

  override async dropSegments(before: number): Promise<number> {
    this.#note('drop');
    return super.dropSegments(before);
  }

  #note(what: string): void {
    this.asked.push(what);
    if (this.refused.has(what)) throw new Error('database or disk is full');
  }
}

describe('retention', () => {
  it('drops what is past it also where there is no room for the next segment, and tries again each hour', async () => {
    const clock = new ManualClock();
    const store = new FullStore();
    const said: string[] = [];
    const note = (message: string) => void said.push(message);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const upkeep = retention({ store, clock, log, retentionDays: 30 });
    await upkeep.start();

    await clock.pass(HOUR_MS);
    expect(store.asked.splice(0), 'each once').to.deep.equal(['prepare', 'drop']);
    expect(said.splice(0)).to.deep.equal([
      'making the next segment of history failed',
      'dropping history past retention failed',
    ]);
    expect(clock.nextAlarmAt - clock.now()).to.equal(HOUR_MS);

    store.refused.clear();
    await clock.pass(HOUR_MS);
    expect(store.asked).to.deep.equal(['prepare', 'drop']);
    expect(said).to.deep.equal([]);
    await upkeep.stop();
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });
});
