/**
 * An executor process on virtual time: the session of the SDK, the very one that is shipped, and
 * beside it what plays the thread of the handlers. What these do stands in `handler.ts`, what the
 * session's connection does in `uplink.ts`.
 */
import type { Readiness } from '@soda-scheduler/protocol';
import type { Preparations } from '../../../executor-sdk/preparation.ts';
import { SessionClient } from '../../../executor-sdk/session/session-client.ts';
import { type FromSession, keyOf, type ToSession } from '../../../executor-sdk/thread-messages.ts';
import { bootOf } from '../hosts.ts';
import type { ExecutorKind, ExecutorOptions } from './executor-kind.ts';
import { drawPlan, Handler } from './handler.ts';
import { preparationsOf } from './preparing.ts';
import type { Process } from '../world.ts';
import { Uplink } from './uplink.ts';

/** As `Executor` has them: how long a task may go on that is in the way of leaving. */
const DRAIN_TIMEOUT_MS = 10_000;
const EXIT_TIMEOUT_MS = 30_000;
/** What may be free, beside what tasks need. */
const FREE_BYTES = [0, 1.5, 3, 5].map((of) => of * 2 ** 30);
/** After it could not get ready for a booking. */
const UNREADY_MS = 5_000;
/** Between the threads, now and then. */
const THREAD_DELAY_MS_MAX = 50;

type Message = Exclude<ToSession, { type: 'group' }>;

export class SimExecutor {
  readonly kind: ExecutorKind;
  readonly process: Process;
  readonly #options: ExecutorOptions;
  readonly #client: SessionClient;
  readonly #uplink: Uplink;
  readonly #toHandlers: (message: FromSession) => void;
  readonly #toSession: (message: Message, isPrompt?: boolean) => void;
  /** Attempts, as `12/1`: of task 12, since ids come again once a task is deleted. */
  readonly #offered = new Set<string>();
  readonly #preparations: Preparations;
  #handler: Handler | null = null;
  #isLeaving = false;
  #ready: Readiness = { ok: true };

  constructor(options: ExecutorOptions) {
    const { kind, process } = options;
    this.#options = options;
    this.kind = kind;
    this.process = process;
    this.#uplink = new Uplink(options);
    this.#preparations = preparationsOf(options, () => this.#failed());
    this.#toHandlers = ordered(process, (message) => this.#take(message));
    this.#toSession = ordered(process, (message) => this.#client.take(message));
    const { id: executorId, types, labels, reserve } = kind;
    const { incarnation, sabotage = (port) => port } = options;
    const session = {
      settings: {
        url: '',
        token: undefined,
        ca: undefined,
        executorId,
        incarnation,
        isLastingId: true,
        leaseMs: undefined,
        ready: options.flipsReadiness || options.hasDisks ? this.#ready : undefined,
        types,
        labels,
        reserve,
        sdk: 'simulation',
        version: undefined,
        hearsOfBookings: options.hears !== null,
      },
      predecessors: { bootId: bootOf(executorId), died: [], fenced: [], onTold: () => undefined },
      clock: process,
      random: () => process.world.random.next(),
      rssBytes: () => 0,
      dial: this.#uplink.dial.bind(this.#uplink),
      tell: (message: FromSession) => this.#told(message),
      groups: { endBy: () => undefined, killAll: () => this.#killGroups() },
      endProcess: (why: string) => this.#endProcess(why),
    };
    this.#client = new SessionClient(kind.isRogue ? session : sabotage(session));
  }

  /** It runs something that may never end by itself. */
  get isStuck(): boolean {
    return this.#handler?.isStuck ?? false;
  }

  start(): void {
    void this.#client.run();
    if (this.kind.isRestless) this.#breakLater();
    if (this.#options.flipsReadiness) this.#flipLater(false);
    if (this.#options.hasDisks) this.#fillLater();
  }

  #breakLater(): void {
    this.process.after(this.process.world.random.between(200, 4_000), () => {
      this.#uplink.cut();
      this.#breakLater();
    });
  }

  #flipLater(ok: boolean): void {
    const { faults } = this.#options;
    this.process.after(this.process.world.random.between(200, 20_000), () => {
      const { reason: _, ...ready } = this.#ready;
      const isOk = ok || !faults.isStorm;
      this.#say(isOk ? { ...ready, ok: true } : { ...ready, ok: false, reason: 'no space left' });
      if (faults.isStorm || !ok) this.#flipLater(!ok);
    });
  }

  #fillLater(): void {
    const { world } = this.process;
    this.process.after(world.random.between(200, 10_000), () => {
      this.#say({ ...this.#ready, disk_bytes: world.random.pick(FREE_BYTES) ?? 0 });
      if (this.#options.faults.isStorm) this.#fillLater();
    });
  }

  #say(ready: Readiness): void {
    this.#ready = ready;
    const of = ready.disk_bytes === undefined ? '' : `, with ${ready.disk_bytes} bytes`;
    this.process.world.log(`${this.process.name} is ${ready.ok ? 'ready' : 'not ready'}${of}`);
    this.#toSession({ type: 'ready', ready });
  }

