/**
 * What handlers run, in whatever process: that it was offered, that it is the only one in its
 * process, and that no two attempts of a task run at one time.
 */
import type { Faults } from '../faults.ts';
import type { Process, World } from '../world.ts';

/** Half of a lease's margin: what an executor has on waking to end what it has lost in. */
const LEASE_GRACE_MS = 1_000;

/** A frame that was on its way when an attempt ended has arrived after this, without faults. */
const START_DELAY_MS_MAX = 1_000;

/** One attempt, from when its handler begins until nothing of it runs any more. */
export interface Child {
  readonly taskId: string;
  readonly attempt: number;
  readonly process: Process;
  readonly isRogue: boolean;
}

/** What was committed. */
interface Rows {
  wasOffered(taskId: string, attempt: number): boolean;
  endedAt(taskId: string, attempt: number): number | undefined;
  outcomeOf(taskId: string, attempt: number): string | undefined;
}

export class Children {
  readonly #world: World;
  readonly #faults: Faults;
  readonly #rows: Rows;
  readonly #running = new Set<Child>();
  /** Since when the sessions count that say how long an attempt has run. */
  readonly #beganAt = new Map<string, number>();

  constructor(world: World, faults: Faults, rows: Rows) {
    this.#world = world;
    this.#faults = faults;
    this.#rows = rows;
  }

  get count(): number {
    return this.#running.size;
  }

  /** The session has told the handler to begin: the two are threads, and the handler may start later. */
  counted({ taskId, attempt }: Pick<Child, 'taskId' | 'attempt'>): void {
    this.#beganAt.set(`${taskId}/${attempt}`, this.#world.now);
  }

  started(
    process: Process,
    { taskId, attempt }: Pick<Child, 'taskId' | 'attempt'>,
    { isRogue }: Pick<Child, 'isRogue'>,
  ): Child {
    const name = `${taskId}/${attempt}`;
    const { now } = this.#world;
    this.#world.log(`${process.name} starts ${name}`);
    if (!this.#rows.wasOffered(taskId, attempt)) {
      this.#world.violate('I12', `${process.name} starts ${name}, never offered`);
    }
    const endedAt = this.#rows.endedAt(taskId, attempt) ?? now;
    if (now - endedAt > START_DELAY_MS_MAX && !this.#faults.mayDelayFrames) {
      this.#world.violate('I14', `${process.name} starts ${name} after its end`);
    }
    const child: Child = { taskId, attempt, process, isRogue };
    for (const other of this.#running) {
      if (other.process === process) {
        this.#world.violate('I7', `${process.name} runs ${other.taskId} and starts ${taskId}`);
      }
      const isAlone = other.taskId !== taskId || other.isRogue || isRogue;
      if (!isAlone) this.#checkOverlap(other, child);
    }
    this.#running.add(child);
    return child;
  }

  ended(child: Child, how: string): void {
    if (!this.#running.delete(child)) return;
    this.#world.log(`${child.process.name} ends ${child.taskId}/${child.attempt}: ${how}`);
  }

  /** How long its session has counted at most, had it gone on; null: it does not say. */
  ranMsAt(now: number, taskId: string, attempt: number): number | null {
    const beganAt = this.#beganAt.get(`${taskId}/${attempt}`);
    return beganAt === undefined ? null : now - beganAt;
  }

  /**
   * Two attempts of a task at one time (P5). The older one must have been given up by the master,
   * and its process have stood still: then it could not end it.
   */
  #checkOverlap(known: Child, begun: Child): void {
    const older = known.attempt < begun.attempt ? known : begun;
    const outcome = this.#rows.outcomeOf(older.taskId, older.attempt);
    // It ends what it runs as soon as it goes on, within that moment.
    const { isPaused, resumedAt } = older.process;
    const stood = isPaused || this.#world.now - resumedAt <= LEASE_GRACE_MS;
    if (known.attempt !== begun.attempt && outcome !== undefined && stood) return;
    const who = `${known.process.name} runs ${known.taskId}/${known.attempt}`;
    const why = `${older.attempt} ${outcome === undefined ? 'has not ended' : `is ${outcome}`}`;
    const what = `${begun.process.name} starts attempt ${begun.attempt}`;
    this.#world.violate('P5', `${who}, and ${what}: ${why}`);
  }
}
