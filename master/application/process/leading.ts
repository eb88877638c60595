/**
 * Leads namespaces: an engine for each that has something to do. One that has had no executor, task,
 * callback or request for a minute is stopped in order and forgotten, until somebody asks for it. The end
 * of one by itself is the end of all. Knows nothing of tasks.
 */
import type { Fill } from '../../domain/bounds.ts';
import type { State } from '../../domain/state/state.ts';
import { openWorkCount } from '../../domain/long-work/works.ts';
import type { Engine } from '../engine/engine.ts';
import { type MasterHandle, type MasterStatus, Unavailable } from '../master-handle.ts';
import type { Clock, Log, NamespaceRecord, Store } from '../ports.ts';
import type { StoreTrouble } from '../store-watch.ts';
import type { Duties, Duty, Found } from './duties.ts';
import type { Part } from './lifecycle.ts';
import { UnknownNamespace } from './namespaces-handle.ts';

const SWEEP_MS = 10_000;
const IDLE_MS = 60_000;
/** Whoever asks for a namespace that nobody leads yet, or leads no more, waits no longer. */
const BEGIN_MS_MAX = 4_000;

/** What leads one namespace. */
export interface Leader {
  readonly engine: Pick<
    Engine,
    'start' | 'stop' | 'status' | 'state' | 'followWall' | 'storeWatch' | 'news'
  >;
  readonly master: MasterHandle;
  /** With the executors that have dialled in. */
  readonly sessions: {
    readonly connectionCount: number;
    shutdown(): void;
    fills(): readonly Fill[];
  };
  /** What executors log. */
  readonly logs: { stop(): Promise<void> };
}

interface Led<L> {
  readonly leader: L;
  readonly begun: Promise<void>;
  /** Requests that are under way. */
  userCount: number;
  /** When it had something to do last. */
  usedAt: number;
  /** It is being stopped. */
  ending: Promise<void> | null;
}

export interface LeadingOptions<L extends Leader> {
  readonly store: Pick<Store, 'withWork'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
  /** Makes what leads a namespace; nothing of it has begun. */
  readonly lead: (record: NamespaceRecord) => L;
  /** As it is now; undefined: there is none. */
  readonly recordOf: (name: string) => NamespaceRecord | undefined;
  /** What led a namespace has ended, as it was to. */
  readonly onEnd: (name: string, leader: L) => void;
  /** One has ended by itself: it was deposed, or the store cannot be used. */
  readonly onFailure: (error: Error) => void;
}

export class Leading<L extends Leader> implements Part {
  readonly #options: LeadingOptions<L>;
  readonly #led = new Map<string, Led<L>>();
  /** Always led, and asked itself how it is. */
  #first: L | null = null;
  #isStopping = false;
  #callOffSweep: () => void = () => undefined;
  readonly #duty: Duty;

  constructor(options: LeadingOptions<L>) {
    this.#options = options;
    this.#duty = options.duties.add('idle_namespaces', SWEEP_MS);
  }

  get count(): number {
    return this.#led.size;
  }

  get first(): L | null {
    return this.#first;
  }

