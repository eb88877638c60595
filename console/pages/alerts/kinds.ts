/** What a rule of each kind holds where it does not say: as `domain/alerts/rule.ts` of the master (a test holds them against each other). */
import { type AlertRuleView, alertKinds } from '@soda-scheduler/protocol';

export type AlertKind = AlertRuleView['kind'];

export interface Kind {
  /** Of the threshold; a word of ours, or `s` and `%`. Null: it has none. */
  readonly unit: 's' | '%' | 'tasks' | 'callbacks' | 'times' | null;
  /** Null: the kind finds one by itself, or has none. */
  readonly threshold: number | null;
  /** In seconds. Null: it looks at what is so, and not at what has happened. */
  readonly window: number | null;
  /** Null: as whoever says it has it. */
  readonly severity: 'warning' | 'critical' | null;
  /** Looks in a row. */
  readonly checks: number;
}

export const REPEAT_SECONDS = 14_400;
/** Of `oldest_wait`. */
export const REASONS = ['all_busy'] as const;

const warning = (unit: Kind['unit'], threshold: number | null, window: number | null = null) =>
  ({ unit, threshold, window, severity: 'warning', checks: 2 }) satisfies Kind;
const urgent: Kind = { ...warning(null, null), severity: 'critical', checks: 1 };

export const kindsOfRules: Readonly<Record<AlertKind, Kind>> = {
  no_executor: { ...warning('s', 60), severity: 'critical' },
  oldest_wait: warning('s', 3600),
  failure_share: warning('%', 50),
  running_long: warning('s', null),
  started_late: warning('tasks', 1, 900),
  backlog: warning('tasks', 100_000),
  callback_gave_up: warning('callbacks', 1, 3600),
  callback_backlog: warning('callbacks', 1_000),
  executor_flapping: warning('times', 5, 600),
  executor_not_ready: warning('s', 300),
  booking_short: urgent,
  booking_at_risk: warning(null, null),
  booking_paused: urgent,
  poison: warning('times', 5, 3600),
  disk: { ...warning('%', 10), severity: 'critical' },
  message: { unit: null, threshold: null, window: 3600, severity: null, checks: 2 },
};

/** `own`: somebody has set it; `changed`: in place of the one that is there from the start. */
export function originOf(rule: AlertRuleView): 'own' | 'changed' | 'plain' {
  if (!alertKinds.some((kind) => kind === rule.name)) return 'own';
  const plain = kindsOfRules[rule.kind];
  const isPlain =
    rule.name === rule.kind &&
    rule.enabled &&
    rule.scope === null &&
    rule.receivers === null &&
    rule.threshold === plain.threshold &&
    rule.window === plain.window &&
    rule.severity === plain.severity &&
    rule.repeat === REPEAT_SECONDS &&
    rule.checks === plain.checks &&
    (rule.reasons === null || rule.reasons.join() === REASONS.join());
  return isPlain ? 'plain' : 'changed';
}
