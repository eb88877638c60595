/** What the core goes by while it runs, as it is configured, and what of that cannot be set. */
import {
  GATES_MAX,
  KINDS_MAX,
  LANES_MAX,
  NOTIFYING_COUNT_MAX,
  RUNNING_BYTES_MAX,
  WINDOW_BYTES_MAX,
  WINDOW_COUNT_MAX,
} from '../bounds.ts';
import type { FeedLevel } from '../feed/feed-event.ts';

/** The settings that decide what happens; all of them have a place in `docs/configuration.md`. */
export interface Policy {
  /** An executor not heard of for so long has lost what it ran. */
  readonly leaseMs: number;
  /** From the assign frame to its answer, where the task does not say. */
  readonly assignTimeoutMs: number;
  /** For one attempt, where the task does not say; null: no limit. */
  readonly executionTimeoutMs: number | null;
  /** From due to started, where the task does not say; null: no limit. */
  readonly startTimeoutMs: number | null;
  /** From the cancel frame to the end of the attempt. */
  readonly cancelGraceMs: number;
  /** How long a task is not offered again to an executor that rejected it. */
  readonly coolDownMs: number;
  /** Executors that a task may lose without a new checkpoint before it is given up. */
  readonly crashBudget: number;
  /** Waiting tasks held in memory: for one lane, in all, and the bytes of what they hold. */
  readonly laneWindowCount: number;
  readonly windowCountMax: number;
  readonly windowBytesMax: number;
  readonly kindCountMax: number;
  readonly laneCountMax: number;
  readonly gateCountMax: number;
  /** Bytes of what offered and running tasks hold; beyond it nothing is offered. */
  readonly runningBytesMax: number;
  /** Waiting tasks in all; beyond it submit is refused. */
  readonly waitingCountMax: number;
  /** Callbacks in flight or about to be. */
  readonly notificationCountMax: number;
  /** Rows read from the store in one go. */
  readonly pageCount: number;
  /** How much the feed tells. */
  readonly feedLevel: FeedLevel;
  /** Of the IANA: in which the days of reports begin. */
  readonly reportZone: string;
}

/** What `docs/configuration.md` gives as defaults (a test compares them), and what cannot be set. */
export const defaultPolicy: Policy = {
  leaseMs: 30_000,
  assignTimeoutMs: 5_000,
  executionTimeoutMs: null,
  startTimeoutMs: null,
  cancelGraceMs: 10_000,
  coolDownMs: 10_000,
  crashBudget: 3,
  laneWindowCount: 10_000,
  windowCountMax: WINDOW_COUNT_MAX,
  windowBytesMax: WINDOW_BYTES_MAX,
  kindCountMax: KINDS_MAX,
  laneCountMax: LANES_MAX,
  gateCountMax: GATES_MAX,
  runningBytesMax: RUNNING_BYTES_MAX,
  waitingCountMax: 10_000_000,
  notificationCountMax: NOTIFYING_COUNT_MAX,
  pageCount: 1_000,
  feedLevel: 'ends',
  reportZone: 'UTC',
};
