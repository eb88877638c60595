/** What the master does about alerts by itself: it looks, writes, tells, tries again; and goes on after a kill. */
import { expect } from 'chai';
import { Alerts } from '../../../master/application/alerts/alerts.ts';
import type { AlertDelivery, AlertTry } from '../../../master/application/ports.ts';
import { Duties } from '../../../master/application/process/duties.ts';
import type { Message } from '../../../master/domain/alerts/book.ts';
import type { Looked } from '../../../master/domain/alerts/findings.ts';
import type { AlertReceiver } from '../../../master/domain/alerts/rule.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';
import { RemedyTurns } from '../../../master/domain/alerts/turns.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { MemoryStore } from '../../../master/infrastructure/memory/store.ts';
import { Scheduler } from '../../helpers/domain.ts';
import { ManualClock, settled } from '../../helpers/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const ops: AlertReceiver = {
  name: 'ops',
  channel: 'webhook',
  to: [],
  url: 'https://ops.example.com/hook',
  secret: null,
  template: null,
};

const messageOf = (subject: string): Message => ({
  ...{ namespace: 'live', type: null, group: null, subject, message: 'm', change: null },
  ...{ severity: 'critical', fields: null, by: 'ann' },
});

describe('the alerts of a master', () => {
  let clock: ManualClock;
  let store: MemoryStore;
  let scheduler: Scheduler;
  let free: number | null;
  /** Whoever asks for the disk waits for it; null: he does not. */
  let diskAsked: Promise<null> | null;
  let recent: Recent;
  let answer: (receiver: string) => Promise<AlertTry>;
  let sent: Pick<AlertDelivery, 'id' | 'told' | 'moreCount'>[];
  let alerts: Alerts;
  let count: number;
  /** What is looked at in place of what there is. */
  let seen: Partial<Looked>;

  function begin(): Alerts {
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const [outcomes, turns] = [new Outcomes(clock.now()), new RemedyTurns()];
    recent = new Recent(() => clock.now());
    alerts = new Alerts({
      ...{ store, clock, log, rareLog: log, duties: new Duties(clock) },
      sender: {
        send: ({ name }, message) => {
          sent.push(message);
          return answer(name);
        },
        refusalOf: () => null,
      },
      ask: (question) => question(),
      look: () => [
        { namespace: 'default', state: scheduler.state, ...{ outcomes, recent, turns }, ...seen },
      ],
      disk: async () => diskAsked ?? (free === null ? null : { freeBytes: free, totalBytes: 100 }),
      newId: () => `al-${++count}`,
    });
    alerts.start();
    return alerts;
  }

  const events = () =>
    sent.map(({ told }) => told.map(({ event, alert }) => `${event} ${alert.rule}`).join(', '));

  beforeEach(async () => {
    clock = new ManualClock();
    store = new MemoryStore();
    scheduler = new Scheduler();
    free = 100;
    diskAsked = null;
    sent = [];
    count = 0;
    seen = {};
    answer = async () => ({ error: null, isFinal: false });
    await begin().setReceiver(ops, null);
  });
  afterEach(() => alerts.stop());

  it('tells each receiver at once of what several rules find, and of its end', async () => {
    await clock.pass(50_000);
    free = 5;
    scheduler.submit({ id: 'a' });
    scheduler.now = clock.now();
    await clock.pass(3 * MINUTE);
    expect(events()).to.deep.equal(['raised disk, raised no_executor']);
    const [disk, nobody] = sent[0]?.told ?? [];
    expect(disk?.alert).to.deep.include({ severity: 'critical', namespace: null, subject: 'disk' });
    expect(nobody?.alert).to.deep.include({
      namespace: 'default',
      subject: 'type echo',
      change: 'Start an executor of type echo.',
    });
    expect(nobody?.alert.message).to.match(
      /^Nobody takes tasks of type echo: 1 task waiting, the first for .* \(limit: 1 min\)\. No executor of type echo is connected\.$/,
    );
    scheduler.connect('x');
    free = 50;
    await clock.pass(MINUTE);
    expect(events().slice(1)).to.deep.equal(['cleared disk, cleared no_executor']);
    expect(await alerts.raised()).to.deep.equal([]);
    const over = await alerts.cleared(null, 10);
    expect(over.map(({ alert }) => alert.rule).sort()).to.deep.equal(['disk', 'no_executor']);
    expect(over[0]?.deliveries.map(({ state }) => state)).to.deep.equal(['delivered', 'delivered']);
  });

  it('says nothing of tasks that wait for a limit, a pause or their time', async () => {
    scheduler.connect('x');
    scheduler.submit({ id: 'later', runAt: scheduler.now + 100 * HOUR });
    scheduler.now = clock.now();
    await clock.pass(5 * MINUTE);
    expect(sent).to.deep.equal([]);
  });

  it('tells what was raised before it was killed, with the same id, once it is back', async () => {
    answer = () => new Promise(() => undefined);
    free = 5;
    await clock.pass(2 * MINUTE);
    expect(events()).to.deep.equal(['raised disk']);
    await alerts.stop();
    answer = async () => ({ error: null, isFinal: false });
    begin();
    await settled();
    expect(events()).to.deep.equal(['raised disk', 'raised disk']);
    expect(sent[1]?.id).to.equal(sent[0]?.id);
    await alerts.stop();
    begin();
    await clock.pass(5 * MINUTE);
    expect(sent).to.have.length(2);
  });

  it('tells those whom the rule names, and nobody that is gone', async () => {
    await alerts.setReceiver({ ...ops, name: 'night' }, null);
    await alerts.setRule({ ...(await ruleOf('disk')), receivers: ['night', 'gone'] }, null);
    free = 5;
    await clock.pass(2 * MINUTE);
    expect((await alerts.raised())[0]?.deliveries.map(({ receiver }) => receiver)).to.deep.equal([
      'night',
    ]);
    await alerts.setRule({ ...(await ruleOf('disk')), isEnabled: false }, null);
    await clock.pass(MINUTE);
    expect(await alerts.raised()).to.deep.equal([]);
  });

  it('raises what is said at once, by the rules for it', async () => {
    const message = messageOf('s');
    const said = await alerts.say(message);
    expect(await alerts.say(message)).to.deep.equal(said);
    expect([said.ids.length, said.omittedCount]).to.deep.equal([1, 0]);
    await settled();
    expect(events()).to.deep.equal(['raised message']);
    await alerts.setRule({ ...(await ruleOf('message')), namespaces: ['news'] }, null);
    expect(await alerts.say(message)).to.deep.equal({ ids: [], omittedCount: 0 });
  });

  it('says so of what it does not raise because too many are', async () => {
    const wordOf = (count: number) => 'n'.repeat(count + 1);
    for (let count = 0; count < 100; count++) await alerts.say(messageOf(wordOf(count)));
    const more = messageOf(wordOf(100));
    expect(await alerts.say(more)).to.deep.equal({ ids: [], omittedCount: 1 });
    expect(await alerts.say(messageOf('n'))).to.deep.include({ omittedCount: 0 });
    expect(await alerts.say({ ...more, by: 'bob' })).to.deep.include({ omittedCount: 0 });
  });

  it('raises whatever was said while nothing could be written', async () => {
    const { write } = store.alerts;
    let left = 4;
    store.alerts.write = async (...of) => {
      if (left-- > 0) throw new Error('away');
      await write(...of);
    };
    for (const word of 'ab') alerts.hear(messageOf(word));
    await clock.pass(3 * MINUTE);
    const subjects = (await alerts.raised()).map(({ alert }) => alert.subject);
    expect(subjects.sort()).to.deep.equal(['a', 'b']);
  });

  it('raises one thing once, also where it was written and nobody heard so', async () => {
    const { write } = store.alerts;
    store.alerts.write = async (...of) => {
      store.alerts.write = write;
      await write(...of);
      throw new Error('the connection is lost');
    };
    free = 5;
    await clock.pass(3 * MINUTE);
    expect(events()).to.deep.equal(['raised disk']);
    expect((await store.alerts.load(clock.now())).alerts.map(({ id }) => id)).to.deep.equal([
      sent[0]?.told[0]?.alert.id,
    ]);
  });

  it('writes at its end what was said and could not be written before', async () => {
    const { write } = store.alerts;
    let left = 1;
    store.alerts.write = async (...of) => {
      if (left-- > 0) throw new Error('away');
      await write(...of);
    };
    for (const word of 'ab') alerts.hear(messageOf(word));
    await settled();
    await alerts.stop();
    const stored = await store.alerts.load(clock.now());
    expect(stored.alerts.map(({ subject }) => subject)).to.have.members(['a', 'b']);
    expect(stored.deliveries.flatMap(({ told }) => told)).to.have.length(2);
  });

  it('writes what is raised and what is to be told of it as one', async () => {
    const writes: string[] = [];
    const { write } = store.alerts;
    store.alerts.write = async (raised, told, audit) => {
      writes.push(`${raised.length} ${told.map(({ state }) => state).join(' ')}`);
      await write(raised, told, audit);
    };
    free = 5;
    await clock.pass(2 * MINUTE);
    expect(writes).to.deep.equal(['1 pending', '0 delivered']);
  });

  it('looks by rules for other namespaces at nothing, and lets others have their turn between rules', async () => {
    const rule = await ruleOf('executor_not_ready');
    for (let at = 0; at < 50; at++) {
      const namespaces = at < 20 ? null : ['other'];
      await alerts.setRule({ ...rule, name: `ready-${at}`, namespaces }, null);
    }
    let [lookCount, attemptsCount, sinceTurn, longest] = [0, 0, 0, 0];
    const recent = new Recent(() => clock.now());
    const outcomes = new Outcomes(clock.now());
    const soon = clock.soon.bind(clock);
    clock.soon = (call) => {
      sinceTurn = 0;
      soon(call);
    };
    seen = {
      recent: Object.defineProperty(recent, 'unready', {
        get: () => {
          lookCount++;
          longest = Math.max(longest, ++sinceTurn);
          // So long does a look take.
          clock.standStill(3);
          return new Map();
        },
      }),
      outcomes: Object.assign(outcomes, {
        *attempts() {
          attemptsCount++;
          yield;
          return new Map();
        },
      }),
    };
    const share = await ruleOf('failure_share');
    await alerts.setRule({ ...share, name: 'share' }, null);
    await clock.pass(15_000);
    expect({ lookCount, attemptsCount }).to.deep.equal({ lookCount: 21, attemptsCount: 1 });
    expect(longest, 'within some milliseconds').to.be.at.most(4);
  });

  it('answers while it looks at many namespaces, and keeps what a rule raises that was set meanwhile', async () => {
    let goOn: (disk: null) => void = () => undefined;
    diskAsked = new Promise((resolve) => {
      goOn = resolve;
    });
    await clock.pass(2 * MINUTE);
    expect(await alerts.raised()).to.deep.equal([]);
    await alerts.setRule({ ...(await ruleOf('message')), name: 'mine' }, null);
    await alerts.say(messageOf('s'));
    diskAsked = null;
    goOn(null);
    await settled();
    const raisedBy = (await alerts.raised()).map(({ alert }) => alert.rule);
    expect(raisedBy.sort()).to.deep.equal(['message', 'mine']);
  });

  it('does not take for over what it has forgotten by a restart', async () => {
    const failing = { type: 'echo', group: 'g', failedCount: 9, error: null, at: clock.now() };
    recent.failing.of('a', () => failing);
    await alerts.say(messageOf('s'));
    await clock.pass(50 * MINUTE);
    await alerts.stop();
    begin();
    await clock.pass(50 * MINUTE);
    expect(events()).to.deep.equal(['raised message', 'raised poison']);
    await clock.pass(15 * MINUTE);
    expect(events().slice(2)).to.deep.equal(['cleared message', 'cleared poison']);
  });

  it('tells others whatever waits for a receiver that is dead', async () => {
    await alerts.setReceiver({ ...ops, name: 'night' }, null);
    await alerts.stop();
    const waiting = Array.from({ length: 1_000 }, (_, at) => ({
      ...{ id: `d-${at}`, receiver: 'night', madeAt: 0, told: [], moreCount: 0, tries: 1 },
      ...{ state: 'pending' as const, nextTryAt: Number.MAX_SAFE_INTEGER },
      ...{ error: 'HTTP 500', endedAt: null },
    }));
    await store.alerts.write([], waiting);
    const asked: string[] = [];
    answer = async (name) => {
      asked.push(name);
      return { error: name === 'night' ? 'HTTP 500' : null, isFinal: false };
    };
    begin();
    free = 5;
    await clock.pass(2 * MINUTE);
    expect(new Set(events())).to.deep.equal(new Set(['raised disk']));
    expect(asked.filter((name) => name === 'ops')).to.have.length(1);
    const told = (await alerts.raised())[0]?.deliveries.map(({ receiver }) => receiver);
    expect(told?.sort(), 'and that one as soon as it is back').to.deep.equal(['night', 'ops']);
  });

  it('tells each receiver once that a silence is over, also one that hears of it only then', async () => {
    await alerts.setReceiver({ ...ops, name: 'night' }, null);
    const heard: string[] = [];
    let isAway = true;
    answer = async (name) => {
      const isTaken = name === 'ops' || !isAway;
      const told = sent.at(-1)?.told ?? [];
      if (isTaken) heard.push(`${name} ${told.map(({ event }) => event).join(', ')}`);
      return { error: isTaken ? null : 'HTTP 500', isFinal: false };
    };
    free = 5;
    await clock.pass(2 * MINUTE);
    const [disk] = await alerts.raised();
    const silence = { until: clock.now() + HOUR, reason: null };
    await alerts.silence(disk?.alert.id ?? '', silence, () => true, null);
    isAway = false;
    await clock.pass(2 * HOUR);
    expect(heard).to.have.members(['ops raised', 'ops repeated', 'night raised']);
  });

  it('tells nobody whom the rule did not mean that it is over', async () => {
    await alerts.setReceiver({ ...ops, name: 'night' }, null);
    const mine = { ...(await ruleOf('disk')), name: 'mine', receivers: ['night'] };
    await alerts.setRule(mine, null);
    await alerts.setRule({ ...(await ruleOf('disk')), isEnabled: false }, null);
    free = 5;
    await clock.pass(2 * MINUTE);
    await alerts.deleteRule('mine', null);
    await clock.pass(2 * MINUTE);
    expect(await alerts.raised()).to.deep.equal([]);
    expect(events()).to.deep.equal(['raised mine']);
  });

  it('puts what comes while a receiver is being told together, and tells a program of each', async () => {
    const takes: ((tried: AlertTry) => void)[] = [];
    answer = () => new Promise((take) => takes.push(take));
    await Promise.all('abcd'.split('').map((word) => alerts.say(messageOf(word))));
    for (const word of 'efghijklmnopqrstuvwxyz') await alerts.say(messageOf(word));
    free = 5;
    await clock.pass(2 * MINUTE);
    for (let at = 0; at < 3; at++) {
      takes[at]?.({ error: null, isFinal: false });
      await settled();
    }
    expect(sent.map(({ told, moreCount }) => [told.length, moreCount])).to.deep.equal([
      [1, 0],
      [20, 0],
      [6, 0],
    ]);
    expect(new Set(sent.flatMap(({ told }) => told.map(({ alert }) => alert.id))).size).to.equal(
      27,
    );
    // What is found is not lost among what is said.
    expect(sent[2]?.told[0]?.alert.rule).to.equal('disk');
  });

  it('does not take a disk that cannot be asked for one that is well', async () => {
    free = 5;
    await clock.pass(2 * MINUTE);
    free = null;
    await clock.pass(5 * MINUTE);
    expect(await alerts.raised()).to.have.length(1);
    free = 50;
    await clock.pass(MINUTE);
    expect(events()).to.deep.equal(['raised disk', 'cleared disk']);
  });

  it('takes a page of what is raised, the newest first', async () => {
    for (const word of 'abc') await alerts.say(messageOf(word));
    const [newest] = await alerts.raised(null, 1);
    const rest = await alerts.raised(newest?.alert, 5);
    expect(rest.map(({ alert }) => alert.subject)).to.deep.equal(['b', 'a']);
    expect(rest[0]?.deliveries.map(({ receiver }) => receiver)).to.deep.equal(['ops']);
  });

  async function ruleOf(name: string) {
    const found = (await alerts.rules()).find((rule) => rule.name === name);
    if (found === undefined) throw new Error(`there is no rule ${name}`);
    return found;
  }
});
