/** A disk that fills before its alert can be written: who is told of it, and what is raised afterwards. */
import { expect } from 'chai';
import { Alerts } from '../../../master/application/alerts/alerts.ts';
import { type AlertDelivery, TermLost } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import { saidOfTask } from '../../../master/domain/alerts/said.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';
import { RemedyTurns } from '../../../master/domain/alerts/turns.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { sampleTask } from '../../helpers/task.ts';

const MINUTE = 60_000;
const FULL = new Error('database or disk is full');

describe('the alert of a disk on which nothing can be written', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let free: number;
  let refusedCount: number;
  let sent: Pick<AlertDelivery, 'id' | 'told' | 'moreCount'>[];
  let alerts: Alerts;

  const hear = () => {
    const said = { severity: 'warning', message: 'no audio', fields: null } as const;
    alerts.hear(saidOfTask('default', { event: 'alert_said', task: sampleTask(), ...said }));
  };
  const events = () =>
    sent.map(({ told }) => told.map(({ event, alert }) => `${event} ${alert.rule}`).join(', '));

  beforeEach(async () => {
    clock = new ManualClock();
    store = new MemoryStore();
    free = 100;
    refusedCount = 0;
    sent = [];
    const { state } = new Scheduler();
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const [outcomes, recent] = [new Outcomes(clock.now()), new Recent(() => clock.now())];
    const turns = new RemedyTurns();
    let count = 0;
    alerts = new Alerts({
      ...{ store, clock, log, rareLog: log, duties: new Duties(clock) },
      sender: {
        send: async (_, message) => {
          sent.push(message);
          return { error: refusedCount-- > 0 ? 'busy' : null, isFinal: false };
        },
        refusalOf: () => null,
      },
      ask: (question) => question(),
      look: () => [{ namespace: 'default', state, outcomes, recent, turns }],
      disk: async () => ({ freeBytes: free, totalBytes: 100 }),
      newId: () => `al-${++count}`,
    });
    alerts.start();
    const url = 'https://ops.example.com/hook';
    const to = { to: [], url, secret: null, template: null };
    await alerts.setReceiver({ name: 'ops', channel: 'webhook', ...to }, null);
  });
  afterEach(() => alerts.stop());

  it('is told meanwhile, and raised as it was told once there is room', async () => {
    const { write } = store.alerts;
    store.alerts.write = () => Promise.reject(FULL);
    // What a handler says, and cannot be written either, does not keep it from being told.
    hear();
    refusedCount = 1;
    free = 0;
    await clock.pass(2 * MINUTE);
    expect(events(), 'again where it was not taken, and then no more').to.deep.equal([
      'raised disk',
      'raised disk',
    ]);
    expect(sent[1]?.id).to.equal(sent[0]?.id);
    const alert = sent[0]?.told[0]?.alert;
    expect(alert).to.deep.include({ severity: 'critical', subject: 'disk', clearedAt: null });
    free = 100;
    store.alerts.write = write;
    await clock.pass(20_000);
    const raised = (await alerts.raised()).find((one) => one.alert.rule === 'disk');
    expect(raised?.alert).to.deep.include({ id: alert?.id, raisedAt: alert?.raisedAt });
    expect(raised?.alert.message).to.include(`${alert?.message} Nothing could be written for `);
    await clock.pass(3 * MINUTE);
    expect(events().at(-1)).to.equal('cleared disk');
    expect((await alerts.raised()).map((one) => one.alert.rule)).to.deep.equal(['message']);
  });

  it('is told by the first look that cannot be written, where nothing else is to be', async () => {
    store.alerts.write = () => Promise.reject(FULL);
    free = 0;
    await clock.pass(MINUTE);
    expect(events()).to.deep.equal(['raised disk']);
  });

  it('is not told again where it is raised already, nor by a master that was deposed', async () => {
    free = 5;
    await clock.pass(MINUTE);
    expect(events()).to.deep.equal(['raised disk']);
    const { write } = store.alerts;
    store.alerts.write = () => Promise.reject(FULL);
    hear();
    await clock.pass(5 * MINUTE);
    expect(events()).to.deep.equal(['raised disk']);
    store.alerts.write = write;
    free = 100;
    await clock.pass(2 * MINUTE);
    const toldCount = sent.length;
    free = 0;
    store.alerts.load = () => Promise.reject(new TermLost());
    store.alerts.write = () => Promise.reject(new TermLost());
    await clock.pass(5 * MINUTE);
    expect(sent).to.have.length(toldCount);
  });
});
