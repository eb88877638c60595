/**
 * Decides which callback goes next, so that no receiver can stall the others. An *origin* (scheme,
 * host, port) that has answered has proven itself: it gets many at a time, from a share of its
 * own, half of which is for those that answer quickly. All others get one at a time for each *host*, whatever its ports, from another share. Who
 * holds a place for long without an answer gives it up and goes on waiting aside, so that the next
 * can begin: hosts that hang take memory, but no turns.
 *
 * Knows nothing of HTTP, and holds no timer.
 */
import type { Fill } from '../../domain/bounds.ts';
import { HostTurns } from './host-turns.ts';
import { WaitingLine } from './waiting-line.ts';

/** What the end of a try says about the origin. */
export type Verdict =
  /** It answered, and takes more. */
  | 'well'
  /** It answered that it is in trouble. */
  | 'unwell'
  /** It was not there, and said so quickly. */
  | 'absent'
  /** Nothing came, for as long as one may wait. */
  | 'silent'
  /** It was not asked. */
  | 'unknown';

export interface ShareLimits {
  /** Tries that have just begun. */
  readonly begunMax: number;
  /** Those, and the ones that wait aside for their answer. */
  readonly inFlightMax: number;
  /** Bytes of the ones that wait aside. */
  readonly asideBytesMax: number;
}

export interface ReceiverLimits {
  readonly proven: ShareLimits;
  readonly unproven: ShareLimits;
  readonly inFlightPerOriginMax: number;
  /** Callbacks that may wait for origins without proof. */
  readonly unprovenWaitingMax: number;
  /** And for one host that failed to answer. */
  readonly failingHostWaitingMax: number;
  /** Origins that are remembered while nothing is queued for them. */
  readonly knownOriginsMax: number;
}

export interface ReceiverQueueOptions<T> {
  readonly limits: ReceiverLimits;
  /** Called for each item when its turn comes; `settle` must follow, later. */
  readonly start: (turn: Turn<T>) => void;
  /** Called for an item that was taken out of the queue without a turn. */
  readonly putOff: (item: T, isFailing: boolean) => void;
  /** Calls once, after what is going on now. */
  readonly soon: (call: () => void) => void;
  /** Negative: `a` should have its turn before `b`. Asked where not all can be kept. */
  readonly compare: (a: T, b: T) => number;
}

/** Put off in one go: thousands may wait for a host that fails. */
const PUT_OFF_COUNT_MAX = 256;

class Share {
  readonly #limits: ShareLimits;
  begunCount = 0;
  inFlightCount = 0;
  asideBytes = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  get isFree(): boolean {
    const { begunMax, inFlightMax, asideBytesMax } = this.#limits;
    return (
      this.begunCount < begunMax &&
      this.inFlightCount < inFlightMax &&
      this.asideBytes < asideBytesMax
    );
  }

  fills(name: string): Fill[] {
    const { inFlightMax, asideBytesMax } = this.#limits;
    return [
      { bound: `callbacks_${name}_count`, used: this.inFlightCount, limit: inFlightMax },
      { bound: `callbacks_${name}_bytes`, used: this.asideBytes, limit: asideBytesMax },
    ];
  }

  /** Hosts that failed leave room for those that nobody knows. */
  get isHalfFull(): boolean {
    return this.inFlightCount * 2 >= this.#limits.inFlightMax;
  }

  /** Half of all that there is belongs to those who answer quickly. */
  get isFreeForSlow(): boolean {
    const { begunMax, asideBytesMax } = this.#limits;
    return (
      !this.isHalfFull && this.begunCount * 2 < begunMax && this.asideBytes * 2 < asideBytesMax
    );
  }
}

interface Host<T> {
  readonly name: string;
  readonly origins: Set<Origin<T>>;
  /** Those without proof that may have the host's turn, in order. */
  readonly line: Set<Origin<T>>;
  /** Items that wait for origins without proof. */
  waitingCount: number;
  /** One of its origins without proof is being tried. */
  isTried: boolean;
  isFailing: boolean;
}

interface Origin<T> {
  readonly name: string;
  readonly host: Host<T>;
  readonly waiting: WaitingLine<T>;
  inFlightCount: number;
  isProven: boolean;
  /** One at a time, until it is well again. */
  isTroubled: boolean;
  /** Its newest answer was waited for aside, or is. */
  isSlow: boolean;
  /** Silent tries since the last answer. */
  silentCount: number;
}

/** A place that an item holds from `start` to `settle`. */
export interface Turn<T> {
  readonly item: T;
}

interface HeldTurn<T> extends Turn<T> {
  readonly origin: Origin<T>;
  readonly share: Share;
  /** Null: not aside. */
  asideBytes: number | null;
}

