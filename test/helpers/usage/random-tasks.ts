/**
 * Many tasks with all that may befall them, on any store: executors that reject, fail and vanish, people who cancel,
 * retry and delete, callbacks that are refused, and masters that are killed and followed by others.
 */
import type { ExecutorCommand } from '../../../master/domain/effects.ts';
import type { ReportedAttempt } from '../../../master/domain/events.ts';
import { Engine } from '../../../master/application/engine/engine.ts';
import { TaskLogs } from '../../../master/application/logs/task-logs.ts';
import { Master } from '../../../master/application/master.ts';
import { type TaskStore, TermLost } from '../../../master/application/ports.ts';
import { turnstiles } from '../../../master/application/turnstile.ts';
import type { Notification } from '../../../master/domain/model/task.ts';
import { templatesIn } from '../jobs/templates.ts';
import { ManualClock } from '../manual-clock.ts';
import { hello, newTask, testPolicy } from '../task.ts';
import { Random } from '../../sim/random.ts';

const BATCH_COUNT = 100;
/** No more are submitted while so many wait. */
const WAITING_MAX = 2_000;
/** That somebody asks for at once. */
const RESUME_COUNT = 500;
const HOUR_MS = 3_600_000;
const LEASE_MS = testPolicy.leaseMs;

/** Tasks of this type are neither retried nor deleted once they have ended. */
export const KEPT = 'kept';
const TYPES = ['encode', 'probe', KEPT];
const GROUPS = ['news', 'sport', 'vidéo'];

interface Held {
  readonly taskId: string;
  readonly attempt: number;
  isAccepted: boolean;
}

interface Worker {
  readonly id: string;
  incarnation: number;
  session: number;
  held: Held | null;
}

export class RandomTasks {
  readonly clock = new ManualClock();
  readonly #store: TaskStore;
  readonly #random: Random;
  readonly #ids: string[] = [];
  /** What people have asked to be suspended, whether it was or not. */
  readonly #putAside = new Set<string>();
  readonly #workers: Worker[] = [];
  #callbacks: Notification[] = [];
  #lastFrame = 0;
  #kill: () => void = () => undefined;
  #engine!: Engine;
  #master!: Master;
  killCount = 0;

  readonly #roundsOfMaster: number;

  /** @param size `roundsOfMaster`: after so many, each of at most 100 submits, another one leads. */
  constructor(
    store: TaskStore,
    seed: number,
    size: { readonly executorCount: number; readonly roundsOfMaster: number },
  ) {
    this.#store = store;
    this.#random = new Random(seed);
    this.#roundsOfMaster = size.roundsOfMaster;
    for (let n = 0; n < size.executorCount; n++) {
      this.#workers.push({ id: `x-${n}`, incarnation: 1, session: 0, held: null });
    }
  }

  /** Until all of them have ended, and their callbacks are settled. */
  async run(taskCount: number): Promise<void> {
    await this.#lead();
    for (let round = 1; this.#ids.length < taskCount || this.#isBusy; round++) {
      const isCalm = this.#ids.length >= taskCount;
      if (!isCalm && this.#hasRoom)
        await this.#submit(Math.min(BATCH_COUNT, taskCount - this.#ids.length));
      if (!isCalm) this.#steer();
      this.#work();
      this.#callBack(isCalm);
      await this.#pass(isCalm);
      if (!isCalm && round % this.#roundsOfMaster === 0) await this.#lead();
    }
    await this.#engine.stop();
  }

  get #hasRoom(): boolean {
    const { state } = this.#engine;
    return (state?.waitingCount ?? 0) + (state?.suspendedCount ?? 0) < WAITING_MAX;
  }

  get #isBusy(): boolean {
    const { state } = this.#engine;
    if (state === null) return true;
    const { tasks, waitingCount, suspendedCount, notifying, notifications } = state;
    return tasks.size + waitingCount + suspendedCount + notifying.size + notifications.size > 0;
  }

