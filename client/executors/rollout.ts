/**
 * What a drain of many executors makes of the fleet as it is: whom to drain next, whom to give tasks again, and when
 * it is over. Pure; it is told what there is again and again, and remembers whom it has to do with.
 */
import type { ExecutorView } from '@soda-scheduler/protocol';

/** How far it is. */
export interface DrainProgress {
  /** Executors of the selector that were here since it began. */
  readonly total: number;
  /** Those with which it is done. */
  readonly done: number;
  /** Drained ones that still run something, by id. */
  readonly running: readonly string[];
  /** Of those that run nothing any more, or have left: so many others are to take their places. */
  readonly awaited: number;
  /** Those whose turn has not come. */
  readonly left: number;
}

export interface DrainStep {
  readonly executorId: string;
  readonly host: string;
  /**
   * `draining`: it is given no more tasks. `empty`: it runs nothing any more. `left`: it is not here any more.
   * `back`: it is here as another, which is not selected, and takes tasks.
   */
  readonly step: 'draining' | 'empty' | 'left' | 'back';
}

export interface RolloutPlan {
  readonly drain: readonly string[];
  readonly resume: readonly string[];
  readonly steps: readonly DrainStep[];
  readonly progress: DrainProgress;
  readonly isOver: boolean;
  /** The next look says more, and is to come soon. */
  readonly isUnsure: boolean;
}

interface Member {
  readonly host: string;
  step: DrainStep['step'];
}

/** An executor comes back to a master that was started again within this. */
const ABSENCE_MS_MAX = 60_000;

export class Rollout {
  readonly #maxUnavailable: number;
  readonly #awaitsOthers: boolean;
  readonly #reason: string;
  /** Those it has drained, or found drained. */
  readonly #members = new Map<string, Member>();
  /** Those whose turn has not come, and when they were seen last. */
  readonly #left = new Map<string, number>();
  /** Those that were here at first and are not selected: they take nobody's place. */
  #others: ReadonlySet<string> | null = null;
  readonly #types = new Set<string>();
  /** Since when each was connected at the last look. */
  #seen: ReadonlyMap<string, string | null> = new Map();
  /** Those of which this look does not say whether they are selected. */
  #unjudged: ReadonlySet<string> = new Set();

  constructor(options: {
    readonly maxUnavailable: number;
    readonly until: 'empty' | 'replaced';
    readonly reason: string;
  }) {
    this.#maxUnavailable = options.maxUnavailable;
    this.#awaitsOthers = options.until === 'replaced';
    this.#reason = options.reason;
  }

