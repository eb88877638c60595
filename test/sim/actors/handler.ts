/** What a handler does with the one task it was given, well behaved or not. */
import type { CancelReason, ExecutorMessage, TaskError } from '@soda-scheduler/protocol';
import type { Faults } from '../faults.ts';
import type { Child, Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';
import type { Process } from '../world.ts';

/** The attempt an executor holds. `accepted`: not acknowledged yet; `fenced`: its lease was lost. */
export interface Held {
  readonly taskId: string;
  readonly attempt: number;
  state: 'offered' | 'accepted' | 'running' | 'fenced';
  readonly handler: Handler;
}

/** The executor, as its handlers see it. */
interface Host {
  readonly process: Process;
  readonly kind: { readonly isRogue: boolean };
  /** False: the offer was taken back in the meantime. */
  accept(held: Held): boolean;
  progress(held: Held, news: { percent?: number; checkpoint?: unknown }): void;
  end(held: Held, message: Extract<ExecutorMessage, { type: 'result' | 'reject' }>): void;
}

interface Plan {
  /** From the offer to its answer; null: it never answers. */
  readonly answerMs: number | null;
  readonly end: 'succeed' | 'fail' | 'fail_for_good' | 'retry_after' | 'reject' | 'return' | 'hang';
  readonly runMs: number;
  readonly progressMs: number | null;
  readonly savesCheckpoint: boolean;
  /** From being told to end to the end; null: it does not listen. */
  readonly abortMs: number | null;
}

/** Takes whatever it is offered, and gives it back at once: it means well, and is of no use. */
const GIVE_BACK: Plan = {
  answerMs: 0,
  end: 'return',
  runMs: 1,
  progressMs: null,
  savesCheckpoint: false,
  abortMs: 0,
};

export function drawPlan(
  random: Random,
  faults: Faults,
  longRunChance: number,
  kind: { readonly isRogue: boolean; readonly givesBack: boolean },
): Plan {
  if (kind.givesBack && faults.isStorm) return GIVE_BACK;
  const misbehaves = faults.has('handlers');
  const answers = random.weighted({
    soon: 90,
    late: misbehaves ? 6 : 0,
    never: misbehaves ? 2 : 0,
  });
  const end = random.weighted({
    succeed: 70,
    fail: faults.isStorm ? 10 : 0,
    fail_for_good: faults.isStorm ? 2 : 0,
    retry_after: faults.isStorm ? 3 : 0,
    reject: misbehaves ? 8 : 0,
    return: misbehaves ? 3 : 0,
    hang: misbehaves ? 5 : 0,
  });
  return {
    answerMs:
      answers === 'never'
        ? null
        : answers === 'late'
          ? random.between(3_000, 40_000)
          : random.between(0, random.chance(0.8) ? 20 : 1_000),
    end,
    runMs: drawRunMs(random, faults, longRunChance),
    progressMs: random.chance(0.3) ? random.between(100, 4_000) : null,
    savesCheckpoint: random.chance(0.5),
    abortMs: kind.isRogue || (misbehaves && random.chance(0.2)) ? null : random.between(0, 2_000),
  };
}

/** In the calm, shorter than any execution timeout. */
function drawRunMs(random: Random, faults: Faults, longRunChance: number): number {
  if (!faults.isStorm) return random.between(1, 800);
  return random.chance(longRunChance) ? random.between(5_000, 60_000) : random.between(1, 3_000);
}

export class Handler {
  readonly #executor: Host;
  readonly #ledger: Ledger;
  readonly #plan: Plan;
  #held: Held | null = null;
  #child: Child | null = null;
  #isAborted = false;
  #isOver = false;
  #progressCount = 0;

  constructor(executor: Host, ledger: Ledger, plan: Plan) {
    this.#executor = executor;
    this.#ledger = ledger;
    this.#plan = plan;
  }

  /** It may never end by itself. */
  get isStuck(): boolean {
    const { answerMs, end, abortMs } = this.#plan;
    return answerMs === null || end === 'hang' || abortMs === null;
  }

  begin(held: Held): void {
    this.#held = held;
    const { answerMs } = this.#plan;
    if (answerMs !== null) this.#executor.process.after(answerMs, () => this.#answer(held));
  }

  /** The offer was taken back before it was answered. */
  forget(): void {
    this.#isOver = true;
  }

  abort(reason: CancelReason | 'lease_lost'): void {
    const { abortMs } = this.#plan;
    if (this.#isAborted || this.#isOver) return;
    // Only what has begun may be deaf to it.
    if (abortMs === null && this.#child !== null) {
      this.#child.isDeaf = true;
      return;
    }
    this.#isAborted = true;
    this.#executor.process.after(abortMs ?? 0, () => {
      this.#end(reason === 'drain' ? 'returned' : 'canceled');
    });
  }

  kill(why: string): void {
    this.#isOver = true;
    if (this.#child !== null) this.#ledger.childEnded(this.#child, why);
    this.#child = null;
  }

  #answer(held: Held): void {
    if (this.#isOver) return;
    const about = { task_id: held.taskId, attempt: held.attempt };
    if (this.#plan.end === 'reject' || this.#isAborted) {
      this.#isOver = true;
      this.#executor.end(held, { type: 'reject', ...about, code: 400, message: 'not this one' });
      return;
    }
    if (!this.#executor.accept(held)) this.#isOver = true;
  }

  /** The master knows that the attempt was accepted. */
  run(): void {
    const held = this.#held;
    if (this.#isOver || this.#isAborted || held === null) return;
    const { process } = this.#executor;
    const { isRogue } = this.#executor.kind;
    this.#child = this.#ledger.childStarted(process, held.taskId, held.attempt, isRogue);
    this.#reportProgress();
    const { end, runMs } = this.#plan;
    if (end !== 'hang') {
      process.after(runMs, () => this.#end(end === 'succeed' ? 'succeeded' : end));
    }
  }

  #reportProgress(): void {
    const { progressMs, savesCheckpoint } = this.#plan;
    if (progressMs === null || this.#isOver || this.#held === null) return;
    const count = ++this.#progressCount;
    this.#executor.progress(this.#held, {
      percent: Math.min(count, 99),
      ...(savesCheckpoint && { checkpoint: { count } }),
    });
    this.#executor.process.after(progressMs, () => this.#reportProgress());
  }

  #end(how: Plan['end'] | 'succeeded' | 'canceled' | 'returned'): void {
    const held = this.#held;
    if (this.#isOver || held === null) return;
    this.#isOver = true;
    if (this.#child !== null) this.#ledger.childEnded(this.#child, how);
    this.#child = null;
    const about = { task_id: held.taskId, attempt: held.attempt };
    if (how === 'succeeded') {
      const result = { by: this.#executor.process.name, attempt: held.attempt };
      this.#ledger.succeeded(held.taskId, held.attempt, JSON.stringify(result));
      this.#executor.end(held, { type: 'result', ...about, outcome: 'succeeded', result });
    } else if (how === 'canceled' || how === 'returned' || how === 'return') {
      const outcome = how === 'canceled' ? 'canceled' : 'returned';
      this.#executor.end(held, { type: 'result', ...about, outcome });
    } else {
      const error: TaskError = {
        message: how,
        retryable: how !== 'fail_for_good',
        ...(how === 'retry_after' && { retry_after: 2 }),
      };
      this.#executor.end(held, { type: 'result', ...about, outcome: 'failed', error });
    }
  }
}
