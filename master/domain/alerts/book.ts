/**
 * Which alerts are raised: what the checks find turns into alerts that are raised, told again and cleared. Decides
 * and changes nothing: what it answers holds once it is written and `take` was told so.
 */
import {
  ALERT_MESSAGES_MAX,
  ALERT_MESSAGES_OF_ONE_MAX,
  ALERTS_EACH_MIN,
  ALERTS_RAISED_MAX,
  ALERTS_SILENCED_MAX,
} from './bounds.ts';
import { type Alert, type Finding, isSilenced, keyOf, type Telling } from './alert.ts';
import { withChangeOf } from './fields.ts';
import type { AlertRule, Severity } from './rule.ts';

/** What one check has found by one rule. */
export interface Checked {
  readonly rule: AlertRule;
  readonly findings: readonly Finding[];
}

/** What is to be written, in one commit. */
export interface Verdict {
  readonly alerts: readonly Alert[];
  readonly tellings: readonly Telling[];
  /** Found, and not raised: there are too many already. */
  readonly omittedCount: number;
}

/** What somebody says, of which no check knows. */
export interface Message extends Finding {
  readonly severity: Severity;
  /** Who says it, of whom no more is raised than he leaves for others. */
  readonly by: string;
}

interface Noting {
  readonly alerts: Alert[];
  readonly tellings: Telling[];
  readonly streaks: Map<string, number>;
  readonly unsure: Map<string, number>;
}

/** Whether anybody is told of what a rule raises. */
export type IsHeard = (rule: AlertRule) => boolean;

/** Whether what that rule does not find is over: else nothing is known of it now, and it is neither raised nor cleared. */
export type IsKnown = (namespace: string | null, rule: AlertRule | null) => boolean;

export interface Silence {
  /** Null: it is told of again. */
  readonly until: number | null;
  readonly by: string | null;
  readonly reason: string | null;
}

export class AlertBook {
  /** Raised, or silenced for longer than that; by `keyOf`. */
  readonly #alerts = new Map<string, Alert>();
  /** Checks in a row that have found what is not raised, or not found what is; by `keyOf`. */
  #streaks: Map<string, number> = new Map();
  /** Since when checks in a row have found what is not raised, and do not know since when it is so; by `keyOf`. */
  #unsure: Map<string, number> = new Map();
  /** Who has said what is raised, by id; of what was raised before it was loaded nobody knows. */
  readonly #saidBy = new Map<string, string>();

  readonly #isHeard: IsHeard;

  /** As they have to be in the store: of two for one thing, as a master that has lost its place may leave them, one is raised. */
  readonly doubles: readonly Alert[];

