/** When an alert is raised, told again, silenced and cleared: by what checks find, one after another. */
import { expect } from 'chai';
import { type Alert, type Finding, keyOf } from '../../../master/domain/alerts/alert.ts';
import {
  ALERT_MESSAGES_MAX,
  ALERTS_RAISED_MAX,
  ALERTS_SILENCED_MAX,
} from '../../../master/domain/alerts/bounds.ts';
import { AlertBook, type Message, type Verdict } from '../../../master/domain/alerts/book.ts';
import { type AlertRule, plainRule } from '../../../master/domain/alerts/rule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const finding = (subject: string, change: Partial<Finding> = {}): Finding => ({
  namespace: 'default',
  type: 'echo',
  group: null,
  subject,
  message: `${subject} is wrong`,
  change: null,
  fields: null,
  ...change,
});

/** What is found is written at once, unless a test says otherwise. */
class Desk {
  book: AlertBook;
  now = 1_800_000_000_000;
  isKnown = true;
  isHeard = true;
  #count = 0;
  rule: AlertRule = { ...plainRule('backlog', 'backlog'), checkCount: 1, repeatMs: HOUR };
  readonly told: string[] = [];

  constructor(alerts: readonly Alert[] = []) {
    this.book = new AlertBook(alerts, 0, () => this.isHeard);
  }

  check(...findings: Finding[]): Verdict {
    const checked = [
      { rule: this.rule, findings },
      { rule: plainRule('message', 'message'), findings: [] },
    ];
    const known = () => this.isKnown;
    return this.#written(this.book.check(checked, known, this.now, () => `al-${++this.#count}`));
  }

  say(message: Message): Verdict {
    const rule = plainRule('message', 'message');
    const said = this.book.say(rule, message, this.now, () => `al-${++this.#count}`);
    this.#written(said);
    const raised = this.book.raisedAs(keyOf({ ...message, rule: rule.name }));
    if (raised !== undefined) this.book.creditTo(message.by, raised.id);
    return said;
  }

  silence(id: string, until: number | null): void {
    const alert = this.book.silenced(id, { until, by: 'ann', reason: null });
    if (alert === null) throw new Error(`${id} is not raised`);
    this.book.take([alert]);
  }

  #written(verdict: Verdict): Verdict {
    this.book.take(verdict.alerts);
    for (const { event, alert } of verdict.tellings) {
      this.told.push(`${event} ${alert.subject} ${alert.severity}`);
    }
    return verdict;
  }
}

