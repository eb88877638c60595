/**
 * One command on many tasks: some at a time, what became of each, and a report. A task that cannot
 * be steered keeps no other from it; what would befall all the others ends the whole.
 */
import { SodaError } from '@soda-scheduler/client';
import { ExitCode, exitCodeOf, Failure } from '../exit-code.ts';
import { goOnWithoutReader, type Output } from '../output.ts';

const AT_ONCE_COUNT = 8;
/** Reasons told apart in a report. */
const REASON_COUNT_MAX = 10;

export interface Outcome {
  readonly taskId: string;
  /** Null: done. */
  readonly refusal: SodaError | null;
}

/** @throws what is no matter of one task: the token, the master being away, Ctrl-C. */
export async function eachTask(
  taskIds: Iterable<string> | AsyncIterable<string>,
  call: (taskId: string) => Promise<void>,
  tell: (outcome: Outcome) => void,
  atOnceCount = AT_ONCE_COUNT,
): Promise<void> {
  const queue = (async function* () {
    yield* taskIds;
  })();
  let isOver = false;
  goOnWithoutReader();
  const work = async (): Promise<void> => {
    try {
      for (;;) {
        const next = await queue.next();
        if (next.done === true || isOver) return;
        tell({ taskId: next.value, refusal: await refusalOf(call(next.value)) });
      }
    } finally {
      isOver = true;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnceCount }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function refusalOf(call: Promise<void>): Promise<SodaError | null> {
  try {
    await call;
    return null;
  } catch (error) {
    const isOfTask = error instanceof SodaError && error.code !== 401 && error.code !== 403;
    if (!isOfTask || exitCodeOf(error) === ExitCode.unreachable) throw error;
    return error;
  }
}

/**
 * Tasks that were named. One alone fails the command by its own words and code; of several each
 * that was refused is named, and the first decides the code.
 */
export async function steerNamed(
  output: Output,
  taskIds: readonly string[],
  done: string,
  call: (taskId: string) => Promise<void>,
  atOnceCount?: number,
): Promise<void> {
  const refusals: SodaError[] = [];
  await eachTask(
    new Set(taskIds),
    call,
    ({ taskId, refusal }) => {
      if (refusal === null) {
        output.say({ task_id: taskId, code: 200 }, `${done}: ${taskId}`);
        return;
      }
      refusals.push(refusal);
      const { code, message } = refusal;
      if (taskIds.length === 1) return;
      if (output.json) output.say({ task_id: taskId, code, message }, '');
      else output.hint(`soda: ${taskId}: ${message}`);
    },
    atOnceCount,
  );
  const [first] = refusals;
  if (first !== undefined) throw taskIds.length > 1 ? new Failure('', exitCodeOf(first)) : first;
}

/** What became of tasks that were found rather than named. */
export class Report {
  #doneCount = 0;
  #skippedCount = 0;
  #failedCount = 0;
  readonly #reasons = new Map<string, number>();

  get failedCount(): number {
    return this.#failedCount;
  }

  add({ refusal }: Outcome): void {
    if (refusal === null) {
      this.#doneCount += 1;
      return;
    }
    // It has changed since it was found.
    if (refusal.code === 404 || refusal.code === 409) this.#skippedCount += 1;
    else this.#failedCount += 1;
    const isKnown = this.#reasons.has(refusal.message);
    const reason = isKnown || this.#reasons.size < REASON_COUNT_MAX ? refusal.message : 'others';
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  /** How many, in one line. */
  get counts(): string {
    return `done ${this.#doneCount}, skipped ${this.#skippedCount}, failed ${this.#failedCount}`;
  }

  /** How many, and why some were not done. */
  print(output: Output): void {
    const reasons = [...this.#reasons].map(([message, count]) => ({ message, count }));
    if (output.json) {
      const [done, skipped, failed] = [this.#doneCount, this.#skippedCount, this.#failedCount];
      output.say({ done, skipped, failed, reasons }, '');
      return;
    }
    output.say(null, this.counts);
    for (const { message, count } of reasons) output.say(null, `${count}: ${message}`);
  }
}
