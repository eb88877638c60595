/**
 * Why a task waits, and what would start it, as sentences. Those of the master are English; another language makes its
 * own of the facts beside them, and keeps the master's where it has none, or where a fact is missing.
 */
import type { TaskView, WhyView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import { clockOf } from '../../words/instant.ts';
import { type Known, instead } from '../../words/words.ts';

/** Of a type as a whole fewer facts are known. */
type Said = Pick<WhyView, 'reason' | 'message'> & {
  /** Absent: of a master before this one, which tells none of what stands behind another. */
  readonly details?: Partial<WhyView['details']>;
  /** Of its task, where that is known. */
  readonly suspended?: Suspended | null;
};
type Details = NonNullable<Said['details']>;
type Suspended = Pick<NonNullable<TaskView['suspended']>, 'by' | 'reason'>;
type Change = NonNullable<WhyView['change']>;

export function whySaid({ reason, message, details = {}, suspended }: Said): string {
  const facts = suspended ? suspensionOf(suspended) : factsOf(details);
  return instead(`why.say.${formOf(reason, details)}`, message, facts);
}

const suspensionOf = ({ by, reason }: Suspended): Known => ({
  who: by === null ? '' : `由 ${by} `,
  cause: reason === null ? '' : `（${reason}）`,
});

/** Which of its sentences a reason has. */
function formOf(reason: string, { executors, booking, pauses = [], disk_bytes: disk }: Details) {
  if (booking !== undefined) return `${reason}.booking`;
  const [pause, ...others] = pauses;
  if (reason === 'paused' && (pause?.until ?? null) !== null) return `${reason}.until`;
  if (others.length > 0) return `${reason}.several`;
  if (reason === 'all_busy' && (executors?.free ?? 0) > 0) return `${reason}.order`;
  return reason === 'not_ready' && disk !== undefined ? `${reason}.disk` : reason;
}

function factsOf(details: Details): Known {
  const { executors, nearest, limit, concurrency, pauses = [], until, disk_bytes: disk } = details;
  const [pause] = pauses;
  return {
    ...executors,
    ...limit,
    executor: details.executor_id,
    booking: details.booking ?? undefined,
    error: details.error ?? undefined,
    attempt: details.attempt,
    nearest: nearest?.executor_id,
    lacks: nearest?.lacks_labels.join(', '),
    reserved: nearest?.reserved_for.join(', '),
    mb: disk && Math.floor(disk / 1e6),
    until: timeOf(pause === undefined ? until : pause.until),
    what: pause && scopeOf(pause.scope, pause.value),
    cause: pause && (pause.reason === null ? '' : `（${pause.reason}）`),
    others: pause && pauses.length - 1,
    ...concurrency,
  };
}

export function changeSaid({ change, details }: Pick<WhyView, 'change' | 'details'>): string {
  if (change === null) return '';
  const { action, target, value, message } = change;
  const [kind = '', name = ''] = (target ?? '').split(/\/(.*)/s);
  const begins = action === 'start_executor' ? (value as Started) : null;
  const executor = begins?.executor_id ?? undefined;
  const form = executor === undefined ? action : `${action}.one`;
  return instead(`change.say.${form}`, message, {
    name,
    what: scopeOf(kind, name),
    until: typeof value === 'string' ? timeOf(value) : undefined,
    value: typeof value === 'number' ? value : undefined,
    limit: kind === 'limit' ? 'max' : (details.limit?.name ?? 'limits.concurrency.max'),
    lacks: details.nearest?.lacks_labels.join(', '),
    n: begins?.count,
    type: begins?.type,
    having: begins?.labels.map((label) => `，${label}`).join(''),
    executor,
  });
}

type Started = Extract<Change['value'], { readonly count: number }>;

export const scopeOf = (scope: string, name: string | null): string =>
  instead(`scope.${scope}`, '', { name: name ?? '' });

export const timeOf = (at: string | null | undefined): string | undefined =>
  at ? clockOf(at, masterNow()) : undefined;