export class ReceiverQueue<T> {
  readonly #options: ReceiverQueueOptions<T>;
  /** In the order in which they were heard of last. */
  readonly #origins = new Map<string, Origin<T>>();
  readonly #hosts = new Map<string, Host<T>>();
  readonly #proven: Share;
  readonly #unproven: Share;
  /** Proven origins that may start another item, in the order of their turns. */
  readonly #ready = new Set<Origin<T>>();
  /** And those of them that answer slowly. */
  readonly #readySlow = new Set<Origin<T>>();
  readonly #turns = new HostTurns<Host<T>>();
  #unprovenWaitingCount = 0;
  /** Hosts of which more are put off soon. */
  readonly #crowded = new Set<Host<T>>();

  constructor(options: ReceiverQueueOptions<T>) {
    this.#options = options;
    this.#proven = new Share(options.limits.proven);
    this.#unproven = new Share(options.limits.unproven);
  }

  fills(): Fill[] {
    const { unprovenWaitingMax: limit } = this.#options.limits;
    return [
      ...this.#proven.fills('proven'),
      ...this.#unproven.fills('unproven'),
      { bound: 'callbacks_unproven_waiting_count', used: this.#unprovenWaitingCount, limit },
    ];
  }

  add(originName: string, hostName: string, item: T): void {
    const origin = this.#origins.get(originName) ?? this.#createOrigin(originName, hostName);
    if (origin.isProven) origin.waiting.push(item);
    else {
      origin.waiting.insert(item, this.#options.compare);
      this.#countWaiting(origin.host, 1);
    }
    this.#offerTurn(origin);
    this.#startNext();
    this.#keepWithinBounds(origin.host);
  }

  /** The item has waited long enough for its answer to let others begin. */
  setAside(turn: Turn<T>, bytes: number): void {
    const held = turn as HeldTurn<T>;
    if (held.asideBytes !== null) return;
    held.asideBytes = bytes;
    held.share.asideBytes += bytes;
    held.share.begunCount -= 1;
    held.origin.isSlow = true;
    this.#offerTurn(held.origin);
    this.#startNext();
  }

  settle(turn: Turn<T>, verdict: Verdict): void {
    const { origin, share, asideBytes } = turn as HeldTurn<T>;
    const { host } = origin;
    share.inFlightCount -= 1;
    if (asideBytes === null) share.begunCount -= 1;
    else share.asideBytes -= asideBytes;
    origin.inFlightCount -= 1;
    if (share === this.#unproven) host.isTried = false;
    if (asideBytes === null && verdict === 'well') origin.isSlow = false;
    if (verdict !== 'unknown') this.#learn(origin, verdict);
    this.#offerTurn(origin);
    this.#startNext();
    this.#keepWithinBounds(host);
    this.#origins.delete(origin.name);
    this.#origins.set(origin.name, origin);
  }

  /**
   * Drops what waits and matches. What is in flight goes on and is to be settled; what is known of
   * receivers stays.
   */
  removeWaiting(matches: (item: T) => boolean): void {
    for (const origin of this.#origins.values()) {
      const countBefore = origin.waiting.length;
      origin.waiting.remove(matches);
      const { host, isProven, waiting } = origin;
      if (!isProven) this.#countWaiting(host, waiting.length - countBefore);
      this.#offerTurn(origin);
    }
  }

  #createOrigin(name: string, hostName: string): Origin<T> {
    this.#forgetOne();
    const host = this.#hosts.get(hostName) ?? {
      name: hostName,
      origins: new Set(),
      line: new Set(),
      waitingCount: 0,
      isTried: false,
      isFailing: false,
    };
    const origin: Origin<T> = {
      name,
      host,
      waiting: new WaitingLine(),
      inFlightCount: 0,
      isProven: false,
      isTroubled: false,
      isSlow: false,
      silentCount: 0,
    };
    host.origins.add(origin);
    this.#hosts.set(hostName, host);
    this.#origins.set(name, origin);
    return origin;
  }

  /** Room for one more: the one not heard of for longest goes, unless it is in use. */
  #forgetOne(): void {
    if (this.#origins.size < this.#options.limits.knownOriginsMax) return;
    const [oldest] = this.#origins.values();
    if (oldest === undefined) return;
    this.#origins.delete(oldest.name);
    if (oldest.inFlightCount + oldest.waiting.length > 0) {
      this.#origins.set(oldest.name, oldest);
      return;
    }
    oldest.host.origins.delete(oldest);
    if (oldest.host.origins.size === 0) this.#hosts.delete(oldest.host.name);
  }

  #learn(origin: Origin<T>, verdict: Verdict): void {
    const { host, isProven: wasProven } = origin;
    const answered = verdict === 'well' || verdict === 'unwell';
    origin.isTroubled = verdict !== 'well';
    origin.silentCount = verdict === 'silent' ? origin.silentCount + 1 : 0;
    // To be silent once may happen to anybody.
    origin.isProven = answered || (wasProven && origin.silentCount < 2);
    if (wasProven && origin.isProven) return;
    this.#turns.delete(host);
    host.isFailing = !origin.isProven;
    if (origin.isProven !== wasProven) {
      this.#countWaiting(host, (wasProven ? 1 : -1) * origin.waiting.length);
      if (wasProven) origin.waiting.sort(this.#options.compare);
    }
  }

  #countWaiting(host: Host<T>, count: number): void {
    host.waitingCount += count;
    this.#unprovenWaitingCount += count;
  }

