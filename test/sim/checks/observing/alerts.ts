/**
 * What holds of alerts, at each write of them and at each message that goes out.
 *
 * N1: whoever is raised is told, to every receiver there is, in the commit that raises it; what is to be told is told,
 * whatever was killed in between, and what counts as told was received.
 *
 * N2: nothing is told before it is written.
 *
 * N3: one thing is raised once at a time, under one id.
 *
 * N4: that it goes on or is over no receiver is told that was not told that it was raised, unless that cannot be told.
 *
 * N5: a message was said by somebody; and that nobody is there for tasks of a type is raised, and goes on, if and only
 * if that was so, for as long as the rule has it.
 *
 * N6: of what is silenced nothing is told, but that it is over.
 */
import type { AlertDelivery, ToldAlert } from '../../../../master/application/ports.ts';
import { type Alert, keyOf } from '../../../../master/domain/alerts/alert.ts';
import { ALERT_DELIVERIES_EACH_MAX } from '../../../../master/domain/alerts/bounds.ts';
import type { World } from '../../world.ts';
import type { Due, Sight } from './sight.ts';

/** Seconds that tasks wait for somebody before that is raised, and looks that find it. */
export const NOBODY_SECONDS = 10;
export const LOOK_COUNT = 2;
/** What was found, or not found, is written by the look after. */
const LOOKS_MAX = LOOK_COUNT + 2;
/** In which what is due must have been sent, once there is a master. */
const TOLD_MS_MAX = 25_000;

const nobodyFor = (type: string): string => `type ${type}`;

export class AlertChecks {
  readonly receivers = new Set<string>();
  /** As the rows have them. */
  readonly alerts = new Map<string, Alert>();
  readonly deliveries = new Map<string, AlertDelivery>();
  /** What somebody has said. */
  readonly said = new Set<string>();
  readonly #world: World;
  /** What receivers have heard of which alert, and what they could not be told. */
  readonly #heard = new Set<string>();
  readonly #untold = new Set<string>();
  /** Those that were not told something, since too much waited for them. */
  readonly #overflowing = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** @param looks of the master that writes. */
  written(
    alerts: readonly Alert[],
    deliveries: readonly AlertDelivery[],
    looks: NobodyChecks,
  ): void {
    const news = deliveries.flatMap((one) => {
      const known = this.deliveries.get(one.id)?.told ?? [];
      return one.told.filter((told) => !known.some((other) => isSame(told, other)));
    });
    for (const told of news) this.#checkSilence(told);
    const byId = new Map(alerts.map((alert) => [alert.id, alert]));
    for (const alert of alerts) {
      if (!this.alerts.has(alert.id)) this.#checkRaised(alert, byId, deliveries, looks);
      this.#world.log(`alert ${alert.id} ${alert.subject} ${alert.clearedAt ? 'is over' : ''}`);
    }
    for (const alert of alerts) this.alerts.set(alert.id, alert);
    for (const one of deliveries) this.deliveries.set(one.id, one);
  }

