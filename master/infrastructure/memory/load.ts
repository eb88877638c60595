/** How busy the types of one namespace were, in memory. */
import type {
  LoadPoint,
  LoadQuery,
  LoadSpan,
  RecentQuery,
} from '../../application/reports/load-query.ts';
import { addLoad, type Load, type LoadSample } from '../../domain/load/figures.ts';

const MINUTE_MS = 60_000;

export class MemoryLoad {
  /** By type, then by when the minute began. */
  readonly #minutes = new Map<string, Map<number, Load>>();
  readonly #hours = new Map<string, Map<number, Load>>();
  readonly #ever = new Map<string, Load>();

  add(at: number, samples: readonly LoadSample[]): void {
    for (const { type, load } of samples) {
      addLoad(placeIn(this.#minutes, type, at), load);
      addLoad(placeIn(this.#hours, type, at - (at % (60 * MINUTE_MS))), load);
      const ever = this.#ever.get(type) ?? {};
      this.#ever.set(type, ever);
      addLoad(ever, load);
    }
  }

  read({ types, span, stepMs, from, to }: LoadQuery): readonly LoadPoint[] {
    const points = new Map<number, Load>();
    for (const type of types) {
      for (const [at, load] of this.#of(span).get(type) ?? []) {
        if (at < from || at >= to) continue;
        const step = at - (at % stepMs);
        const known = points.get(step) ?? {};
        points.set(step, known);
        addLoad(known, load);
      }
    }
    return [...points].map(([at, load]) => ({ at, load })).sort((a, b) => a.at - b.at);
  }

  recent({ after, limit, among, since }: RecentQuery): readonly LoadSample[] {
    const types = [...this.#ever.keys()].filter((type) => type > after);
    const asked = types.filter((type) => among?.includes(type) ?? true).sort();
    return asked.slice(0, limit).map((type) => {
      const load: Load = {};
      for (const [at, minute] of this.#minutes.get(type) ?? []) {
        if (at >= since) addLoad(load, minute);
      }
      const { last_started_at = 0, last_ended_at = 0 } = this.#ever.get(type) ?? {};
      return { type, load: { ...load, last_started_at, last_ended_at } };
    });
  }

  drop(span: LoadSpan, before: number): number {
    let count = 0;
    for (const rows of this.#of(span).values()) {
      for (const at of rows.keys()) {
        if (at < before && rows.delete(at)) count++;
      }
    }
    if (span === 1) return count;
    for (const [type, { last_started_at = 0, last_ended_at = 0 }] of this.#ever) {
      const isQuiet = last_started_at < before && last_ended_at < before;
      if (isQuiet && this.#ever.delete(type)) count++;
    }
    return count;
  }

  #of(span: LoadSpan): ReadonlyMap<string, Map<number, Load>> {
    return span === 1 ? this.#minutes : this.#hours;
  }
}

function placeIn(spans: Map<string, Map<number, Load>>, type: string, at: number): Load {
  const rows = spans.get(type) ?? new Map<number, Load>();
  spans.set(type, rows);
  const load = rows.get(at) ?? {};
  rows.set(at, load);
  return load;
}
