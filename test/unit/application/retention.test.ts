/** The hourly work on history, while the disk is full and after. */
import { expect } from 'chai';
import type { Log } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { retention } from '../../../master/application/process/retention.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import type { Retention } from '../../../master/domain/model/task.ts';
import { changeRefused } from '../../../master/domain/model/audit.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Of a database that has the time of this master, or another. */
class TimedStore extends MemoryStore {
  readonly #clock: ManualClock;
  aheadMs = 0;

  constructor(clock: ManualClock) {
    super();
    this.#clock = clock;
  }

  override async readClock(): Promise<number> {
    return this.#clock.now() + this.aheadMs;
  }
}

/** Refuses work of the given kinds, and notes what was asked of it. */
class FullStore extends TimedStore {
  readonly asked: string[] = [];
  readonly refused = new Set(['prepare', 'drop']);
  readonly dropped: string[] = [];

  override async prepareSegments(now: number): Promise<number> {
    this.#note('prepare');
    return super.prepareSegments(now);
  }

  override async dropSegments(retention: Retention, before: number): Promise<number> {
    this.#note('drop');
    this.dropped.push(`${retention} ${before}`);
    return super.dropSegments(retention, before);
  }

  #note(what: string): void {
    this.asked.push(what);
    if (this.refused.has(what)) throw new Error('database or disk is full');
  }
}

const usage = { usageDays: 400, reportZone: 'UTC' } as const;

describe('retention', () => {
  it('is seen to a few minutes after the start: a master that is started again and again drops history too', async () => {
    const clock = new ManualClock();
    const store = new TimedStore(clock);
    for (let day = -9; day < 0; day++) await store.prepareSegments(clock.now() + day * DAY_MS);
    const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
    const duties = new Duties(clock);
    const days = { short: 2, normal: 7, long: 90 };
    const upkeep = retention({
      ...{ store, clock, log, duties, days, auditDays: 365, eventDays: 7, archive: null },
      ...usage,
    });
    await upkeep.start();
    await clock.pass(5 * 60_000);
    await upkeep.stop();
    const dropping = duties.views().find(({ name }) => name === 'retention');
    expect(dropping?.last).to.include({ foundCount: 2, doneCount: 2 });
  });

  it('takes changes from the audit that are past theirs, and none where that is kept for good', async () => {
    const clock = new ManualClock();
    const store = new TimedStore(clock);
    const author = { actor: 'ann', role: 'admin', address: '', action: 'x', namespace: null };
    for (const daysAgo of [366, 365, 364]) {
      await store.audit.append(changeRefused(author, clock.now() - daysAgo * DAY_MS, null, 1));
    }
    const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
    const days = { short: 2, normal: 7, long: 90 };
    const countAfter = async (auditDays: number) => {
      const upkeep = retention({
        store,
        clock,
        log,
        duties: new Duties(clock),
        days,
        auditDays,
        eventDays: 7,
        archive: null,
        ...usage,
      });
      await upkeep.start();
      await clock.pass(5 * 60_000);
      await upkeep.stop();
      return (await store.audit.verify(null)).count;
    };
    expect(await countAfter(0)).to.equal(3);
    expect(await countAfter(365)).to.equal(1);
  });

  it('goes by the clock of the database where that is behind: a machine may have begun with a wrong time', async () => {
    const clock = new ManualClock();
    const store = new FullStore(clock);
    store.refused.clear();
    const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
    const days = { short: 2, normal: 7, long: 90 };
    const upkeep = retention({
      store,
      clock,
      log,
      duties: new Duties(clock),
      days,
      auditDays: 0,
      eventDays: 7,
      archive: null,
      ...usage,
    });
    await upkeep.start();
    store.aheadMs = -365 * DAY_MS;
    await clock.pass(5 * 60_000);
    const dropped = (daysAgo: number) => `normal ${clock.now() - daysAgo * DAY_MS}`;
    expect(store.dropped.splice(0)[1]).to.equal(dropped(372));
    store.aheadMs = 365 * DAY_MS;
    await clock.pass(HOUR_MS);
    expect(store.dropped[1], 'its own is behind').to.equal(dropped(7));
    await upkeep.stop();
  });

  it('drops what is past it also where there is no room for the next segment, and tries again every few minutes', async () => {
    const clock = new ManualClock();
    const store = new FullStore(clock);
    const said: string[] = [];
    const note = (message: string) => void said.push(message);
    const log: Log = { debug: note, info: note, warn: note, error: note };
    const duties = new Duties(clock);
    const upkeep = retention({
      store,
      clock,
      log,
      duties,
      days: { short: 2, normal: 30, long: 90 },
      auditDays: 0,
      eventDays: 7,
      archive: null,
      ...usage,
    });
    await upkeep.start();

    await clock.pass(5 * 60_000);
    const work = ['prepare', 'drop', 'drop', 'drop'];
    expect(store.asked.splice(0), 'each class once').to.deep.equal(work);
    expect(said.splice(0)).to.deep.equal([
      'making the next segment of history failed',
      'dropping history past retention failed',
    ]);
    const lasts = () =>
      duties.views().map(({ name, last }) => [name, last?.error, last?.doneCount]);
    const full = 'Error: database or disk is full';
    expect(lasts()).to.deep.equal([
      ['next_segments', full, 0],
      ['retention', full, 0],
      ['audit_retention', null, 0],
      ['event_retention', null, 0],
      ['occurrence_retention', null, 0],
      ['usage_retention', null, 0],
      ['load_minutes_retention', null, 0],
      ['load_hours_retention', null, 0],
      ['id_filters', null, 0],
    ]);
    const nextMs = () => clock.nextAlarmAt - clock.now();
    const waitsMs: number[] = [];
    for (let i = 0; i < 5; i++) {
      waitsMs.push(nextMs());
      await clock.pass(nextMs());
    }
    const minutes = [1, 2, 4, 5, 5];
    expect(waitsMs).to.deep.equal(minutes.map((count) => count * 60_000));

    said.length = 0;
    store.refused.clear();
    await store.prepareSegments(clock.now() - 40 * DAY_MS);
    store.asked.length = 0;
    await clock.pass(nextMs());
    expect(store.asked).to.deep.equal(work);
    expect(said).to.deep.equal(['history past retention was dropped']);
    expect(lasts()).to.deep.equal([
      ['next_segments', null, 2],
      ['retention', null, 2],
      ['audit_retention', null, 0],
      ['event_retention', null, 0],
      ['occurrence_retention', null, 0],
      ['usage_retention', null, 0],
      ['load_minutes_retention', null, 0],
      ['load_hours_retention', null, 0],
      ['id_filters', null, 0],
    ]);
    const ago = (days: number) => clock.now() - days * DAY_MS;
    const wanted = [`short ${ago(2)}`, `normal ${ago(30)}`, `long ${ago(90)}`];
    expect(store.dropped).to.deep.equal(wanted);
    expect(nextMs(), 'all is well').to.equal(HOUR_MS);
    await upkeep.stop();
    expect(clock.nextAlarmAt).to.equal(Number.POSITIVE_INFINITY);
  });
});
