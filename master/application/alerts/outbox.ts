/**
 * Carries what is written to receivers: at least once, one at a time to each, what is of the same thing in its order, again
 * and again for a day where it fails, and soon once the receiver takes something. What was sent and could not be written is
 * not sent again before the process ends.
 */
import { type Alert, keyOf } from '../../domain/alerts/alert.ts';
import {
  ALERT_DELIVERIES_EACH_MAX,
  ALERT_DELIVERIES_TO_PROGRAM_MAX,
  ALERTS_TOLD_TOGETHER_MAX,
} from '../../domain/alerts/bounds.ts';
import type { AlertReceiver } from '../../domain/alerts/rule.ts';
import type { AlertDelivery, AlertSender, AlertStore, Clock, Log, ToldAlert } from '../ports.ts';

/** From the first try to the last one some 26 hours. */
const WAITS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000];
const TRIES_MAX = 12;
/** Where tries were brought forward there are more of them: none is given up before. */
const TRIED_MS = 86_400_000;
/** From a try to the next one at least, where something else was taken: a receiver may take so many and refuse the rest. */
const SOON_MS = 30_000;
/** Of those that are over. */
const KEPT_COUNT_MAX = 500;

interface OutboxOptions {
  readonly store: Pick<AlertStore, 'write'>;
  readonly sender: Pick<AlertSender, 'send'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: there is none of that name. */
  readonly receiverOf: (name: string) => AlertReceiver | undefined;
  /** Until when nobody is to hear of it; 0: it is not silenced. */
  readonly quietUntil: (alert: Alert) => number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  /** By receiver, and by id, in their order. */
  readonly #pending = new Map<string, Map<string, AlertDelivery>>();
  /** The newest of those that are over, for people. */
  readonly #ended = new Map<string, AlertDelivery>();
  /** How tries went, where that is not written yet. */
  readonly #unwritten = new Map<string, AlertDelivery>();
  /** What receivers are being told, by their name. */
  readonly #busy = new Map<string, string>();
  /** Those that are being written anew, with more in them. */
  readonly #held = new Set<string>();
  #writing: Promise<void> = Promise.resolve();
  #callOff: () => void = () => undefined;
  #isStopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get pendingCount(): number {
    return [...this.#pending.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * What is to be written for a receiver to be told of these, in the order in which it is to be told: one message with what
   * nobody has tried to tell it yet, or, where too many wait for it, with the newest of them. A program is told the rest in
   * further messages, as it knows alerts by their ids; people are told how many more there are. None of it is sent before
   * `keep`.
   */
  joined(
    receiver: string,
    told: readonly ToldAlert[],
    now: number,
    newId: () => string,
  ): readonly AlertDelivery[] {
    const { known, freeCount, madeBefore } = this.#roomFor(receiver);
    if (known !== undefined) this.#held.add(known.id);
    // What is found comes first: nobody can hide it behind what he says.
    const inOrder = [...(known?.told ?? []), ...told];
    const all = [...inOrder.filter((one) => !isSaid(one)), ...inOrder.filter(isSaid)];
    // Whoever knows messages by their ids takes what was tried, and has become more, for the same.
    const isSame = known?.tries === 0;
    const count = Math.min(freeCount, Math.ceil(all.length / ALERTS_TOLD_TOGETHER_MAX));
    const omittedCount = Math.max(0, all.length - count * ALERTS_TOLD_TOGETHER_MAX);
    const moreCount = (known?.moreCount ?? 0) + omittedCount;
    // They are read by that instant: no two have the same.
    const madeAt = Math.max(now, madeBefore + 1);
    const written = Array.from({ length: count }, (_, at): AlertDelivery => {
      const isFirst = at === 0 && known !== undefined;
      const from = at * ALERTS_TOLD_TOGETHER_MAX;
      return {
        ...{ id: isFirst && isSame ? known.id : newId(), receiver },
        madeAt: isFirst ? known.madeAt : madeAt + at,
        told: all.slice(from, from + ALERTS_TOLD_TOGETHER_MAX),
        moreCount: at === count - 1 ? moreCount : 0,
        ...{ state: 'pending', tries: 0, nextTryAt: now, error: null, endedAt: null },
      };
    });
    if (known === undefined || isSame) return written;
    const error = `told again with what came later (${known.error})`;
    return [{ ...known, state: 'failed', error, endedAt: now }, ...written];
  }

  /** `known`: with which more can be told, undefined: with none; `freeCount`: so many may wait, that one with them. */
  #roomFor(receiver: string) {
    const sent = this.#busy.get(receiver);
    const line = this.#pending.get(receiver) ?? NONE;
    const count = line.size;
    let madeBefore = 0;
    let newest: AlertDelivery | undefined;
    for (const one of line.values()) {
      madeBefore = Math.max(madeBefore, one.madeAt);
      if (one.id !== sent) newest = one;
    }
    const channel = this.#options.receiverOf(receiver)?.channel;
    const isProgram = channel === 'webhook' || channel === 'json';
    // What is full takes nothing up, where another one may follow it.
    const mayFollow = isProgram && count < ALERT_DELIVERIES_TO_PROGRAM_MAX;
    const isFull = mayFollow && newest?.told.length === ALERTS_TOLD_TOGETHER_MAX;
    // The newest only, so that nothing comes before what was to be told before it. And what has to wait for another one is
    // no place for what has not.
    const isOpen = () =>
      newest?.tries === 0 && !this.#isQuiet(newest) && !hasToWait(newest, line.values());
    const takesUp = !isFull && (count >= ALERT_DELIVERIES_EACH_MAX || isOpen());
    const known = takesUp ? newest : undefined;
    const leftCount = ALERT_DELIVERIES_TO_PROGRAM_MAX - count + (known === undefined ? 0 : 1);
    return { known, freeCount: isProgram ? Math.max(1, leftCount) : 1, madeBefore };
  }

