/** Something that is in the way of work, or about to be: what, since when, how many, why, and what to do. */
import type { Facts, ObstacleReason } from '../why/asked.ts';

/** The worst first. `info`: as somebody has decided, or as it is under load. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Of tasks that wait: why the first of them does. */
export type WaitingKind = Exclude<
  ObstacleReason,
  'held' | 'suspended' | 'not_due' | 'backing_off' | 'kept'
>;

export type FindingKind =
  | WaitingKind
  | 'failing'
  | 'callbacks'
  | 'queue_full'
  | 'store_away'
  | 'starting'
  | 'shutting_down'
  | 'disk_low'
  | 'duty';

/** What the sentences say, in numbers and names. Of tasks that wait: what is known of the first of them. */
export interface FindingFacts extends Facts {
  /** Of so many of the newest attempts, or tries of callbacks, so many failed, and most of these alike. */
  readonly outcomes?: {
    readonly count: number;
    readonly failedCount: number;
    readonly alikeCount: number;
  };
  /** Callbacks that are not settled. */
  readonly pendingCount?: number;
  /** Of the disk. */
  readonly free?: { readonly bytes: number; readonly percent: number };
  /** The duty has not failed: it was not done in time. */
  readonly isOverdue?: boolean;
}

export interface Finding {
  readonly kind: FindingKind;
  readonly severity: Severity;
  /** `type/transcode`, `duty/retention`, `namespace`, `all`; null: the master. */
  readonly subject: string | null;
  readonly since: number | null;
  /** Tasks, attempts or callbacks; null: it is about none. */
  readonly count: number | null;
  /** What is so, in a sentence. */
  readonly message: string;
  /** The likeliest cause; null: the message says it. */
  readonly cause: string | null;
  /** What would help. */
  readonly advice: string;
  readonly facts: FindingFacts;
  /** One of the tasks; null: there is none, or none that is known. */
  readonly taskId: string | null;
}
