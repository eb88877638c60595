/** Progress and checkpoints of one attempt, on their way to the session. */
import { type ExecutorMessage, jsonObject, SESSION_LIMITS } from '@soda-scheduler/protocol';
import type { Progress, TaskContext } from '../task-context.ts';
import { type AttemptKey, type Limits, nameOf } from '../thread-messages.ts';
import { checkedJson } from './checked-json.ts';

const PROGRESS_INTERVAL_MS = 1_000;

type LimitsOfProgress = Pick<Limits, 'checkpoint_bytes' | 'progress_state_bytes'>;

export interface ProgressReportOptions {
  readonly limits: LimitsOfProgress;
  /** The master knows of parts, speed and time left. */
  readonly reportsParts: boolean;
  readonly send: (type: 'progress' | 'checkpoint', body: string) => void;
}

/** Sends progress now and then, the newest only. Must be closed: it may hold a timer. */
export class ProgressReport implements Pick<TaskContext, 'progress' | 'checkpoint'> {
  readonly #attempt: AttemptKey;
  readonly #options: ProgressReportOptions;
  #newest: string | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(attempt: AttemptKey, options: ProgressReportOptions) {
    this.#attempt = attempt;
    this.#options = options;
  }

  progress(given: number | Progress, state?: unknown): void {
    if (this.#isClosed) return;
    const { limits, reportsParts } = this.#options;
    const whose = nameOf(this.#attempt);
    const report = checkedProgress(whose, given, state, limits.progress_state_bytes);
    const { text, percent, ...detail } = report;
    this.#newest = this.#body({ state: text }, { percent, ...(reportsParts && detail) });
    const waitMs = this.#sentAt + PROGRESS_INTERVAL_MS - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  checkpoint(value: unknown): void {
    if (this.#isClosed) return;
    const what = `checkpoint of ${nameOf(this.#attempt)}`;
    const text = checkedJson(what, value, this.#options.limits.checkpoint_bytes) ?? 'null';
    this.#options.send('checkpoint', this.#body({ checkpoint: text }, {}));
  }

  /** The last report goes out; whatever comes later is ignored. */
  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#newest === null) return;
    this.#options.send('progress', this.#newest);
    this.#newest = null;
    this.#sentAt = performance.now();
  }

  #body(
    texts: { readonly [Key in 'state' | 'checkpoint']?: string | undefined },
    fields: Omit<CheckedProgress, 'text'>,
  ): string {
    const { taskId, attempt } = this.#attempt;
    const progress: ExecutorMessage = { type: 'progress', task_id: taskId, attempt, ...fields };
    return jsonObject(progress, texts);
  }
}

/** As the frame has it. */
interface CheckedProgress {
  readonly percent?: number | undefined;
  readonly parts?: { name: string; percent: number }[] | undefined;
  readonly speed?: number | undefined;
  readonly eta_seconds?: number | undefined;
  /** The state as JSON. */
  readonly text?: string | undefined;
}

/**
 * Numbers that are none are left out, and those that are beyond a bound are at it: they come from arithmetic.
 * @throws {TypeError} parts are no parts.
 * @throws {RangeError} too much.
 */
export function checkedProgress(
  whose: string,
  given: number | Progress,
  stateBeside: unknown,
  stateBytesMax: number,
): CheckedProgress {
  const report: Progress =
    typeof given === 'object' && given !== null ? given : { percent: given, state: stateBeside };
  const { state, speed, etaSeconds } = report;
  const text = checkedJson(`progress state of ${whose}`, state, stateBytesMax);
  const parts = checkedParts(whose, report.parts);
  const percent = within(report.percent ?? meanOf(parts), 100);
  const detail = { parts, speed: within(speed), eta_seconds: within(etaSeconds) };
  return { text, percent, ...detail };
}

function checkedParts(whose: string, parts: Progress['parts']): CheckedProgress['parts'] {
  if (parts === undefined) return undefined;
  const { progressPartCountMax, progressPartNameLengthMax, progressPartsBytesMax } = SESSION_LIMITS;
  if (!Array.isArray(parts)) throw new TypeError(`The parts of ${whose} are no array.`);
  if (parts.length > progressPartCountMax) {
    throw new RangeError(
      `There are ${parts.length} parts of ${whose}, and ${progressPartCountMax} are allowed.`,
    );
  }
  const checked = parts.map((part: Partial<NonNullable<Progress['parts']>[number]> | null) => {
    const name = part?.name;
    if (typeof name !== 'string' || name === '' || name.length > progressPartNameLengthMax) {
      const expected = `expected 1 to ${progressPartNameLengthMax} characters`;
      throw new TypeError(`A part of ${whose} has the name ${JSON.stringify(name)}: ${expected}.`);
    }
    return { name, percent: within(part?.percent, 100) ?? 0 };
  });
  checkedJson(`list of parts of ${whose}`, checked, progressPartsBytesMax);
  return checked;
}

function meanOf(parts: CheckedProgress['parts']): number | undefined {
  if (parts === undefined || parts.length === 0) return undefined;
  return parts.reduce((sum, { percent }) => sum + percent, 0) / parts.length;
}

function within(value: number | null | undefined, max = Number.MAX_VALUE): number | undefined {
  const inRange = Math.min(max, Math.max(0, value ?? Number.NaN));
  return inRange >= 0 ? inRange : undefined;
}
