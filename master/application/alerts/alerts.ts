/**
 * Alerts of all namespaces: looks at them again and again by the rules, keeps what is raised, and has receivers told.
 * That something is raised and what is to be told of it are one commit, so that whoever is killed in between tells
 * it after his next start. Decides nothing itself: `domain/alerts/` does.
 */
import { type Alert, keyOf } from '../../domain/alerts/alert.ts';
import { AlertBook, type Message, type Silence, type Verdict } from '../../domain/alerts/book.ts';
import {
  type AlertReceiver,
  type AlertRule,
  rulesInForce,
  speaksOf,
} from '../../domain/alerts/rule.ts';
import { LISTS_WAITING_MAX } from '../../domain/bounds.ts';
import {
  ALERT_RECEIVERS_MAX,
  ALERT_RULES_MAX,
  UNSAID_COUNT_MAX,
} from '../../domain/alerts/bounds.ts';
import { type Author, changeMadeBy } from '../../domain/model/audit.ts';
import { type Said, testAlert } from '../../domain/alerts/said.ts';
import type { AlertSender, AlertStore, AlertTry, Log, Store } from '../ports.ts';
import type { SeenAlert } from './alert-store.ts';
import type { Duties, Duty, Found } from '../process/duties.ts';
import type { Part } from '../process/lifecycle.ts';
import { type Asker, letOthers, Turnstile } from '../turnstile.ts';
import { FullDisk } from './full-disk.ts';
import { knownBy, lookBy, type LookedAt, type Watched } from './look.ts';
import { Named, receiverFields, ruleFields } from './named.ts';
import { Outbox } from './outbox.ts';
import { byReceiver, hearsAnyway, isHeard, piecesOf } from './tell.ts';

const CHECK_MS = 15_000;
/** Until a term has begun. */
const BEGIN_MS = 1_000;
/** For so long executors may yet come back: that nobody is there says nothing. */
const EARLY_MS = 60_000;
const DAY_MS = 86_400_000;
/** What is cleared, and what was told of it, is kept for so long. */
const KEPT_MS = 30 * DAY_MS;
/** One after another: each decides by what the one before has written. The master itself stands first. */
const TURNS = { countMax: 1, waitingMax: 200, what: 'alerts' };
const READS = { countMax: 1, waitingMax: LISTS_WAITING_MAX, what: 'lists of alerts' };

export interface AlertsOptions extends Watched {
  readonly store: Pick<Store, 'alerts'>;
  readonly log: Log;
  /** For what others can cause as often as they like. */
  readonly rareLog: Log;
  readonly duties: Duties;
  readonly sender: AlertSender;
  /** Waits for the answer of the store as long as it is worth. @throws {Unavailable} */
  readonly ask: <T>(question: () => Promise<T>) => Promise<T>;
  /** Unique. */
  readonly newId: () => string;
}

export class Alerts implements Part {
  readonly #options: AlertsOptions;
  readonly #store: AlertStore;
  readonly #turns = new Turnstile(TURNS);
  readonly #reads = new Turnstile(READS);
  readonly #duty: Duty;
  readonly #rules: Named<AlertRule>;
  readonly #receivers: Named<AlertReceiver>;
  readonly #outbox: Outbox;
  readonly #fullDisk: FullDisk;
  #book = new AlertBook([], 0, () => false);
  /** What was said and is not written yet. */
  #unsaid: Message[] = [];
  #saying: Promise<void> | null = null;
  #isLoaded = false;
  #isStopped = false;
  #droppedAt = 0;
  #hasLooked = false;
  #looked: LookedAt | null = null;
  #isEarly = true;
  #callOff: () => void = () => undefined;
  #callOffEarly: () => void = () => undefined;

