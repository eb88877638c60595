/**
 * What holds of logs, at each write of them.
 *
 * G1: a line is kept under the number that it had when it was said, once, and of the attempt that said it. So
 * whatever is missing is counted.
 *
 * G2: without a fault to explain it nothing is missing, but what there is no room for: of that the first lines and
 * the last ones are there.
 *
 * G3: without such a fault the end of a log is there by two seconds after the end of its attempt.
 *
 * G4: the commit that ends an attempt by the word of its executor says how many lines it has logged, so that whatever is
 * missing of its end is known too.
 */
import type { AttemptKey } from '../../../../executor-sdk/thread-messages.ts';
import type { Commit, LogWrite } from '../../../../master/application/ports.ts';
import type { Faults } from '../../faults.ts';
import type { Ledger } from '../../ledger.ts';
import type { World } from '../../world.ts';

/** That are kept of an attempt: so few that some do not fit. */
export const LOG_BYTES_MAX = 4_096;
const LATE_MS_MAX = 2_000;
/** So that some lines do not fit into what is kept. */
const PADDING = '.'.repeat(60);
/** What is kept beside the text of a line, and more. */
const AROUND_BYTES = 45;

export class LogChecks {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #faults: Faults;
  /** Lines that were said, by attempt, as `12/1`: of task 12, since ids come again once a task is deleted. */
  readonly #saidCounts = new Map<string, number>();
  /** Numbers of the lines of each chunk, by attempt and the number of the first. */
  readonly #kept = new Map<string, Map<number, readonly number[]>>();
  /** As they are kept, or a little more. */
  readonly #saidBytes = new Map<string, number>();

  constructor(world: World, ledger: Ledger, faults: Faults) {
    this.#world = world;
    this.#ledger = ledger;
    this.#faults = faults;
  }

  /** A handler is about to say a line: its text. */
  says({ taskId, attempt }: AttemptKey): string {
    const name = `${this.#ledger.rowOf(taskId)?.seq}/${attempt}`;
    const count = (this.#saidCounts.get(name) ?? 0) + 1;
    this.#saidCounts.set(name, count);
    const text = `${name} ${count} ${PADDING}`;
    this.#saidBytes.set(name, (this.#saidBytes.get(name) ?? 0) + text.length + AROUND_BYTES);
    return text;
  }

  /** The store has it, whatever the master will hear of that. */
  written(writes: readonly LogWrite[]): void {
    for (const { taskSeq, attempt, put, remove } of writes) {
      const task = this.#ledger.live.get(taskSeq) ?? this.#ledger.history.get(taskSeq);
      // Of a task that was deleted nothing is kept.
      if (task === undefined) continue;
      const name = `${taskSeq}/${attempt}`;
      const chunks = this.#kept.get(name) ?? new Map<number, readonly number[]>();
      this.#kept.set(name, chunks);
      for (const n of remove) chunks.delete(n);
      for (const { n, text } of put) chunks.set(n, this.#linesOf(name, text));
      this.#checkOrder(name, chunks);
      this.#checkTime(task.id, attempt);
    }
  }

  /** A result is durable. */
  committed({ writes }: Commit): void {
    const told = new Map<string, number>();
    for (const write of writes) {
      if (write.table !== 'logEnd' || write.op !== 'insert') continue;
      const { taskSeq, attempt, lineCount } = write.row;
      told.set(`${taskSeq}/${attempt}`, lineCount);
    }
    for (const write of writes) {
      if (write.table !== 'history' || write.op !== 'insert') continue;
      const { seq, attempt, state } = write.row.task;
      const name = `${seq}/${attempt}`;
      if (state === 'succeeded') told.set(name, told.get(name) ?? 0);
    }
    for (const [name, count] of told) {
      const said = this.#saidCounts.get(name) ?? 0;
      if (count === said) continue;
      this.#world.violate('G4', `${name} ends with ${count} lines, and has said ${said}`);
    }
  }

  /** In the calm, when all has come that is to come. */
  checkEnd(): void {
    if (this.#faults.mayLoseExecutors) return;
    for (const [name, count] of this.#saidCounts) {
      const [seq, attempt] = name.split('/').map(Number);
      const task = this.#ledger.live.get(seq ?? 0) ?? this.#ledger.history.get(seq ?? 0);
      if (task?.attempt !== attempt) continue;
      const kept = numbersIn(this.#kept.get(name));
      const isWhole = kept.length === count;
      const isCut = (this.#saidBytes.get(name) ?? 0) > LOG_BYTES_MAX;
      const hasEnds = kept[0] === 1 && kept.at(-1) === count;
      if (isWhole || (isCut && hasEnds)) continue;
      this.#world.violate(
        'G2',
        `${name} has said ${count} lines, and these are kept: ${kept.join(', ')}`,
      );
    }
  }

  #linesOf(name: string, text: string): readonly number[] {
    return text.split('\n').map((line) => {
      const [n, , , , said] = JSON.parse(line) as [number, number, string, string, string];
      if (!said.startsWith(`${name} ${n} `)) {
        this.#world.violate('G1', `line ${n} of ${name} is what was said as ${said}`);
      }
      return n;
    });
  }

  #checkOrder(name: string, chunks: ReadonlyMap<number, readonly number[]>): void {
    const numbers = numbersIn(chunks);
    const isInOrder = numbers.every((n, index) => index === 0 || n > (numbers[index - 1] ?? 0));
    if (!isInOrder) this.#world.violate('G1', `lines of ${name} are kept as ${numbers.join(', ')}`);
  }

  #checkTime(taskId: string, attempt: number): void {
    const endedAt = this.#ledger.endedAt(taskId, attempt);
    if (endedAt === undefined || this.#faults.mayLoseExecutors) return;
    const lateMs = this.#world.now - endedAt;
    if (lateMs <= LATE_MS_MAX) return;
    this.#world.violate('G3', `${taskId}/${attempt} is logged ${lateMs} ms after its end`);
  }
}

function numbersIn(chunks: ReadonlyMap<number, readonly number[]> = new Map()): number[] {
  return [...chunks].sort(([a], [b]) => a - b).flatMap(([, lines]) => lines);
}
