/**
 * The one loop that owns the state. A turn takes what is in the mailbox, steps each event with
 * the same `now`, writes all changes in one transaction, and only then performs the effects in
 * order. Whatever arrives during a commit shares the next one: that is the group commit.
 *
 * Reads of rows are turns of their own: nothing is stepped while they run, so memory and rows
 * agree by construction. A commit of unknown outcome throws the state away and rebuilds it.
 * Never reads a clock, a socket or a database but through its ports.
 */
import { createOutput, type Output, type Reply } from '../../domain/effects.ts';
import type { Event, RequestId } from '../../domain/events.ts';
import { Waiters } from './waiters.ts';
import { MAILBOX_COUNT_MAX, TURN_STEP_MS_MAX } from '../../domain/bounds.ts';
import { restore, RowsDisagree } from '../../domain/state/restore.ts';
import { numbered } from '../../domain/feed/tell.ts';
import { step } from '../../domain/scheduler.ts';
import { nextWakeAt, type State } from '../../domain/state/state.ts';
import { someoneRuns } from '../../domain/steps/occupation.ts';
import { fold } from './fold.ts';
import { type LoadGroup, Loads } from './loads.ts';
import { Mailbox } from './mailbox.ts';
import { News } from './news.ts';
import { observe, perform } from './perform.ts';
import { read, readAll, stepLoaded } from './read.ts';
import { type MasterStatus, Unavailable } from '../master-handle.ts';
import { StandStill } from './stand-still.ts';
import { StoreWatch, UNKNOWN } from '../store-watch.ts';
import { isFinal, StoreUnusable } from '../ports.ts';
import { inPieces, letOthers } from '../turnstile.ts';
import { TriggerFaults } from '../jobs/trigger-faults.ts';
import type { EngineOptions } from './engine-options.ts';

const TICK_MS = 1_000;
/** After so long what was stepped is written in a turn of the event loop of its own: that takes about as long again. */
const STEP_MS_ALONE = 2;
/** How long a master with nothing to write may believe that its term still stands. */
const TERM_CHECK_MS = 1_000;
/** So long nothing is judged while more arrives than is stepped. */
const BEHIND_MS_MAX = 3_000;
const REBUILD_DELAY_MIN_MS = 100;
const REBUILD_DELAY_MAX_MS = 5_000;
/** A failure so soon after a rebuild may follow every rebuild. */
const STEADY_MS = 5_000;

