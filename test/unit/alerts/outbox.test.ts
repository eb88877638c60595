/** How messages reach receivers of alerts: tried again and again, one at a time to each, and written as they end. */
import { expect } from 'chai';
import { Outbox } from '../../../master/application/alerts/outbox.ts';
import type { AlertDelivery, AlertTry } from '../../../master/application/ports.ts';
import {
  ALERT_DELIVERIES_EACH_MAX,
  ALERT_DELIVERIES_TO_PROGRAM_MAX,
} from '../../../master/domain/alerts/bounds.ts';
import type { AlertChannel } from '../../../master/domain/alerts/rule.ts';
import type { Alert } from '../../../master/domain/alerts/alert.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';

const HOUR = 3_600_000;
const FAILED: AlertTry = { error: 'HTTP 500: no', isFinal: false };
const TAKEN: AlertTry = { error: null, isFinal: false };

let alertCount = 0;
/** Nobody looks at more of it here: what is raised anew has another id. */
const toldOf = (subject: string) =>
  ({ event: 'raised', alert: { id: `al-${++alertCount}`, subject } as Alert }) as const;

describe('the outbox of alerts', () => {
  let clock: ManualClock;
  let answers: AlertTry[];
  let sent: string[];
  let written: string[];
  let isAway: boolean;
  /** Of what is silenced, by subject. */
  let quiet: Map<string, number>;
  /** The store answers after that. */
  let hold: Promise<void>;
  let channel: AlertChannel;
  let outbox: Outbox;

  const delivery = (id: string, receiver = 'ops', alerts: string[] = []): AlertDelivery => ({
    ...{ id, receiver, madeAt: clock.now(), told: alerts.map(toldOf), moreCount: 0 },
    ...{ state: 'pending', tries: 0, nextTryAt: clock.now(), error: null, endedAt: null },
  });

  const add = (written: readonly AlertDelivery[]): void => {
    outbox.keep(written);
    outbox.pump();
  };

  beforeEach(() => {
    clock = new ManualClock();
    channel = 'slack';
    [answers, sent, written, isAway] = [[], [], [], false];
    quiet = new Map();
    hold = Promise.resolve();
    outbox = new Outbox({
      clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      store: {
        async write(_alerts, deliveries) {
          if (isAway) throw new Error('away');
          await hold;
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
      quietUntil: ({ subject }) => quiet.get(subject) ?? 0,
      receiverOf: (name) =>
        name === 'gone'
          ? undefined
          : { name, channel, to: [], url: 'https://a', secret: null, template: null },
    });
  });
  afterEach(() => outbox.stop());

  it('tries again what was not taken, ever less often, and gives up after a day', async () => {
    answers = Array.from({ length: 50 }, () => FAILED);
    add([delivery('a')]);
    await clock.pass(5_000);
    expect(sent).to.have.length(2);
    await clock.pass(20 * HOUR);
    expect(sent.length).to.be.within(9, 11);
    await clock.pass(40 * HOUR);
    expect(sent).to.have.length(12);
    expect(written.at(-1)).to.equal('a failed 12');
    expect(outbox.pendingCount).to.equal(0);
  });

  it('holds back what was silenced before it was taken, and that it is over with it', async () => {
    answers = [FAILED];
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(1);
    quiet.set('x', clock.now() + HOUR);
    add([delivery('other', 'ops', ['y'])]);
    const over = { ...toldOf('x'), event: 'cleared' } as const;
    add([{ ...delivery('cleared'), told: [over] }]);
    await clock.pass(HOUR - 1);
    expect(sent.splice(0)).to.deep.equal(['ops raised', 'ops other']);
    await clock.pass(1);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops raised', 'ops cleared']);
  });

  it('sends what was held back once its silence is ended', async () => {
    quiet.set('x', clock.now() + HOUR);
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(1);
    expect(sent).to.deep.equal([]);
    quiet.clear();
    outbox.pump();
    expect(sent).to.deep.equal(['ops raised']);
    await clock.pass(1);
  });

  it('holds nothing back for a silence that has passed, nor for a longer one beside it', async () => {
    quiet.set('x', clock.now() + 9 * HOUR);
    quiet.set('y', clock.now() - HOUR);
    quiet.set('z', clock.now() + HOUR);
    add([delivery('passed', 'ops', ['x', 'y']), delivery('shorter', 'night', ['x', 'z'])]);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops passed']);
    await clock.pass(HOUR);
    expect(sent).to.deep.equal(['ops passed', 'night shorter']);
  });

  it('tells at once that something silenced is over, and of it with what is not silenced', async () => {
    quiet.set('x', clock.now() + HOUR);
    const over = { ...toldOf('x'), event: 'cleared' } as const;
    add([{ ...delivery('cleared'), told: [over] }, delivery('both', 'night', ['x', 'y'])]);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops cleared', 'night both']);
  });

  it('has one under way to each receiver, and does not let one wait for another', async () => {
    add([delivery('a'), delivery('b'), delivery('c', 'night')]);
    expect(sent).to.deep.equal(['ops a', 'night c']);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops a', 'night c', 'ops b']);
    await clock.pass(1);
  });

  it('does not tell that something is over before it has told that it was raised, or the other way round', async () => {
    answers = [FAILED, FAILED];
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(6_000);
    add([delivery('cleared', 'ops', ['x']), delivery('night', 'night', ['x'])]);
    await clock.pass(1_000);
    expect(sent.splice(0)).to.deep.equal(['ops raised', 'ops raised', 'night night']);
    await clock.pass(30_000);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops raised', 'ops cleared']);
  });

  it('does not put what comes into what has to wait', async () => {
    answers = [FAILED];
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(1_000);
    add([delivery('cleared', 'ops', ['x'])]);
    add(outbox.joined('ops', [toldOf('urgent')], clock.now(), () => 'urgent'));
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops raised', 'ops urgent']);
  });

  it('puts what comes behind all that waits', async () => {
    const two = [delivery('raised-y', 'ops', ['y']), delivery('raised-x', 'ops', ['x'])];
    add([delivery('busy'), ...two]);
    const [joined] = outbox.joined('ops', [toldOf('x')], clock.now(), () => 'new');
    expect(joined?.id).to.equal('raised-x');
    add(joined ? [joined] : []);
    for (let i = 0; i < 3; i++) await clock.pass(1);
    expect(sent).to.deep.equal(['ops busy', 'ops raised-y', 'ops raised-x']);
  });

  it('loses nothing of what comes when too much waits, and gives it a new id', async () => {
    answers = Array.from({ length: 1_000 }, () => FAILED);
    const subjects = Array.from({ length: 2 * ALERT_DELIVERIES_EACH_MAX + 2 }, (_, at) => `${at}`);
    const last = new Map<string, AlertDelivery>();
    for (const subject of subjects) {
      const written = outbox.joined('ops', [toldOf(subject)], clock.now(), () => `d-${subject}`);
      for (const one of written) last.set(one.id, one);
      add(written);
      await settled();
    }
    expect(outbox.pendingCount).to.equal(ALERT_DELIVERIES_EACH_MAX);
    const pending = [...last.values()].filter(({ state }) => state === 'pending');
    const told = pending.flatMap((one) => one.told.map(({ alert }) => alert.subject));
    expect(told).to.deep.equal(subjects.slice(0, told.length));
    expect(told.length + (pending.at(-1)?.moreCount ?? 0)).to.equal(subjects.length);
    expect(sent.at(-1)).to.equal(`ops d-${subjects.at(-1)}`);
  });

  it('tells people how many more there are, and a program each of them, in order', () => {
    const all = Array.from({ length: 45 }, (_, at) => toldOf(`${at}`));
    const ids = Array.from({ length: 3 }, (_, at) => `new-${at}`);
    const joined = () => outbox.joined('ops', all, clock.now(), () => ids.shift() ?? 'too many');
    expect(joined().map(({ told, moreCount }) => [told.length, moreCount])).to.deep.equal([
      [20, 25],
    ]);
    for (const one of ['webhook', 'json'] as const) {
      channel = one;
      ids.splice(0, 3, 'a', 'b', 'c');
      const written = joined();
      expect(written.map(({ id, moreCount }) => [id, moreCount])).to.deep.equal([
        ['a', 0],
        ['b', 0],
        ['c', 0],
      ]);
      expect(written.flatMap(({ told }) => told)).to.deep.equal(all);
      // What was killed reads them in this order again.
      expect(new Set(written.map(({ madeAt }) => madeAt)).size).to.equal(3);
    }
  });

  it('leaves nothing out for a program that has not listened for long, up to all that can be raised', async () => {
    [channel, answers] = ['webhook', Array.from({ length: 200 }, () => FAILED)];
    const last = new Map<string, AlertDelivery>();
    let count = 0;
    const say = (length: number): void => {
      const told = Array.from({ length }, () => toldOf(`${count++}`));
      const written = outbox.joined('ops', told, clock.now(), () => `d-${last.size}-${count++}`);
      for (const one of written) last.set(one.id, one);
      add(written);
    };
    const waiting = () => [...last.values()].filter(({ state }) => state === 'pending');
    const toldCount = () => waiting().reduce((sum, { told }) => sum + told.length, 0);
    for (let at = 0; at < ALERT_DELIVERIES_EACH_MAX; at++) {
      say(1);
      await settled();
    }
    say(800);
    say(5);
    expect(toldCount()).to.equal(ALERT_DELIVERIES_EACH_MAX + 805);
    expect(waiting().every(({ moreCount }) => moreCount === 0)).to.equal(true);
    say(2_000);
    expect(outbox.pendingCount).to.equal(ALERT_DELIVERIES_TO_PROGRAM_MAX);
    const moreCount = waiting().at(-1)?.moreCount ?? 0;
    expect(toldCount() + moreCount).to.equal(ALERT_DELIVERIES_EACH_MAX + 2_805);
    outbox.stop();
    await settled();
  });

  it('tells what waits once the receiver takes something else, and not for each such thing', async () => {
    answers = [FAILED, FAILED, FAILED, FAILED, FAILED];
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(HOUR / 2);
    expect(sent.splice(0)).to.have.length(5);
    add([delivery('other', 'ops', ['y']), delivery('cleared', 'ops', ['x'])]);
    await clock.pass(1);
    await clock.pass(1);
    await clock.pass(1);
    expect(sent.splice(0)).to.deep.equal(['ops other', 'ops raised', 'ops cleared']);
    const refused = Array.from({ length: 3 }, () => [FAILED, TAKEN, TAKEN, TAKEN]).flat();
    answers = refused;
    add([delivery('refused', 'ops', ['z'])]);
    for (let i = 0; i < 8; i++) {
      await clock.pass(4_000);
      add([delivery(`taken${i}`)]);
    }
    await clock.pass(1);
    expect(sent.filter((one) => one === 'ops refused').length).to.be.within(2, 3);
  });

  it('tries soon what waits when something new has come, or it has taken a test', async () => {
    answers = Array.from({ length: 40 }, () => FAILED);
    add([delivery('raised', 'ops', ['x'])]);
    await clock.pass(3 * HOUR);
    sent.splice(0);
    answers = [];
    add([delivery('cleared', 'ops', ['x'])]);
    for (let at = 0; at < 3; at++) await clock.pass(1);
    expect(sent.splice(0)).to.deep.equal(['ops raised', 'ops cleared']);
    answers = Array.from({ length: 40 }, () => FAILED);
    add([delivery('other', 'ops', ['y'])]);
    await clock.pass(3 * HOUR);
    sent.splice(0);
    answers = [];
    outbox.hasTaken('ops');
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops other']);
  });

  it('gives up nothing within a day, however often new things come meanwhile', async () => {
    answers = Array.from({ length: 200 }, () => FAILED);
    add([delivery('old', 'ops', ['x'])]);
    for (let at = 0; at < 20; at++) {
      await clock.pass(HOUR / 4);
      add([delivery(`new${at}`, 'ops', ['x'])]);
      await clock.pass(1);
    }
    expect(sent.filter((one) => one === 'ops old').length).to.be.within(13, 30);
    expect(outbox.pendingCount).to.equal(21);
  });

  it('gives up at once what nobody will take', async () => {
    answers = [{ error: 'HTTP 410', isFinal: true }];
    add([delivery('a'), delivery('b', 'gone')]);
    await clock.pass(1);
    expect(sent).to.deep.equal(['ops a']);
    expect(written.sort()).to.deep.equal(['a failed 1', 'b failed 1']);
  });

  it('does not write how an earlier try went after a later one', async () => {
    [isAway, answers] = [true, [FAILED]];
    add([delivery('a')]);
    await clock.pass(1);
    isAway = false;
    let answer = (): void => undefined;
    hold = new Promise((resolve) => (answer = resolve));
    const first = outbox.writeRest();
    hold = Promise.resolve();
    await clock.pass(6_000);
    answer();
    await first;
    await settled();
    expect(sent).to.have.length(2);
    expect(written.at(-1)).to.equal('a delivered 2');
  });

  it('does not send again what it could not write, and writes it later', async () => {
    isAway = true;
    add([delivery('a')]);
    await clock.pass(HOUR);
    isAway = false;
    await outbox.writeRest();
    await outbox.writeRest();
    expect([sent, written]).to.deep.equal([['ops a'], ['a delivered 1']]);
  });
});
