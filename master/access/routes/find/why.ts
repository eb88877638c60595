/** Why a task waits, and what would start it. */
import { API_BASE, type WhyView } from '@soda-scheduler/protocol';
import { whyView as whyViewSchema } from '@soda-scheduler/protocol/schemas';
import { changeValueOf, detailsOf } from '../../../domain/why/details.ts';
import type { Why } from '../../../domain/why/why.ts';
import type { StoredTask } from '../../../application/ports.ts';
import { iso } from '../../body/instants.ts';
import type { NamespaceRoute } from '../../http/route.ts';
import { found, taskIdOf } from '../tasks.ts';
import { jobView } from '../views.ts';

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
      ...detailsOf(facts),
      ...(task.job !== null && { job: jobView(task.job) }),
      ...(ahead?.isAtLeast && { ahead_at_least: true }),
      behind: behind.map((one) => ({
        reason: one.reason,
        message: one.message,
        details: detailsOf(one.facts),
      })),
    },
    ahead: ahead?.count ?? null,
    estimate: estimate && {
      start_at: iso(estimate.startAt),
      low: iso(estimate.lowAt),
      high: iso(estimate.highAt),
    },
    change: change && { ...change, value: changeValueOf(change) },
  };
}
