/** What the sentences of `why` say, as fields for programs: one form of them in answers and alerts. Instants are ISO 8601. */
import type { ScopedPause } from '../model/pause.ts';
import { isoOf } from '../schedule/local-time.ts';
import type { Change, Facts } from './asked.ts';

/** Undefined: nothing is said of it. */
export function detailsOf(facts: Facts) {
  const { usedBy, nearest, concurrency, progress, callback } = facts;
  const { until, since, executorId, attempt, error, diskBytes, failureReason } = facts;
  return {
    until: isoIn(until),
    since: isoIn(since),
    pauses: facts.pauses?.map(pauseFields),
    limit: facts.limit,
    ...(facts.isOverridden && { overridden: true as const }),
    used_by: usedBy && {
      own_group: usedBy.ownGroup,
      own_type: usedBy.ownType,
      others: usedBy.others,
    },
    executors: facts.executors,
    nearest: nearest && {
      executor_id: nearest.executorId,
      lacks_labels: [...nearest.lacksLabels],
      reserved_for: [...nearest.reservedFor],
    },
    executor_id: executorId,
    attempt,
    concurrency: concurrency && {
      pointer: concurrency.pointer,
      value: concurrency.value,
      max: concurrency.max,
      first: concurrency.holderCount,
      held: concurrency.heldCount,
      names: [...concurrency.holders],
    },
    error,
    disk_bytes: diskBytes,
    progress: progress && { percent: progress.percent, at: isoOf(progress.at) },
    failure_reason: failureReason,
    booking: facts.booking,
    callback: callback && {
      state: callback.state,
      tries: callback.tries,
      next_try_at: isoIn(callback.nextTryAt),
      last_error: callback.lastError,
    },
  };
}

/** What it is to be, in the form that its action has. */
export function changeValueOf({ action, value }: Pick<Change, 'action' | 'value'>) {
  if (typeof value === 'number') return action === 'wait_until' ? isoOf(value) : value;
  if (value === null || 'length' in value) return value && [...value];
  const { count, type, labels, executorId } = value;
  return { count, type, labels: [...labels], executor_id: executorId };
}

/** As whoever asks for pauses has it too. */
export function pauseFields({ scope, value, at, by, reason, until }: ScopedPause) {
  const whose = { scope, value: value === '' ? null : value };
  return { ...whose, at: isoOf(at), by, reason, until: isoIn(until) };
}

function isoIn(at: number): string;
function isoIn(at: number | null): string | null;
function isoIn(at: number | null | undefined): string | null | undefined;
function isoIn(at: number | null | undefined): string | null | undefined {
  return at === undefined || at === null ? at : isoOf(at);
}