  /** Takes nothing new, ends what it runs, and leaves for good. */
  leave(): void {
    if (this.#isLeaving) return;
    this.process.world.log(`${this.process.name} drains to leave`);
    this.#isLeaving = true;
    this.#preparations.end();
    this.#toSession({ type: 'drain' });
    this.#leaveOnceFree();
    this.process.after(DRAIN_TIMEOUT_MS, () => this.#handler?.abort('drain'));
    this.process.after(EXIT_TIMEOUT_MS, () => this.kill('it did not end in time'));
  }

  /** Ends at once, as by SIGKILL; the processes of its handler with it. */
  kill(why: string): void {
    this.#handler?.kill(why);
    this.process.kill();
    this.#options.network.endAll(this.process);
    this.#options.onEnd();
  }

  /** What a handler says. */
  report(message: Extract<ToSession, { body: string }>): void {
    this.#toSession(message);
  }

  /** It goes as fast as what was said before: the rest of a run is drawn as without it. */
  log(message: Extract<ToSession, { type: 'log' }>): void {
    this.#toSession(message, true);
  }

  /** It has said its last. */
  ended(handler: Handler): void {
    if (this.#handler !== handler) return;
    this.#handler = null;
    this.#leaveOnceFree();
  }

  #leaveOnceFree(): void {
    if (this.#isLeaving && this.#handler === null) this.#toSession({ type: 'leave' });
  }

  #told(message: FromSession): void {
    const { name, world } = this.process;
    if (message.type === 'ping') {
      return queueMicrotask(() => this.process.isAlive && this.#client.take({ type: 'pong' }));
    }
    if (message.type === 'begin' && !this.kind.isOld)
      this.#options.ledger.children.counted(message);
    if (message.type !== 'event') return this.#toHandlers(message);
    const { type, message: what } = message.event;
    if (type === 'frame_refused') world.violate('I8', `${name}: ${what}`);
    if (type === 'result_dropped') world.log(`${name}: ${what}`);
  }

  /** In the thread of the handlers. */
  #take(message: FromSession): void {
    switch (message.type) {
      case 'assigned':
        return this.#offer(message);
      case 'begin':
        return this.#handlerOf(message)?.run();
      case 'abort':
        return this.#handlerOf(message)?.abort(message.reason);
      case 'ended':
        return this.kill(message.refusal ?? 'it has left');
      case 'booked':
        return this.#booked(message.booking);
      case 'ping':
      case 'event':
    }
  }

  #booked(booking: Extract<FromSession, { type: 'booked' }>['booking']): void {
    const { ledger, incarnation } = this.#options;
    ledger.bookings.hearing.heard(this.kind.id, incarnation, booking?.id ?? null);
    if (!this.#isLeaving) this.#preparations.take(booking);
  }

  /** What it cannot get ready for it cannot run, for a while: who is bound is replaced. */
  #failed(): void {
    if (!this.#options.flipsReadiness || !this.#ready.ok) return;
    this.#say({ ...this.#ready, ok: false, reason: 'what it needs is not there' });
    this.process.after(UNREADY_MS, () => {
      const { reason: _, ...ready } = this.#ready;
      this.#say({ ...ready, ok: true });
    });
  }

  #handlerOf({ taskId, attempt }: { taskId: string; attempt: number }): Handler | null {
    const handler = this.#handler;
    return handler?.taskId === taskId && handler.attempt === attempt ? handler : null;
  }

  #offer({ task, reportsTimeouts, limits }: Extract<FromSession, { type: 'assigned' }>): void {
    const { ledger, faults, longRunChance } = this.#options;
    const { random } = this.process.world;
    const key = keyOf({ taskId: task.id, attempt: task.attempt });
    const name = `${ledger.rowOf(key.taskId)?.seq}/${key.attempt}`;
    if (this.#offered.has(name)) {
      const what = `${key.taskId}/${key.attempt}`;
      this.process.world.violate('I8', `${this.process.name} hears of ${what} twice`);
    }
    this.#offered.add(name);
    const plan = drawPlan(random, faults, longRunChance, this.kind);
    const bytesMax = limits.result_bytes;
    const isPlain = this.kind.isRogue || this.kind.isOld;
    const { tells, logs } = isPlain ? { tells: null, logs: null } : this.#options;
    const offered = { ...key, plan, reportsTimeouts, bytesMax, tells, logs };
    this.#handler = new Handler(this, ledger, offered);
    this.#handler.begin();
  }

  #killGroups(): void {
    if (!this.kind.isRogue) this.#handler?.killGroup();
  }

  #endProcess(why: string): void {
    if (this.kind.isRogue) return;
    this.process.world.log(`${this.process.name}: ${why}`);
    this.kill('ended by its guard');
  }
}

/** Messages to another thread of the process: in order, and now and then late. */
function ordered<T>(
  process: Process,
  take: (message: T) => void,
): (message: T, isPrompt?: boolean) => void {
  const { random } = process.world;
  let quietUntil = 0;
  return (message, isPrompt = false) => {
    const delayMs = !isPrompt && random.chance(0.1) ? random.between(1, THREAD_DELAY_MS_MAX) : 0;
    quietUntil = Math.max(process.now() + delayMs, quietUntil);
    process.after(quietUntil - process.now(), () => take(message));
  };
}
