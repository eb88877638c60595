/** Words and numbers of the HTTP API that people type: for whoever offers them, without the schemas. */

/** One word of a command line, as a shell is to be given it. */
export function quotedForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What reports tell usage apart by. */
export const reportFields = ['day', 'group', 'project', 'env', 'user', 'type'] as const;

export const YEAR_SECONDS = 31_536_000;

export const priorityNames = { low: -3600, normal: 0, high: 3600, urgent: YEAR_SECONDS } as const;

export const taskStates = [
  'waiting',
  'held',
  'suspended',
  'offered',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const;

/** Those of tasks that have ended. */
export const endedStates = ['succeeded', 'failed', 'canceled', 'expired'] as const;

/** Why a task has failed, or, by its deadline, expired. */
export const failureReasons = [
  'attempts_exhausted',
  'non_retryable',
  'input_unavailable',
  'crash_budget',
  'not_started',
  'deadline',
] as const;

/** What can be done to many tasks at once. */
export const bulkActions = [
  'cancel',
  'retry',
  'redeliver',
  'change',
  'suspend',
  'resume',
  'delete',
  'first',
  'last',
] as const;

/** What operations do: these, and what is begun of a job. */
export const operationActions = [...bulkActions, 'backfill'] as const;

/** Which times of a trigger a backfill runs. */
export const backfillWhich = ['missing', 'missing_failed', 'all'] as const;

/** What a type is defined by, in the order of the documentation. */
export const typeDefinitionKeys = [
  'description',
  'owner',
  'defaults',
  'params_schema',
  'limits',
  'uses',
  'needs',
  'fair_by',
  'group_weights',
  'route',
  'pull',
  'capacity',
  'preemptible',
  'hold',
] as const;

/** What can become of a booking; `bound`: executors are kept for it. */
export const bookingStates = [
  'planned',
  'at_risk',
  'bound',
  'no_show',
  'ended',
  'canceled',
] as const;

/** Why an executor takes no tasks. */
export const absences = ['away', 'draining', 'not_ready'] as const;

/** Why one that a booking has is of no use to it. */
export const unreadyReasons = [...absences, 'refusing'] as const;

/** What may be wrong with a field, as far as programs are told; whoever says it in another language has `values` too. */
export const faultKinds = [
  'required',
  'unknown_field',
  'wrong_type',
  'one_of',
  'characters',
  'at_least',
  'above',
  'at_most',
  'below',
] as const;

/** What can become of a callback once its task has ended. */
export const notificationStates = ['pending', 'delivered', 'gave_up'] as const;

/** What a rule of alerts may look for. */
export const alertKinds = [
  'no_executor',
  'oldest_wait',
  'failure_share',
  'running_long',
  'started_late',
  'backlog',
  'callback_gave_up',
  'callback_backlog',
  'executor_flapping',
  'executor_not_ready',
  'booking_short',
  'booking_at_risk',
  'booking_paused',
  'poison',
  'disk',
  'message',
] as const;

export const alertSeverities = ['info', 'warning', 'critical'] as const;

/** How a receiver of alerts is told of them. */
export const alertChannels = [
  'mail',
  'webhook',
  'slack',
  'feishu',
  'dingtalk',
  'wecom',
  'json',
] as const;

/** How much a line of a log matters, the least first. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** Where it is from: what the handler has said, or what a child of it has written. */
export const logStreams = ['log', 'stdout', 'stderr'] as const;

/** What becomes of times of a trigger that are noticed late. */
export const misfires = ['skip', 'once', 'all', 'after_current'] as const;

/** A warning of a job: what its trigger waits for is not there. Whoever makes both knows better. */
export const noSourceWarning = (source: string, trigger: string): string =>
  `there is no job ${source}: trigger ${trigger} does not run until there is one`;

/** What can become of a time of a trigger; `pending` waits for a run to end. */
export const occurrenceStates = [
  'ran',
  'pending',
  'skipped',
  'merged',
  'replaced',
  'refused',
] as const;