  /** It goes out. */
  sent(receiver: string, { id, told }: Pick<AlertDelivery, 'id' | 'told'>): void {
    const row = this.deliveries.get(id);
    for (const one of told) {
      const what = `${receiver} is told that ${one.alert.id} is ${one.event}`;
      const isWritten = row?.told.some((other) => isSame(one, other)) || (row?.moreCount ?? 0) > 0;
      if (!isWritten) this.#world.violate('N2', `${what}, and that is not written`);
      if (one.event === 'raised' || this.#overflowing.has(receiver)) continue;
      const raised = nameOf(receiver, { event: 'raised', alert: one.alert });
      const isWithIt = told.some(({ event, alert }) => {
        return event === 'raised' && alert.id === one.alert.id;
      });
      if (isWithIt || this.#heard.has(raised) || this.#untold.has(raised)) continue;
      this.#world.violate('N4', `${what}, and was not told that it was raised`);
    }
  }

  received(receiver: string, told: readonly ToldAlert[]): void {
    for (const one of told) this.#heard.add(nameOf(receiver, one));
  }

  /** Nobody will try again. */
  gaveUp(receiver: string, told: readonly ToldAlert[]): void {
    for (const one of told) this.#untold.add(nameOf(receiver, one));
  }

  openAs(rule: string, subject: string): Alert | undefined {
    return [...this.alerts.values()].find((alert) => {
      return alert.clearedAt === null && alert.rule === rule && alert.subject === subject;
    });
  }

  /** @param now by the clock of the master. @param since when it has read what is to be told. */
  checkEnd(now: number, since: number): void {
    const isDue = ({ nextTryAt }: AlertDelivery) => Math.max(nextTryAt, since) < now - TOLD_MS_MAX;
    for (const delivery of this.deliveries.values()) {
      const { id, receiver, told, state } = delivery;
      if (!this.receivers.has(receiver)) continue;
      // What is of the same alert waits for what has to be told before.
      const isBehind = [...this.deliveries.values()].some((one) => {
        return one.state === 'pending' && !isDue(one) && isAboutSame(one, delivery);
      });
      if (state === 'pending' && isDue(delivery) && !isBehind) {
        this.#world.violate('N1', `${receiver} was to be told ${id}, and nobody tries`);
      }
      const unheard = told.find((one) => !this.#heard.has(nameOf(receiver, one)));
      if (state === 'delivered' && unheard !== undefined) {
        const what = `${unheard.alert.id} is ${unheard.event}`;
        this.#world.violate('N1', `that ${what} counts as told to ${receiver}, and was not`);
      }
    }
  }

  #checkRaised(
    alert: Alert,
    written: ReadonlyMap<string, Alert>,
    deliveries: readonly AlertDelivery[],
    looks: NobodyChecks,
  ): void {
    const { id, kind, subject, clearedAt, toldAt } = alert;
    const other = [...this.alerts.values()].find((one) => {
      const isOpen = (written.get(one.id) ?? one).clearedAt === null;
      return isOpen && keyOf(one) === keyOf(alert);
    });
    if (clearedAt === null && other !== undefined) {
      this.#world.violate('N3', `${id} is raised of ${subject}, and ${other.id} is`);
    }
    if (kind === 'message' && !this.said.has(subject)) {
      this.#world.violate('N5', `${id} says ${subject}, which nobody has said`);
    }
    if (kind === 'no_executor') looks.raised(subject);
    if (toldAt === null) return;
    for (const receiver of this.receivers) {
      const isTold = deliveries.some((one) => {
        return one.receiver === receiver && one.told.some((told) => told.alert.id === id);
      });
      if (isTold) continue;
      if (this.#pendingCountOf(receiver) >= ALERT_DELIVERIES_EACH_MAX) {
        this.#overflowing.add(receiver);
      } else this.#world.violate('N1', `${id} is raised, and ${receiver} is not to be told`);
    }
  }

  #pendingCountOf(receiver: string): number {
    const all = [...this.deliveries.values()];
    return all.filter((one) => one.receiver === receiver && one.state === 'pending').length;
  }

  #checkSilence({ event, alert }: ToldAlert): void {
    // N4 says of whom.
    if (event === 'cleared') return;
    const at = alert.toldAt ?? 0;
    const silent = [...this.alerts.values()].find((one) => {
      return keyOf(one) === keyOf(alert) && (one.silencedUntil ?? 0) > at;
    });
    if (silent === undefined) return;
    this.#world.violate('N6', `that ${alert.id} is ${event} is told, and ${silent.id} is silenced`);
  }
}

/** Of one master: for how many looks in a row nobody was there for a type. */
export class NobodyChecks {
  readonly #world: World;
  readonly #alerts: AlertChecks;
  /** By type: it may have been found so often, and must have been; it cannot have been found for so many. */
  readonly #counts = new Map<string, { may: number; must: number; never: number }>();

  constructor(world: World, alerts: AlertChecks) {
    this.#world = world;
    this.#alerts = alerts;
  }

  /** @param isWriting The store takes what is found. */
  looked({ due, now, vagueTypes }: Sight, isWriting: boolean): void {
    const isOld = ({ task }: Due) => task.dueAt <= now - 1000 * NOBODY_SECONDS;
    for (const type of ['a', 'b']) {
      const hopeless = due.filter((one) => one.task.type === type && one.isHopeless);
      // Of what is in the store only nobody knows since when it waits, or whether it is due.
      const kept = due.filter((one) => one.task.type === type && one.isKeptFrom);
      const found = [...hopeless, ...kept];
      const may = vagueTypes.has(type) || found.some((one) => isOld(one) || !one.isFirst);
      const must = hopeless.some((one) => isOld(one) && one.isFirst && one.isPlain);
      const before = this.#counts.get(type) ?? { may: 0, must: 0, never: 0 };
      const counts = {
        may: may ? before.may + 1 : 0,
        must: must && isWriting ? before.must + 1 : 0,
        never: !may && isWriting ? before.never + 1 : 0,
      };
      this.#counts.set(type, counts);
      const isOpen = this.#alerts.openAs('no_executor', nobodyFor(type)) !== undefined;
      if (counts.must > LOOKS_MAX && !isOpen) {
        this.#world.violate(
          'N5',
          `nobody is there for tasks of type ${type}, and that is not raised`,
        );
      }
      if (counts.never > LOOKS_MAX && isOpen) {
        this.#world.violate('N5', `that nobody is there for type ${type} is over, and goes on`);
      }
    }
  }

  raised(subject: string): void {
    const type = ['a', 'b'].find((one) => nobodyFor(one) === subject) ?? '';
    const count = this.#counts.get(type)?.may ?? 0;
    if (count >= LOOK_COUNT) return;
    this.#world.violate(
      'N5',
      `nobody is there for ${subject}, it says, and that was so ${count} times`,
    );
  }
}

function isSame(one: ToldAlert, other: ToldAlert): boolean {
  const isOfIt = one.event === other.event && one.alert.id === other.alert.id;
  return isOfIt && one.alert.toldAt === other.alert.toldAt;
}

function isAboutSame(one: AlertDelivery, other: AlertDelivery): boolean {
  const ids = other.told.map(({ alert }) => alert.id);
  return one.receiver === other.receiver && one.told.some(({ alert }) => ids.includes(alert.id));
}

function nameOf(receiver: string, { event, alert: { id } }: ToldAlert): string {
  return `${receiver} ${event} ${id}`;
}
