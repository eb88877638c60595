/** Masters that are killed between commits of which one follows from the other: the next one goes on with the rest. */
import { expect } from 'chai';
import type { Commit } from '../../../master/application/ports.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import type { JobChange } from '../../../master/domain/jobs/job-events.ts';
import type { Occurrence, Trigger } from '../../../master/domain/model/job.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { HOUR } from '../../helpers/domain.ts';
import { sampleJob, sampleSpec } from '../../helpers/jobs/sample-job.ts';
import { NOW } from '../../helpers/task.ts';
import { Random } from '../random.ts';
import { YearMaster } from './master.ts';

/** Kills behind so many further commits, and then no more. */
class KillsOnce extends Random {
  commitCount = Number.POSITIVE_INFINITY;

  constructor() {
    super(1);
  }

  /** Asked before each commit and behind it. */
  override chance(): boolean {
    this.commitCount -= 0.5;
    return this.commitCount === 0;
  }
}

describe('a master that is killed between two commits', () => {
  let kills: KillsOnce;
  let master: YearMaster;
  let records: Map<number, Occurrence>;
  let triggers: Map<string, Trigger>;
  let live: Set<string>;

  beforeEach(async () => {
    kills = new KillsOnce();
    [records, triggers, live] = [new Map(), new Map(), new Set()];
    master = new YearMaster(kills, ({ writes }: Commit) => writes.forEach(note));
    await master.begin(NOW);
  });

  function note(write: RowWrite): void {
    const { op, table } = write;
    if (table === 'occurrence' && op === 'put') records.set(write.row.nominal, write.row);
    if (table === 'trigger' && op !== 'remove') triggers.set(write.key.join('/'), write.row);
    if (table === 'task' && op === 'insert') live.add(write.row.id);
    if (table === 'history' && op === 'insert') live.delete(write.row.task.id);
  }

  const put = (name: string, parts: Partial<TriggerSpec>) => {
    const spec = sampleSpec({ timing: { kind: 'every', everyMs: HOUR }, ...parts });
    const definition = { ...sampleJob(), spec: JSON.stringify({ triggers: [spec] }) };
    const named = { name: spec.name, kind: 'every', isCalendared: true, source: null } as const;
    const how = { expect: null, isTrial: false, by: null } as const;
    const job = {
      type: 'jobSet',
      name,
      definition,
      triggers: [{ ...named, spec }],
      ...how,
    } as const;
    return tell(job);
  };
  const tell = (change: JobChange) =>
    master.tell((request) => ({ request, within: ALL, ...change }), NOW);

  const calendar = (weekend: readonly number[]) =>
    master.tell(
      (request) => ({
        ...{ type: 'calendarSet', request, name: 'office', expect: null },
        ...{
          text: JSON.stringify({ days: [], weekend }),
          isForced: false,
          isUsed: false,
          by: null,
        },
      }),
      NOW,
    );

  async function passTo(hour: number): Promise<void> {
    while (master.nextAt <= NOW + hour * HOUR) await master.tick(master.nextAt);
  }

  const told = () =>
    [...records.values()].map(({ nominal, state }) => `${(nominal - NOW) / HOUR} ${state}`);

  for (const commitCount of [1, 2, 3]) {
    it(`replaces the run whose end it has decided, after ${commitCount} of them`, async () => {
      await put('nightly', { overlap: { kind: 'replace' } });
      await passTo(1);
      // What waits is in the store only then: whoever is to end it reads it first.
      master.kill();
      await master.begin(NOW + HOUR);
      kills.commitCount = commitCount;
      await passTo(2);
      expect(master.isAlive).to.equal(false);
      await master.begin(NOW + 2 * HOUR);
      expect(told()).to.deep.equal(['1 ran', '2 ran']);
      expect([...live]).to.have.length(1);
    });
  }

  for (let commitCount = 1; commitCount <= 4; commitCount++) {
    it(`finds all next times by a calendar that was changed, after ${commitCount} of them`, async () => {
      await calendar([0, 1, 2, 3, 4, 5, 6]);
      const names = Array.from({ length: 250 }, (_, at) => `job-${at + 100}`);
      const onlyOn = { calendar: 'office', days: 'work', label: null } as const;
      for (const name of names) await put(name, { onlyOn });
      kills.commitCount = commitCount;
      await calendar([]);
      expect(master.isAlive).to.equal(false);
      await master.begin(NOW + 1);
      const next = [...triggers.values()].map(({ nextAt }) => nextAt);
      expect(next).to.deep.equal(names.map(() => NOW + HOUR));
    });
  }
});