export class Engine {
  readonly #options: EngineOptions;
  #status: MasterStatus = 'starting';
  #state: State | null = null;
  readonly #mailbox: Mailbox;
  readonly #loads = new Loads();
  readonly #waiters = new Waiters();
  readonly news = new News();
  /** What was stepped is not written yet. */
  #isAhead = false;
  #wake: (() => void) | null = null;
  /** Ends the wait for a store that does not answer. */
  #giveUp: (() => void) | null = null;
  #rebuildDelayMs = REBUILD_DELAY_MIN_MS;
  #rebuiltAt = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | null = null;
  #stopping = false;
  /** The event of the stop is yet to be stepped. */
  #drainsFirst = false;
  /** When a commit was last begun: each asks whether the term still stands. */
  #askedAt = 0;
  readonly #watch: StoreWatch;
  readonly #standStill: StandStill;
  /** Since when more has arrived than is stepped; null: all that had arrived was, when time was last looked at. */
  #behindSince: number | null = null;
  #followsWall = false;
  /** Kept when the state is not: what has failed it once may do so again. */
  readonly #faults = new TriggerFaults();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#mailbox = new Mailbox(options.frames);
    this.#watch = new StoreWatch(options.clock, options.log, () => options.store.owedMs());
    this.#standStill = new StandStill(options.clock);
  }

  get status(): MasterStatus {
    return this.#status === 'ready' && !this.#watch.answers ? 'recovering' : this.#status;
  }

  /** Whether the store answers, for those who wait for it. */
  get storeWatch(): Pick<StoreWatch, 'trouble' | 'whileItAnswers'> {
    return this.#watch;
  }

  /** Null until the first term has begun. Read it; only the loop may change it. */
  get state(): State | null {
    return this.#state;
  }

  get term(): number {
    return this.#state?.term ?? 0;
  }

  /**
   * Begins a term, as soon as the store answers, and the loop. `ended` resolves after `stop`, and
   * rejects when this master was deposed.
   * @throws {StoreUnusable} the store cannot be used as it is.
   */
  async start(): Promise<{ readonly ended: Promise<void> }> {
    // The store must not be closed under what it is asked here.
    this.#loop = this.#recover();
    await this.#loop;
    this.#standStill.start();
    this.#loop = this.#run();
    return { ended: this.#loop };
  }

  /** Writes what is known, tells the executors, answers what is waiting, and ends the loop. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.news.end();
    if (this.#status === 'ready') {
      this.#status = 'draining';
      this.#drainsFirst = true;
      this.post({ type: 'drainStarted' });
    }
    this.#giveUp?.();
    await this.#loop?.catch(() => undefined);
  }

  /** What waits for a turn. Read it; only the loop and `post` may change it. */
  get mailbox(): Pick<Mailbox, 'size' | 'frameBytes' | 'isFull'> {
    return this.#mailbox;
  }

  /** How long the oldest request waits for its answer. */
  get delayMs(): number {
    const now = this.#options.clock.now();
    return now - (this.#waiters.oldestSince ?? now);
  }

  /** `frameBytes`: of the frame of an executor that this came as. */
  post(event: Event, frameBytes = 0): void {
    this.#mailbox.put(event, frameBytes);
    this.#wake?.();
  }

  /** Posts an event that is answered by a `reply` effect, once that is durable. */
  request(make: (request: RequestId) => Event): Promise<Reply> {
    if (this.status !== 'ready') {
      return Promise.reject(new Unavailable(`the master is ${this.status}`, 2));
    }
    if (this.#mailbox.size + this.#loads.size >= MAILBOX_COUNT_MAX) {
      return Promise.reject(new Unavailable('the master is busy: too many requests wait', 1));
    }
    const now = this.#options.clock.now();
    return this.#waiters.ask(now, (request) => this.post(make(request)));
  }

  /** What `at` sees of the state, when all of it is committed. @throws {Unavailable} */
  async look<T>(at: (state: State) => T): Promise<T> {
    if (this.#state === null) throw new Unavailable(`the master is ${this.status}`, 2);
    return at(this.#isAhead ? await this.#waiters.look() : this.#state);
  }

  /** Goes on by the wall clock, as a master would that begins now. */
  followWall(): void {
    this.#followsWall = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    while (!this.#stopping || this.#drainsFirst) {
      try {
        await this.#sleep();
        if (this.#followsWall && !this.#stopping) this.#leaveClock();
        await this.#turn();
      } catch (error) {
        if (isFinal(error)) {
          this.#end(error.message);
          throw error;
        }
        log.error('the state is rebuilt from rows', { event: 'rebuild', error: String(error) });
        // The state may not be stepped any more, and a master that stops needs no other.
        if (this.#stopping) break;
        await this.#recover();
      }
    }
    this.#end('the master has stopped');
  }

  /** What was planned by the old time is read again, as after an absence, or a clock that was set back. */
  #leaveClock(): never {
    this.#followsWall = false;
    this.#options.clock.followWall();
    throw new Error('the wall clock has changed');
  }

  /** Until there is an event, or time for something; then a little, so that events gather. */
  async #sleep(): Promise<void> {
    const { clock } = this.#options;
    if (this.#mailbox.size + this.#loads.size === 0 && this.#state !== null) {
      const tickAt = Math.min(nextWakeAt(this.#state), this.#state.lastTickAt + TICK_MS);
      const at = Math.min(tickAt, this.#askedAt + TERM_CHECK_MS);
      if (at > clock.now()) {
        await new Promise<void>((resolve) => {
          const cancel = clock.wakeAt(at, resolve);
          this.#wake = () => {
            cancel();
            resolve();
          };
        });
        this.#wake = null;
      }
    }
    await new Promise<void>((resolve) => clock.soon(resolve));
  }

  async #turn(): Promise<void> {
    const state = this.#state;
    if (state === null) return;
    const { clock, pauseOfAll } = this.#options;
    const now = clock.now();
    const output = createOutput();
    const hiddenMs = this.#standStill.take();
    if (hiddenMs > 0) step(state, { type: 'stoodStill', hiddenMs }, now, output);
    const eventCount = this.#mailbox.takeTurn((event) => {
      step(state, event, now, output);
      if (event.type === 'drainStarted') this.#drainsFirst = false;
      return clock.now() - now < TURN_STEP_MS_MAX;
    });
    // Last: what has arrived counts before anybody is judged by the time.
    if (Math.min(nextWakeAt(state), state.lastTickAt + TICK_MS) <= now || hiddenMs > 0) {
      // From now on, and not from the last judgement: of a commit that hung everything lies unread.
      this.#behindSince = this.#mailbox.size > 0 ? (this.#behindSince ?? now) : null;
      const isBehind = this.#behindSince !== null && now - this.#behindSince < BEHIND_MS_MAX;
      step(state, { type: 'ticked', hiddenMs, isBehind, pauseOfAll: pauseOfAll?.() }, now, output);
    }
    await this.#release(state, output, eventCount, now);
    for (const group of this.#loads.takeTurn()) await this.#load(state, group);
  }

  /** Commits, then performs; notes which rows were asked for. */
  async #release(state: State, output: Output, eventCount: number, now: number): Promise<void> {
    const { store, observer, clock } = this.#options;
    let commitMs = 0;
    const isWriting = output.changes.length + output.told.length > 0;
    if (isWriting) {
      this.#isAhead = true;
      if (clock.now() - now >= STEP_MS_ALONE) await letOthers(clock);
    }
    const begun = clock.now();
    if (isWriting) {
      this.#askedAt = begun;
      const folded = fold(output.changes, state, now);
      const commit = { events: numbered(state, output, folded.absences.length > 0), ...folded };
      await this.#watch.ask(() => store.commit(commit));
      commitMs = clock.now() - begun;
      // What came meanwhile is read first, whether turns lagged before or not.
      if (commitMs >= TICK_MS) this.#behindSince = null;
    } else if (begun - this.#askedAt >= TERM_CHECK_MS) {
      this.#askedAt = begun;
      await this.#confirmTerm(state, begun);
    }
    for (const effect of output.effects) {
      if (effect.type === 'reply') this.#waiters.answer(effect.request, effect.reply);
      else perform(this.#options, effect, state.term);
    }
    this.#isAhead = false;
    this.#waiters.show(state);
    this.news.advance(state.feed.lastSeq);
    this.#loads.add(output.loads);
    // Acks go out in between, and nobody waits for what is counted.
    await Promise.resolve();
    for (const seen of output.observed) observe(this.#options, seen);
    observer.turned(eventCount, commitMs);
  }

  /**
   * One that was deposed and writes nothing would go on to renew the leases of its executors, while
   * the new master takes them for lost and gives their tasks to others (P5).
   */
  async #confirmTerm(state: State, now: number): Promise<void> {
    try {
      // Where nobody runs, and nothing waits, there is no time to be spared later.
      const commit = fold([], state, now, someoneRuns(state) || state.waitingCount > 0);
      await this.#watch.ask(() => this.#options.store.commit(commit));
    } catch (error) {
      // Else nothing was to be written, and nothing is in doubt: the state stays, and the leases.
      if (isFinal(error)) throw error;
    }
  }

  async #load(state: State, group: LoadGroup): Promise<void> {
    const { clock } = this.#options;
    const outside = { ...this.#options, faults: this.#faults };
    const loaded = await this.#watch.ask(() => read(outside, state, group, clock.now()));
    const now = clock.now();
    const output = createOutput();
    // Nothing else is stepped meanwhile.
    this.#isAhead = true;
    await inPieces(stepLoaded(state, loaded, now, output), clock);
    await this.#release(state, output, loaded.length, now);
  }

  /** Tries to rebuild until the store answers. Meanwhile requests are refused. */
  async #recover(): Promise<void> {
    const { clock, log } = this.#options;
    if (this.#status === 'ready') this.#status = 'recovering';
    this.#rejectAll(UNKNOWN);
    if (clock.now() - this.#rebuiltAt < STEADY_MS) await this.#pause();
    else this.#rebuildDelayMs = REBUILD_DELAY_MIN_MS;
    while (!this.#stopping) {
      try {
        const stopped = new AbortController();
        this.#giveUp = () => stopped.abort();
        await this.#options.rebuilds.during(() => this.#rebuild(), stopped.signal, null);
        return;
      } catch (thrown) {
        if (this.#stopping && !isFinal(thrown)) return;
        const isHopeless = thrown instanceof RowsDisagree && this.#state === null;
        const error = isHopeless
          ? new StoreUnusable(`${thrown.message}: restore a backup`)
          : thrown;
        if (isFinal(error)) {
          this.#end(error.message);
          throw error;
        }
        // What the state that has just begun was told is lost with it.
        this.#mailbox.shut();
        log.warn('the store does not answer yet', { event: 'rebuild', error: String(error) });
        await this.#pause();
      }
    }
  }

  /** Before the next rebuild, twice as long every time. */
  async #pause(): Promise<void> {
    if (this.#stopping) return;
    const { clock } = this.#options;
    const at = clock.now() + this.#rebuildDelayMs;
    this.#rebuildDelayMs = Math.min(this.#rebuildDelayMs * 2, REBUILD_DELAY_MAX_MS);
    await new Promise<void>((resolve) => {
      const cancel = clock.wakeAt(at, resolve);
      this.#giveUp = () => {
        cancel();
        resolve();
      };
    });
    this.#giveUp = null;
  }

  async #rebuild(): Promise<void> {
    const { store, clock, policy, owner, seed, link, notifier, log } = this.#options;
    const begun = clock.now();
    const began = await this.#watch.ask(() => store.takeTerm(owner, begun, this.#state?.term));
    link.useSecrets(began.secrets);
    // The clock may have been behind.
    this.#askedAt = begun;
    this.#behindSince = null;
    // What of it was before is part of the absence.
    this.#standStill.take();
    const rows = await readAll(store, (question) => this.#watch.ask(question));
    const now = clock.now();
    const first = this.#state === null;
    const pauseOfAll = this.#options.pauseOfAll?.() ?? null;
    const { state, output } = restore({ ...began, ...rows, policy, now, seed, pauseOfAll });
    this.#state = state;
    this.#loads.clear();
    // From here on: whoever was told to come back may do so at once.
    this.#mailbox.open();
    if (!first) link.reattachAll();
    notifier.forgetAll();
    log.info('a term has begun', {
      event: 'term',
      term: began.term,
      waiting_count: state.waitingCount,
      active_count: rows.active.length,
      took_ms: now - begun,
    });
    await this.#release(state, output, 0, now);
    if (this.#status === 'recovering') this.#rebuiltAt = clock.now();
    this.#status = 'ready';
  }

  #end(reason: string): void {
    this.#standStill.stop();
    this.news.end();
    this.#status = 'stopped';
    this.#rejectAll(reason);
  }

  #rejectAll(reason: string): void {
    // Requests that were not stepped yet go with them: their clients may ask again. And what executors
    // said to the state before is said again: they come back and tell what they run.
    this.#mailbox.shut();
    this.#waiters.rejectAll(new Unavailable(reason, 2));
  }
}
