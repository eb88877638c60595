/** Operations on many tasks, put to the engine and the store. Holds no state of its own. */
import { PREVIEW_LOOK_COUNT_MAX, PREVIEW_MS_MAX } from '../../domain/bounds.ts';
import type { CommandOutcome } from '../../domain/effects.ts';
import type { Command } from '../../domain/events.ts';
import { isSeen, type Sight } from '../../domain/model/task-filter.ts';
import type { State } from '../../domain/state/state.ts';
import type { NewWork, Work } from '../../domain/long-work/work.ts';
import { searchOf } from '../engine/read-work.ts';
import type { AskedBulk, BegunBulk, BulkPreview, OperationsHandle } from './operations-handle.ts';
import type { Clock, StoredTask, TaskStore } from '../ports.ts';

/** Of what would be done, shown before it is. */
const SAMPLE_COUNT = 10;
const NOTHING_YET = { done: 0, asked: 0, skipped: 0, failed: 0 };

/** How to ask, as a master does. Each rejects where there is no answer in time. */
export interface Asking {
  readonly store: Pick<TaskStore, 'countTasks' | 'readTask'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly look: <T>(at: (state: State) => T) => Promise<T>;
  readonly search: <T>(work: () => Promise<T>) => Promise<T>;
  readonly command: (command: Command) => Promise<CommandOutcome>;
}

export class Operations implements OperationsHandle {
  readonly #asking: Asking;
  readonly #sight: Sight;

  /** @param sight of whoever asks. */
  constructor(asking: Asking, sight: Sight) {
    this.#asking = asking;
    this.#sight = sight;
  }

  secrets(): Promise<readonly string[]> {
    return this.#asking.look(({ secrets }) => secrets);
  }

  async preview({ action, filter, ids }: AskedBulk): Promise<BulkPreview> {
    const { look, search, store, clock } = this.#asking;
    const frozen = await look(({ lastSeq }) => ({ seqMax: lastSeq, endedBefore: clock.now() }));
    if (ids !== null) {
      const sample = await search(() => this.#sampleOf(ids.slice(0, SAMPLE_COUNT)));
      return { ...frozen, count: ids.length, isExact: true, sample };
    }
    const question = searchOf({ action, filter, within: this.#sight, ...frozen });
    const limits = { lookMax: PREVIEW_LOOK_COUNT_MAX, msMax: PREVIEW_MS_MAX };
    const found = await search(() =>
      store.countTasks(question, { ...limits, sampleCount: SAMPLE_COUNT }),
    );
    const sample = found.sample.filter(({ task }) => isSeen(task, this.#sight));
    return { ...frozen, ...found, sample };
  }

  async #sampleOf(ids: readonly string[]): Promise<StoredTask[]> {
    const sample: StoredTask[] = [];
    for (const id of ids) {
      const stored = await this.#asking.store.readTask(id);
      if (stored !== null && isSeen(stored.task, this.#sight)) sample.push(stored);
    }
    return sample;
  }

  begin(workId: string, asked: AskedBulk & BegunBulk): Promise<CommandOutcome> {
    const { action, filter, ids, change, reason, by, seqMax, endedBefore, count, isExact } = asked;
    const frozen = { seqMax, endedBefore, within: this.#sight };
    const work: NewWork = {
      id: workId,
      kind: 'bulk',
      request: { action, filter, change, reason, ...frozen },
      ids,
      cursor: null,
      state: 'running',
      counts: { total: count, ...NOTHING_YET },
      isExact,
      problems: [],
      by,
      endedAt: null,
    };
    return this.#asking.command({ type: 'workRequested', work });
  }

  async all(): Promise<readonly Work[]> {
    const works = await this.#asking.look((state) => [...state.works.byId.values()]);
    return works.filter((work) => this.#sees(work)).reverse();
  }

  async of(workId: string): Promise<Work | null> {
    const work = await this.#asking.look(({ works }) => works.byId.get(workId));
    return work !== undefined && this.#sees(work) ? work : null;
  }

  async steer(workId: string, to: 'running' | 'paused' | 'canceled'): Promise<CommandOutcome> {
    if ((await this.of(workId)) === null) {
      return { kind: 'unknown', message: 'There is no such operation.' };
    }
    return this.#asking.command({ type: 'workSteered', workId, to });
  }

  /** What was begun by somebody who may touch more names what this one may not see. */
  #sees({ request: { within } }: Work): boolean {
    const isIn = (some: readonly string[] | null, all: readonly string[] | null): boolean =>
      all === null || (some?.every((one) => all.includes(one)) ?? false);
    return isIn(within.groups, this.#sight.groups) && isIn(within.types, this.#sight.types);
  }
}
