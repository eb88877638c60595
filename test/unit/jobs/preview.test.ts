/** What the preview of a backfill costs: it ends with whoever asked, and reads for so long at most. */
import { expect } from 'chai';
import { triggerErrors } from '../../../master/access/routes/jobs/trigger-errors.ts';
import { previewBackfill } from '../../../master/application/jobs/backfill.ts';
import type { TaskStore } from '../../../master/application/ports.ts';
import { PREVIEW_MS_MAX } from '../../../master/domain/bounds.ts';
import type { Occurrence } from '../../../master/domain/model/job.ts';
import { sampleJob, sampleSpec, sampleTrigger } from '../../helpers/jobs/sample-job.ts';

const MINUTE = 60_000;

describe('the preview of a backfill', () => {
  const spec = sampleSpec({ timing: { kind: 'cron', expression: '* * * * *' } });
  const trigger = sampleTrigger({ spec: JSON.stringify(spec) });
  const planned = { job: sampleJob(), trigger, calendars: new Map() };
  const asked = { from: MINUTE, until: 1_001 * MINUTE, which: 'missing' } as const;
  const ran = (nominal: number): Occurrence => {
    const of = { job: 'nightly', trigger: 'default', nominal, rerun: 0, until: nominal, count: 1 };
    const said = { state: 'ran', reason: null, calendar: null, taskId: 't' } as const;
    return { ...of, ...said, noticedAt: 0 };
  };

  /** Each page of records takes so long. */
  function stand(readMs: number, onRead: () => void = () => undefined) {
    let now = 0;
    let readCount = 0;
    const listRecords = async (_: unknown, from: number, to: number) => {
      readCount += 1;
      now += readMs;
      onRead();
      const records: Occurrence[] = [];
      for (let at = from; at <= to; at += MINUTE) records.push(ran(at));
      return records;
    };
    const store = { jobs: { listRecords } } as unknown as TaskStore;
    const clock = { now: () => now, soon: (then: () => void) => void setImmediate(then) };
    return { store, clock, reads: () => readCount };
  }

  it('tells exactly what is covered while there is time', async () => {
    const { store, clock } = stand(1);
    const { signal } = new AbortController();
    const found = await previewBackfill(planned, asked, store, clock, signal);
    expect(found).to.include({ count: 0, coveredCount: 1_000, isExact: true });
  });

  it('reads no records beyond its time, and tells how many times may be run', async () => {
    const { store, clock, reads } = stand(PREVIEW_MS_MAX);
    const { signal } = new AbortController();
    const found = await previewBackfill(planned, asked, store, clock, signal);
    expect(reads()).to.equal(2);
    expect(found).to.include({ count: 750, coveredCount: 250, isExact: false });
  });

  it('is refused where the times of the trigger cannot be told here', async () => {
    const { store, clock } = stand(1);
    const nowhere = sampleSpec({ ...spec, zone: 'Mars/Olympus' });
    const of = { ...planned, trigger: { ...trigger, spec: JSON.stringify(nowhere) } };
    const found = await previewBackfill(of, asked, store, clock, new AbortController().signal);
    expect(found).to.match(/^this master cannot tell its times: .*Mars\/Olympus/);
  });

  it('ends once nobody waits for it', async () => {
    const gone = new AbortController();
    const { store, clock, reads } = stand(1, () => gone.abort());
    const failed = await previewBackfill(planned, asked, store, clock, gone.signal).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(failed).to.equal('nobody waits for it any more');
    expect(reads()).to.equal(1);
  });
});

describe('what is checked of triggers', () => {
  it('asks for one zone at a time: each that is new costs milliseconds', () => {
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 30);
    const triggers = [...zones, 'Nowhere/A', 'Nowhere/B'].map((zone, at) => {
      return { name: `t${at}`, cron: '0 3 * * *', zone };
    });
    const { DateTimeFormat } = Intl;
    let madeCount = 0;
    Intl.DateTimeFormat = new Proxy(DateTimeFormat, {
      construct(made, args) {
        madeCount += 1;
        return Reflect.construct(made, args) as object;
      },
    });
    try {
      const check = triggerErrors('nightly', triggers, { hasCalendar: () => true });
      for (let step = check.next(); ; step = check.next()) {
        expect(madeCount).to.be.at.most(3);
        madeCount = 0;
        if (step.done !== true) continue;
        expect(step.value.map(({ field }) => field)).to.deep.equal([
          ...['triggers[30].zone', 'triggers[31].zone'],
        ]);
        return;
      }
    } finally {
      Intl.DateTimeFormat = DateTimeFormat;
    }
  });
});