  /**
   * `fleet`: all that the master knows, as it is after `selected` was read, and that after the `fleet` of the last look.
   * Who came in between may be selected though it is not in there: the next look tells.
   */
  look(
    selected: readonly ExecutorView[],
    fleet: readonly ExecutorView[],
    nowMs: number,
  ): RolloutPlan {
    const chosen = byId(selected);
    const here = byId(fleet);
    const isNews = (id: string, { connected_at: at }: ExecutorView) =>
      at !== null && !chosen.has(id) && this.#seen.get(id) !== at;
    this.#unjudged = new Set([...here].filter((one) => isNews(...one)).map(([id]) => id));
    this.#seen = new Map([...here].map(([id, view]) => [id, view.connected_at]));
    this.#others ??= new Set([...here.keys()].filter((id) => !chosen.has(id)));
    for (const { types } of chosen.values()) for (const type of types) this.#types.add(type);

    const candidates: ExecutorView[] = [];
    for (const [id, view] of chosen) {
      if (!view.draining) candidates.push(view);
      else if (this.#isOurs(view) && !this.#members.has(id)) this.#join(view);
    }
    const steps = this.#follow(chosen, here, workersOf(fleet, chosen));
    const free = this.#maxUnavailable - this.#unavailable(chosen, here);
    // What is idle is empty at once.
    candidates.sort((a, b) => Number(isBusy(a)) - Number(isBusy(b)));
    const next = candidates.slice(0, Math.max(0, free));
    for (const view of next) steps.push({ ...this.#join(view), step: 'draining' });
    const left = this.#count(candidates.slice(next.length), here, nowMs);

    const returned = this.#awaitsOthers
      ? [...here.values()].filter((view) => this.#hasReturned(view, chosen)).map(idOf)
      : [];
    const resume = returned.filter((id) => !this.#unjudged.has(id));
    const progress = this.#progress(chosen, here, left);
    const isAwaited = (id: string) =>
      this.#members.has(id) || this.#left.has(id) || returned.includes(id);
    return {
      drain: next.map(idOf),
      resume,
      steps,
      progress,
      isOver: progress.done === progress.total && resume.length === returned.length,
      isUnsure: [...this.#unjudged].some(isAwaited),
    };
  }

  #join({ executor_id: executorId, host }: ExecutorView): Omit<DrainStep, 'step'> {
    this.#members.set(executorId, { host, step: 'draining' });
    this.#left.delete(executorId);
    return { executorId, host };
  }

  /** Where replacements are awaited, others may be drained for reasons of their own. */
  #isOurs({ drain_reason: reason }: ExecutorView): boolean {
    return !this.#awaitsOthers || reason === this.#reason;
  }

  /** It was drained by this, has come back, and is another now. */
  #hasReturned(view: ExecutorView, chosen: ReadonlyMap<string, ExecutorView>): boolean {
    const { executor_id: id, draining, drain_reason: reason, connected } = view;
    return connected && draining && reason === this.#reason && !chosen.has(id);
  }

  #follow(
    chosen: ReadonlyMap<string, ExecutorView>,
    here: ReadonlyMap<string, ExecutorView>,
    busy: ReadonlySet<string>,
  ): DrainStep[] {
    const steps: DrainStep[] = [];
    for (const [executorId, member] of this.#members) {
      const view = here.get(executorId);
      // A master that was started again does not know yet what it is.
      const isUnknown = view !== undefined && view.connected_at === null;
      let step: DrainStep['step'] = 'left';
      if (busy.has(executorId)) step = 'draining';
      else if (this.#unjudged.has(executorId)) step = member.step;
      else if (chosen.has(executorId) || isUnknown) step = 'empty';
      else if (view !== undefined && this.#awaitsOthers && isServing(view)) step = 'back';
      if (step === member.step) continue;
      member.step = step;
      steps.push({ executorId, host: member.host, step });
    }
    return steps;
  }

  /** How many of those that were drained are missed. */
  #unavailable(
    chosen: ReadonlyMap<string, ExecutorView>,
    here: ReadonlyMap<string, ExecutorView>,
  ): number {
    const members = [...this.#members.values()];
    if (!this.#awaitsOthers) return members.filter(({ step }) => step === 'draining').length;
    const isNew = (view: ExecutorView) => {
      const { executor_id: id, types } = view;
      if (this.#members.has(id) || this.#others?.has(id) || chosen.has(id)) return false;
      if (this.#unjudged.has(id)) return false;
      return isServing(view) && types.some((type) => this.#types.has(type));
    };
    const newCount = [...here.values()].filter(isNew).length;
    return Math.max(0, members.filter(({ step }) => step !== 'back').length - newCount);
  }

  /** Those whose turn has not come; of those that are not here the ones that may come back. */
  #count(
    waiting: readonly ExecutorView[],
    here: ReadonlyMap<string, ExecutorView>,
    nowMs: number,
  ): number {
    for (const { executor_id: id } of waiting) this.#left.set(id, nowMs);
    for (const [id, seenMs] of this.#left) {
      const view = here.get(id);
      const isOther = view !== undefined && view.connected_at !== null && !this.#unjudged.has(id);
      if (seenMs !== nowMs && (isOther || nowMs - seenMs > ABSENCE_MS_MAX)) this.#left.delete(id);
    }
    return this.#left.size;
  }

  #progress(
    chosen: ReadonlyMap<string, ExecutorView>,
    here: ReadonlyMap<string, ExecutorView>,
    left: number,
  ): DrainProgress {
    const isRunning = ([, { step }]: readonly [string, Member]) => step === 'draining';
    const running = [...this.#members].filter(isRunning).map(([id]) => id);
    const unavailable = this.#unavailable(chosen, here);
    return {
      total: this.#members.size + left,
      done: this.#members.size - unavailable,
      running,
      awaited: Math.max(0, unavailable - running.length),
      left,
    };
  }
}

/** Of each id the process that has it; without those that are gone. */
function byId(views: readonly ExecutorView[]): Map<string, ExecutorView> {
  const present = views.filter(({ state, superseded }) => state !== 'gone' && !superseded);
  return new Map(present.map((view) => [view.executor_id, view]));
}

/** Those that still run something as what they were, by id: the newest process may be another. */
function workersOf(
  fleet: readonly ExecutorView[],
  chosen: ReadonlyMap<string, ExecutorView>,
): Set<string> {
  const isIts = ({ executor_id: id, superseded, connected_at: at }: ExecutorView) =>
    superseded || at === null || chosen.has(id);
  return new Set(fleet.filter((one) => isBusy(one) && isIts(one)).map((one) => one.executor_id));
}

const idOf = ({ executor_id: id }: ExecutorView): string => id;

const isBusy = ({ task_id: taskId }: ExecutorView): boolean => taskId !== null;

/** It takes tasks, or is at one. */
function isServing({ connected, draining, ready }: ExecutorView): boolean {
  return connected && !draining && ready?.ok !== false;
}
