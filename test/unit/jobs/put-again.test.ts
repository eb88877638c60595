/** A job that was disabled, and is enabled by being put: its times meanwhile were none. */
import { expect } from 'chai';
import { renewedTriggers } from '../../../master/domain/jobs/set.ts';
import type { DefinedTrigger } from '../../../master/domain/jobs/job-events.ts';
import type { Occurrence } from '../../../master/domain/model/job.ts';
import type { TriggerSpec } from '../../../master/domain/schedule/trigger-spec.ts';
import { TriggerFaults } from '../../../master/application/jobs/trigger-faults.ts';
import { JobReader } from '../../../master/application/jobs/read-jobs.ts';
import { MemoryTaskStore } from '../../../master/infrastructure/memory/task-store.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { HOUR, MINUTE, Scheduler } from '../../helpers/domain.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { templatesIn } from '../../helpers/jobs/templates.ts';
import { Random } from '../../sim/random.ts';
import { YearMaster } from '../../sim/year/master.ts';
import { commit } from '../../contract/sample.ts';
import { NOW } from '../../helpers/task.ts';

const held = sampleTrigger({ decidedUntil: NOW, nextAt: null, nextNominal: null });
const later = NOW + HOUR;

describe('a job that is put again', () => {
  it('decides no time up to now once more, also where its times are the same', () => {
    const spec = sampleSpec({ misfire: 'skip' });
    const defined = {
      name: 'default',
      kind: 'every',
      isCalendared: true,
      source: null,
      spec,
    } as const;
    const [renewed] = renewedTriggers('nightly', [held], [defined], later);
    expect(renewed).to.include({ anchorAt: held.anchorAt, decidedUntil: later });
  });

  it('counts from the end of its run still, where its delay is another', () => {
    const spec = sampleSpec({ timing: { kind: 'delay', delayMs: 2 * MINUTE }, startAt: NOW });
    const named = { name: 'default', kind: 'delay', isCalendared: true, source: null } as const;
    const running = sampleTrigger({ kind: 'delay', armedAt: null, nextAt: null });
    const [renewed] = renewedTriggers('nightly', [running], [{ ...named, spec }], later);
    expect(renewed?.armedAt).to.equal(null);
  });

  it('goes on with the next time, where it was disabled and is as it was; others have their turns between its triggers', async () => {
    const store = new MemoryTaskStore();
    const { term } = await store.takeTerm('test', NOW);
    const job = sampleJob({ isEnabled: false });
    await store.commit(
      commit(term, {
        writes: [
          { op: 'put', table: 'job', key: job.name, row: job },
          { op: 'put', table: 'trigger', key: [job.name, held.name], row: held },
        ],
      }),
    );
    let breathCount = 0;
    const breathe = async () => void (breathCount += 1);
    const faults = new TriggerFaults();
    const reader = new JobReader({ store, templates: templatesIn(), faults, breathe });
    const spec = sampleSpec();
    const event = {
      type: 'jobSet',
      request: 1,
      name: job.name,
      expect: null,
      isTrial: false,
      by: null,
      definition: { ...job, isEnabled: true },
      triggers: Array.from({ length: 32 }, (_, at) => {
        const name = at === 0 ? 'default' : `t${at}`;
        return { name, kind: 'every' as const, isCalendared: true, source: null, spec };
      }),
      within: ALL,
    } as const;
    const [found] = await reader.read(new Scheduler().state, { type: 'job', event }, later + 1);
    if (found?.type !== 'jobSet') return expect.fail('it is the command, with its rows');
    expect(found.found?.renewed[0]?.nextAt).to.equal(later + MINUTE);
    expect(breathCount).to.equal(32);
  });
});