describe('the book of alerts', () => {
  let desk: Desk;
  beforeEach(() => {
    desk = new Desk();
  });

  it('says that nobody was told where nobody hears, and tells whoever comes later', () => {
    desk.isHeard = false;
    const toldAt = () => desk.book.raised.map((alert) => alert.toldAt);
    desk.check(finding('a'));
    expect([toldAt(), desk.told]).to.deep.equal([[null], ['raised a warning']]);
    expect(desk.check(finding('a')).alerts).to.deep.equal([]);
    desk.now += HOUR;
    desk.check(finding('a'));
    expect([toldAt(), desk.told.at(-1)]).to.deep.equal([[null], 'repeated a critical']);
    expect(desk.check(finding('a')).alerts).to.deep.equal([]);
    desk.isHeard = true;
    desk.check(finding('a'));
    expect([toldAt(), desk.told.at(-1)]).to.deep.equal([[desk.now], 'raised a critical']);
    desk.isHeard = false;
    const [over] = desk.check().tellings;
    expect([over?.event, over?.alert.toldAt]).to.deep.equal(['cleared', desk.now]);
  });

  it('raises what nobody knows the age of once it was found for long, and clears nothing for that', () => {
    const unsure = finding('a', { unsureMs: MINUTE });
    desk.check(unsure);
    desk.now += MINUTE - 1;
    desk.check(unsure);
    expect(desk.told).to.deep.equal([]);
    desk.check();
    desk.now += 1;
    desk.check(unsure);
    expect(desk.told, 'it was not so meanwhile').to.deep.equal([]);
    desk.now += MINUTE;
    desk.check(unsure);
    expect(desk.told).to.deep.equal(['raised a warning']);
    desk.check(finding('a'), finding('b'));
    desk.check(unsure, finding('b', { unsureMs: MINUTE }));
    expect(desk.told).to.deep.equal(['raised a warning', 'raised b warning']);
  });

  it('raises once what is found in a row, and clears what is not found as often', () => {
    desk.rule = { ...desk.rule, checkCount: 3 };
    const a = finding('a');
    for (const found of [[a], [a], [], [a], [a]]) desk.check(...found);
    expect(desk.told).to.deep.equal([]);
    desk.check(a);
    desk.check(a);
    expect(desk.told).to.deep.equal(['raised a warning']);
    for (const found of [[], [], [a], [], []]) desk.check(...found);
    expect(desk.book.raised).to.have.length(1);
    desk.check();
    expect(desk.told).to.deep.equal(['raised a warning', 'cleared a warning']);
    expect(desk.book.raised).to.deep.equal([]);
  });

  it('keeps apart what differs in subject or namespace, and takes what is found twice for one', () => {
    desk.check(finding('a'), finding('b'), finding('a', { namespace: 'live' }), finding('a'));
    expect(desk.told).to.have.length(3);
  });

  it('tells again what lasts, from then on as critical, with how it is by then', () => {
    desk.check(finding('a'));
    desk.now += HOUR - 1;
    desk.check(finding('a'));
    expect(desk.told).to.have.length(1);
    desk.now += 1;
    const { tellings } = desk.check(finding('a', { message: 'worse' }));
    expect(desk.told.at(-1)).to.equal('repeated a critical');
    expect(tellings[0]?.alert).to.deep.include({ message: 'worse', repeatCount: 1 });
    desk.rule = { ...desk.rule, repeatMs: null };
    desk.now += 10 * HOUR;
    desk.check(finding('a'));
    expect(desk.told).to.have.length(2);
  });

  it('leaves what is only information as it is', () => {
    desk.rule = { ...desk.rule, severity: 'info' };
    desk.check(finding('a'));
    desk.now += HOUR;
    desk.check(finding('a'));
    expect(desk.told).to.deep.equal(['raised a info', 'repeated a info']);
  });

  it('tells nobody of what is silenced but that it is over, also when it comes back, and again once that is over', () => {
    desk.check(finding('a'));
    desk.silence('al-1', desk.now + 3 * HOUR);
    desk.now += 2 * HOUR;
    desk.check(finding('a'));
    desk.check();
    expect(desk.book.raised).to.deep.equal([]);
    const before = ['raised a warning', 'cleared a warning'];
    desk.check(finding('a'));
    expect(desk.book.raised[0]).to.deep.include({ id: 'al-2', silencedBy: 'ann', toldAt: null });
    desk.check();
    desk.check(finding('a'));
    expect(desk.told).to.deep.equal(before);
    desk.now += HOUR;
    desk.check(finding('a'));
    expect(desk.told).to.deep.equal([...before, 'raised a warning']);
    desk.check();
    desk.check(finding('a'));
    expect(desk.told.slice(3)).to.deep.equal(['cleared a warning', 'raised a warning']);
  });

  it('keeps a silence with the newest alert alone, and those of so many that are over', () => {
    const silent = () => [...rows.values()].filter(({ silencedUntil }) => silencedUntil !== null);
    const rows = new Map<string, Alert>();
    const note = ({ alerts }: Verdict) => alerts.forEach((alert) => rows.set(alert.id, alert));
    note(desk.check(finding('a')));
    desk.silence('al-1', desk.now + HOUR);
    for (let time = 0; time < 3; time++) {
      note(desk.check());
      expect(silent()).to.have.length(1);
      note(desk.check(finding('a')));
    }
    expect(silent().map(({ id }) => id)).to.deep.equal(['al-4']);
    note(desk.check());
    const [alert] = silent();
    if (alert === undefined) throw new Error('none is silenced');
    const over = Array.from({ length: ALERTS_SILENCED_MAX + 2 }, (_, at) => {
      return { ...alert, id: `o-${at}`, subject: `${at}`, silencedUntil: desk.now + HOUR - at };
    });
    desk = new Desk(over);
    const forgotten = desk.check().alerts.map(({ id, silencedUntil }) => [id, silencedUntil]);
    expect(forgotten).to.deep.equal([
      ['o-1000', null],
      ['o-1001', null],
    ]);
    expect(desk.check().alerts).to.deep.equal([]);
  });

  it('tells of what still lasts when its silence is over, however soon that is, and once', () => {
    for (const repeatMs of [9 * HOUR, null]) {
      desk = new Desk();
      desk.rule = { ...desk.rule, repeatMs };
      desk.check(finding('a'));
      desk.now += HOUR;
      desk.silence('al-1', desk.now + HOUR);
      desk.now += HOUR - 1;
      desk.check(finding('a'));
      expect(desk.told).to.have.length(1);
      desk.now += 1;
      desk.check(finding('a'));
      desk.now += HOUR;
      desk.check(finding('a'));
      expect(desk.told).to.deep.equal(['raised a warning', 'repeated a critical']);
    }
  });

  it('says once that a silence is over where nobody hears, however long it was', () => {
    for (const repeatMs of [HOUR, null]) {
      desk = new Desk();
      desk.isHeard = false;
      desk.rule = { ...desk.rule, repeatMs };
      desk.check(finding('a'));
      desk.silence('al-1', desk.now + 9 * HOUR);
      desk.now += 9 * HOUR;
      for (let time = 0; time < 3; time++) desk.check(finding('a'));
      expect(desk.told).to.deep.equal(['raised a warning', 'repeated a critical']);
      expect(desk.book.raised[0]).to.deep.include({ silencedUntil: null, silencedBy: null });
    }
  });

  it('tells of it again from the moment its silence is ended', () => {
    desk.check(finding('a'));
    desk.silence('al-1', desk.now + 9 * HOUR);
    desk.now += 2 * HOUR;
    desk.silence('al-1', null);
    desk.check(finding('a'));
    expect(desk.told.at(-1)).to.equal('repeated a critical');
  });

  it('neither raises nor clears what nobody can know', () => {
    desk.check(finding('a'));
    desk.isKnown = false;
    desk.check();
    desk.check();
    expect(desk.book.raised).to.have.length(1);
    desk.isKnown = true;
    desk.check();
    expect(desk.book.raised).to.deep.equal([]);
  });

  it('clears what no rule speaks of any more', () => {
    desk.check(finding('a'));
    desk.rule = { ...desk.rule, name: 'another' };
    desk.check();
    expect(desk.told.at(-1)).to.equal('cleared a warning');
  });

  it('goes on after a restart with what was raised, and tells it once', () => {
    desk.check(finding('a'));
    const again = new Desk(desk.book.raised);
    again.check(finding('a'));
    expect(again.told).to.deep.equal([]);
    again.check();
    expect(again.told).to.deep.equal(['cleared a warning']);
  });

  it('tells at the next check what could not be written', () => {
    const { book } = desk;
    const checked = [{ rule: { ...desk.rule, checkCount: 2 }, findings: [finding('a')] }];
    const check = () =>
      book.check(
        checked,
        () => true,
        desk.now,
        () => 'al-1',
      ).tellings.length;
    expect([check(), check(), check()]).to.deep.equal([0, 1, 1]);
  });

  it('raises so many, and counts the others', () => {
    const all = Array.from({ length: ALERTS_RAISED_MAX + 5 }, (_, at) => finding(`${at}`));
    expect(desk.check(...all).omittedCount).to.equal(5);
    expect(desk.book.raised).to.have.length(ALERTS_RAISED_MAX);
  });

  it('keeps room for what is found, however much is said, and for others who say something', () => {
    const severity = 'critical';
    const said = (at: number, by: string, namespace = 'live') =>
      desk.say({ ...finding(`m${at}`, { namespace }), severity, fields: null, by });
    for (let at = 0; at < ALERT_MESSAGES_MAX; at++) said(at, `t-${at}`);
    expect(said(ALERT_MESSAGES_MAX, 'ann').omittedCount).to.equal(1);
    expect(said(0, 'ann', 'news').omittedCount).to.equal(0);
    const all = Array.from({ length: ALERTS_RAISED_MAX }, (_, at) => finding(`${at}`));
    expect(desk.check(...all).omittedCount).to.equal(0);
  });

  it('raises of what one says as much as he leaves for others, until it is over', () => {
    const severity = 'critical';
    const said = (by: string, count: number, namespace = 'live'): number => {
      let omittedCount = 0;
      for (let at = 0; at < count; at++) {
        const what = finding(`${by}-${at}`, { namespace });
        ({ omittedCount } = desk.say({ ...what, severity, fields: null, by }));
        if (omittedCount > 0) return at;
      }
      return count;
    };
    expect([said('ann', 200), said('bob', 200), said('cid', 10)]).to.deep.equal([100, 50, 10]);
    // What somebody else says again stays whose it was.
    desk.say({ ...finding('ann-0', { namespace: 'live' }), severity, fields: null, by: 'dan' });
    expect([said('dan', 10), said('ann', 200)]).to.deep.equal([10, 100]);
    expect([said('ann', 200, 'news'), said('ann', 200, 'sport')], 'in all').to.deep.equal([100, 0]);
    desk.now += 2 * HOUR;
    desk.check();
    desk.check();
    expect(said('ann', 200)).to.equal(100);
  });

  it('keeps room for each namespace, and what is of none, whatever is found in one', () => {
    const all = Array.from({ length: ALERTS_RAISED_MAX }, (_, at) => finding(`${at}`));
    desk.check(...all);
    const others = [finding('disk', { namespace: null }), finding('a', { namespace: 'other' })];
    expect(desk.check(...all, finding('b'), ...others).omittedCount).to.equal(1);
    expect(desk.told.slice(ALERTS_RAISED_MAX)).to.deep.equal([
      'raised disk warning',
      'raised a warning',
    ]);
  });

  it('keeps the newest of what is stored twice, and ends the others', () => {
    desk.check(finding('a'));
    const [alert] = desk.book.raised;
    if (alert === undefined) throw new Error('none is raised');
    const newer = { ...alert, id: 'al-8', raisedAt: alert.raisedAt + 1 };
    const silenced = { ...alert, id: 'al-9', clearedAt: desk.now, silencedUntil: desk.now + HOUR };
    const again = new AlertBook([newer, alert, silenced], desk.now, () => true);
    expect(again.raised.map(({ id }) => id)).to.deep.equal(['al-8']);
    expect(again.doubles).to.deep.equal([{ ...alert, clearedAt: desk.now }]);
  });

  it('counts a message that is said again, and clears one that is not', () => {
    const words = { severity: 'critical', fields: '{"n":1}', by: 'ann' } as const;
    const message = { ...finding('m'), ...words };
    desk.say(message);
    desk.now += 50 * MINUTE;
    desk.say({ ...message, fields: '{"n":2}' });
    expect(desk.told).to.deep.equal(['raised m critical']);
    expect(desk.book.raised[0]).to.deep.include({ count: 2, fields: '{"n":2}' });
    desk.now += 50 * MINUTE;
    desk.check();
    expect(desk.book.raised).to.have.length(1);
    desk.now += 10 * MINUTE;
    desk.check();
    expect(desk.told.at(-1)).to.equal('cleared m critical');
  });
});