  get leaders(): readonly L[] {
    return [...this.#led.values()].map(({ leader }) => leader);
  }

  /** Of the first, which stands for all, but where the disk of all is full. */
  get status(): MasterStatus {
    const status = this.#first?.engine.status ?? 'starting';
    return status === 'ready' && this.storeTrouble !== null ? 'recovering' : status;
  }

  /** Of the first, or of whichever finds the disk full: one that has nothing to write hears nothing of that. */
  get storeTrouble(): StoreTrouble | null {
    const first = this.#first?.engine.storeWatch.trouble ?? null;
    if (first !== null) return first;
    // Each request asks: no lists are made of them.
    for (const { leader } of this.#led.values()) {
      const { trouble } = leader.engine.storeWatch;
      if (trouble?.isDiskFull === true) return trouble;
    }
    return null;
  }

  /** Of those that are led now. */
  get names(): readonly string[] {
    return [...this.#led.keys()];
  }

  of(name: string): L | undefined {
    return this.#led.get(name)?.leader;
  }

  /** Begins with the first one. @throws {StoreUnusable} */
  async beginWith(record: NamespaceRecord): Promise<void> {
    if (this.#isStopping) return;
    const led = this.#begin(record);
    this.#first = led.leader;
    await led.begun;
  }

  /** From here on what has nothing to do is stopped. */
  start(): void {
    if (!this.#isStopping) this.#scheduleSweep();
  }

  /** All of them, each in order; none begins any more. @throws {Unavailable} the store does not answer. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#callOffSweep();
    const ends = [...this.#led].map(([name, { leader }]) =>
      leader.engine.storeWatch
        .whileItAnswers(this.end(name))
        // Also of one that is left where it stands.
        .finally(() => leader.sessions.shutdown()),
    );
    const left = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected');
    if (left?.status === 'rejected') throw left.reason;
  }

  /** Stops what leads a namespace, where anybody does. */
  async end(name: string): Promise<void> {
    const led = this.#led.get(name);
    if (led === undefined) return;
    const end = async (): Promise<void> => {
      await led.leader.engine.stop();
      led.leader.sessions.shutdown();
      await led.leader.logs.stop();
      this.#options.onEnd(name, led.leader);
      // Whoever asks while the process stops is told so by the engine.
      if (!this.#isStopping) this.#led.delete(name);
    };
    await (led.ending ??= end());
  }

  /** @throws {UnknownNamespace} @throws {Unavailable} */
  async use<T>(name: string, work: (leader: L) => T | Promise<T>): Promise<T> {
    const known = this.#led.get(name);
    // As a rule nothing is to be waited for.
    const led = known?.ending === null ? known : await this.#ledFor(name);
    led.userCount += 1;
    try {
      if (!this.#isBegun(led)) await this.#untilBegun(name, led);
      return await work(led.leader);
    } finally {
      led.userCount -= 1;
      led.usedAt = this.#options.clock.now();
    }
  }

  /** @throws {Unavailable} also where it cannot begin, as where another master has taken it over. */
  async #untilBegun(name: string, { begun, leader }: Led<L>): Promise<void> {
    const orEnded = begun.catch((cause: unknown) => {
      throw new Unavailable('the master is stopped', 2, { cause });
    });
    await this.#within(() => {
      const { trouble } = leader.engine.storeWatch;
      const why = trouble === null ? '' : `: the store does not answer (${trouble.reason})`;
      return `the namespace ${name} is starting${why}`;
    }, orEnded);
  }

  async #ledFor(name: string): Promise<Led<L>> {
    for (;;) {
      const led = this.#led.get(name);
      if (led !== undefined && (led.ending === null || this.#isStopping)) return led;
      if (led !== undefined)
        await this.#within(() => `the namespace ${name} is ending`, led.ending);
      else {
        if (this.#isStopping) throw new Unavailable('the master is stopped', 2);
        const record = this.#options.recordOf(name);
        if (record === undefined) throw new UnknownNamespace(name);
        return this.#begin(record);
      }
    }
  }

  #begin(record: NamespaceRecord): Led<L> {
    const { lead, clock, onFailure } = this.#options;
    const leader = lead(record);
    const begun = leader.engine.start().then(({ ended }) => {
      ended.catch(onFailure);
    });
    // What befalls the first is thrown to whoever begins with it.
    begun.catch((error: Error) => {
      if (leader !== this.#first) onFailure(error);
    });
    const led = { leader, begun, userCount: 0, usedAt: clock.now(), ending: null };
    this.#led.set(record.name, led);
    return led;
  }

  /** Whether it answers by itself, if only that it takes no work yet. */
  #isBegun({ leader }: Led<L>): boolean {
    return leader === this.#first || leader.engine.status !== 'starting';
  }

  /** @throws {Unavailable} with these words: it takes longer than anybody waits. */
  async #within(words: () => string, work: Promise<void> | null): Promise<void> {
    const { clock } = this.#options;
    let callOff: () => void = () => undefined;
    const patience = new Promise<never>((_resolve, reject) => {
      const late = (): void => reject(new Unavailable(words(), 2));
      callOff = clock.wakeAt(clock.now() + BEGIN_MS_MAX, late);
    });
    await Promise.race([work, patience]).finally(callOff);
  }

  #scheduleSweep(): void {
    const { clock, log } = this.#options;
    this.#callOffSweep = clock.wakeAt(clock.now() + SWEEP_MS, () => {
      const swept = this.#duty
        .run(() => this.#sweep())
        .catch((error: unknown) => {
          log.debug('idle namespaces were not looked for', {
            event: 'store',
            error: String(error),
          });
        });
      void swept.then(() => this.start());
    });
  }

  /** What the store has of a namespace decides; memory tells whether to ask. */
  async #sweep(): Promise<Found> {
    if (this.#idle().length === 0) return { foundCount: 0, doneCount: 0 };
    const busy = new Set(await this.#options.store.withWork());
    const idle = this.#idle();
    let doneCount = 0;
    for (const [name, led] of idle) {
      const record = this.#options.recordOf(name);
      if (record === undefined || busy.has(record.id)) {
        led.usedAt = this.#options.clock.now();
        continue;
      }
      void this.end(name);
      doneCount += 1;
    }
    return { foundCount: idle.length, doneCount };
  }

  /** Those that have had nothing to do for long enough; notes which of the others have. */
  #idle(): [string, Led<L>][] {
    const now = this.#options.clock.now();
    const idle: [string, Led<L>][] = [];
    for (const [name, led] of this.#led) {
      const { engine, sessions } = led.leader;
      if (led.leader === this.#first || led.ending !== null) continue;
      const isQuiet =
        led.userCount + sessions.connectionCount + engine.news.waitingCount === 0 &&
        engine.status === 'ready' &&
        engine.state !== null &&
        hasNothing(engine.state);
      if (!isQuiet) led.usedAt = now;
      else if (now - led.usedAt >= IDLE_MS) idle.push([name, led]);
    }
    return idle;
  }
}

function hasNothing(state: State): boolean {
  const { tasks, waitingCount, suspendedCount, executors, elders } = state;
  const { notifying, notifications, bookings } = state;
  const count = tasks.size + waitingCount + suspendedCount + executors.size + elders.size;
  const bookingCount = bookings.byId.size - bookings.over.size;
  return count + notifying.size + notifications.size + openWorkCount(state) + bookingCount === 0;
}
