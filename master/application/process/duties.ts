/**
 * What this process does by itself, again and again or whenever there is a reason, and how each went the
 * last time: for whoever looks after it. Does none of it.
 */
import type { Clock, Observer } from '../ports.ts';

/** A duty that should have ended once more is overdue after this and twice its interval. */
const PATIENCE_MS = 60_000;

/** What one run came upon, and what of that it has dealt with. */
export interface Found {
  readonly foundCount: number;
  readonly doneCount: number;
}

/** How a run ended. `tookMs`: null where it was part of something else. */
export interface Run extends Found {
  readonly at: number;
  readonly tookMs: number | null;
  /** Why it failed; null: it did not. */
  readonly error: string | null;
}

export interface DutyView {
  readonly name: string;
  /** From the end of a run to the next one; null: whenever there is a reason. */
  readonly everyMs: number | null;
  /** Since the process has begun. */
  readonly runCount: number;
  readonly last: Run | null;
  readonly isOverdue: boolean;
}

export class Duty {
  readonly name: string;
  readonly everyMs: number | null;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #since: number;
  #runCount = 0;
  #last: Run | null = null;

  constructor(name: string, everyMs: number | null, clock: Pick<Clock, 'now'>) {
    this.name = name;
    this.everyMs = everyMs;
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Rejects as the work does. */
  async run(work: () => Promise<Found>): Promise<void> {
    const begun = this.#clock.now();
    const ended = (found: Found, error: string | null): void =>
      this.#note(found, this.#clock.now() - begun, error);
    try {
      ended(await work(), null);
    } catch (error) {
      ended({ foundCount: 0, doneCount: 0 }, String(error));
      throw error;
    }
  }

  /** It was done elsewhere. */
  wasDone(found: Found): void {
    this.#note(found, null, null);
  }

  view(): DutyView {
    const { name, everyMs } = this;
    const isOverdue =
      everyMs !== null &&
      this.#clock.now() - (this.#last?.at ?? this.#since) > 2 * everyMs + PATIENCE_MS;
    return { name, everyMs, runCount: this.#runCount, last: this.#last, isOverdue };
  }

  #note({ foundCount, doneCount }: Found, tookMs: number | null, error: string | null): void {
    this.#runCount += 1;
    this.#last = { at: this.#clock.now(), tookMs, foundCount, doneCount, error };
  }
}

export class Duties {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #duties: Duty[] = [];

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(name: string, everyMs: number | null): Duty {
    const duty = new Duty(name, everyMs, this.#clock);
    this.#duties.push(duty);
    return duty;
  }

  views(): readonly DutyView[] {
    return this.#duties.map((duty) => duty.view());
  }

  /** Sees what the engines do, of all namespaces together. */
  ofEngines(): Observer {
    const overdue = this.add('overdue_tasks', null);
    const rebuild = this.add('rebuild', null);
    const operations = this.add('operations', null);
    return {
      observe: (seen) => {
        if (seen.event === 'overdue_swept') overdue.wasDone(seen);
        if (seen.event === 'work_ended') {
          const { total, done, asked } = seen.work.counts;
          operations.wasDone({ foundCount: total, doneCount: done + asked });
        }
        if (seen.event !== 'restored') return;
        rebuild.wasDone({ foundCount: seen.taskCount, doneCount: seen.taskCount });
      },
      turned: () => undefined,
    };
  }
}
