/** What a handler does with the one task it was given, well behaved or not. */
import type { ExecutorMessage } from '@soda-scheduler/protocol';
import {
  type AbortReason,
  NonRetryableError,
  RetryableError,
} from '../../../executor-sdk/errors.ts';
import { outcomeOf, rejectBody } from '../../../executor-sdk/outcome.ts';
import type { AttemptKey, ToSession } from '../../../executor-sdk/thread-messages.ts';
import type { Faults } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';
import type { Process } from '../world.ts';
import type { Child } from './children.ts';
import type { ExecutorKind, Logging } from './executor-kind.ts';

/** The executor, as its handlers see it. */
interface Host {
  readonly process: Process;
  readonly kind: Pick<ExecutorKind, 'isRogue'>;
  report(message: Extract<ToSession, { body: string }>): void;
  log(message: Extract<ToSession, { type: 'log' }>): void;
  ended(handler: Handler): void;
}

/** What a handler is made of. */
interface Offered extends AttemptKey {
  readonly plan: Plan;
  readonly reportsTimeouts: boolean;
  readonly bytesMax: number;
  /** When it tells of events; null: of none. */
  readonly tells: Random | null;
  readonly logs: Logging | null;
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
  /** It waits for a process that it has started, and ends with that. */
  readonly spawns: boolean;
}

/** Takes whatever it is offered, and gives it back at once: it means well, and is of no use. */
const GIVE_BACK: Plan = {
  answerMs: 0,
  end: 'return',
  runMs: 1,
  progressMs: null,
  savesCheckpoint: false,
  abortMs: 0,
  spawns: false,
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
    spawns: random.chance(0.5),
  };
}

/** In the calm, shorter than any execution timeout. */
function drawRunMs(random: Random, faults: Faults, longRunChance: number): number {
  if (!faults.isStorm) return random.between(1, 800);
  return random.chance(longRunChance) ? random.between(5_000, 60_000) : random.between(1, 3_000);
}

export class Handler implements AttemptKey {
  readonly taskId: string;
  readonly attempt: number;
  readonly #executor: Host;
  readonly #ledger: Ledger;
  readonly #offered: Offered;
  readonly #plan: Plan;
  #child: Child | null = null;
  /** Why it was told to end. */
  #aborted: AbortReason | null = null;
  #isOver = false;
  #progressCount = 0;

  constructor(executor: Host, ledger: Ledger, offered: Offered) {
    this.#executor = executor;
    this.#ledger = ledger;
    this.#offered = offered;
    this.#plan = offered.plan;
    this.taskId = offered.taskId;
    this.attempt = offered.attempt;
  }

  /** It may never end by itself. */
  get isStuck(): boolean {
    const { answerMs, end, abortMs } = this.#plan;
    return answerMs === null || end === 'hang' || abortMs === null;
  }

  begin(): void {
    const { answerMs } = this.#plan;
    if (answerMs !== null) this.#executor.process.after(answerMs, () => this.#answer());
  }

