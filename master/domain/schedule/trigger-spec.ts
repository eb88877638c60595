/** What fires a job, as data: all that stands in a trigger, with what it takes from its job. JSON as it is. */

export type Misfire = 'skip' | 'once' | 'all' | 'after_current';

export type Overlap =
  | { readonly kind: 'queue' | 'queue_one' | 'skip' | 'replace' | 'allow' }
  | { readonly kind: 'max'; readonly max: number };

/** Which of its times come by themselves; `delay` and `on` come when a run ends. */
export type Timing =
  | { readonly kind: 'cron'; readonly expression: string }
  /** From `startAt`, or since it was set so (`anchorAt`): number k is k intervals later. */
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'delay'; readonly delayMs: number }
  | { readonly kind: 'at'; readonly at: number }
  /** Every so many days, beginning with that of `startAt` or `anchorAt`, at a time of day: `08:30`. */
  | { readonly kind: 'rotate'; readonly days: number; readonly time: string }
  | { readonly kind: 'on'; readonly job: string; readonly state: string };

/** Days of a calendar: its working days, those off, or both where it is null; with a label, only those that have it. */
export interface DaysOf {
  readonly calendar: string;
  readonly days: 'work' | 'off' | null;
  readonly label: string | null;
}

export interface TriggerSpec {
  /** Unique in its job. */
  readonly name: string;
  readonly timing: Timing;
  /** Of the IANA: of its cron expression, and of what counts as a day. */
  readonly zone: string;
  /** The first and, not in it, the last instant of its times. */
  readonly startAt: number | null;
  readonly endAt: number | null;
  readonly maxRuns: number | null;
  readonly jitterMs: number;
  readonly misfire: Misfire;
  readonly graceMs: number;
  readonly overlap: Overlap;
  readonly isEnabled: boolean;
  readonly onlyOn: DaysOf | null;
  readonly except: DaysOf | null;
  /** What becomes of a time on a day that is left out. */
  readonly shift: 'skip' | 'next' | 'previous';
}

/** Nothing is fired from `from` until `to`, that instant not in it. */
export interface Blackout {
  readonly from: number;
  readonly to: number;
  readonly reason: string | null;
}

/** Whether both have the same nominal times: then an edit from one to the other keeps its `anchorAt`. */
export function haveSameTimes(a: TriggerSpec, b: TriggerSpec): boolean {
  return (
    JSON.stringify([a.timing, a.zone, a.startAt]) === JSON.stringify([b.timing, b.zone, b.startAt])
  );
}
