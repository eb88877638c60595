/**
 * The core, its reads of jobs and the store in memory, without the engine's tick of a second: time jumps from one
 * thing that is due to the next. A master is killed before or after a commit at random.
 */
import { fold } from '../../../master/application/engine/fold.ts';
import { Loads } from '../../../master/application/engine/loads.ts';
import { read, readAll, stepLoaded } from '../../../master/application/engine/read.ts';
import { TriggerFaults } from '../../../master/application/jobs/trigger-faults.ts';
import type { Commit } from '../../../master/application/ports.ts';
import type { RowWrite, TableName } from '../../../master/domain/changes.ts';
import { createOutput, type Output } from '../../../master/domain/effects.ts';
import type { Event } from '../../../master/domain/events.ts';
import { numbered } from '../../../master/domain/feed/tell.ts';
import { atOnce } from '../../../master/domain/pieces.ts';
import { step } from '../../../master/domain/scheduler.ts';
import { restore } from '../../../master/domain/state/restore.ts';
import { nextWakeAt, type State } from '../../../master/domain/state/state.ts';
import { MemoryTaskStore } from '../../../master/infrastructure/memory/task-store.ts';
import { templatesIn } from '../../helpers/jobs/templates.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { testPolicy } from '../../helpers/task.ts';
import type { Random } from '../random.ts';

/** A bug, for the checks to find. */
export interface YearSabotage {
  readonly name: string;
  /** Before each read and each step. */
  readonly state?: (state: State) => void;
  readonly commit?: (commit: Commit) => Commit;
}

class Killed extends Error {}

/** Whose rows those keep who hear of commits: what the core may do to its own later must not reach them. */
const KEPT: ReadonlySet<TableName> = new Set(['occurrence', 'trigger', 'work']);

const ofThatMoment = (write: RowWrite): RowWrite =>
  KEPT.has(write.table) ? structuredClone(write) : write;

const policy = { ...testPolicy, startTimeoutMs: null };

export class YearMaster {
  readonly #store = new MemoryTaskStore();
  readonly #loads = new Loads();
  readonly #random: Random;
  readonly #committed: (commit: Commit) => void;
  readonly #sabotage: YearSabotage | undefined;
  readonly #outside = {
    store: this.#store,
    clock: Object.assign(new ManualClock(), { soon: (call: () => void) => queueMicrotask(call) }),
    templates: templatesIn(),
    faults: new TriggerFaults(),
  };
  #state: State | null = null;
  #requestCount = 0;
  killChance = 0;

  constructor(random: Random, committed: (commit: Commit) => void, sabotage?: YearSabotage) {
    this.#random = random;
    this.#committed = committed;
    this.#sabotage = sabotage;
  }

  get isAlive(): boolean {
    return this.#state !== null;
  }

  get nextAt(): number {
    return this.#state === null ? Number.POSITIVE_INFINITY : nextWakeAt(this.#state);
  }

  kill(): void {
    this.#state = null;
    this.#loads.clear();
  }

  async begin(now: number): Promise<void> {
    const began = await this.#store.takeTerm('year', now);
    const rows = await readAll(this.#store, (question) => question());
    const { state, output } = restore({
      ...began,
      ...rows,
      policy,
      now,
      seed: 1,
      pauseOfAll: null,
    });
    this.#state = state;
    await this.#alive(async () => {
      await this.#release(state, output, now);
      await this.#settle(state, now);
    });
  }

  /** What was due by then, in one turn. */
  tick(now: number): Promise<void> {
    return this.#step({ type: 'ticked', hiddenMs: 0, isBehind: false }, now);
  }

  /** A command, with all that follows from it at once. */
  tell(make: (request: number) => Event, now: number): Promise<void> {
    return this.#step(make(++this.#requestCount), now);
  }

  #step(event: Event, now: number): Promise<void> {
    return this.#alive(async (state) => {
      const output = createOutput();
      this.#sabotage?.state?.(state);
      step(state, event, now, output);
      await this.#release(state, output, now);
      await this.#settle(state, now);
    });
  }

  async #alive(work: (state: State) => Promise<void>): Promise<void> {
    if (this.#state === null) return;
    try {
      await work(this.#state);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.kill();
    }
  }

  async #settle(state: State, now: number): Promise<void> {
    while (this.#loads.size > 0) {
      for (const group of this.#loads.takeTurn()) {
        this.#sabotage?.state?.(state);
        const loaded = await read(this.#outside, state, group, now);
        const output = createOutput();
        atOnce(stepLoaded(state, loaded, now, output));
        await this.#release(state, output, now);
      }
    }
  }

  async #release(state: State, output: Output, now: number): Promise<void> {
    if (output.changes.length + output.told.length > 0) {
      if (this.#random.chance(this.killChance)) throw new Killed('before a commit');
      const folded = fold(output.changes, state, now);
      const plain = { events: numbered(state, output), ...folded };
      const commit = this.#sabotage?.commit?.(plain) ?? plain;
      this.#committed({ ...commit, writes: commit.writes.map(ofThatMoment) });
      await this.#store.commit(commit);
      if (this.#random.chance(this.killChance)) throw new Killed('behind a commit');
    }
    this.#loads.add(output.loads);
  }
}
