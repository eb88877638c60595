/** What holds of every offer, and of tasks that nobody started in time, by the rows as they were before it was made. */
import type { Commit } from '../../../master/application/ports.ts';
import type { Policy } from '../../../master/domain/state/policy.ts';
import { NO_SETTINGS, type Settings } from '../../../master/domain/state/state.ts';
import {
  isStartOverdue,
  startLimitOf,
  type Task,
  isAtRest,
} from '../../../master/domain/model/task.ts';
import { NO_OVERRIDE, type Override, pinOf } from '../../../master/domain/model/executor.ts';
import type { BookingChecks } from './bookings/rows.ts';
import { PauseChecks } from './pauses.ts';
import { SharedLimitChecks } from './shared-limits.ts';
import { type Span, TypeChecks } from './type-limits.ts';
import type { World } from '../world.ts';

/** To one executor within a second: what ends an attempt so fast is answered with a wait. */
const OFFER_COUNT_MAX = 10;

/** What an executor says of itself: the same in all processes of its id. */
export interface SelfPortrait {
  readonly id: string;
  readonly types: readonly string[];
  readonly labels: readonly string[];
  readonly reserve: readonly string[];
}

export class OfferChecks {
  readonly #world: World;
  /** Instants of late at which a task was offered to an executor. */
  readonly #offersOf = new Map<string, number[]>();
  /** Since when executors are drained. */
  readonly #drained = new Map<string, number>();
  /** Those that were drained before this commit, and still are after it. */
  #outOfWork = new Set<string>();
  readonly #kinds = new Map<string, SelfPortrait>();
  /** What operators have set in place of that. */
  readonly #overrides = new Map<string, Override>();
  /** Executors of which this commit changes what operators have decided. */
  #decided = new Set<string>();
  /** Tasks of which this commit says that they had started, which their rows need not know. */
  #started = new Set<number>();
  #settings = NO_SETTINGS;
  /** By this commit, perhaps more than once: what was offered in between may have been allowed. */
  #isSettingNow = false;
  #pausedSince: number | null = null;
  readonly #pauses: Span[] = [];
  readonly types: TypeChecks;
  readonly limits: SharedLimitChecks;
  readonly pauses: PauseChecks;
  readonly #bookings: BookingChecks;
  /** Since when the start timeouts of tasks count: from when they were due. */
  readonly #countsSince = new Map<number, number>();
  #offerCount = 0;
  /** Of the params of the tasks that are offered by this commit. */
  #offeredBytesMax = 0;
  readonly #runningBytesMax: number;

  constructor(world: World, { runningBytesMax }: Policy, bookings: BookingChecks) {
    this.#world = world;
    this.#bookings = bookings;
    this.types = new TypeChecks(world);
    this.limits = new SharedLimitChecks(world);
    this.pauses = new PauseChecks(world);
    this.#runningBytesMax = runningBytesMax;
  }

  get settings(): Settings {
    return this.#settings;
  }

  know(kind: SelfPortrait): void {
    this.#kinds.set(kind.id, kind);
  }

