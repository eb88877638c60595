/** What each kind of rule finds in a namespace, when, and what it says of it. */
import type { AlertView } from '@soda-scheduler/protocol';
import { expect } from 'chai';
import { alertSaid } from '../../../console/pages/alerts/alert-said.ts';
import { speak, speakOfAll } from '../../../console/words/words.ts';
import type { Finding } from '../../../master/domain/alerts/alert.ts';
import { AlertBook } from '../../../master/domain/alerts/book.ts';
import { RemedyTurns } from '../../../master/domain/alerts/turns.ts';
import { findDisk, findingsIn } from '../../../master/domain/alerts/findings.ts';
import { saidOfJob } from '../../../master/domain/alerts/said.ts';
import { Recent } from '../../../master/domain/alerts/recent.ts';
import { type AlertKind, type AlertRule, plainRule } from '../../../master/domain/alerts/rule.ts';
import type { Output } from '../../../master/domain/effects.ts';
import type { Notification } from '../../../master/domain/model/task.ts';
import { Outcomes } from '../../../master/domain/health/outcomes.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { dequeue } from '../../../master/domain/queue/waiting.ts';
import { HOUR, MINUTE, Scheduler, SECOND } from '../../helpers/domain.ts';
import { asked, FROM } from '../booking/asked.ts';
import { sampleTask } from '../../helpers/task.ts';

interface WaitsFields {
  readonly details: { readonly pauses?: readonly object[] };
  readonly change?: { readonly action: string };
}

/** The console has all that it needs to say it. */
function expectInChinese(kind: AlertKind, finding: Finding): void {
  const fields = JSON.parse(finding.fields ?? 'null') as AlertView['fields'];
  const { message, change } = alertSaid({ ...finding, kind, fields });
  expect(message, finding.message).to.match(/[\u4e00-\u9fff]/);
  expect(message).to.not.match(/[{}]/);
  if (change !== null) expect(change, `${finding.change}`).to.match(/[\u4e00-\u9fff]/);
}