  /** As they are in the store. */
  constructor(alerts: readonly Alert[], now: number, isHeard: IsHeard) {
    this.#isHeard = isHeard;
    const isOver = ({ clearedAt }: Alert) => clearedAt !== null;
    const inOrder = [...alerts].sort(
      (a, b) => Number(isOver(b)) - Number(isOver(a)) || a.raisedAt - b.raisedAt,
    );
    // Whether a message was said again before that is not known: what is stored is as it was told.
    this.take(inOrder.map((one) => (one.kind === 'message' ? { ...one, seenAt: now } : one)));
    this.doubles = inOrder
      .filter((one) => !isOver(one) && this.#alerts.get(keyOf(one))?.id !== one.id)
      .map((one) => ({ ...one, clearedAt: now }));
  }

  /** The newest first. */
  get raised(): readonly Alert[] {
    const all = [...this.#alerts.values()].filter(({ clearedAt }) => clearedAt === null);
    return all.sort((a, b) => b.raisedAt - a.raisedAt || (a.id < b.id ? 1 : -1));
  }

  /** The newest first; null: all. */
  raisedBefore(before: Pick<Alert, 'raisedAt' | 'id'> | null): readonly Alert[] {
    if (before === null) return this.raised;
    const { raisedAt: at, id: last } = before;
    return this.raised.filter(
      ({ raisedAt, id }) => raisedAt < at || (raisedAt === at && id < last),
    );
  }

  /** Undefined: it is not raised. */
  raisedAs(key: string): Alert | undefined {
    const alert = this.#alerts.get(key);
    return alert?.clearedAt === null ? alert : undefined;
  }

  /** Until when nobody is to hear of it, also where it is over and may come back; 0: it is not silenced. */
  quietUntil(key: string): number {
    return this.#alerts.get(key)?.silencedUntil ?? 0;
  }

  /** They are written. */
  take(alerts: readonly Alert[]): void {
    for (const alert of alerts) {
      this.#alerts.set(keyOf(alert), alert);
      // From here on checks that do not find it are counted.
      this.#streaks.delete(keyOf(alert));
    }
  }

  /** What is raised counts for whoever has said it first. */
  creditTo(by: string, id: string): void {
    if (!this.#saidBy.has(id)) this.#saidBy.set(id, by);
  }

  /** Of a check, from which nobody but `message` is left out. */
  check(checked: readonly Checked[], isKnown: IsKnown, now: number, newId: () => string): Verdict {
    const out: Noting = { alerts: [], tellings: [], streaks: new Map(), unsure: new Map() };
    const found = new Set<string>();
    let omittedCount = 0;
    const held = this.#heldCounts();
    let heldCount = [...held.values()].reduce((sum, count) => sum + count, 0);
    for (const { rule, findings } of checked) {
      for (const finding of findings) {
        const key = keyOf({ ...finding, rule: rule.name });
        if (found.has(key)) continue;
        found.add(key);
        const known = this.raisedAs(key);
        if (known !== undefined) {
          this.#goOn(rule, known, finding, now, out);
          continue;
        }
        if (!this.#isSure(finding, key, now, out)) continue;
        const streak = (this.#streaks.get(key) ?? 0) + 1;
        out.streaks.set(key, streak);
        if (streak < rule.checkCount && finding.toldAs === undefined) continue;
        const ownCount = held.get(finding.namespace) ?? 0;
        if (heldCount >= ALERTS_RAISED_MAX && ownCount >= ALERTS_EACH_MIN) {
          omittedCount += 1;
          continue;
        }
        held.set(finding.namespace, ownCount + 1);
        heldCount += 1;
        const id = finding.toldAs?.id ?? newId();
        this.#raise(rule, finding, rule.severity ?? 'warning', now, id, out);
      }
    }
    this.#clear(checked, found, isKnown, now, out);
    this.#boundSilences(now, out);
    this.#streaks = out.streaks;
    this.#unsure = out.unsure;
    const raised = new Set(this.raised.map(({ id }) => id));
    for (const id of this.#saidBy.keys()) if (!raised.has(id)) this.#saidBy.delete(id);
    return { alerts: out.alerts, tellings: out.tellings, omittedCount };
  }

  /** What is said once more while it is raised is counted, and told again as whatever goes on. */
  say(rule: AlertRule, message: Message, now: number, newId: () => string): Verdict {
    const out: Noting = { alerts: [], tellings: [], streaks: this.#streaks, unsure: this.#unsure };
    const known = this.raisedAs(keyOf({ ...message, rule: rule.name }));
    let omittedCount = 0;
    if (known !== undefined) {
      const again = { ...known, count: known.count + 1 };
      this.#goOn(rule, again, message, now, out);
    } else if (!this.#hasRoomFor(message)) omittedCount = 1;
    else {
      const severity = rule.severity ?? message.severity;
      this.#raise(rule, message, severity, now, newId(), out);
    }
    return { alerts: out.alerts, tellings: out.tellings, omittedCount };
  }

  /** As it is to be; null: no such alert is raised. */
  silenced(id: string, { until, by, reason }: Silence): Alert | null {
    const alert = this.raised.find((one) => one.id === id);
    if (alert === undefined) return null;
    if (until === null) return unsilenced(alert);
    return { ...alert, silencedUntil: until, silencedBy: by, silenceReason: reason };
  }

  /** Of what is raised, but messages, by namespace. */
  #heldCounts(): Map<string | null, number> {
    const counts = new Map<string | null, number>();
    for (const { kind, namespace, clearedAt } of this.#alerts.values()) {
      if (kind === 'message' || clearedAt !== null) continue;
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    }
    return counts;
  }

  /** Whether it has been so for as long as its rule says. */
  #isSure({ unsureMs }: Finding, key: string, now: number, out: Noting): boolean {
    if (unsureMs === undefined) return true;
    const since = this.#unsure.get(key) ?? now;
    out.unsure.set(key, since);
    return now - since >= unsureMs;
  }

  #hasRoomFor({ by, namespace: here }: Message): boolean {
    let [count, ownCount, ownInAll] = [0, 0, 0];
    for (const { id, kind, namespace, clearedAt } of this.#alerts.values()) {
      if (kind !== 'message' || clearedAt !== null) continue;
      const isOwn = this.#saidBy.get(id) === by;
      if (isOwn) ownInAll++;
      if (namespace !== here) continue;
      count++;
      if (isOwn) ownCount++;
    }
    return ownCount < ALERT_MESSAGES_MAX - count && ownInAll < ALERT_MESSAGES_OF_ONE_MAX;
  }

  #raise(
    rule: AlertRule,
    { namespace, type, group, subject, message, change, fields, toldAs }: Finding,
    severity: Severity,
    now: number,
    id: string,
    out: Noting,
  ): void {
    const before = this.#alerts.get(keyOf({ rule: rule.name, namespace, subject }));
    // Whoever has silenced it does not want to hear that it comes back.
    const isQuiet = before !== undefined && isSilenced(before, now);
    // One row at a time has the silence: others would be kept, and read again, until it ends.
    if (isQuiet) out.alerts.push(unsilenced(before));
    const alert: Alert = {
      ...{ id, rule: rule.name, kind: rule.kind, severity, fields },
      ...{ namespace, type, group, subject, message, change },
      ...{ raisedAt: toldAs?.raisedAt ?? now, seenAt: now, count: 1 },
      ...{ clearedAt: null, toldAt: null, repeatCount: 0 },
      silencedUntil: isQuiet ? before.silencedUntil : null,
      silencedBy: isQuiet ? before.silencedBy : null,
      silenceReason: isQuiet ? before.silenceReason : null,
    };
    tell(alert, 'raised', now, out, this.#isHeard(rule));
  }

  /** It is told again when its time has come, or its silence is over; what is a warning then is critical. */
  #goOn(rule: AlertRule, known: Alert, finding: Finding, now: number, out: Noting): void {
    const { message } = finding;
    const alert = { ...known, message, ...mendOf(known, finding), seenAt: now };
    const { toldAt, raisedAt, severity, silencedUntil } = alert;
    const { repeatMs } = rule;
    const isHeard = this.#isHeard(rule);
    // Where nobody is told it becomes as grave as if somebody were; and whoever is to be told later hears of it.
    const at = isHeard
      ? toldAt
      : Math.max(toldAt ?? 0, raisedAt + alert.repeatCount * (repeatMs ?? 0));
    const wasSilenced = at !== null && silencedUntil !== null && at < silencedUntil;
    const isDue = at === null || wasSilenced || (repeatMs !== null && now - at >= repeatMs);
    // How it goes on is written when it is told: to lose that costs nothing.
    if (!isDue || isSilenced(alert, now)) this.#alerts.set(keyOf(alert), alert);
    else if (at === null) tell(alert, 'raised', now, out, isHeard);
    else {
      const risen = severity === 'warning' ? 'critical' : severity;
      // Where nobody was told, what it missed, as while it was silenced, is not made up for check by check.
      const dueCount = isHeard ? 0 : Math.floor((now - raisedAt) / (repeatMs ?? Infinity));
      const repeatCount = Math.max(alert.repeatCount + 1, dueCount);
      const repeated = { ...unsilenced(alert), severity: risen, repeatCount };
      tell(repeated, 'repeated', now, out, isHeard);
    }
  }

  #clear(
    checked: readonly Checked[],
    found: ReadonlySet<string>,
    isKnown: IsKnown,
    now: number,
    out: Noting,
  ): void {
    const rules = new Map(checked.map(({ rule }) => [rule.name, rule]));
    for (const [key, alert] of this.#alerts) {
      if (alert.clearedAt !== null && !isSilenced(alert, now)) this.#alerts.delete(key);
      if (alert.clearedAt !== null || found.has(key)) continue;
      const rule = rules.get(alert.rule);
      if (!isKnown(alert.namespace, rule ?? null)) continue;
      if (rule?.kind === 'message') {
        if (now - alert.seenAt < (rule.windowMs ?? 0)) continue;
      } else {
        const streak = (this.#streaks.get(key) ?? 0) + 1;
        out.streaks.set(key, streak);
        if (streak < (rule?.checkCount ?? 1)) continue;
      }
      const cleared = { ...alert, clearedAt: now };
      // Who was not told of it need not know that it is over.
      const isHeard = rule !== undefined && this.#isHeard(rule);
      if (isHeard && alert.toldAt === null) out.alerts.push(cleared);
      else tell(cleared, 'cleared', now, out, isHeard);
    }
  }

  /** As it is once what is noted is written. */
  #boundSilences(now: number, out: Noting): void {
    const after = new Map(this.#alerts);
    for (const alert of out.alerts) after.set(keyOf(alert), alert);
    const kept = [...after.values()].filter(
      (alert) => alert.clearedAt !== null && isSilenced(alert, now),
    );
    kept.sort((a, b) => (b.silencedUntil ?? 0) - (a.silencedUntil ?? 0));
    out.alerts.push(...kept.slice(ALERTS_SILENCED_MAX).map(unsilenced));
  }
}

/** What is known of how to mend it. */
function mendOf(known: Alert, { change, fields, isUnasked }: Finding) {
  const kept = isUnasked === true ? withChangeOf(known.fields, fields) : null;
  return kept === null ? { change, fields } : { change: known.change, fields: kept };
}

const NOT_SILENCED = { silencedUntil: null, silencedBy: null, silenceReason: null };
const unsilenced = (alert: Alert): Alert => ({ ...alert, ...NOT_SILENCED });

/**
 * Unless it is silenced, when it is only written; but who was told of it before hears at once that it is over. Where nobody
 * hears it the log of the master says it all the same.
 */
function tell(
  alert: Alert,
  event: Telling['event'],
  now: number,
  out: Noting,
  isHeard: boolean,
): void {
  const isOverForThem = event === 'cleared' && alert.toldAt !== null;
  const isQuiet = isSilenced(alert, now) && !isOverForThem;
  const told = isQuiet || !isHeard ? alert : { ...alert, toldAt: now };
  out.alerts.push(told);
  if (!isQuiet) out.tellings.push({ event, alert: told });
}
