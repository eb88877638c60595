/** Why a task waits, and what would start it. */
import { API_BASE, type WhyView } from '@soda-scheduler/protocol';
import { whyView as whyViewSchema } from '@soda-scheduler/protocol/schemas';
import type { Facts } from '../../../domain/why/asked.ts';
import type { Why } from '../../../domain/why/why.ts';
import type { StoredTask } from '../../../application/ports.ts';
import { iso } from '../../body/instants.ts';
import type { NamespaceRoute } from '../../http/route.ts';
import { found, taskIdOf } from '../tasks.ts';
import { jobView, scopedPauseView } from '../views.ts';

export const whyRoute: NamespaceRoute = {
  method: 'GET',
  path: `${API_BASE}/task/{task_id}/why`,
  summary: 'Why a task waits: what keeps it, what comes first, and the least that would start it.',
  replies: { done: whyViewSchema },
  handle: async (request, master) => {
    const shown = await found(master, taskIdOf(request), 0);
    return { body: whyView(shown, await master.why(shown)) };
  },
};

function whyView({ task }: StoredTask, why: Why): WhyView {
  const { reason, message, facts, behind, ahead, estimate, change } = why;
  return {
    task_id: task.id,
    state: task.state,
    reason,
    message,
    details: {
      ...detailsView(facts),
      ...(task.job !== null && { job: jobView(task.job) }),
      ...(ahead?.isAtLeast && { ahead_at_least: true }),
      behind: behind.map((one) => ({
        reason: one.reason,
        message: one.message,
        details: detailsView(one.facts),
      })),
    },
    ahead: ahead?.count ?? null,
    estimate: estimate && {
      start_at: iso(estimate.startAt),
      low: iso(estimate.lowAt),
      high: iso(estimate.highAt),
    },
    change: change && { ...change, value: valueView(change) },
  };
}

export function detailsView(facts: Facts): WhyView['details']['behind'][number]['details'] {
  const { usedBy, nearest, concurrency, progress, callback } = facts;
  const { until, since, executorId, attempt, error, diskBytes, failureReason } = facts;
  return {
    until: isoIn(until),
    since: isoIn(since),
    pauses: facts.pauses?.map(scopedPauseView),
    limit: facts.limit,
    ...(facts.isOverridden && { overridden: true }),
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
    progress: progress && { percent: progress.percent, at: iso(progress.at) },
    failure_reason: failureReason,
    booking: facts.booking,
    callback: callback && {
      state: callback.state,
      tries: callback.tries,
      next_try_at: iso(callback.nextTryAt),
      last_error: callback.lastError,
    },
  };
}

type ChangeView = NonNullable<WhyView['change']>;

function valueView({ action, value }: NonNullable<Why['change']>): ChangeView['value'] {
  if (typeof value === 'number') return action === 'wait_until' ? iso(value) : value;
  if (value === null || 'length' in value) return value && [...value];
  const { count, type, labels, executorId } = value;
  return { count, type, labels: [...labels], executor_id: executorId };
}

/** Undefined: nothing is said of it. */
function isoIn(at: number | null | undefined): string | null | undefined {
  return at === undefined || at === null ? at : iso(at);
}
