/** Something that is in the way of work, or about to be: what, since when, how many, why, and what to do. */
import type { Facts, RefusalReason } from '../why/asked.ts';

/** The worst first. `info`: as somebody has decided, or as it is under load. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Of tasks that wait: why the first of them does. */
export type WaitingKind = Exclude<
  RefusalReason,
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
  readonly facts: Facts;
  /** One of the tasks; null: there is none, or none that is known. */
  readonly taskId: string | null;
}