  /** In place of whoever leads now, who is killed wherever he stands. */
  async #lead(): Promise<void> {
    this.#kill();
    this.#callbacks = [];
    let isDead = false;
    this.#kill = () => {
      isDead = true;
      this.killCount += 1;
    };
    const store = new Proxy(this.#store, {
      get: (of, name) => {
        const member: unknown = Reflect.get(of, name, of);
        if (typeof member !== 'function') return member;
        if (name === 'owedMs') return member.bind(of);
        return isDead ? () => Promise.reject(new TermLost('killed')) : member.bind(of);
      },
    });
    const { clock } = this;
    const nothing = () => undefined;
    this.#engine = new Engine({
      store,
      rebuilds: turnstiles().rebuilds,
      clock,
      link: {
        send: (session, command) => void (isDead || this.#take(session, command)),
        confirm: nothing,
        close: nothing,
        freeze: nothing,
        useSecrets: nothing,
        reattachAll: nothing,
      },
      notifier: {
        deliver: (notification) => void (isDead || this.#callbacks.push(notification)),
        forgetAll: nothing,
      },
      observer: { observe: nothing, turned: nothing },
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      policy: { ...testPolicy, feedLevel: 'all', reportZone: 'Asia/Shanghai' },
      owner: 'test',
      seed: this.killCount + 1,
      templates: templatesIn(),
    });
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const logs = new TaskLogs({ store, clock, log, bytesMax: 0 });
    this.#master = new Master({
      engine: this.#engine,
      store,
      clock,
      namespace: 'default',
      logs,
    });
    const { ended } = await this.#engine.start();
    ended.catch(nothing);
    for (const worker of this.#workers) this.#connect(worker, this.#random.chance(0.2));
    await this.#settled();
  }

  /** `isNew`: another process, which knows nothing of what the one before had. */
  #connect(worker: Worker, isNew: boolean): void {
    worker.session += 1;
    if (isNew) {
      worker.incarnation += 1;
      worker.held = null;
    }
    const { id, held } = worker;
    this.#engine.post({
      type: 'executorConnected',
      ...hello({
        executorId: id,
        incarnation: `${id} ${worker.incarnation}`,
        sessionId: sessionOf(worker),
        types: TYPES,
        running: runningOf(worker),
      }),
    });
    if (held?.isAccepted === false) worker.held = null;
  }

  #take(session: string, command: ExecutorCommand): void {
    const worker = this.#workers.find((one) => sessionOf(one) === session);
    if (worker === undefined) return;
    if (command.type === 'assign') {
      const { id: taskId, attempt } = command.task;
      worker.held = { taskId, attempt, isAccepted: false };
    } else if (command.type === 'cancel' && worker.held?.taskId === command.taskId) {
      this.#end(worker, worker.held, 'canceled');
    }
  }

  async #submit(count: number): Promise<void> {
    const tasks = Array.from({ length: count }, () => {
      const id = `t-${this.#ids.length}`;
      this.#ids.push(id);
      const group = this.#random.pick(GROUPS) ?? '';
      const user = {
        group,
        project: `p of ${group}`,
        env: null,
        user: this.#random.chance(0.5) ? 'ann' : null,
      };
      const notifyUrl = this.#random.chance(0.5) ? 'http://127.0.0.1/' : null;
      const type = this.#random.pick(TYPES) ?? '';
      const late = this.clock.now() + this.#random.between(0, HOUR_MS);
      return newTask({
        ...{ id, type, user, notifyUrl, requestHash: id },
        retry: { maxAttempts: this.#random.between(1, 3), interval: 1 },
        executionTimeoutMs: this.#random.chance(0.2) ? 4_000 : null,
        deadlineAt: this.#random.chance(0.1) ? late + 1 : null,
        runAt: this.#random.chance(0.1) ? late : null,
      });
    });
    await this.#master.submit(tasks).catch(() => undefined);
  }

  /** Whatever people ask for, of whatever task. */
  #steer(): void {
    const master = this.#master;
    for (let count = this.#random.between(0, 20); count > 0; count--) {
      const number = this.#random.between(0, this.#ids.length - 1);
      const id = this.#ids[number] ?? '';
      const what = this.#random.weighted({
        cancel: 2,
        suspend: 1,
        resume: 3,
        retry: 3,
        delete: 2,
        redeliver: 2,
      });
      if (what === 'suspend') this.#putAside.add(id);
      void this.#ask(master, id, what).catch(() => undefined);
    }
  }

  async #ask(
    master: Master,
    id: string,
    what: 'cancel' | 'suspend' | 'resume' | 'retry' | 'delete' | 'redeliver',
  ) {
    const isLasting = what === 'retry' || what === 'delete';
    if (isLasting && (await this.#store.readTask(id))?.task.type === KEPT) return;
    await master[what](id);
  }

  #work(): void {
    for (const worker of this.#workers) {
      const { held } = worker;
      const session = { executorId: worker.id, sessionId: sessionOf(worker) };
      if (this.#random.chance(0.005)) this.#connect(worker, true);
      else if (held === null || this.#random.chance(0.3)) this.#beat(worker);
      else if (held.isAccepted) this.#end(worker, held, null);
      else if (this.#random.chance(0.05)) {
        worker.held = null;
        const refusal = {
          code: 409,
          message: 'not now',
          taskId: held.taskId,
          attempt: held.attempt,
        };
        this.#engine.post({
          type: 'attemptRejected',
          ...session,
          frameSeq: ++this.#lastFrame,
          ...refusal,
        });
      } else {
        held.isAccepted = true;
        const about = { taskId: held.taskId, attempt: held.attempt };
        this.#engine.post({
          type: 'attemptAccepted',
          ...session,
          frameSeq: ++this.#lastFrame,
          ...about,
        });
      }
    }
  }

  #beat(worker: Worker): void {
    this.#engine.post({
      type: 'heartbeatReceived',
      executorId: worker.id,
      sessionId: sessionOf(worker),
      draining: false,
      running: runningOf(worker),
      loopLagMs: 1,
      rssBytes: 1,
    });
  }

  #end(worker: Worker, { taskId, attempt }: Held, told: 'canceled' | null): void {
    worker.held = null;
    const outcome =
      told ?? this.#random.weighted({ succeeded: 8, failed: 3, timed_out: 1, returned: 1 });
    this.#engine.post({
      type: 'attemptEnded',
      executorId: worker.id,
      sessionId: sessionOf(worker),
      frameSeq: ++this.#lastFrame,
      ...{ taskId, attempt, outcome, retryable: true, retryAfterMs: null },
      result: outcome === 'succeeded' ? '1' : null,
      error: outcome === 'failed' ? { message: 'it broke' } : null,
    });
  }

  #callBack(isCalm: boolean): void {
    const { term } = this.#engine;
    for (const { taskSeq, finishedAt } of this.#callbacks.splice(0)) {
      const outcome = isCalm
        ? 'delivered'
        : this.#random.weighted({ delivered: 8, failed: 2, gone: 1 });
      const how = {
        outcome,
        status: outcome === 'delivered' ? 200 : 503,
        error: null,
        retryAfterMs: null,
      };
      this.#engine.post({
        type: 'notificationTried',
        term,
        tryCount: 1,
        taskSeq,
        finishedAt,
        ...how,
      });
    }
  }

  /** In the calm only so that what waits is due, and who vanished is lost. */
  async #pass(isCalm: boolean): Promise<void> {
    const isQuiet = isCalm && this.#engine.state?.attemptCount === 0;
    this.clock.advance(isQuiet ? HOUR_MS : this.#random.between(1, LEASE_MS / 3));
    await this.#settled();
    if (isCalm) await this.#resumeSome();
  }

  /** What is suspended is in no memory. A few of those that may be, in turn: asked for at once, many would only be refused. */
  async #resumeSome(): Promise<void> {
    const { state } = this.#engine;
    if (state === null || state.suspendedCount === 0 || state.tasks.size + state.waitingCount > 0)
      return;
    const some = [...this.#putAside].slice(0, RESUME_COUNT);
    for (const id of some) {
      this.#putAside.delete(id);
      this.#putAside.add(id);
    }
    await Promise.allSettled(some.map((id) => this.#master.resume(id)));
  }

  async #settled(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await this.#engine.look(() => undefined).catch(() => undefined);
    }
  }
}

const sessionOf = ({ id, session }: Worker): string => `${id}/${session}`;

function runningOf({ held }: Worker): ReportedAttempt[] {
  if (held?.isAccepted !== true) return [];
  return [{ taskId: held.taskId, attempt: held.attempt, state: 'running' }];
}