  /** Before the tasks of the commit. */
  begin(commit: Commit): void {
    const { writes, settings, now } = commit;
    this.limits.begin(commit);
    this.pauses.begin(commit);
    this.#bookings.begin(commit);
    this.#offerCount = 0;
    this.#offeredBytesMax = 0;
    this.#isSettingNow = settings !== undefined;
    if (settings !== undefined) this.#set(settings, now);
    this.#started = new Set();
    this.#decided = new Set();
    const before = new Map(this.#drained);
    for (const write of writes) {
      if (write.table === 'attempt' && write.op === 'insert' && write.row.startedAt !== null) {
        this.#started.add(write.row.taskSeq);
      }
      if (write.table !== 'executor') continue;
      const drainedAt = write.op === 'put' ? write.row.drainedAt : null;
      if (drainedAt === null) this.#drained.delete(write.key);
      else this.#drained.set(write.key, drainedAt);
      this.#decided.add(write.key);
      this.#overrides.set(write.key, write.op === 'put' ? write.row : NO_OVERRIDE);
    }
    const same = [...before].filter(([id, drainedAt]) => this.#drained.get(id) === drainedAt);
    this.#outOfWork = new Set(same.map(([id]) => id));
  }

  #set(settings: Settings, now: number): void {
    this.#settings = settings;
    if (settings.paused !== null) this.#pausedSince ??= now;
    else if (this.#pausedSince !== null) {
      this.#pauses.push({ from: this.#pausedSince, until: now });
      this.#pausedSince = null;
    }
  }

  /** Every row that is written. */
  written(task: Task, before: Task | undefined): void {
    // What only has time credited goes on counting from where it did.
    const isNew = task.startBy === startLimitOf(task, task.dueAt);
    if (task.startBy !== null && task.startBy !== before?.startBy && isNew) {
      this.#countsSince.set(task.seq, task.dueAt);
    }
  }

  check(task: Task, before: Task | undefined): void {
    this.#offerCount++;
    this.types.offered(task);
    this.pauses.offered(task);
    this.#bookings.offered(task);
    this.#offeredBytesMax = Math.max(this.#offeredBytesMax, task.params.length);
    const { id, offeredAt, executorId } = task;
    this.limits.offered(task, this.#labelsOf(executorId));
    const { now } = this.#world;
    if (this.#settings.paused !== null && !this.#isSettingNow) {
      this.#world.violate('I18', `${id} is offered, and everything is paused`);
    }
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
    this.#checkLabels(task);
  }

  /** Those that count; null: they are not known, or are set by this very commit. */
  #labelsOf(executorId: string | null): readonly string[] | null {
    const kind = this.#kinds.get(executorId ?? '');
    if (kind === undefined || this.#decided.has(kind.id)) return null;
    return this.#overrides.get(kind.id)?.labels ?? kind.labels;
  }

  /** What was decided in this very commit may have come before the offer, or after it. */
  #checkLabels({ id, type, requires, labels, executorId }: Task): void {
    const kind = this.#kinds.get(executorId ?? '');
    if (kind === undefined || this.#decided.has(kind.id)) return;
    const override = this.#overrides.get(kind.id) ?? NO_OVERRIDE;
    // The label that names it it has by itself.
    const had = [...(override.labels ?? kind.labels), pinOf(kind.id)];
    const reserve = override.reserve ?? kind.reserve;
    const isAllowed =
      kind.types.includes(type) &&
      requires.every((label) => had.includes(label)) &&
      reserve.every((label) => labels.includes(label));
    if (isAllowed) return;
    const what = JSON.stringify({ type, requires, labels });
    const whose = JSON.stringify({ types: kind.types, labels: had, reserve });
    this.#world.violate('I20', `${id}, ${what}, is offered to ${kind.id}, ${whose}`);
  }

  /** I19 and I21, after the tasks of the commit: no more than may are with executors, nor hold more. */
  end(live: readonly Task[]): void {
    this.limits.end(this.types.heldNames(live));
    this.#bookings.end(live);
    if (this.#offerCount === 0) return;
    this.types.end(live);
    let openCount = 0;
    let bytes = 0;
    for (const { state, params } of live) {
      if (isAtRest({ state })) continue;
      openCount++;
      bytes += params.length;
    }
    // The last one was offered while the others held less; their checkpoints and errors come on top.
    if (bytes - this.#offeredBytesMax >= this.#runningBytesMax) {
      this.#world.violate('I21', `${bytes} bytes run, and ${this.#runningBytesMax} may`);
    }
    const { maxRunning } = this.#settings;
    if (maxRunning !== null && openCount > maxRunning && !this.#isSettingNow) {
      this.#world.violate('I19', `${openCount} are with executors, and ${maxRunning} may be`);
    }
  }

  /** Had it started, was it told to run at another time, or all over again, in this very commit? */
  #hasNewLimit({ seq, dueAt }: Task, before: Task): boolean {
    return (
      this.#started.has(seq) ||
      (isAtRest(before) && before.dueAt !== dueAt) ||
      before.state === 'suspended'
    );
  }

  /** T6: it had a limit for its start, that has passed, and nobody was running it. */
  checkEnd(task: Task, before: Task | undefined): void {
    const { id, seq, finishedAt, failureReason, startTimeoutMs } = task;
    if (failureReason !== 'not_started') return;
    const since = this.#countsSince.get(seq);
    // By a clock that was set nobody can say how long that was.
    if (since !== undefined && before !== undefined && this.#world.wallsMs.length === 1) {
      const waitedMs = this.#unpausedMs(task, since, finishedAt ?? 0);
      if (waitedMs < (startTimeoutMs ?? 0)) {
        this.#world.violate('T6', `${id} had ${waitedMs} of ${startTimeoutMs} ms to be started`);
      }
    }
    const isOver = before === undefined || isStartOverdue(before, finishedAt ?? 0);
    if (isOver && before?.state !== 'running') return;
    this.#world.violate('T6', `${id} was not started by ${before?.startBy}, it is ${finishedAt}`);
  }

  #unpausedMs(task: Task, from: number, until: number): number {
    const last = { from: this.#pausedSince ?? until, until };
    const ofSome = [...this.types.pausesOf(task.type), ...this.pauses.of(task)];
    const pauses = [...this.#pauses, last, ...ofSome];
    let ms = 0;
    let at = from;
    // What both of them cover is left out once.
    for (const pause of pauses.sort((a, b) => a.from - b.from)) {
      ms += Math.max(0, Math.min(pause.from, until) - at);
      at = Math.max(at, Math.min(pause.until, until));
    }
    return ms + until - at;
  }
}
