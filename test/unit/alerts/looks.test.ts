/** When the alerts of a master are looked for: as soon as it has begun, and whatever others ask meanwhile. */
import { expect } from 'chai';
import { Alerts } from '../../../master/application/alerts/alerts.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';
import { saidIn } from '../../../master/domain/alerts/said.ts';
import { RemedyTurns } from '../../../master/domain/alerts/turns.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const MINUTE = 60_000;

describe('the looks for alerts', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let scheduler: Scheduler;
  let isKnown: boolean;
  let isLed: boolean;
  let recent: Recent;
  let alerts: Alerts;
  let count: number;

  /** On a disk that is full. */
  function begin(): Alerts {
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const outcomes = new Outcomes(clock.now());
    recent = new Recent(() => clock.now());
    const turns = new RemedyTurns();
    alerts = new Alerts({
      ...{ store, clock, log, rareLog: log, duties: new Duties(clock) },
      sender: { send: async () => ({ error: null, isFinal: false }), refusalOf: () => null },
      ask: (question) => question(),
      look: () => {
        const state = isKnown ? scheduler.state : null;
        return isLed ? [{ namespace: 'default', state, outcomes, recent, turns }] : [];
      },
      disk: async () => ({ freeBytes: 5, totalBytes: 100 }),
      newId: () => `al-${++count}`,
    });
    alerts.start();
    return alerts;
  }
  const raised = async () =>
    (await alerts.raised(null, 1_000, 'ann')).map(({ alert }) => alert.rule).sort();

  beforeEach(() => {
    clock = new ManualClock();
    store = new MemoryStore();
    scheduler = new Scheduler();
    isKnown = true;
    isLed = true;
    count = 0;
  });
  afterEach(() => alerts.stop());

  it('come as soon as something is known, and for executors when they had time to come back', async () => {
    scheduler.submit({ id: 'a' });
    scheduler.now = clock.now();
    await clock.pass(2 * MINUTE);
    isKnown = false;
    begin();
    await clock.pass(5_000);
    expect(await raised()).to.deep.equal([]);
    isKnown = true;
    await clock.pass(20_000);
    expect(await raised()).to.deep.equal(['disk']);
    await clock.pass(30_000);
    expect(await raised()).to.deep.equal(['disk']);
    await clock.pass(MINUTE);
    expect(await raised()).to.deep.equal(['disk', 'no_executor']);
    // What was raised before is not over because executors were not there yet.
    await alerts.stop();
    await begin().stop();
    begin();
    scheduler.connect('x');
    await clock.pass(50_000);
    expect(await raised()).to.deep.equal(['disk', 'no_executor']);
    await clock.pass(MINUTE);
    expect(await raised()).to.deep.equal(['disk']);
  });

  it('let what was counted end by its time alone in a namespace that nobody leads any more', async () => {
    begin();
    await clock.pass(MINUTE);
    const who = { executorId: 'x', types: ['echo'], host: 'h', lasting: true };
    const joined = { event: 'executor_joined', ...who } as const;
    for (let at = 0; at < 5; at++) recent.observe(joined);
    await clock.pass(MINUTE);
    expect(await raised()).to.deep.equal(['disk', 'executor_flapping']);
    isLed = false;
    await clock.pass(9 * MINUTE);
    expect(await raised()).to.deep.equal(['disk', 'executor_flapping']);
    // As before: a master that begins meanwhile has counted nothing.
    await alerts.stop();
    begin();
    await clock.pass(9 * MINUTE);
    expect(await raised()).to.deep.equal(['disk', 'executor_flapping']);
    await clock.pass(2 * MINUTE);
    expect(await raised()).to.deep.equal(['disk']);
  });

  it('come, and others read, however much one says at the same time', async () => {
    begin();
    let release: () => void = () => undefined;
    const write = store.alerts.write.bind(store.alerts);
    const held = new Promise<void>((resolve) => void (release = resolve));
    store.alerts.write = async (...of) => {
      await held;
      return write(...of);
    };
    const messageOf = (message: string) =>
      saidIn('live', { severity: 'info', message, fields: null, by: 'cms' });
    const said = Array.from({ length: 300 }, (_, at) =>
      alerts.say(messageOf('n'.repeat(at + 1))).catch((error: Error) => error.message),
    );
    await clock.pass(2 * MINUTE);
    release();
    const listed = await raised();
    const refused = (await Promise.all(said)).filter((one) => typeof one === 'string');
    expect(refused.length).to.be.within(190, 200);
    expect(refused[0]).to.match(/too many alerts are asked for by one token/);
    expect(listed.length, 'before all of it is raised').to.be.below(50);
    await clock.pass(MINUTE);
    expect(await raised()).to.include('disk');
  });
});