  /** Puts an origin and its host among those that may have the next turn, or takes them out. */
  #offerTurn(origin: Origin<T>): void {
    const { host, isProven, isTroubled, inFlightCount } = origin;
    const max = isProven && !isTroubled ? this.#options.limits.inFlightPerOriginMax : 1;
    const mayStart = origin.waiting.length > 0 && inFlightCount < max;
    const ready = origin.isSlow ? this.#readySlow : this.#ready;
    if (!mayStart || !isProven || !ready.has(origin)) {
      this.#ready.delete(origin);
      this.#readySlow.delete(origin);
    }
    if (mayStart && isProven) ready.add(origin);
    if (mayStart && !isProven) host.line.add(origin);
    else host.line.delete(origin);
    if (host.line.size > 0 && !host.isTried) this.#turns.add(host);
    else this.#turns.delete(host);
  }

  #startNext(): void {
    while (this.#proven.isFree) {
      // Whoever answers quickly needs its place for a moment only.
      const [origin] =
        this.#ready.size > 0 || this.#proven.isHalfFull ? this.#ready : this.#readySlow;
      if (origin === undefined) break;
      // Back to the end of the line: every origin gets its turn.
      this.#ready.delete(origin);
      this.#readySlow.delete(origin);
      this.#start(origin, this.#proven);
    }
    while (this.#unproven.isFree) {
      const host = this.#turns.take(!this.#unproven.isHalfFull);
      const [origin] = host?.line ?? [];
      if (host === undefined || origin === undefined) break;
      host.isTried = true;
      host.line.delete(origin);
      this.#countWaiting(host, -1);
      this.#start(origin, this.#unproven);
    }
  }

  #start(origin: Origin<T>, share: Share): void {
    const item = origin.waiting.shift();
    if (item === undefined) throw new Error(`nothing waits for ${origin.name}`);
    share.begunCount += 1;
    share.inFlightCount += 1;
    origin.inFlightCount += 1;
    this.#offerTurn(origin);
    const turn: HeldTurn<T> = { item, origin, share, asideBytes: null };
    this.#options.start(turn);
  }

  /** Hosts that do not answer must not fill the memory in which the others wait. */
  #keepWithinBounds(host: Host<T>): void {
    if (this.#crowded.has(host)) return;
    for (let count = 0; count < PUT_OFF_COUNT_MAX; count++) {
      const crowded = this.#crowdedAt(host);
      if (crowded === null) return;
      this.#putOffOneOf(crowded);
    }
    this.#crowded.add(host);
    this.#options.soon(() => {
      this.#crowded.delete(host);
      this.#keepWithinBounds(host);
    });
  }

  /** For which too many wait: this host, or another that is wanted less; null: none. */
  #crowdedAt(host: Host<T>): Host<T> | null {
    const { failingHostWaitingMax, unprovenWaitingMax } = this.#options.limits;
    if (host.isFailing && host.waitingCount > failingHostWaitingMax) return host;
    if (this.#unprovenWaitingCount <= unprovenWaitingMax) return null;
    const other = host.waitingCount > 1 ? undefined : this.#turns.leastWanted();
    return other ?? host;
  }

  /** Of the origin with the most, the one whose turn is farthest off. */
  #putOffOneOf(host: Host<T>): void {
    let longest: Origin<T> | undefined;
    for (const origin of host.origins) {
      if (origin.isProven) continue;
      if (longest === undefined || origin.waiting.length > longest.waiting.length) longest = origin;
    }
    const item = longest?.waiting.pop();
    if (longest === undefined || item === undefined) {
      throw new Error(`nothing waits for ${host.name}`);
    }
    this.#countWaiting(host, -1);
    this.#offerTurn(longest);
    this.#options.putOff(item, host.isFailing);
  }
}
