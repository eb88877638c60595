/** What tasks have used, as figures that only grow: data only. Who counts is in `count.ts`. */
import type { User } from '../model/task.ts';

/** Whose usage is told apart: in a row of a commit, which another follows; and on a day, where all who come later are one. */
export const DELTA_KEYS_MAX = 500;
export const USAGE_KEYS_MAX = 10_000;

/** As they are called in rows and reports; times are sums, in milliseconds. */
export const FIGURES = [
  'submitted',
  'succeeded',
  'failed',
  'canceled',
  'expired',
  'attempts',
  'timed_out',
  'lost',
  'wait_ms',
  'run_ms',
  'callbacks_delivered',
  'callbacks_gave_up',
] as const;
export type Figure = (typeof FIGURES)[number];
/** What is not named is 0. */
export type Figures = { [F in Figure]?: number };

/** Whose task it was, and when. */
export interface UsageKey extends User {
  /** `2026-11-22`, in the zone of reports. */
  readonly day: string;
  readonly type: string;
}

export interface UsageCount extends UsageKey {
  readonly figures: Figures;
}

/** What the keys of a day are summed up as that come after the first `USAGE_KEYS_MAX`. */
const OTHER = '(other)';

/** The place of a count among those of its namespace: equal for equal ones. */
export function usageId({ day, group, project, env, user, type }: UsageKey): string {
  return `${day}\n${group}\n${project ?? ''}\n${env ?? ''}\n${user ?? ''}\n${type}`;
}

/** What one commit adds, as one row: whoever reads it adds it up by day. */
export interface UsageDelta {
  readonly term: number;
  /** Within the term. */
  readonly number: number;
  /** By `usageId`. It grows until the turn has ended. */
  readonly counts: Map<string, UsageCount>;
}

export function addFigures(to: Figures, more: Figures): void {
  for (const name in more) {
    const figure = name as Figure;
    to[figure] = (to[figure] ?? 0) + (more[figure] ?? 0);
  }
}

/** Adds a count to those of its key. The figures that are given stay as they are. */
export function addCount(counts: Map<string, UsageCount>, { figures, ...key }: UsageCount): void {
  const id = usageId(key);
  const known = counts.get(id);
  if (known === undefined) counts.set(id, { figures: { ...figures }, ...key });
  else addFigures(known.figures, figures);
}

/** Those that are known already and the first so many that are not; all others are one, of whichever day that is. */
export function boundedTo(
  counts: ReadonlyMap<string, UsageCount>,
  known: ReadonlySet<string>,
  roomCount: number,
): Map<string, UsageCount> {
  const kept = new Map<string, UsageCount>();
  let room = roomCount;
  for (const [id, one] of counts) {
    const isKnown = known.has(id);
    if (isKnown || room > 0) addCount(kept, one);
    else
      addCount(kept, { ...one, group: OTHER, project: null, env: null, user: null, type: OTHER });
    if (!isKnown) room -= 1;
  }
  return kept;
}
