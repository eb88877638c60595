/**
 * Which namespaces there are: what is known of each, and how they are made, changed and deleted. Who leads
 * them is the business of `leading.ts`.
 */
import { type Fill, NAMESPACES_AT_ONCE_MAX } from '../../domain/bounds.ts';
import { type Author, changeMadeBy } from '../../domain/model/audit.ts';
import type { Pause } from '../../domain/model/pause.ts';
import { NO_SETTINGS, pauseCount } from '../../domain/state/state.ts';
import { type MasterStatus, Unavailable } from '../master-handle.ts';
import { DEFAULT_NAMESPACE_ID, isFinal, NamespaceLimit, StoreUnusable } from '../ports.ts';
import type { Clock, Log, NamespaceRecord, Store } from '../ports.ts';
import { type StoreTrouble, UNKNOWN } from '../store-watch.ts';
import { Turnstile } from '../turnstile.ts';
import type { Duties } from './duties.ts';
import { type Leader, Leading } from './leading.ts';
import type { Part } from './lifecycle.ts';
import { changed, pauseOfAllChanged, settingsChanged, settingsTold } from './namespace-change.ts';
import type { NamespaceChange, NamespacesHandle, NamespaceView } from './namespaces-handle.ts';
import {
  NamespaceEnding,
  NamespaceInUse,
  PauseOver,
  TooManyNamespaces,
  UnknownNamespace,
} from './namespaces-handle.ts';

/** For one question to the store. */
const ANSWER_MS_MAX = 4_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 5_000;
/** Changes: few, and one after another. */
const CHANGES = { countMax: 1, waitingMax: 100, what: 'changes of namespaces' };

const NO_FIRST =
  'the store has no row of its first namespace, which says whose term it is: restore a backup';

const LEFT = 'the database does not answer: stopped without it';

const CONNECTED = 'executors are connected to it';
const HAS_WORK = 'it has tasks or bookings not over, callbacks to send, open operations, or jobs';

export interface NamespacesOptions<L extends Leader> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly duties: Duties;
  /** The store is open, and nobody leads anything yet. Fails where the store does not answer. */
  readonly onOpen?: () => Promise<void>;
  /** Makes what leads a namespace; nothing of it has begun. */
  readonly lead: (record: NamespaceRecord) => L;
}

export class Namespaces<L extends Leader> implements Part, NamespacesHandle {
  readonly #options: NamespacesOptions<L>;
  /** By name; none until the store has said which there are. */
  readonly #records = new Map<string, NamespaceRecord>();
  #pauseOfAll: Pause | null = null;
  readonly #leading: Leading<L>;
  readonly #changes = new Turnstile(CHANGES);
  /** Their deletion is under way: nobody may ask for them, so that nothing comes into them. */
  readonly #deleting = new Set<string>();
  #isStopping = false;
  #opening: Promise<unknown> = Promise.resolve();
  /** Ends the wait for a store that does not answer. */
  #giveUp: () => void = () => undefined;
  #end: (error?: Error) => void = () => undefined;
  /** Resolves after `stop`; rejects when what leads one has ended by itself: it was deposed. */
  readonly ended: Promise<void>;

