/** What is alerted of, by which rules, and who is told: data, and what holds where nobody has said anything. */

export type AlertKind = keyof typeof defaults;

export type Severity = 'info' | 'warning' | 'critical';

export type AlertChannel = 'mail' | 'webhook' | 'slack' | 'feishu' | 'dingtalk' | 'wecom' | 'json';

export interface AlertRule {
  /** Unique. */
  readonly name: string;
  readonly kind: AlertKind;
  /** Of which it speaks; null: of any. */
  readonly namespaces: readonly string[] | null;
  readonly types: readonly string[] | null;
  /** In the unit of its kind: seconds, percent, or a count. Null: the kind finds one by itself, or needs none. */
  readonly threshold: number | null;
  /** Of how long ago it counts; of `message`: how long one stays that is not said again. Null: it does not count. */
  readonly windowMs: number | null;
  /** Of `oldest_wait`: why tasks wait that it speaks of. */
  readonly reasons: readonly string[] | null;
  /** Null: as whoever says it has it. */
  readonly severity: Severity | null;
  /** Who is told; null: every receiver there is. */
  readonly receivers: readonly string[] | null;
  /** After this it is told again, for as long as it lasts. Null: it is told once. */
  readonly repeatMs: number | null;
  /** So many checks in a row have to find it before it is raised, and not to find it before it is cleared. */
  readonly checkCount: number;
  readonly isEnabled: boolean;
}

export interface AlertReceiver {
  /** Unique. */
  readonly name: string;
  readonly channel: AlertChannel;
  /** Of `mail`: addresses. */
  readonly to: readonly string[];
  /** Of all others. */
  readonly url: string | null;
  /** What the receiver knows the sender by. Never told. */
  readonly secret: string | null;
  /** Of `json`: JSON text, in whose texts `{{title}}`, `{{text}}`, `{{severity}}` and `{{count}}` are filled in. */
  readonly template: string | null;
}

export const ALERT_PLACEHOLDER = /\{\{(title|text|severity|count)\}\}/g;

const HOUR_MS = 3_600_000;
const REPEAT_MS = 4 * HOUR_MS;

type Default = Pick<AlertRule, 'threshold' | 'windowMs' | 'severity' | 'reasons' | 'checkCount'>;

const warning = (threshold: number | null, windowMs: number | null = null): Default => ({
  threshold,
  windowMs,
  severity: 'warning',
  reasons: null,
  checkCount: 2,
});

/** There are seconds in which somebody can still help. */
const urgent: Default = { ...warning(null), severity: 'critical', checkCount: 1 };

/** Of each kind, where a rule does not say otherwise. */
const defaults = {
  no_executor: { ...warning(60), severity: 'critical' },
  // Whoever has set a limit or a pause knows of it.
  oldest_wait: { ...warning(3600), reasons: ['all_busy'] },
  failure_share: warning(50),
  running_long: warning(null),
  started_late: warning(1, HOUR_MS / 4),
  backlog: warning(100_000),
  callback_gave_up: warning(1, HOUR_MS),
  callback_backlog: warning(1_000),
  executor_flapping: warning(5, HOUR_MS / 6),
  executor_not_ready: warning(300),
  booking_short: urgent,
  booking_at_risk: warning(null),
  booking_paused: urgent,
  poison: warning(5, HOUR_MS),
  disk: { ...warning(10), severity: 'critical' },
  message: { ...warning(null, HOUR_MS), severity: null },
} as const satisfies Readonly<Record<string, Default>>;

/** As it is where nothing is said of it. */
export function plainRule(name: string, kind: AlertKind): AlertRule {
  return {
    name,
    kind,
    namespaces: null,
    types: null,
    receivers: null,
    repeatMs: REPEAT_MS,
    isEnabled: true,
    ...defaults[kind],
  };
}

/** Each kind has one, by its name, until somebody sets another of that name. */
const DEFAULT_RULES: readonly AlertRule[] = (Object.keys(defaults) as AlertKind[]).map((kind) =>
  plainRule(kind, kind),
);

/** Those that hold: what was set, and the default ones that nobody has set otherwise. By name. */
export function rulesInForce(set: ReadonlyMap<string, AlertRule>): readonly AlertRule[] {
  const rest = DEFAULT_RULES.filter(({ name }) => !set.has(name));
  return [...set.values(), ...rest].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether it speaks of that namespace and type; null: of none of them. */
export function speaksOf(
  rule: AlertRule,
  { namespace, type }: { readonly namespace: string | null; readonly type: string | null },
): boolean {
  return speaksIn(rule, namespace) && isIn(rule.types, type);
}

export function speaksIn({ namespaces }: AlertRule, namespace: string | null): boolean {
  return isIn(namespaces, namespace);
}

function isIn(list: readonly string[] | null, one: string | null): boolean {
  return list === null || (one !== null && list.includes(one));
}

const FORGETFUL: ReadonlySet<AlertKind> = new Set([
  'failure_share',
  'started_late',
  'callback_gave_up',
  'executor_flapping',
  'executor_not_ready',
  'poison',
]);

/**
 * For so long after a start that it finds nothing does not tell that all is well: what it goes by was counted in
 * memory, and is forgotten.
 */
export function forgetfulMs({ kind, threshold, windowMs }: AlertRule): number {
  if (kind === 'executor_not_ready') return Math.max(HOUR_MS / 4, 1000 * (threshold ?? 0));
  const isForgetful = FORGETFUL.has(kind) || (kind === 'running_long' && threshold === null);
  return isForgetful ? (windowMs ?? HOUR_MS / 4) : 0;
}

const SETTLING: ReadonlySet<AlertKind> = new Set([
  'no_executor',
  'oldest_wait',
  'callback_backlog',
]);

/** Soon after a start that it finds nothing does not tell that all is well: executors come back, and callbacks are read. */
export function hasToSettle({ kind }: AlertRule): boolean {
  return SETTLING.has(kind);
}

/** Where it leads to; the rest of it is what many receivers know the sender by. */
export function shownUrl(url: string): string {
  // As whoever calls it reads it: a backslash ends the host too, and before `@` stands a secret.
  const [, scheme = '', host = ''] = /^(https?:\/\/)(?:[^/?#\\]*@)?([^/?#\\@\s]*)/i.exec(url) ?? [];
  return `${scheme}${host}/***`;
}
