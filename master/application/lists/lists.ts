/** Lists of the tasks of a namespace, for people and programs: of so many rows each, and when it is their turn. */
import { ORDERED_LANES_MAX } from '../../domain/bounds.ts';
import type { TerminalState } from '../../domain/model/task.ts';
import type { State } from '../../domain/state/state.ts';
import { lanesOf } from '../../domain/views/live.ts';
import type {
  FailurePage,
  HistoryPage,
  TaskPage,
  TaskQuery,
  TaskStore,
  WaitingPage,
  WaitingQuery,
} from '../ports.ts';

/** Rows that a page may look at for what it brings: some 15 ms of work, in pieces. */
const LOOK_COUNT = 20_000;

export type ListQuery = Omit<TaskQuery, 'lookCount'>;
export type OrderQuery = Omit<WaitingQuery, 'lanes'>;

/** Each throws `Unavailable`, also where too many ask. */
export interface ListsHandle {
  /** Newest first, as stored. A page may be short, or empty, and yet not be the last. */
  newest(query: ListQuery): Promise<TaskPage>;
  /** The same of tasks that have failed, and of each of them only why. */
  failures(query: ListQuery): Promise<FailurePage>;
  /**
   * The same of tasks that wait, by order time and acceptance; those that are held are left out. Null: too many
   * combinations of type, labels and group fit (`ORDERED_LANES_MAX`).
   */
  inOrder(query: OrderQuery): Promise<WaitingPage | null>;
  /** How many ended tasks there are in that state, `max` at most. */
  countEnded(state: TerminalState, max: number): Promise<number>;
  /** Ended tasks with their attempts, as `TaskStore.readHistory`. */
  history(...asked: Parameters<TaskStore['readHistory']>): Promise<HistoryPage>;
}

export class Lists implements ListsHandle {
  readonly #store: TaskStore;
  readonly #state: () => State;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;

  /** @param inTurn reads a page when it is its turn. */
  constructor(
    store: TaskStore,
    state: () => State,
    inTurn: <T>(work: () => Promise<T>) => Promise<T>,
  ) {
    this.#store = store;
    this.#state = state;
    this.#inTurn = inTurn;
  }

  newest(query: ListQuery): Promise<TaskPage> {
    return this.#inTurn(() => this.#store.listTasks({ ...query, lookCount: LOOK_COUNT }));
  }

  failures(query: ListQuery): Promise<FailurePage> {
    return this.#inTurn(() => this.#store.listFailures({ ...query, lookCount: LOOK_COUNT }));
  }

  inOrder(query: OrderQuery): Promise<WaitingPage | null> {
    return this.#inTurn(async () => {
      const lanes = lanesOf(this.#state(), query);
      if (lanes.length > ORDERED_LANES_MAX) return null;
      return this.#store.listWaiting({ ...query, lanes });
    });
  }

  countEnded(state: TerminalState, max: number): Promise<number> {
    return this.#inTurn(() => this.#store.countEnded(state, max));
  }

  history(...of: Parameters<TaskStore['readHistory']>): Promise<HistoryPage> {
    return this.#inTurn(() => this.#store.readHistory(...of));
  }
}
