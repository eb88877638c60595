/** What holds of every offer, and of tasks that nobody started in time, by the rows as they were before it was made. */
import type { Commit } from '../../master/application/ports.ts';
import { isStartOverdue, type Task } from '../../master/domain/task.ts';
import type { World } from './world.ts';

/** To one executor within a second: what ends an attempt so fast is answered with a wait. */
const OFFER_COUNT_MAX = 10;

export class OfferChecks {
  readonly #world: World;
  /** Instants of late at which a task was offered to an executor. */
  readonly #offersOf = new Map<string, number[]>();
  /** Since when executors are drained. */
  readonly #drained = new Map<string, number>();
  /** Those that were drained before this commit, and still are after it. */
  #outOfWork = new Set<string>();
  /** Tasks of which this commit says that they had started, which their rows need not know. */
  #started = new Set<number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Before the tasks of the commit. */
  begin({ writes }: Commit): void {
    this.#started = new Set();
    const before = new Map(this.#drained);
    for (const write of writes) {
      if (write.table === 'attempt' && write.op === 'insert' && write.row.startedAt !== null) {
        this.#started.add(write.row.taskSeq);
      }
      if (write.table !== 'executor') continue;
      const drainedAt = write.op === 'put' ? write.row.drainedAt : null;
      if (drainedAt === null) this.#drained.delete(write.key);
      else this.#drained.set(write.key, drainedAt);
    }
    const same = [...before].filter(([id, drainedAt]) => this.#drained.get(id) === drainedAt);
    this.#outOfWork = new Set(same.map(([id]) => id));
  }

  check(task: Task, before: Task | undefined): void {
    const { id, offeredAt, executorId } = task;
    const { now } = this.#world;
    // What the master makes of the deadline is another matter.
    const deadlineAt = before?.deadlineAt ?? null;
    if (deadlineAt !== null && deadlineAt <= (offeredAt ?? 0)) {
      this.#world.violate('T2', `${id} is offered at ${offeredAt}, past its deadline`);
    }
    const isLate = before !== undefined && isStartOverdue(before, offeredAt ?? 0);
    if (isLate && !this.#hasNewLimit(task, before)) {
      this.#world.violate('T2', `${id} is offered at ${offeredAt}, past the limit for its start`);
    }
    const pair = `${id} ${executorId}`;
    const recent = (this.#offersOf.get(pair) ?? []).filter((at) => at > now - 1_000);
    this.#offersOf.set(pair, [...recent, now]);
    if (recent.length >= OFFER_COUNT_MAX) {
      this.#world.violate(
        'T3',
        `${id} was offered to ${executorId} ${recent.length} times a second`,
      );
    }
    if (this.#outOfWork.has(executorId ?? '')) {
      this.#world.violate('I16', `${id} is offered to ${executorId}, which is drained`);
    }
  }

  /** Had it started, was it told to run at another time, or all over again, in this very commit? */
  #hasNewLimit({ seq, dueAt }: Task, before: Task): boolean {
    return this.#started.has(seq) || (before.state === 'waiting' && before.dueAt !== dueAt);
  }

  /** T6: it had a limit for its start, that has passed, and nobody was running it. */
  checkEnd({ id, finishedAt, failureReason }: Task, before: Task | undefined): void {
    if (failureReason !== 'not_started') return;
    const isOver = before === undefined || isStartOverdue(before, finishedAt ?? 0);
    if (isOver && before?.state !== 'running') return;
    this.#world.violate('T6', `${id} was not started by ${before?.startBy}, it is ${finishedAt}`);
  }
}