  constructor(options: AlertsOptions) {
    const { store, sender, clock, log, duties } = options;
    this.#options = options;
    this.#store = store.alerts;
    this.#duty = duties.add('alerts', CHECK_MS);
    this.#rules = new Named({
      countMax: ALERT_RULES_MAX,
      fieldsOf: ruleFields,
      write: (...change) => this.#write(this.#store.setRule(...change)),
    });
    this.#receivers = new Named({
      countMax: ALERT_RECEIVERS_MAX,
      fieldsOf: receiverFields,
      write: (...change) => this.#write(this.#store.setReceiver(...change)),
    });
    this.#outbox = new Outbox({
      ...{ store: store.alerts, sender, clock, log },
      receiverOf: (name) => this.#receivers.byName.get(name),
      quietUntil: (alert) => this.#book.quietUntil(keyOf(alert)),
    });
    this.#fullDisk = new FullDisk(options, async () => {
      // It may have been written after all; where nothing can be read either, that stands as it was.
      await this.#inTurn(async () => undefined, null).catch(() => undefined);
      const [receivers, book, isRead] = [this.#receivers.byName, this.#book, this.#isLoaded];
      return { rules: this.#rulesInForce(), receivers, book, isRead };
    });
  }

  start(): void {
    const { clock } = this.#options;
    this.#callOffEarly = clock.wakeAt(clock.now() + EARLY_MS, () => {
      this.#isEarly = false;
    });
    this.#wake(0);
    // What was raised before, and not told, is told now.
    void this.#inTurn(async () => undefined, null).catch(() => undefined);
  }

  /** What was said is written, if that can be; it, and what is under way, is told after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOff();
    this.#callOffEarly();
    this.#outbox.stop();
    await this.#saying;
    if (this.#unsaid.length === 0) return;
    await this.#inTurn(() => this.#sayUnsaid(), null).catch((error: unknown) => {
      const lost = { event: 'alert', count: this.#unsaid.length, error: String(error) };
      this.#options.log.warn('alerts of executors are lost', lost);
    });
  }

  /** Those that hold, by name. @throws {Unavailable} */
  rules(): Promise<readonly AlertRule[]> {
    return this.#inTurn(async () => rulesInForce(this.#rules.byName));
  }

  /** True: nobody had set it. @throws {TooManyOfAlerts} @throws {Unavailable} */
  setRule(rule: AlertRule, author: Author | null): Promise<boolean> {
    return this.#inTurn(() => this.#rules.set(rule, author, this.#options.clock.now()));
  }

  /** False: nobody has set it. A default one of that name holds again. @throws {Unavailable} */
  deleteRule(name: string, author: Author | null): Promise<boolean> {
    return this.#inTurn(() => this.#rules.delete(name, author, this.#options.clock.now()));
  }

  /** By name. @throws {Unavailable} */
  receivers(): Promise<readonly AlertReceiver[]> {
    return this.#inTurn(async () =>
      [...this.#receivers.byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }

  /** True: it is new. @throws {TooManyOfAlerts} @throws {Unavailable} */
  setReceiver(receiver: AlertReceiver, author: Author | null): Promise<boolean> {
    return this.#inTurn(() => this.#receivers.set(receiver, author, this.#options.clock.now()));
  }

  /** False: there is none. What it was to be told is not told any more. @throws {Unavailable} */
  deleteReceiver(name: string, author: Author | null): Promise<boolean> {
    return this.#inTurn(() => this.#receivers.delete(name, author, this.#options.clock.now()));
  }

  /** Why nothing can be sent there; null: it may be. */
  refusalOf(receiver: AlertReceiver): ReturnType<AlertSender['refusalOf']> {
    return this.#options.sender.refusalOf(receiver);
  }

  /** What lasts now, as this master knows it. */
  get raisedNow(): readonly Alert[] {
    return this.#book.raised;
  }

  /** The newest first, up to `limit` that were raised before that. @throws {Unavailable} */
  raised(
    before: Parameters<AlertStore['listCleared']>[0] = null,
    limit = Number.POSITIVE_INFINITY,
    asker = '',
  ): Promise<readonly SeenAlert[]> {
    const find = async () => this.#seen(this.#book.raisedBefore(before).slice(0, limit));
    return this.#inTurn(find, asker);
  }

  /** Those that are over, the newest first. @throws {Unavailable} */
  async cleared(
    before: Parameters<AlertStore['listCleared']>[0],
    limit: number,
    asker = '',
  ): Promise<readonly SeenAlert[]> {
    const read = () => this.#store.listCleared(before, limit);
    return this.#seen(await this.#options.ask(() => this.#reads.during(read, undefined, asker)));
  }

  /** `until` null: it is told again. Null: it is not raised, or not seen. @throws {Unavailable} */
  silence(
    id: string,
    { until, reason }: Pick<Silence, 'until' | 'reason'>,
    sees: (alert: Alert) => boolean,
    author: Author | null,
  ): Promise<SeenAlert | null> {
    return this.#inTurn(async () => {
      const before = this.#book.raised.find((alert) => alert.id === id);
      const alert = this.#book.silenced(id, { until, by: author?.actor ?? null, reason });
      if (before === undefined || alert === null || !sees(alert)) return null;
      const fieldsOf = ({ silencedUntil, silenceReason }: Alert) => ({
        silenced_until: silencedUntil,
        silence_reason: silenceReason,
      });
      const change = { target: id, before: fieldsOf(before), after: fieldsOf(alert) };
      const audit = changeMadeBy(author, this.#options.clock.now(), change);
      await this.#write(this.#store.write([alert], [], audit));
      this.#book.take([alert]);
      this.#outbox.pump();
      return this.#seen([alert])[0] ?? null;
    }, author?.actor ?? '');
  }

  /** Raises what somebody says, or counts it, by each rule that is for it. @throws {Unavailable} */
  say(message: Message): Promise<Said> {
    return this.#inTurn(() => this.#say(message), message.by);
  }

  async #say(message: Message): Promise<Said> {
    const now = this.#options.clock.now();
    const rules = this.#rulesInForce().filter(
      (rule) => rule.kind === 'message' && speaksOf(rule, message),
    );
    const said = { ids: [] as string[], omittedCount: 0 };
    for (const rule of rules) {
      const verdict = this.#book.say(rule, message, now, this.#options.newId);
      await this.#carryOut(verdict, now);
      const raised = this.#book.raisedAs(keyOf({ ...message, rule: rule.name }));
      if (raised !== undefined) {
        this.#book.creditTo(message.by, raised.id);
        said.ids.push(raised.id);
      }
      said.omittedCount += verdict.omittedCount;
    }
    return said;
  }

  /** The same, for whoever does not wait; what cannot be written now is with the next check, or at the end. */
  hear(message: Message): void {
    const { rareLog } = this.#options;
    if (this.#unsaid.length >= UNSAID_COUNT_MAX) {
      this.#unsaid.shift();
      rareLog.warn('an alert is given up: too many wait', { event: 'alert' });
    }
    this.#unsaid.push(message);
    this.#saying ??= this.#inTurn(() => this.#sayUnsaid(), null)
      .catch((error: unknown) => {
        rareLog.warn('an alert is not raised yet', { event: 'alert', error: String(error) });
      })
      .finally(() => {
        this.#saying = null;
      });
  }

  async #sayUnsaid(): Promise<void> {
    for (let message = this.#unsaid.shift(); message; message = this.#unsaid.shift()) {
      try {
        await this.#say(message);
      } catch (error) {
        this.#unsaid.unshift(message);
        throw error;
      }
    }
  }

  /** Tells that receiver something that is no alert; null: there is no such receiver. @throws {Unavailable} */
  async test(name: string): Promise<AlertTry | null> {
    const receiver = await this.#inTurn(async () => this.#receivers.byName.get(name));
    if (receiver === undefined) return null;
    const id = this.#options.newId();
    const told = [{ event: 'test', alert: testAlert(id, this.#options.clock.now()) }] as const;
    const tried = await this.#options.sender.send(receiver, { id, told, moreCount: 0 });
    if (tried.error === null) this.#outbox.hasTaken(name);
    return tried;
  }

  #rulesInForce(): AlertRule[] {
    return rulesInForce(this.#rules.byName).filter(({ isEnabled }) => isEnabled);
  }

  #seen(alerts: readonly Alert[]): SeenAlert[] {
    const deliveries = this.#outbox.ofEach(alerts);
    return alerts.map((alert) => ({ alert, deliveries: [...(deliveries.get(alert.id) ?? [])] }));
  }

  /** What is in memory is what was committed, also where nobody waits for the answer any more. */
  #inTurn<T>(work: () => Promise<T>, asker: Asker = ''): Promise<T> {
    const decide = async () => {
      await this.#load();
      return work();
    };
    return this.#options.ask(() => this.#turns.during(decide, undefined, asker));
  }

  /** Nobody knows what was written of what fails: that is read before anything else is decided. */
  async #write(written: Promise<void>): Promise<void> {
    this.#isLoaded = false;
    await written;
    this.#isLoaded = true;
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return;
    const now = this.#options.clock.now();
    const { rules, receivers, alerts, deliveries } = await this.#store.load(now);
    const book = new AlertBook(alerts, now, (rule) => isHeard(rule, this.#receivers.byName));
    if (book.doubles.length > 0) await this.#store.write(book.doubles, []);
    this.#rules.take(rules);
    this.#receivers.take(receivers);
    this.#book = book;
    this.#isLoaded = true;
    this.#outbox.renew(deliveries);
  }

  #wake(afterMs: number): void {
    const { clock, log } = this.#options;
    if (this.#isStopped) return;
    this.#callOff = clock.wakeAt(clock.now() + afterMs, () => {
      const checked = this.#duty
        .run(() => this.#fullDisk.during(() => this.#check()))
        .catch((error: unknown) => {
          log.debug('alerts were not looked for', { event: 'alert', error: String(error) });
        });
      void checked.then(() => this.#wake(this.#hasLooked ? CHECK_MS : BEGIN_MS));
    });
  }

  async #check(): Promise<Found> {
    const now = this.#options.clock.now();
    const rules = await this.#inTurn(async () => {
      await this.#sayUnsaid();
      return this.#rulesInForce();
    }, null);
    // Between two turns: nobody who asks for alerts waits until all namespaces are looked at.
    const isEarly = this.#isEarly;
    const looked = await lookBy(rules, this.#options, { now, isEarly, before: this.#looked });
    this.#looked = looked;
    this.#hasLooked ||= looked.isAnyKnown || !isEarly;
    if (!this.#hasLooked) return { foundCount: 0, doneCount: 0 };
    return this.#inTurn(() => this.#conclude(looked, now), null);
  }

  async #conclude(looked: LookedAt, now: number): Promise<Found> {
    const checked = this.#rulesInForce().map((rule) => {
      const findings = this.#fullDisk.found(rule, looked.found.get(rule.name) ?? [], now);
      return { rule, findings };
    });
    const verdict = this.#book.check(checked, knownBy(looked, now), now, this.#options.newId);
    await this.#carryOut(verdict, now);
    this.#fullDisk.written();
    await this.#outbox.writeRest();
    await this.#dropOld(now);
    return { foundCount: this.#book.raised.length, doneCount: verdict.tellings.length };
  }

  async #carryOut({ alerts, tellings, omittedCount }: Verdict, now: number): Promise<void> {
    const { log, rareLog } = this.#options;
    if (omittedCount > 0) {
      rareLog.warn('too many alerts: some are not raised', { event: 'alert', count: omittedCount });
    }
    const receivers = new Set(this.#receivers.byName.keys());
    for (const [at, piece] of [...piecesOf({ alerts, tellings }, receivers.size)].entries()) {
      if (at > 0) await letOthers(this.#options.clock);
      const rules = rulesInForce(this.#rules.byName);
      const endOf = (alert: Alert) => this.#book.quietUntil(keyOf(alert));
      const hears = hearsAnyway(piece.tellings, endOf, (some) => this.#outbox.ofEach(some));
      const told = byReceiver(piece.tellings, rules, receivers, hears);
      const deliveries = [...told].flatMap(([receiver, some]) =>
        this.#outbox.joined(receiver, some, now, this.#options.newId),
      );
      await this.#write(this.#store.write(piece.alerts, deliveries));
      this.#book.take(piece.alerts);
      this.#outbox.keep(deliveries);
    }
    for (const { event, alert } of tellings) {
      const { rule, severity, namespace, subject, message, id } = alert;
      const fields = { event: 'alert', alert: id, rule, severity, namespace, subject, message };
      if (event === 'cleared') log.info('an alert is over', fields);
      else log.warn('an alert was raised', { ...fields, repeated: event === 'repeated' });
    }
    this.#outbox.pump();
  }

  async #dropOld(now: number): Promise<void> {
    if (now - this.#droppedAt < DAY_MS / 24) return;
    await this.#store.drop(now - KEPT_MS);
    this.#droppedAt = now;
  }
}
