/** What reports say of a namespace, from what was counted while it happened: nothing here counts tasks. */
import { dayOf } from '../../domain/usage/day.ts';
import { addFigures } from '../../domain/usage/usage.ts';
import type { State } from '../../domain/state/state.ts';
import { starting } from '../master-handle.ts';
import type { Clock, TaskStore } from '../ports.ts';
import { letOthers } from '../turnstile.ts';
import {
  type DaySum,
  REPORT_ROWS_MAX,
  type ReportsHandle,
  ReportTooLong,
  type UsageAsked,
} from './reports-handle.ts';

/** Sums of a day that are added up at once. */
const TURN_COUNT = 500;

interface Counted {
  readonly engine: { readonly state: State | null };
  readonly store: Pick<TaskStore, 'foldUsage' | 'readUsage'>;
  readonly clock: Clock;
}

export class Reports implements ReportsHandle {
  readonly #of: Counted;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;

  /** @param inTurn reads a report when it is its turn. */
  constructor(of: Counted, inTurn: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#of = of;
    this.#inTurn = inTurn;
  }

  get zone(): string {
    const { state } = this.#of.engine;
    if (state === null) throw starting();
    return state.policy.reportZone;
  }

  get today(): string {
    return dayOf(this.zone, this.#of.clock.now());
  }

  async usage(asked: UsageAsked): Promise<readonly DaySum[]> {
    // Outside of what is waited for: it is no fault of the store.
    const found = await this.#inTurn(() => this.#usage(asked));
    if (found === null) throw new ReportTooLong();
    return [...found.values()];
  }

  /** Null: there are too many. */
  async #usage({ days, isByDay, ...query }: UsageAsked): Promise<Map<string, DaySum> | null> {
    const { store, clock } = this.#of;
    let count = 0;
    await store.foldUsage();
    const sums = new Map<string, DaySum>();
    for (const day of days) {
      for (const { values, figures } of await store.readUsage({ ...query, day })) {
        const key = JSON.stringify([isByDay ? day : null, ...values]);
        const sum = sums.get(key);
        if (sum === undefined) sums.set(key, { day: isByDay ? day : null, values, figures });
        else addFigures(sum.figures, figures);
        if (sums.size > REPORT_ROWS_MAX) return null;
        // A day may have thousands: others have their turn.
        if (++count % TURN_COUNT === 0) await letOthers(clock);
      }
    }
    return sums;
  }
}