describe('a trigger that has run ahead of its time, and is changed', () => {
  const FRIDAY = Date.UTC(2026, 10, 20);
  const at = (hours: number) => FRIDAY + hours * HOUR;
  const days = { onlyOn: { calendar: 'office', days: 'work', label: null } } as const;
  const ahead = { ...days, shift: 'previous' } as const;
  const cron = (expression: string) => ({ timing: { kind: 'cron', expression } }) as const;

  let records: Map<number, Occurrence>;
  let skipped: (readonly number[])[];
  let master: YearMaster;
  beforeEach(async () => {
    records = new Map();
    skipped = [];
    master = new YearMaster(new Random(1), ({ writes }) => {
      for (const one of writes) {
        if (one.table === 'occurrence' && one.op === 'put') records.set(one.key[2], one.row);
        if (one.table === 'trigger' && one.op === 'put') skipped.push(one.row.skips);
      }
    });
    await master.begin(FRIDAY);
    const office = { days: [], weekend: [6, 0] };
    const set = { expect: null, isForced: false, isUsed: false, by: null };
    const calendar = { name: 'office', text: JSON.stringify(office), ...set };
    await master.tell((request) => ({ type: 'calendarSet', request, ...calendar }), FRIDAY);
    // The time of Saturday goes to Friday.
    await put(0, { ...ahead, ...cron('0 18 * * 6') });
    await passTo(18);
    expect(told()).to.deep.equal(['42 ran at 18']);
  });

  const put = (hour: number, parts: Partial<TriggerSpec>) => {
    const spec = sampleSpec({ overlap: { kind: 'allow' }, ...parts });
    const { kind } = spec.timing;
    const trigger: DefinedTrigger = {
      name: spec.name,
      kind,
      isCalendared: true,
      source: null,
      spec,
    };
    const definition = { ...sampleJob(), spec: JSON.stringify({ triggers: [spec] }) };
    const how = { expect: null, isTrial: false, by: null, within: ALL };
    const job = { name: 'nightly', definition, triggers: [trigger], ...how };
    return master.tell((request) => ({ type: 'jobSet', request, ...job }), at(hour));
  };

  async function passTo(hour: number): Promise<void> {
    while (master.nextAt <= at(hour)) await master.tick(master.nextAt);
  }

  /** By hours from Friday, the oldest first. */
  const told = () =>
    [...records.values()]
      .sort((a, b) => a.nominal - b.nominal)
      .map(({ nominal, until, count, state, noticedAt }) => {
        const hour = (time: number) => Math.round((time - FRIDAY) / HOUR);
        const times = count === 1 ? '' : ` to ${hour(until)}, ${count}`;
        return `${hour(nominal)}${times} ${state} at ${hour(noticedAt)}`;
      });

  it('fires before that time by what it is now, and runs that time no more', async () => {
    await put(19, cron('0 */6 * * *'));
    await passTo(48);
    const others = ['24 ran at 24', '30 ran at 30', '36 ran at 36'];
    expect(told()).to.deep.equal([...others, '42 ran at 18', '48 ran at 48']);
  });

  it('runs that time no more either where it, or its job, was deleted and is made again', async () => {
    const removed = { name: 'nightly', expect: null, within: ALL } as const;
    await put(19, { name: 'another' });
    await put(20, cron('0 */6 * * *'));
    await master.tell((request) => ({ type: 'jobRemoved', request, ...removed }), at(21));
    await put(22, cron('0 */6 * * *'));
    await passTo(48);
    const others = ['24 ran at 24', '30 ran at 30', '36 ran at 36'];
    expect(told().slice(-5)).to.deep.equal([...others, '42 ran at 18', '48 ran at 48']);
  });

  it('stands for that time in no record of others', async () => {
    await put(19, { ...cron('0 */6 * * *'), ...days });
    await passTo(72);
    const leftOut = ['24 to 36, 3 skipped at 72', '42 ran at 18', '48 to 66, 4 skipped at 72'];
    expect(told()).to.deep.equal([...leftOut, '72 ran at 72']);
  });

  it('stands for days off that come behind it still, where these are moved as well', async () => {
    await put(19, { ...ahead, ...cron('0 18 * * 6,0') });
    await passTo(200);
    expect(told().slice(0, 2)).to.deep.equal(['42 ran at 18', '66 merged at 186']);
  });

  it('runs that time no more, however often it is changed, also behind a calendar that is', async () => {
    for (let hour = 19; hour < 40; hour++) {
      await put(hour, { ...cron(`0 ${(hour % 6) + 18} * * *`) });
      await passTo(hour + 0.5);
    }
    await put(40, cron('0 18 * * *'));
    await master.tell(
      (request) => ({
        ...{ type: 'calendarSet', request, name: 'office', text: '{"days":[],"weekend":[]}' },
        ...{ expect: null, isForced: false, isUsed: false, by: null },
      }),
      at(41),
    );
    await passTo(48);
    expect(told()).to.include('42 ran at 18');
    expect(new Set(told()).size).to.equal(records.size);
  });

  it('has decided that time: nobody skips it, though they skip one before it', async () => {
    const skip = { name: 'nightly', trigger: 'default', isSkipped: true, within: ALL } as const;
    await put(19, cron('0 */6 * * *'));
    for (const hour of [36, 42]) {
      const asked = { type: 'occurrenceSkipped', ...skip, nominal: at(hour) } as const;
      await master.tell((request) => ({ request, ...asked }), at(20));
    }
    await passTo(48);
    expect(skipped.flat()).to.deep.equal([at(36)]);
    expect(told()).to.include.members(['36 skipped at 48', '42 ran at 18']);
  });
});
