/**
 * The engine with everything around it held by the test: a clock that moves when told, a store in
 * memory whose answers can be held back or made to fail, and recorders for what goes out.
 */
import type { ExecutorCommand } from '../../master/domain/effects.ts';
import type { Policy } from '../../master/domain/state/policy.ts';
import type { Notification } from '../../master/domain/model/task.ts';
import { Engine } from '../../master/application/engine/engine.ts';
import type { EngineOptions } from '../../master/application/engine/engine-options.ts';
import type { Templates } from '../../master/application/jobs/templates.ts';
import { TaskLogs } from '../../master/application/logs/task-logs.ts';
import { turnstiles } from '../../master/application/turnstile.ts';
import { Master } from '../../master/application/master.ts';
import type {
  Commit,
  ExecutorLink,
  Log,
  Notifier,
  Observer,
  TaskStore,
} from '../../master/application/ports.ts';
import { MemoryTaskStore } from '../../master/infrastructure/memory/task-store.ts';
import { templatesIn } from './jobs/templates.ts';
import { testPolicy } from './task.ts';
import { ManualClock } from './manual-clock.ts';

type Call =
  | 'takeTerm'
  | 'commit'
  | 'confirm'
  | 'findTasks'
  | 'showTask'
  | 'listTasks'
  | 'loadLanes';

export class HeldStore extends MemoryTaskStore {
  /** Those that write something; the others only ask whether the term still stands. */
  readonly commits: Commit[] = [];
  /** Calls of these kinds wait for `release`. */
  readonly held = new Set<Call>();
  /** The next call of this kind fails; `after`: it takes effect, and only its answer is lost. */
  readonly failing = new Map<Call, { readonly error: Error; readonly after?: boolean }>();
  #waiting: (() => void)[] = [];

  release(): void {
    this.held.clear();
    for (const go of this.#waiting.splice(0)) go();
  }

  override takeTerm(
    ...args: Parameters<MemoryTaskStore['takeTerm']>
  ): ReturnType<MemoryTaskStore['takeTerm']> {
    return this.#through('takeTerm', () => super.takeTerm(...args));
  }

  override commit(commit: Commit): Promise<void> {
    if (!isWriting(commit)) return this.#through('confirm', () => super.commit(commit));
    this.commits.push(commit);
    // The tasks are read now: they may change while the commit is held back.
    const copy = structuredClone(commit);
    return this.#through('commit', () => super.commit(copy));
  }

  override findTasks(...args: Parameters<MemoryTaskStore['findTasks']>) {
    return this.#through('findTasks', () => super.findTasks(...args));
  }

  override showTask(...args: Parameters<MemoryTaskStore['showTask']>) {
    return this.#through('showTask', () => super.showTask(...args));
  }

  override listTasks(...args: Parameters<MemoryTaskStore['listTasks']>) {
    return this.#through('listTasks', () => super.listTasks(...args));
  }

  override loadLanes(...args: Parameters<MemoryTaskStore['loadLanes']>) {
    return this.#through('loadLanes', () => super.loadLanes(...args));
  }

  async #through<T>(call: Call, go: () => Promise<T>): Promise<T> {
    if (this.held.has(call)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const failure = this.failing.get(call);
    this.failing.delete(call);
    if (failure !== undefined && !failure.after) throw failure.error;
    const answer = await go();
    if (failure !== undefined) throw failure.error;
    return answer;
  }
}

function isWriting({ writes, absences, settings }: Commit): boolean {
  return writes.length + absences.length > 0 || settings !== undefined;
}

class Recorder implements ExecutorLink, Notifier, Observer {
  readonly sent: { sessionId: string; command: ExecutorCommand; term: number }[] = [];
  readonly confirmed: number[] = [];
  readonly delivered: Notification[] = [];
  readonly turns: number[] = [];
  reattachCount = 0;
  /** The beginning of the first term included. */
  forgetCount = 0;

  send(sessionId: string, command: ExecutorCommand, term: number): void {
    this.sent.push({ sessionId, command, term });
  }

  confirm(_sessionId: string, frameSeq: number): void {
    this.confirmed.push(frameSeq);
  }

  close(): void {}

  freeze(): void {}

  useSecrets(): void {}

  reattachAll(): void {
    this.reattachCount++;
  }

  deliver(notification: Notification): void {
    this.delivered.push(notification);
  }

  forgetAll(): void {
    this.forgetCount++;
  }

  observe(): void {}

  turned(eventCount: number): void {
    this.turns.push(eventCount);
  }
}

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function createEngine(policy: Partial<Policy> = {}, store = new HeldStore()) {
  return createEngineOn(store, policy);
}

/** The same with any store. */
export function createEngineOn<S extends TaskStore>(store: S, policy: Partial<Policy>) {
  const clock = new ManualClock();
  return { store, clock, ...leaderOn({ store, clock, policy }) };
}

/** What leads a namespace, on any store. */
export function leaderOn({
  store,
  clock,
  policy = {},
  namespace = 'default',
  log = silent,
  rebuilds = turnstiles().rebuilds,
  ...rest
}: {
  store: TaskStore;
  clock: ManualClock;
  policy?: Partial<Policy>;
  namespace?: string;
} & Partial<Pick<EngineOptions, 'pauseOfAll' | 'rebuilds' | 'log'>>) {
  const recorder = new Recorder();
  const templates: Templates = templatesIn(namespace);
  const engine = new Engine({
    store,
    clock,
    link: recorder,
    notifier: recorder,
    observer: recorder,
    log,
    rebuilds,
    policy: { ...testPolicy, ...policy },
    owner: 'test',
    seed: 1,
    templates,
    ...rest,
  });
  const logs = new TaskLogs({ store, clock, log: silent, bytesMax: 0 });
  return {
    engine,
    recorder,
    templates,
    master: new Master({ engine, store, clock, namespace, logs }),
  };
}