  /** They are written, and sent with the next `pump`; nothing is held any more. */
  keep(deliveries: readonly AlertDelivery[]): void {
    this.#held.clear();
    const now = this.#options.clock.now();
    for (const one of deliveries) {
      // With what was added it comes after what was tried meanwhile.
      this.#pending.get(one.receiver)?.delete(one.id);
      this.#unwritten.delete(one.id);
      this.#keep(one);
      // What is new, and would wait for what was refused when the receiver was away: it may be back.
      const line = this.#pending.get(one.receiver) ?? NONE;
      if (one.tries === 0 && hasToWait(one, line.values()))
        this.#bringForward(one.receiver, now, 1);
    }
  }

  /** It has taken something. */
  hasTaken(receiver: string): void {
    this.#bringForward(receiver, this.#options.clock.now());
    this.pump();
  }

  /** This is what is pending in the store; where something newer is known of it here, that holds. Nothing is held any more. */
  renew(stored: readonly AlertDelivery[]): void {
    const ids = new Set(stored.map(({ id }) => id));
    for (const [receiver, line] of this.#pending) {
      for (const id of line.keys()) {
        // It went into another one, and nobody heard that this was written.
        if (!ids.has(id) && this.#busy.get(receiver) !== id) line.delete(id);
      }
    }
    const isNews = ({ id, receiver }: AlertDelivery): boolean =>
      !this.#ended.has(id) &&
      this.#busy.get(receiver) !== id &&
      (this.#pending.get(receiver)?.get(id)?.tries ?? 0) === 0;
    this.keep(stored.filter(isNews));
    this.pump();
  }

  /** In which each of those alerts was told, as far as is known here, by its id; the oldest first. */
  ofEach(
    alerts: readonly { readonly id: string }[],
  ): ReadonlyMap<string, ReadonlySet<AlertDelivery>> {
    const all = new Map(alerts.map(({ id }) => [id, new Set<AlertDelivery>()]));
    const pending = [...this.#pending.values()].flatMap((line) => [...line.values()]);
    for (const one of [...this.#ended.values(), ...pending]) {
      for (const { alert } of one.told) all.get(alert.id)?.add(one);
    }
    return all;
  }

  /** Sends what is due. */
  pump(): void {
    if (this.#isStopped) return;
    this.#callOff();
    const { clock } = this.#options;
    const now = clock.now();
    let nextAt = Number.POSITIVE_INFINITY;
    for (const receiver of this.#pending.keys()) {
      nextAt = Math.min(nextAt, this.#sendFirst(receiver, now));
    }
    if (nextAt < Number.POSITIVE_INFINITY) this.#callOff = clock.wakeAt(nextAt, () => this.pump());
  }

  /** What is due for a receiver, if it is told nothing now; else returns when something will be. */
  #sendFirst(receiver: string, now: number): number {
    let nextAt = Number.POSITIVE_INFINITY;
    if (this.#busy.has(receiver)) return nextAt;
    const unheard = new Set<string>();
    let due: AlertDelivery | undefined;
    for (const one of this.#pending.get(receiver)?.values() ?? []) {
      if (isBehind(one, unheard) || this.#held.has(one.id)) continue;
      const at = Math.max(one.nextTryAt, this.#quietUntil(one));
      nextAt = Math.min(nextAt, at);
      if (at > now) continue;
      // What is new does not wait for what was refused.
      if (due === undefined || (due.tries > 0 && one.tries === 0)) due = one;
    }
    if (due === undefined) return nextAt;
    this.#busy.set(receiver, due.id);
    void this.#send(due);
    return Number.POSITIVE_INFINITY;
  }

  /**
   * What tells of nothing but what was silenced since waits until one of the silences is over; what tells of something else as
   * well goes as it is.
   */
  #quietUntil({ told }: AlertDelivery): number {
    const ends = told.map(({ event, alert }) => {
      return event === 'cleared' ? 0 : this.#options.quietUntil(alert);
    });
    return ends.length === 0 ? 0 : Math.min(...ends);
  }

  #isQuiet(delivery: AlertDelivery): boolean {
    return this.#quietUntil(delivery) > this.#options.clock.now();
  }

  /** What is not over goes on with the next process. */
  stop(): void {
    this.#isStopped = true;
    this.#callOff();
  }

  /** What was not written yet. One write after the other: none is overtaken by one that knows more. */
  writeRest(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#writeUnwritten());
    return this.#writing;
  }

  async #writeUnwritten(): Promise<void> {
    const rest = [...this.#unwritten.values()];
    if (rest.length === 0) return;
    this.#unwritten.clear();
    try {
      await this.#options.store.write([], rest);
    } catch (error) {
      for (const one of rest) {
        if (!this.#unwritten.has(one.id)) this.#unwritten.set(one.id, one);
      }
      throw error;
    }
  }

  /** It takes what it is told: whatever else waits for it need not wait for long; or `countMax` of that, which tells. */
  #bringForward(receiver: string, now: number, countMax = Number.POSITIVE_INFINITY): void {
    const line = this.#pending.get(receiver) ?? NONE;
    for (const one of [...line.values()].slice(0, countMax)) {
      const soonAt = Math.max(now, one.nextTryAt - waitAfter(one.tries) + SOON_MS);
      if (one.nextTryAt > soonAt) line.set(one.id, { ...one, nextTryAt: soonAt });
    }
  }

  async #send(delivery: AlertDelivery): Promise<void> {
    const { sender, receiverOf, clock, log } = this.#options;
    const { id, receiver: name } = delivery;
    const receiver = receiverOf(name);
    const { error, isFinal } =
      receiver === undefined
        ? { error: 'there is no such receiver any more', isFinal: true }
        : await sender.send(receiver, delivery);
    // Whatever came of it nobody knows: it is told once more.
    if (this.#isStopped) return;
    const tries = delivery.tries + 1;
    const now = clock.now();
    const isGivenUp = tries >= TRIES_MAX && now - delivery.madeAt >= TRIED_MS;
    const isOver = error === null || isFinal || isGivenUp;
    const state = error === null ? 'delivered' : isOver ? 'failed' : 'pending';
    const endedAt = isOver ? now : null;
    const tried = {
      ...delivery,
      state,
      tries,
      nextTryAt: now + waitAfter(tries),
      error,
      endedAt,
    } as const;
    if (error !== null) {
      const fields = {
        event: 'alert',
        receiver: name,
        delivery: id,
        tries,
        error,
        is_over: isOver,
      };
      log.warn('an alert was not delivered', fields);
    }
    this.#keep(tried);
    if (state === 'delivered') this.#bringForward(name, now);
    this.#unwritten.set(id, tried);
    await this.writeRest().catch((failure: unknown) => {
      log.debug('how an alert was delivered is not written yet', { error: String(failure) });
    });
    this.#busy.delete(name);
    this.pump();
  }

  #keep(delivery: AlertDelivery): void {
    const { id, receiver, state } = delivery;
    const line = this.#pending.get(receiver) ?? new Map<string, AlertDelivery>();
    if (state === 'pending') {
      // What was tried keeps its place.
      this.#pending.set(receiver, line.set(id, delivery));
      return;
    }
    line.delete(id);
    if (line.size === 0) this.#pending.delete(receiver);
    this.#ended.set(id, delivery);
    const [oldest] = this.#ended.size > KEPT_COUNT_MAX ? this.#ended.keys() : [];
    if (oldest !== undefined) this.#ended.delete(oldest);
  }
}

function waitAfter(tries: number): number {
  return WAITS_MS[Math.min(tries, WAITS_MS.length) - 1] ?? 0;
}

const NONE = new Map<string, AlertDelivery>();

const isSaid = ({ alert }: ToldAlert): boolean => alert.kind === 'message';

/** Of each alert that waits to be told, as it takes long to make. */
const keys = new WeakMap<ToldAlert['alert'], string>();

function keyFor({ alert }: ToldAlert): string {
  const known = keys.get(alert);
  if (known !== undefined) return known;
  const key = keyOf(alert);
  keys.set(alert, key);
  return key;
}

/**
 * Whether something that it tells of is in what its receiver has yet to hear, to which it is added: that something is over
 * does not overtake that it was raised, nor what is raised anew that it was over before.
 */
function isBehind({ told }: AlertDelivery, unheard: Set<string>): boolean {
  const isIt = told.some((one) => unheard.has(keyFor(one)));
  for (const one of told) unheard.add(keyFor(one));
  return isIt;
}

/** Whether it is behind one that comes before it in its line. */
function hasToWait(delivery: AlertDelivery, line: Iterable<AlertDelivery>): boolean {
  const own = new Set(delivery.told.map(keyFor));
  for (const { id, told } of line) {
    if (id === delivery.id) return false;
    if (told.some((one) => own.has(keyFor(one)))) return true;
  }
  return false;
}