  abort(reason: AbortReason): void {
    const { abortMs } = this.#plan;
    if (this.#aborted !== null || this.#isOver) return;
    // Only what has begun may be deaf to it.
    if (abortMs === null && this.#child !== null) return;
    this.#aborted = reason;
    this.#executor.process.after(abortMs ?? 0, () => this.#end('aborted'));
  }

  /** What it has started is killed; it notices that, and ends. */
  killGroup(): void {
    if (!this.#plan.spawns || this.#child === null) return;
    this.#ledger.children.ended(this.#child, 'killed by its guard');
    this.#child = null;
    this.#executor.process.after(0, () => this.#end('aborted'));
  }

  kill(why: string): void {
    this.#isOver = true;
    if (this.#child !== null) this.#ledger.children.ended(this.#child, why);
    this.#child = null;
  }

  #answer(): void {
    if (this.#isOver) return;
    const { taskId, attempt } = this;
    if (this.#plan.end === 'reject' || this.#aborted !== null) {
      const body = rejectBody(this, { code: 400, message: 'not this one' });
      return this.#conclude('reject', body);
    }
    this.#report('accept', { type: 'accept', task_id: taskId, attempt });
  }

  /** The master knows that the attempt was accepted. */
  run(): void {
    if (this.#isOver || this.#aborted !== null) return;
    const { process } = this.#executor;
    this.#child = this.#ledger.children.started(process, this, this.#executor.kind);
    this.#reportProgress();
    this.#tellLater();
    this.#logLater();
    const { end, runMs } = this.#plan;
    if (end !== 'hang') process.after(runMs, () => this.#end(end));
  }

  #reportProgress(): void {
    const { progressMs, savesCheckpoint } = this.#plan;
    if (progressMs === null || this.#isOver) return;
    const count = ++this.#progressCount;
    this.#report(savesCheckpoint ? 'checkpoint' : 'progress', {
      type: 'progress',
      task_id: this.taskId,
      attempt: this.attempt,
      percent: Math.min(count, 99),
      ...(savesCheckpoint && { checkpoint: { count } }),
    });
    this.#executor.process.after(progressMs, () => this.#reportProgress());
  }

  #tellLater(): void {
    const { tells } = this.#offered;
    if (tells === null) return;
    this.#executor.process.after(tells.between(0, 2_000), () => {
      if (this.#isOver) return;
      const { taskId, attempt } = this;
      const n = this.#ledger.feed.tells(this);
      const about = { task_id: taskId, attempt, name: 'step', n, data: { n } };
      this.#report('event', { type: 'event', ...about });
      this.#tellLater();
    });
  }

  #logLater(): void {
    const { logs } = this.#offered;
    if (logs === null) return;
    this.#executor.process.after(logs.random.between(0, 4_000), () => {
      if (this.#isOver) return;
      this.#log(logs, logs.random.between(1, 4));
      this.#logLater();
    });
  }

  #log({ checks }: Logging, count: number): void {
    const at = this.#executor.process.now();
    const lines = Array.from({ length: count }, () => {
      return JSON.stringify({ at, level: 'info', stream: 'log', text: checks.says(this) });
    });
    this.#executor.log({ type: 'log', taskId: this.taskId, attempt: this.attempt, lines });
  }

  #end(how: Plan['end'] | 'aborted'): void {
    if (this.#isOver) return;
    // Its last words, and then its result.
    if (this.#offered.logs !== null) this.#log(this.#offered.logs, 1);
    if (this.#child !== null) this.#ledger.children.ended(this.#child, this.#aborted ?? how);
    this.#child = null;
    const { taskId, attempt } = this;
    // The SDK has no word for this, the protocol has.
    const given = { type: 'result', task_id: taskId, attempt, outcome: 'returned' } as const;
    if (how === 'return') return this.#conclude('result', JSON.stringify(given));
    const { reportsTimeouts, bytesMax } = this.#offered;
    const context = { aborted: this.#aborted, reportsTimeouts, bytesMax };
    if (how !== 'succeed') {
      const { body } = outcomeOf(this, { error: errorOf(how) }, context);
      return this.#conclude('result', body);
    }
    const value = { by: this.#executor.process.name, attempt };
    this.#ledger.succeeded(taskId, attempt, JSON.stringify(value));
    this.#conclude('result', outcomeOf(this, { value }, context).body);
  }

  #report(type: 'accept' | 'progress' | 'checkpoint' | 'event', message: ExecutorMessage): void {
    const { taskId, attempt } = this;
    this.#executor.report({ type, taskId, attempt, body: JSON.stringify(message) });
  }

  #conclude(type: 'reject' | 'result', body: string): void {
    const { taskId, attempt } = this;
    this.#isOver = true;
    this.#executor.report({ type, taskId, attempt, body });
    this.#executor.ended(this);
  }
}

/** With details, or as no error at all: else these would be where it was thrown, on this machine. */
function errorOf(how: string): unknown {
  if (how === 'fail_for_good') return new NonRetryableError(how, { details: {} });
  if (how === 'retry_after') return new RetryableError(how, { details: {}, retryAfterMs: 2_000 });
  return how;
}
