/** What reports say of a namespace, from what was counted while it happened: nothing here counts tasks. */
import { dayOf } from '../../domain/usage/day.ts';
import type { LoadCounter } from '../../domain/load/counter.ts';
import { addLoad, ALL_TYPES, type Load, type LoadSample } from '../../domain/load/figures.ts';
import { addFigures } from '../../domain/usage/usage.ts';
import type { State } from '../../domain/state/state.ts';
import { starting } from '../master-handle.ts';
import type { Clock, TaskStore } from '../ports.ts';
import { letOthers } from '../turnstile.ts';
import {
  type DaySum,
  type LoadAsked,
  type LoadSeries,
  type Recent,
  REPORT_ROWS_MAX,
  type ReportsHandle,
  ReportTooLong,
  type UsageAsked,
} from './reports-handle.ts';
import { LOAD_MINUTE_DAYS, type RecentQuery } from './load-query.ts';

/** Sums of a day that are added up at once. */
const TURN_COUNT = 500;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Spans that are told minute by minute, and hour by hour: some 1,500 points at most. */
const MINUTES_MS_MAX = 25 * HOUR_MS;
const HOURS_MS_MAX = 62 * DAY_MS;
/** No type comes before it, and none is all of them, or the others. */
const BEFORE_TYPES = ')';

interface Counted {
  readonly engine: { readonly state: State | null };
  readonly store: Pick<TaskStore, 'foldUsage' | 'readUsage' | 'readLoad' | 'readRecent'>;
  /** Of this namespace; absent: nobody counts. */
  readonly load?: Pick<LoadCounter, 'counted'>;
  readonly clock: Clock;
}

/** `gone`: nobody waits for it any more. */
type InTurn = <T>(work: (gone: AbortSignal) => Promise<T>) => Promise<T>;

export class Reports implements ReportsHandle {
  readonly #of: Counted;
  readonly #inTurn: InTurn;

  /** @param inTurn reads a report when it is its turn. */
  constructor(of: Counted, inTurn: InTurn) {
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

  get now(): number {
    return this.#of.clock.now();
  }

  load({ types, from, to }: LoadAsked): Promise<LoadSeries> {
    const { store } = this.#of;
    const isShort = to - from <= MINUTES_MS_MAX && this.now - from <= LOAD_MINUTE_DAYS * DAY_MS;
    const hourly = to - from <= HOURS_MS_MAX ? HOUR_MS : DAY_MS;
    const stepMs = isShort ? MINUTE_MS : hourly;
    const span = isShort ? 1 : 60;
    // Whole points: one that has begun before belongs to it.
    const range = { span, stepMs, from: from - (from % stepMs), to } as const;
    return this.#inTurn(async () => {
      // There is one of all types for each minute in which there was a master.
      const all = await store.readLoad({ ...range, types: [ALL_TYPES] });
      const some = types && (await store.readLoad({ ...range, types }));
      const loads = new Map((some ?? all).map(({ at, load }) => [at, load]));
      const points = all.map(({ at, load: { samples = 1 } }) => {
        return { at, sampleCount: samples, load: loads.get(at) ?? {} };
      });
      return { stepMs, points };
    });
  }

  async recent(asked: Omit<RecentQuery, 'since'>): Promise<Recent> {
    const { store, load } = this.#of;
    const thisMinute = this.now - (this.now % MINUTE_MS);
    const since = thisMinute - HOUR_MS;
    const after = asked.after < BEFORE_TYPES ? BEFORE_TYPES : asked.after;
    const query = { ...asked, after, since };
    const written = await this.#inTurn(() => store.readRecent(query));
    const loads = new Map<string, Load>(written.map(({ type, load }) => [type, { ...load }]));
    for (const [type, counted] of load?.counted ?? []) {
      if (type <= after || asked.among?.includes(type) === false) continue;
      const known = loads.get(type) ?? {};
      loads.set(type, known);
      addLoad(known, counted);
    }
    const types = [...loads].map(([type, load]): LoadSample => ({ type, load }));
    types.sort((a, b) => (a.type < b.type ? -1 : 1));
    return { since, types: types.slice(0, asked.limit) };
  }

  async usage(asked: UsageAsked): Promise<readonly DaySum[]> {
    // Outside of what is waited for: it is no fault of the store.
    const found = await this.#inTurn((gone) => this.#usage(asked, gone));
    if (found === null) throw new ReportTooLong();
    return [...found.values()];
  }

  /** Null: there are too many. */
  async #usage(
    { days, isByDay, ...query }: UsageAsked,
    gone: AbortSignal,
  ): Promise<Map<string, DaySum> | null> {
    const { store, clock } = this.#of;
    let count = 0;
    await store.foldUsage();
    const sums = new Map<string, DaySum>();
    for (const day of days) {
      gone.throwIfAborted();
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