describe('what rules of alerts find', () => {
  before(async () => {
    await speakOfAll();
    await speak('zh');
  });
  after(() => speak('en'));

  let scheduler: Scheduler;
  let outcomes: Outcomes;
  let recent: Recent;
  let turns: RemedyTurns;

  beforeEach(() => {
    scheduler = new Scheduler();
    outcomes = new Outcomes(scheduler.now);
    recent = new Recent(() => scheduler.now);
    turns = new RemedyTurns();
  });

  const see = (...outs: Output[]): void => {
    for (const seen of outs.flatMap(({ observed }) => observed)) {
      outcomes.note(seen, scheduler.now);
      recent.observe(seen);
    }
  };
  const found = (
    kind: AlertKind,
    change: Partial<AlertRule> = {},
    namespace = 'live',
  ): readonly Finding[] => {
    const { state, now } = scheduler;
    const rule = { ...plainRule(kind, kind), ...change };
    const looked = { namespace, state, outcomes, recent, turns, now };
    const findings = atOnce(findingsIn(looked, [rule])).get(kind) ?? [];
    for (const one of findings) expectInChinese(kind, one);
    return findings;
  };
  const subjects = (...asked: Parameters<typeof found>) =>
    found(...asked).map((one) => one.subject);
  const only = (...asked: Parameters<typeof found>): Finding => {
    const all = found(...asked);
    expect(all).to.have.length(1);
    return all[0] as Finding;
  };
  /** It runs, and fails so often. */
  const fail = (id: string, times: number): void => {
    const retry = { maxAttempts: 0, interval: 0 };
    scheduler.submit({ id, retry });
    for (let at = 0; at < times; at += 1) {
      see(scheduler.accept('x'), scheduler.fail('x'));
      offered();
    }
  };
  /** It is offered again as soon as it may be. */
  const offered = (): void => {
    while (scheduler.executor('x').occupation === null) see(scheduler.pass(SECOND));
  };

  it('nobody for a type, for whatever reason, once the first task has waited for so long', () => {
    scheduler.submit({ id: 'a' }, { id: 'b', type: 'other' }, { id: 'c', type: 'other' });
    scheduler.submit({ id: 'later', type: 'later', runAt: scheduler.now + HOUR });
    scheduler.now += 59 * SECOND;
    expect(subjects('no_executor')).to.deep.equal([]);
    scheduler.now += SECOND;
    expect(subjects('no_executor')).to.deep.equal(['type echo', 'type other']);
    expect(subjects('no_executor', { types: ['other'] })).to.deep.equal(['type other']);
    expect(subjects('no_executor', { namespaces: ['default'] })).to.deep.equal([]);
    see(scheduler.connect('x', { labels: [] }));
    scheduler.submit({ id: 'd', requires: ['gpu'] });
    scheduler.now += MINUTE;
    expect(
      found('no_executor').map(({ subject, change }) => `${subject}: ${change}`),
    ).to.deep.equal([
      'type other: Start an executor of type other.',
      'type echo: Give executor x the label gpu.',
    ]);
  });

  it('nobody for a type, unsure where only the store knows since when it waits', () => {
    const stored = { lane: 2, count: 2, heldCount: 0, suspendedCount: 0, dueAt: scheduler.now };
    scheduler = Scheduler.restored({ lanes: [stored] }).scheduler;
    expect(subjects('no_executor')).to.deep.equal([]);
    const first = sampleTask({ state: 'waiting', lane: 2, dueAt: stored.dueAt });
    dequeue(scheduler.state, first);
    expect(only('no_executor')).to.include({ subject: 'type echo', unsureMs: MINUTE });
  });

  it('are looked for with a rest among many bookings', () => {
    scheduler.connect('e1');
    for (let index = 0; index < 50; index++) {
      const booking = asked({ id: `bk-${index}`, firstFrom: FROM + index * HOUR });
      scheduler.command({ type: 'bookingRequested', booking });
    }
    const { state, now } = scheduler;
    const looked = { namespace: 'live', state, outcomes, recent, turns, now };
    const rules = [plainRule('booking_at_risk', 'booking_at_risk')];
    const restCount = () => [...findingsIn(looked, rules)].length;
    const manyCount = restCount();
    state.bookings.byId.clear();
    expect(manyCount - restCount()).to.be.at.least(5);
  });

  describe('what mends it', () => {
    let book: AlertBook;
    let count: number;
    beforeEach(() => {
      book = new AlertBook([], scheduler.now, () => true);
      count = 0;
    });

    const look = (): void => {
      const rule = { ...plainRule('no_executor', 'no_executor'), checkCount: 1 };
      const findings = found('no_executor');
      const known = () => true;
      const { alerts } = book.check([{ rule, findings }], known, scheduler.now, () => `${++count}`);
      book.take(alerts);
      for (const one of book.raised) expectInChinese('no_executor', one);
    };
    const mendOf = (type: string): readonly (string | null | undefined)[] => {
      const one = book.raised.find((alert) => alert.type === type);
      const { change } = JSON.parse(one?.fields ?? '{}') as Partial<WaitsFields>;
      return [one?.change, change?.action];
    };
    /** They have waited for longer than all before. */
    const submitOlder = (from: number, length: number): void => {
      const types = Array.from({ length }, (_, at) => `type-${from + at}`);
      scheduler.now -= (2 + from) * MINUTE;
      scheduler.submit(...types.map((type) => ({ id: type, type })));
      scheduler.now += (2 + from) * MINUTE;
    };

    it('also once too much else is found to look for that', () => {
      scheduler.submit({ id: 'first', type: 'type-z', requires: ['gpu'] });
      scheduler.now += MINUTE;
      look();
      const start = ['Start an executor of type type-z with the label gpu.', 'start_executor'];
      expect(mendOf('type-z')).to.deep.equal(start);
      // It is looked at last: what waits for longer, and what nobody has asked yet, comes first.
      submitOlder(0, 10);
      look();
      expect(book.raised).to.have.length(11);
      expect(mendOf('type-z')).to.deep.equal(start);
      submitOlder(10, 10);
      see(scheduler.connect('x', { types: ['type-z'], labels: [] }));
      look();
      expect(mendOf('type-z'), 'its cause is another').to.deep.equal([null, undefined]);
      look();
      expect(mendOf('type-z')).to.deep.equal(['Give executor x the label gpu.', 'add_label']);
    });

    it('of all of them in turns, and again what was asked longest ago', () => {
      submitOlder(0, 25);
      const types = Array.from({ length: 25 }, (_, at) => `type-${at}`);
      const known = () => types.filter((type) => mendOf(type)[0] !== null);
      look();
      expect(known()).to.deep.equal(types.slice(0, 10));
      look();
      expect(known()).to.deep.equal(types.slice(0, 20));
      look();
      expect(known()).to.deep.equal(types);
      for (const type of types) {
        expect(mendOf(type)).to.deep.equal([
          `Start an executor of type ${type}.`,
          'start_executor',
        ]);
      }
    });
  });

  it('a wait that is too long for all are busy; for a pause only where that is asked for', () => {
    scheduler.connect('x');
    scheduler.run('x', { id: 'running' });
    scheduler.submit({ id: 'a' });
    scheduler.now += HOUR;
    expect(only('oldest_wait')).to.deep.include({
      subject: 'type echo, all_busy',
      namespace: 'live',
      type: 'echo',
      message:
        'Tasks of type echo wait too long: 1 task waiting, the first for 1 h (limit: 1 h). 1 fitting executor, all busy.',
    });
    const pause = { by: null, reason: null, until: null };
    scheduler.command({ type: 'pauseSet', scope: 'group', value: 'g', pause });
    expect(subjects('oldest_wait')).to.deep.equal([]);
    const { subject, fields } = only('oldest_wait', { reasons: ['paused'] });
    expect(subject).to.equal('type echo, paused');
    const at = new Date(scheduler.now).toISOString();
    expect((JSON.parse(fields ?? '') as WaitsFields).details.pauses, 'as why has it').to.deep.equal(
      [{ scope: 'group', value: 'g', at, by: null, reason: null, until: null }],
    );
  });

  it('a share of attempts that fail, of enough of them, with the newest error', () => {
    see(scheduler.connect('x'));
    fail('a', 9);
    expect(subjects('failure_share')).to.deep.equal([]);
    see(scheduler.accept('x'), scheduler.end('x'));
    const { subject, message } = only('failure_share');
    expect(subject).to.equal('type echo');
    expect(message).to.equal(
      '9 of the newest 10 attempts of type echo have failed (limit: 50 %): it broke.',
    );
    expect(subjects('failure_share', { threshold: 95 })).to.deep.equal([]);
  });

  it('commands that mend it where it is, also where they are pasted', () => {
    see(scheduler.connect('x'));
    fail('a', 10);
    scheduler.submit({ id: 'late', startTimeoutMs: MINUTE, startTimeoutAction: 'alert' });
    see(scheduler.accept('x'), scheduler.pass(2 * MINUTE));
    const kinds = ['failure_share', 'poison', 'running_long', 'started_late', 'executor_flapping'];
    const commands = (kind: string, namespace: string) => {
      const { change } = found(kind as AlertKind, { threshold: 1 }, namespace)[0] ?? {};
      return change?.match(/soda [^,;.]+/g);
    };
    const told = Object.fromEntries(kinds.map((kind) => [kind, commands(kind, 'live')]));
    const within = ' --namespace live';
    expect(told).to.deep.equal({
      failure_share: [`soda task errors --type echo${within}`],
      poison: [`soda task suspend a${within}`, `soda task cancel a${within}`],
      running_long: [`soda task why a${within}`, `soda task cancel a${within}`],
      started_late: [`soda task why late${within}`],
      executor_flapping: [`soda executor drain x${within}`],
    });
    expect(commands('poison', 'default')).to.deep.equal([
      'soda task suspend a',
      'soda task cancel a',
    ]);
    const job = { event: 'trigger_paused', job: 'nightly', trigger: 't', reason: 'so' } as const;
    expect(saidOfJob('live', job).change).to.equal(
      'Mend what fails, then soda job enable nightly --namespace live.',
    );
  });

  it('a task that fails again and again, until it ends', () => {
    see(scheduler.connect('x'));
    fail('a', 4);
    expect(subjects('poison')).to.deep.equal([]);
    see(scheduler.accept('x'), scheduler.fail('x'));
    expect(only('poison')).to.deep.include({ subject: 'task a', group: 'g', type: 'echo' });
    offered();
    see(scheduler.accept('x'), scheduler.end('x'));
    expect(subjects('poison')).to.deep.equal([]);
  });

  it('an attempt that runs for longer than is set, or than its type takes', () => {
    see(scheduler.connect('x'));
    for (let at = 0; at < 20; at += 1) {
      scheduler.run('x', { id: `known-${at}` });
      see(scheduler.pass(MINUTE), scheduler.end('x'));
    }
    scheduler.run('x', { id: 'long' });
    scheduler.pass(2 * MINUTE);
    expect(subjects('running_long')).to.deep.equal([]);
    expect(subjects('running_long', { threshold: 90 })).to.deep.equal(['task long']);
    scheduler.pass(MINUTE + SECOND);
    expect(only('running_long').message).to.match(
      /has run for 3 min 1 s on executor x \(limit: 3 min/,
    );
  });

  it('a backlog, by the number of tasks that wait', () => {
    scheduler.submit({ id: 'a' }, { id: 'b' });
    expect(subjects('backlog', { threshold: 3 })).to.deep.equal([]);
    expect(only('backlog', { threshold: 2 }).message).to.equal(
      '2 tasks of type echo wait (limit: 2).',
    );
  });

  it('tasks that were not started in time, and go on waiting', () => {
    scheduler.submit({ id: 'a', startTimeoutMs: MINUTE, startTimeoutAction: 'alert' });
    see(scheduler.pass(2 * MINUTE));
    expect(only('started_late').message).to.equal(
      '1 task of type echo not started in time in the last 15 min, a last (limit: 1).',
    );
    scheduler.now += 20 * MINUTE;
    expect(subjects('started_late')).to.deep.equal([]);
  });

  it('an executor that comes back and back, and one that is not ready', () => {
    for (let at = 0; at < 5; at += 1) {
      see(scheduler.connect('x', { sessionId: `x/${at}`, incarnation: `${at}` }));
    }
    expect(subjects('executor_flapping')).to.deep.equal(['executor x']);
    see(scheduler.ready('x', 'no ffmpeg'));
    scheduler.now += 5 * MINUTE - 1;
    expect(subjects('executor_not_ready')).to.deep.equal([]);
    scheduler.now += 1;
    expect(only('executor_not_ready').message).to.equal(
      'Executor x has not been ready for 5 min (limit: 5 min): no ffmpeg.',
    );
    see(scheduler.ready('x', true));
    expect(subjects('executor_not_ready')).to.deep.equal([]);
    scheduler.now += 10 * MINUTE;
    expect(subjects('executor_flapping')).to.deep.equal([]);
  });

  it('a host whose executors come and go under ids that are made anew, and not one that grows', () => {
    const begin = (executorId: string, host: string) =>
      see(scheduler.connect(executorId, { host, lasting: false, incarnation: executorId }));
    // These may have been there before this master was.
    for (let at = 0; at < 5; at += 1) {
      begin(`old-${at}`, 'old');
      see(scheduler.disconnect(`old-${at}`, true));
    }
    scheduler.pass(MINUTE);
    for (let at = 0; at < 8; at += 1) begin(`large-${at}`, 'large');
    scheduler.pass(3 * MINUTE);
    // All of a host that are started anew, as for another version, have run for longer.
    for (let at = 0; at < 8; at += 1) see(scheduler.disconnect(`large-${at}`, true));
    for (let at = 0; at < 5; at += 1) {
      begin(`pod-${at}`, `pod-${at}`);
      see(scheduler.disconnect(`pod-${at}`, true));
      begin(`named-${at}`, 'sick');
      see(scheduler.disconnect(`named-${at}`, at % 2 === 0));
      if (at === 3) expect(subjects('executor_flapping')).to.deep.equal([]);
      see(scheduler.pass(SECOND));
    }
    see(scheduler.pass(MINUTE));
    expect(only('executor_flapping')).to.deep.include({
      subject: 'host sick',
      message:
        '5 executors of host sick have gone within 2 min of their start in the last 10 min (limit: 5), each with an id of its own.',
    });
    scheduler.now += 10 * MINUTE;
    expect(subjects('executor_flapping')).to.deep.equal([]);
  });

  it('callbacks that are given up, by receiver and without what is behind it', () => {
    const notification = {
      url: 'https://cms.example.com/hook?key=secret',
      ...{ taskId: 'a', state: 'gave_up', lastError: 'HTTP 500' },
    } as Notification;
    recent.observe({ event: 'notification_ended', notification });
    const { subject, message } = only('callback_gave_up');
    expect(subject).to.equal('https://cms.example.com');
    expect(message).to.equal(
      '1 callback to https://cms.example.com given up in the last 1 h (limit: 1): HTTP 500.',
    );
    expect(subjects('callback_backlog')).to.deep.equal([]);
    expect(subjects('callback_backlog', { threshold: 0 })).to.deep.equal(['callbacks']);
  });

  it('a disk that is nearly full', () => {
    const rule = plainRule('disk', 'disk');
    expect(findDisk(rule, { freeBytes: 10, totalBytes: 100 })).to.equal(null);
    const { message } = findDisk(rule, { freeBytes: 9e9, totalBytes: 100e9 }) as Finding;
    expect(message).to.match(/: 9\.0 GB, 9\.0 % are free \(limit: 10 %\)\./);
  });
});
