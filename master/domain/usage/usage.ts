/** What tasks have used, as figures that only grow: data only. Who counts is in `count.ts`. */
import type { User } from '../model/task.ts';

/** Whose usage is told apart in a row of a commit, which another follows. */
export const DELTA_KEYS_MAX = 500;
/**
 * And on a day: a group has as many keys as it leaves free of these, and so many whatever others have, up to so many of
 * all groups together. What is beyond that of a group is one, and of groups that have none.
 */
export const USAGE_KEYS_MAX = 10_000;
export const GROUP_KEYS_MIN = 100;
export const DAY_KEYS_MAX = 2 * USAGE_KEYS_MAX;

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
  'booked_idle_ms',
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

/** What is not told apart. */
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

/** Keys that a day has. */
export interface UsageTaken {
  readonly count: number;
  /** Of groups that have some. */
  readonly ofGroups: ReadonlyMap<string, number>;
}

/** Whether there is room for so many more on a day, whichever groups have what it has. */
export function hasRoomFor(moreCount: number, { count }: Pick<UsageTaken, 'count'>): boolean {
  return 2 * (count + moreCount) <= USAGE_KEYS_MAX;
}

/** Those that are known already, and of each group what it has room for; all others of a group are one. */
export function boundedTo(
  counts: ReadonlyMap<string, UsageCount>,
  known: ReadonlySet<string>,
  taken: UsageTaken,
): Map<string, UsageCount> {
  const kept = new Map<string, UsageCount>();
  const ofGroups = new Map(taken.ofGroups);
  let { count } = taken;
  for (const [id, one] of counts) {
    const ownCount = ofGroups.get(one.group) ?? 0;
    const isNew = !known.has(id);
    if (isNew && !(count < DAY_KEYS_MAX && ownCount < shareOf(count))) {
      addCount(kept, otherOf(one, ownCount > 0));
      continue;
    }
    addCount(kept, one);
    if (!isNew) continue;
    count += 1;
    ofGroups.set(one.group, ownCount + 1);
  }
  return kept;
}

function shareOf(takenCount: number): number {
  return Math.max(GROUP_KEYS_MIN, USAGE_KEYS_MAX - takenCount);
}

/** A group that has keys has one more for this: they are twice as many as keys at the most. */
function otherOf(one: UsageCount, hasKeys: boolean): UsageCount {
  const rest = { project: null, env: null, user: null, type: OTHER };
  return { ...one, ...rest, group: hasKeys ? one.group : OTHER };
}
