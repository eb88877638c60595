/** Zones that nobody has asked for yet: each costs, so there is one in a piece, and it is asked for its days cheaply. */
import { expect } from 'chai';
import { surroundingsOf } from '../../../master/application/jobs/planning.ts';
import { JobReader } from '../../../master/application/jobs/read-jobs.ts';
import { TriggerFaults } from '../../../master/application/jobs/trigger-faults.ts';
import type { DefinedTrigger } from '../../../master/domain/jobs/job-events.ts';
import { ALL } from '../../../master/domain/model/task-filter.ts';
import { comingOf } from '../../../master/domain/schedule/coming.ts';
import { MemoryTaskStore } from '../../../master/infrastructure/memory/task-store.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';
import { templatesIn } from '../../helpers/jobs/templates.ts';
import { NOW } from '../../helpers/task.ts';

/** No other test of this process has asked for these, as they are written. */
const ZONES = Intl.supportedValuesOf('timeZone')
  .slice(0, 40)
  .map((zone) => zone.toUpperCase());

describe('zones that are cold', () => {
  const { DateTimeFormat } = Intl;
  const counts = { made: 0, asked: 0, inParts: 0 };

  beforeEach(() => {
    Object.assign(counts, { made: 0, asked: 0, inParts: 0 });
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      construct(made, args) {
        counts.made += 1;
        const format = Reflect.construct(made, args) as Intl.DateTimeFormat;
        const { format: ask } = format;
        Object.defineProperty(format, 'format', {
          value: (at: number) => {
            counts.asked += 1;
            return ask(at);
          },
        });
        format.formatToParts = (at) => {
          counts.inParts += 1;
          return DateTimeFormat.prototype.formatToParts.call(format, at);
        };
        return format;
      },
    });
  });
  afterEach(() => {
    Intl.DateTimeFormat = DateTimeFormat;
  });

  const cron = (zone: string, at: number) =>
    sampleSpec({ name: `t${at}`, zone, timing: { kind: 'cron', expression: '0 3 * * *' } });

  it('come one in a piece where the triggers of a job find their times', async () => {
    const zones = ZONES.slice(0, 30);
    let madeMax = 0;
    const breathe = async () => {
      madeMax = Math.max(madeMax, counts.made);
      counts.made = 0;
    };
    const [store, faults] = [new MemoryTaskStore(), new TriggerFaults()];
    const reader = new JobReader({ store, templates: templatesIn(), faults, breathe });
    const triggers = zones.map((zone, at): DefinedTrigger => {
      const spec = cron(zone, at);
      return { name: spec.name, kind: 'cron', isCalendared: true, source: null, spec };
    });
    const how = { expect: null, isTrial: false, by: null, within: ALL };
    const definition = sampleJob();
    const asked = { type: 'jobSet', request: 1, name: 'nightly', definition, triggers } as const;
    const { state } = new Scheduler();
    await reader.read(state, { type: 'job', event: { ...asked, ...how } }, NOW);
    await breathe();
    expect(madeMax).to.equal(1);
  });

  it('are asked once for six days, and in no parts, where a look goes through years', () => {
    const onlyOn = { calendar: 'none', days: 'work', label: null } as const;
    const spec = { ...cron(ZONES[35] ?? '', 0), onlyOn };
    const trigger = sampleTrigger({ spec: JSON.stringify(spec) });
    const around = surroundingsOf(new Map(), trigger, spec, []);
    const { coming } = comingOf(spec, around, NOW, 128);
    const days = coming.reduce((sum, { count }) => sum + count, 0);
    expect(days).to.be.greaterThan(700);
    expect(counts.inParts).to.equal(0);
    expect(counts.asked).to.be.within(days / 6, days / 6 + 200);
  });
});
