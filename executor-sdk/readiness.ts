/**
 * Asks the program again and again whether it can work, and says what has changed. Never twice at
 * once: where an answer takes its time, it is not ready, and is asked again once it has answered.
 */
import { statfs } from 'node:fs/promises';
import type { Readiness } from '@soda-scheduler/protocol';
import type { EventDraft } from './events.ts';
import { headlineOf, stackOf } from './failure.ts';
import type { Clock } from './session/clock.ts';

/** From an answer to the next question; `watched`: while it is not ready, tasks may wait for it, and while it is bound, it may have to be replaced. */
const EVERY_MS = { ready: 30_000, watched: 5_000 };
/** How long there is for the answer. */
const ANSWER_MS_MAX = 10_000;
/** The least from an answer to the next question, however often that is asked for. */
const REST_MS = 1_000;
/** As many as the master takes. */
const REASON_LENGTH_MAX = 256;

/** Before the first answer. */
export const NOT_ASKED: Readiness = { ok: false, reason: 'its `ready` has not answered yet' };

interface ReadinessOptions {
  /** `true`, or text that says why not. */
  readonly ready: () => true | string | Promise<true | string>;
  /** Of which the free bytes are told. */
  readonly scratchDir?: string | undefined;
  readonly clock: Clock;
  /**
   * `isNews`: whether it is ready, or why not, has changed, and not only how much disk is free.
   * `why`: what was thrown, where that is known.
   */
  readonly onChange: (now: Readiness, isNews: boolean, why: Pick<EventDraft, 'stack'>) => void;
}

export class ReadinessCheck {
  readonly #options: ReadinessOptions;
  #now = NOT_ASKED;
  #isAsking = false;
  #isWanted = false;
  #isStopped = false;
  #isBound = false;
  #restsUntil = 0;
  #callOff: () => void = () => undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Why it is not ready; null: it is. */
  get problem(): string | null {
    return this.#now.ok ? null : (this.#now.reason ?? '');
  }

  start(): void {
    void this.#check();
  }

  /** A booking has it, or no more. */
  bind(isBound: boolean): void {
    this.#isBound = isBound;
    if (isBound) this.checkSoon();
  }

  checkSoon(): void {
    if (this.#isAsking) this.#isWanted = true;
    else this.#checkAt(this.#restsUntil);
  }

  /** Nothing is asked or said any more. */
  stop(): void {
    this.#isStopped = true;
    this.#callOff();
  }

  #checkAt(at: number): void {
    this.#callOff();
    if (!this.#isStopped) this.#callOff = this.#options.clock.wakeAt(at, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { clock } = this.#options;
    this.#isAsking = true;
    this.#isWanted = false;
    this.#callOff = clock.wakeAt(clock.now() + ANSWER_MS_MAX, () =>
      this.#set({ ok: false, reason: `\`ready\` has not answered for ${ANSWER_MS_MAX / 1000} s` }),
    );
    const { now, ...why } = await answerOf(this.#options);
    this.#callOff();
    this.#isAsking = false;
    this.#set(now, why);
    this.#restsUntil = clock.now() + REST_MS;
    const everyMs = EVERY_MS[now.ok && !this.#isBound ? 'ready' : 'watched'];
    this.#checkAt(this.#isWanted ? this.#restsUntil : clock.now() + everyMs);
  }

  #set(now: Readiness, why: Pick<EventDraft, 'stack'> = {}): void {
    const { ok, reason, disk_bytes: diskBytes } = this.#now;
    const isNews = ok !== now.ok || reason !== now.reason;
    if (this.#isStopped || (!isNews && diskBytes === now.disk_bytes)) return;
    this.#now = now;
    this.#options.onChange(now, isNews, why);
  }
}

async function answerOf({
  ready,
  scratchDir,
}: ReadinessOptions): Promise<{ readonly now: Readiness; readonly stack?: string }> {
  try {
    const answer: unknown = await ready();
    if (answer === true) return { now: { ok: true, ...(await freeIn(scratchDir)) } };
    if (typeof answer === 'string') return { now: unready(answer) };
    return { now: unready(`\`ready\` answered ${typeof answer}, which is neither true nor text`) };
  } catch (error) {
    const stack = stackOf(error);
    return { now: unready(headlineOf(error)), ...(stack !== undefined && { stack }) };
  }
}

/** Rounded down: a byte more or less is no news. */
const DISK_STEP_BYTES = 2 ** 20;

async function freeIn(directory: string | undefined): Promise<Pick<Readiness, 'disk_bytes'>> {
  if (directory === undefined) return {};
  const { bavail, bsize } = await statfs(directory);
  return { disk_bytes: Math.floor((bavail * bsize) / DISK_STEP_BYTES) * DISK_STEP_BYTES };
}

function unready(reason: string): Readiness {
  return { ok: false, reason: reason.slice(0, REASON_LENGTH_MAX) };
}