  constructor(options: NamespacesOptions<L>) {
    this.#options = options;
    this.ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.ended.catch(() => undefined);
    this.#leading = new Leading({
      ...options,
      recordOf: (name) => this.#recordNamed(name),
      onEnd: (name, leader) => this.#keepSettings(name, leader),
      onFailure: (error) => this.#end(error),
    });
  }

  get status(): MasterStatus {
    return this.#leading.status;
  }

  get storeTrouble(): StoreTrouble | null {
    return this.#leading.storeTrouble;
  }

  /** Those that are led now. */
  get leaders(): readonly L[] {
    return this.#leading.leaders;
  }

  get ledCount(): number {
    return this.#leading.count;
  }

  /**
   * Begins with `default`, as soon as the store answers; others that have something to do follow by
   * themselves.
   * @throws {StoreUnusable} the store cannot be used as it is.
   */
  async start(): Promise<void> {
    const { store, clock } = this.#options;
    const opening = this.#answerOf(async () => {
      const answer = await store.open(clock.now());
      await this.#options.onOpen?.();
      return answer;
    });
    this.#opening = opening;
    const opened = await opening;
    if (opened === null) return;
    for (const record of opened.namespaces) this.#records.set(record.name, record);
    this.#pauseOfAll = opened.pauseOfAll;
    const first = this.#recordOf(DEFAULT_NAMESPACE_ID);
    if (first === undefined) throw new StoreUnusable(NO_FIRST);
    await this.#leading.beginWith(first);
    this.#leading.start();
    void this.#beginThoseWithWork();
  }

  /** All of them, each in order. @throws a database that does not answer is left as it is. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#giveUp();
    try {
      await this.#untilOpened();
      await this.#leading.stop();
    } catch (error) {
      throw error instanceof Unavailable ? new Error(LEFT, { cause: error }) : error;
    } finally {
      this.#end();
    }
  }

  /** @throws {Unavailable} what the store was asked at the start stays open. */
  async #untilOpened(): Promise<void> {
    const { clock } = this.#options;
    let callOff: () => void = () => undefined;
    const patience = new Promise<never>((_resolve, reject) => {
      callOff = clock.wakeAt(clock.now() + ANSWER_MS_MAX, () => reject(new Unavailable(UNKNOWN)));
    });
    // What it fails with is for whoever has started.
    const opened = this.#opening.catch(() => undefined);
    await Promise.race([opened, patience]).finally(callOff);
  }

  /** Of each that is led. */
  fills(): readonly Fill[] {
    return this.leaders.flatMap(({ master, sessions }) => [...master.fills(), ...sessions.fills()]);
  }

  /** All of them go on by the wall clock. */
  followWall(): void {
    for (const { engine } of this.leaders) engine.followWall();
  }

  async use<T>(name: string, work: (leader: L) => T | Promise<T>): Promise<T> {
    this.#checkStarted();
    // It may be led still.
    this.#recordNamed(name);
    return this.#leading.use(name, work);
  }

  list(): readonly NamespaceView[] {
    this.#checkStarted();
    const byName = [...this.#records].sort(([a], [b]) => (a < b ? -1 : 1));
    return byName.map(([, record]) => this.#view(record));
  }

  get(name: string): Promise<NamespaceView> {
    return this.use(name, () => {
      const record = this.#records.get(name);
      if (record === undefined) throw new UnknownNamespace(name);
      return this.#view(record);
    });
  }

  async put(
    name: string,
    change: NamespaceChange,
    author: Author | null = null,
  ): Promise<{ readonly view: NamespaceView; readonly isNew: boolean }> {
    this.#checkStarted();
    const until = change.paused?.until ?? null;
    if (until !== null && until <= this.#options.clock.now()) throw new PauseOver();
    return this.#changes.during(async () => {
      const known = this.#records.get(name);
      const record =
        known === undefined
          ? await this.#create(name, change, author)
          : await this.#change(known, change, author);
      return { view: this.#view(record), isNew: known === undefined };
    });
  }

  get pauseOfAll(): Pause | null {
    const pause = this.#pauseOfAll;
    // Each namespace ends it by itself.
    const isOver = (pause?.until ?? Number.POSITIVE_INFINITY) <= this.#options.clock.now();
    return isOver ? null : pause;
  }

  async pauseAll(change: Omit<Pause, 'at'> | null, author: Author | null = null): Promise<void> {
    this.#checkStarted();
    await this.#changes.during(async () => {
      const at = this.pauseOfAll?.at ?? this.#options.clock.now();
      const pause = change && { at, ...change };
      // Whoever begins to lead a namespace from here on knows of it, and so does the next process.
      const outcome = pauseOfAllChanged(this.pauseOfAll, pause);
      const audit = outcome && changeMadeBy(author, this.#options.clock.now(), outcome);
      await this.ask(async (store) => {
        await store.setPauseOfAll(pause, audit);
        // Also where nobody waits for the answer any more: each engine follows with its next tick.
        this.#pauseOfAll = pause;
      });
      const event = { type: 'pauseSet', scope: 'all', value: '', pause: change } as const;
      const led = this.#leading.names.filter((name) => !this.#deleting.has(name));
      const tell = (name: string) => this.use(name, ({ master }) => master.changePause(event));
      await Promise.all(led.map(tell));
      const to = pause ?? 'none';
      this.#options.log.info('the pause of all namespaces was changed', { event: 'namespace', to });
    });
  }

  async delete(name: string, author: Author | null = null): Promise<void> {
    this.#checkStarted();
    await this.#changes.during(async () => {
      const record = this.#records.get(name);
      if (record === undefined) throw new UnknownNamespace(name);
      if (record.id === DEFAULT_NAMESPACE_ID) throw new NamespaceInUse(name, 'it is always there');
      const hasWork = (await this.ask((store) => store.withWork())).includes(record.id);
      const isConnected = (this.#leading.of(name)?.sessions.connectionCount ?? 0) > 0;
      const why = [...(isConnected ? [CONNECTED] : []), ...(hasWork ? [HAS_WORK] : [])];
      if (why.length > 0) throw new NamespaceInUse(name, why.join(', and '));
      if (!(await this.#hasDeleted(record, author))) throw new NamespaceInUse(name, HAS_WORK);
      this.#options.log.info('a namespace was deleted', { event: 'namespace', namespace: name });
    });
  }

  async #hasDeleted(record: NamespaceRecord, author: Author | null): Promise<boolean> {
    const { id, name } = record;
    this.#deleting.add(name);
    const goOn = (): void => {
      this.#deleting.delete(name);
      // It may have work: whoever led it has been stopped.
      void this.use(name, () => undefined).catch(() => undefined);
    };
    const end = (isDeleted: boolean): void => {
      if (!isDeleted) return goOn();
      this.#records.delete(name);
      this.#deleting.delete(name);
    };
    // A commit that hangs holds it up.
    await this.ask(() => this.#leading.end(name)).catch((error: unknown) => {
      goOn();
      throw error;
    });
    const deleted = settingsChanged(name, this.#view(record).record, null);
    const audit = changeMadeBy(author, this.#options.clock.now(), deleted);
    return this.ask((store) => {
      const asked = store.deleteNamespace(id, audit);
      // Also where nobody waits for the answer any more: a term that begins before it would be over with it.
      asked.then(end, goOn);
      return asked;
    });
  }

  async #create(
    name: string,
    change: NamespaceChange,
    author: Author | null,
  ): Promise<NamespaceRecord> {
    const { clock, log } = this.#options;
    if (this.#records.size >= NAMESPACES_AT_ONCE_MAX) {
      throw new TooManyNamespaces(NAMESPACES_AT_ONCE_MAX);
    }
    const now = clock.now();
    const plain = { ...NO_SETTINGS, name, createdAt: now };
    const asked = changed(plain, change, now);
    const audit = changeMadeBy(author, now, settingsChanged(name, null, asked));
    const record = await this.ask((store) => store.createNamespace(asked, audit));
    this.#records.set(name, record);
    const made = settingsTold(record, record);
    log.info('a namespace was made', { event: 'namespace', namespace: name, ...made });
    // It was made by a request that had no answer, with the settings of that one.
    return record.createdAt === now ? record : this.#change(record, change, author);
  }

  async #change(
    known: NamespaceRecord,
    change: NamespaceChange,
    author: Author | null,
  ): Promise<NamespaceRecord> {
    const { clock, log } = this.#options;
    const { name } = known;
    const before = this.#view(known).record;
    const record = changed(before, change, clock.now());
    // Written by the engine, in order with what it does with its tasks.
    if (Object.keys(change).length > 0) {
      const { paused, maxWaiting, maxRunning, retention } = record;
      const set = { paused, maxWaiting, maxRunning, retention };
      await this.use(name, ({ master }) =>
        (author === null ? master : master.by(author)).changeSettings(set),
      );
    }
    this.#records.set(name, record);
    const [from, to] = [settingsTold(before, change), settingsTold(record, change)];
    log.info('a namespace was changed', { event: 'namespace', namespace: name, from, to });
    return record;
  }

  /** The engine knows better than the record what holds now: a pause may have ended by itself. */
  #view(record: NamespaceRecord): NamespaceView {
    const state = this.#leading.of(record.name)?.engine.state ?? null;
    let held = 0;
    for (const { heldCount } of state?.kinds.values() ?? []) held += heldCount;
    const waiting = (state?.waitingCount ?? 0) - held;
    const counts = { waiting, running: state?.attemptCount ?? 0, held };
    const known = { ...record, ...state?.settings };
    // One that is over ends with the next turn, where anybody leads the namespace.
    const isOver = (known.paused?.until ?? Number.POSITIVE_INFINITY) <= this.#options.clock.now();
    const pausedCount = state === null ? 0 : pauseCount(state);
    return { record: isOver ? { ...known, paused: null } : known, counts, pausedCount };
  }

  #keepSettings(name: string, { engine: { state } }: L): void {
    const record = this.#records.get(name);
    if (record !== undefined) this.#records.set(name, { ...record, ...state?.settings });
  }

  /** @throws {NamespaceEnding} */
  #recordNamed(name: string): NamespaceRecord | undefined {
    if (this.#deleting.has(name)) throw new NamespaceEnding(name);
    return this.#records.get(name);
  }

  #recordOf(id: number): NamespaceRecord | undefined {
    return [...this.#records.values()].find((record) => record.id === id);
  }

  #checkStarted(): void {
    if (this.#records.size === 0) throw new Unavailable('the master is starting', 2);
  }

  async #beginThoseWithWork(): Promise<void> {
    try {
      const ids = await this.#answerOf(() => this.#options.store.withWork());
      for (const id of ids ?? []) {
        const record = this.#recordOf(id);
        if (record === undefined) continue;
        // One that is slow begins by itself, and says by itself that it cannot.
        await this.#leading.use(record.name, () => undefined).catch(() => undefined);
      }
    } catch (error) {
      if (isFinal(error)) this.#end(error);
    }
  }

  /** @throws {Unavailable} there is no answer: what was asked for may have been done. */
  async ask<T>(question: (store: Store) => Promise<T>): Promise<T> {
    const answer = question(this.#options.store);
    try {
      const first = this.#leading.first?.engine;
      return await (first?.storeWatch.whileItAnswers(answer, ANSWER_MS_MAX) ?? answer);
    } catch (error) {
      if (error instanceof Unavailable || error instanceof NamespaceLimit) throw error;
      throw new Unavailable(UNKNOWN, 2, { cause: error });
    }
  }

  /** Asks until there is an answer; null where it is told to stop before. @throws what is final. */
  async #answerOf<T>(question: () => Promise<T>): Promise<T | null> {
    const { clock, log } = this.#options;
    for (
      let waitMs = RETRY_MS_MIN;
      !this.#isStopping;
      waitMs = Math.min(2 * waitMs, RETRY_MS_MAX)
    ) {
      try {
        return await question();
      } catch (error) {
        if (isFinal(error)) throw error;
        if (this.#isStopping) break;
        log.warn('the store does not answer yet', { event: 'store', error: String(error) });
      }
      await new Promise<void>((resolve) => {
        const callOff = clock.wakeAt(clock.now() + waitMs, resolve);
        this.#giveUp = () => {
          callOff();
          resolve();
        };
      });
    }
    return null;
  }
}
