/** What a look has decided, as it is written: in pieces, each with what receivers are to be told of it. Decides nothing. */
import { type Alert, keyOf, type Telling } from '../../domain/alerts/alert.ts';
import { ALERTS_TOLD_TOGETHER_MAX, TOLD_PER_WRITE_MAX } from '../../domain/alerts/bounds.ts';
import type { Verdict } from '../../domain/alerts/book.ts';
import type { AlertRule } from '../../domain/alerts/rule.ts';
import type { Outbox } from './outbox.ts';

type Piece = Pick<Verdict, 'alerts' | 'tellings'>;

/**
 * In their order, what is found before what is said: so many at a time that few are told to all receivers, and whole
 * messages. What is of one thing stays together.
 */
export function* piecesOf({ alerts, tellings }: Piece, receiverCount: number): Generator<Piece> {
  const messageCount = TOLD_PER_WRITE_MAX / Math.max(1, receiverCount) / ALERTS_TOLD_TOGETHER_MAX;
  const countMax = Math.max(1, Math.floor(messageCount)) * ALERTS_TOLD_TOGETHER_MAX;
  const isSaid = ({ kind }: Alert) => kind === 'message';
  const inOrder = [...alerts.filter((one) => !isSaid(one)), ...alerts.filter(isSaid)];
  const tellingOf = new Map(tellings.map((telling) => [telling.alert, telling]));
  for (let from = 0; from < inOrder.length; ) {
    let to = Math.min(from + countMax, inOrder.length);
    while (to < inOrder.length && isOfSame(inOrder[to - 1], inOrder[to])) to += 1;
    const piece = inOrder.slice(from, to);
    const told = piece.map((alert) => tellingOf.get(alert)).filter((one) => one !== undefined);
    yield { alerts: piece, tellings: told };
    from = to;
  }
}

function isOfSame(one: Alert | undefined, other: Alert | undefined): boolean {
  return one !== undefined && other !== undefined && keyOf(one) === keyOf(other);
}

/** Whether one of those whom a rule tells is there. */
export function isHeard(
  { receivers: names }: AlertRule,
  receivers: ReadonlyMap<string, unknown>,
): boolean {
  return (names ?? [...receivers.keys()]).some((name) => receivers.has(name));
}

type Hears = (receiver: string, telling: Telling) => boolean;

/**
 * Who need not be told again of what is not silenced any more: he hears of it, or has since then, by what was held back.
 * @param endOf when the silence was over; 0: there was none.
 */
export function hearsAnyway(
  tellings: readonly Telling[],
  endOf: (alert: Alert) => number,
  deliveriesOf: Outbox['ofEach'],
): Hears {
  const again = tellings.filter((one) => one.event === 'repeated' && endOf(one.alert) > 0);
  // All that is known is looked through.
  if (again.length === 0) return () => false;
  const deliveries = deliveriesOf(again.map(({ alert }) => alert));
  return (receiver, { alert }) => {
    const end = endOf(alert);
    return [...(deliveries.get(alert.id) ?? [])].some((one) => {
      const isSoon = one.state !== 'failed' && (one.endedAt ?? end) >= end;
      return isSoon && one.receiver === receiver;
    });
  };
}

/** Whom a rule meant that is gone, nobody knows. */
export function byReceiver(
  tellings: readonly Telling[],
  rules: readonly AlertRule[],
  receivers: ReadonlySet<string>,
  hears: Hears = () => false,
): ReadonlyMap<string, readonly Telling[]> {
  const ruleOf = new Map(rules.map((rule) => [rule.name, rule]));
  const all = new Map<string, Telling[]>();
  for (const telling of tellings) {
    const rule = ruleOf.get(telling.alert.rule);
    const names = rule === undefined ? [] : (rule.receivers ?? receivers);
    for (const name of names) {
      if (!receivers.has(name) || hears(name, telling)) continue;
      const told = all.get(name);
      if (told === undefined) all.set(name, [telling]);
      else told.push(telling);
    }
  }
  return all;
}
