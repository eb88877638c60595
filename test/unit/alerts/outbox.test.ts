/** How messages reach receivers of alerts: tried again and again, one at a time to each, and written as they end. */
import { expect } from 'chai';
import { Outbox } from '../../../master/application/alerts/outbox.ts';
import type { AlertDelivery, AlertTry } from '../../../master/application/ports.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';

const HOUR = 3_600_000;
const FAILED: AlertTry = { error: 'HTTP 500: no', isFinal: false };

describe('the outbox of alerts', () => {
  let clock: ManualClock;
  let answers: AlertTry[];
  let sent: string[];
  let written: string[];
  let isAway: boolean;
  let outbox: Outbox;

  const delivery = (id: string, receiver = 'ops'): AlertDelivery => ({
    ...{ id, receiver, madeAt: clock.now(), told: [], moreCount: 0, state: 'pending' },
    ...{ tries: 0, nextTryAt: clock.now(), error: null, endedAt: null },
  });

  beforeEach(() => {
    clock = new ManualClock();
    [answers, sent, written, isAway] = [[], [], [], false];
    outbox = new Outbox({
      clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      store: {
        async write(_alerts, deliveries) {
          if (isAway) throw new Error('away');
          written.push(...deliveries.map(({ id, state, tries }) => `${id} ${state} ${tries}`));
        },
      },
      sender: {
        async send({ name }, { id }) {
          sent.push(`${name} ${id}`);
          await settled();
          return answers.shift() ?? { error: null, isFinal: false };
        },
      },
      receiverOf: (name) =>
        name === 'gone'
          ? undefined
          : { name, channel: 'slack', to: [], url: 'https://a', secret: null, template: null },
    });
  });
  afterEach(() => outbox.stop());

  it('tries again what was not taken, ever less often, and gives up after a day', async () => {
    answers = Array.from({ length: 50 }, () => FAILED);
    outbox.add([delivery('a')]);
    await clock.pass(5_000);
    expect(sent).to.have.length(2);
    await clock.pass(20 * HOUR);
    expect(sent.length).to.be.within(9, 11);
    await clock.pass(40 * HOUR);
    expect(sent).to.have.length(12);
    expect(written.at(-1)).to.equal('a failed 12');
    expect(outbox.pendingCount).to.equal(0);
  });

  it('has one under way to each receiver, and does not let one wait for another', async () => {
    outbox.add([delivery('a'), delivery('b'), delivery('c', 'night')]);
    expect(sent).to.deep.equal(['ops a', 'night c']);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops a', 'night c', 'ops b']);
    await clock.pass(1);
  });

  it('gives up at once what nobody will take', async () => {
    answers = [{ error: 'HTTP 410', isFinal: true }];
    outbox.add([delivery('a'), delivery('b', 'gone')]);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops a']);
    expect(written.sort()).to.deep.equal(['a failed 1', 'b failed 1']);
  });

  it('does not send again what it could not write, and writes it later', async () => {
    isAway = true;
    outbox.add([delivery('a')]);
    await clock.pass(HOUR);
    isAway = false;
    await outbox.writeRest();
    await outbox.writeRest();
    expect([sent, written]).to.deep.equal([['ops a'], ['a delivered 1']]);
  });
});
