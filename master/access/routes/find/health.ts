/** How the work flows: a verdict, what is in the way, and what to type next. */
import {
  API_BASE,
  DEFAULT_NAMESPACE,
  type HealthView,
  quotedForShell as quoted,
} from '@soda-scheduler/protocol';
import { healthView } from '@soda-scheduler/protocol/schemas';
import { Unavailable } from '../../../application/master-handle.ts';
import type { Disk } from '../../../application/ports.ts';
import type { Duties } from '../../../application/process/duties.ts';
import { TooMany } from '../../../application/turnstile.ts';
import {
  findingOfDisk,
  findingOfStatus,
  findingsOfDuties,
} from '../../../application/process/health.ts';
import type { NamespacesHandle } from '../../../application/process/namespaces-handle.ts';
import type { Finding, FindingFacts } from '../../../domain/health/finding.ts';
import { type Health, worstFirst } from '../../../domain/health/health.ts';
import { detailsOf } from '../../../domain/why/details.ts';
import { iso } from '../../body/instants.ts';
import type { ApiRequest, Route } from '../../http/route.ts';
import { inNamespaces } from '../namespaces.ts';

export interface HealthSources {
  readonly namespaces: NamespacesHandle;
  readonly duties: Pick<Duties, 'views'>;
  readonly disk: Disk;
}

/** They answer also where nothing is known of the tasks, since that is what is asked. */
export function healthRoutes(sources: HealthSources): Route[] {
  const routes = inNamespaces(sources.namespaces, [
    {
      method: 'GET',
      path: `${API_BASE}/health`,
      summary:
        'How the work flows: whether it does, whether started tasks succeed, how old these figures ' +
        'are, what is in the way, its likeliest cause, and the command to type next.',
      replies: { done: healthView },
      handle: async (request, master) => ({
        body: await viewOf(sources, request, await master.health()),
      }),
    },
  ]);
  return routes.map((route) => ({
    ...route,
    async handle(request) {
      try {
        return await route.handle(request);
      } catch (error) {
        if (!(error instanceof Unavailable) || error instanceof TooMany) throw error;
        return { body: await viewOf(sources, request, null) };
      }
    },
  }));
}

async function viewOf(
  { namespaces, duties, disk }: HealthSources,
  { actor, params }: ApiRequest,
  health: Health | null,
): Promise<HealthView> {
  const { status, storeTrouble } = namespaces;
  const ofMaster = findingOfStatus(
    health === null && status === 'ready' ? 'starting' : status,
    storeTrouble,
  );
  // What is of the whole process is nobody's who sees a part of it.
  const isWhole = actor.scope === null;
  const ofDisk = isWhole ? findingOfDisk(await disk()) : null;
  const others = worstFirst([
    ...(ofDisk === null ? [] : [ofDisk]),
    ...(isWhole ? findingsOfDuties(duties.views(), actor.role === 'admin') : []),
    ...(health?.findings ?? []),
  ]);
  // Whatever else there is, it comes of that.
  const findings = ofMaster === null ? others : [ofMaster, ...others];
  const isStopped = ofMaster !== null || health?.flow.state === 'stopped';
  const isDegraded = findings.some(({ severity }) => severity !== 'info');
  const [worst] = findings;
  const { namespace = DEFAULT_NAMESPACE } = params;
  const ageMs = health === null || storeTrouble === null ? 0 : health.at - storeTrouble.since;
  return {
    status: isStopped ? 'stopped' : isDegraded ? 'degraded' : 'ok',
    message: (isStopped || isDegraded ? worst?.message : health?.flow.message) ?? '',
    flow: health && flowView(health, ofMaster),
    success: health && {
      state: health.success.state,
      message: health.success.message,
      attempts: health.success.attemptCount,
      failed: health.success.failedCount,
    },
    figures: {
      fresh: health !== null && storeTrouble === null,
      at: health && iso(health.at - ageMs),
      age: health && ageMs / 1000,
      since: health && iso(health.success.since),
    },
    findings: findings.map((finding) => findingView(finding, namespace)),
  };
}

/** @param ofMaster Why it takes no work: then nothing flows, whatever memory knows of. */
function flowView({ flow }: Health, ofMaster: Finding | null): HealthView['flow'] {
  const { executors, oldestWaitMs, isOldestKnown } = flow;
  const { state, message } =
    ofMaster === null ? flow : { state: 'stopped' as const, message: ofMaster.message };
  return {
    state,
    message,
    waiting: flow.waitingCount,
    held: flow.heldCount,
    suspended: flow.suspendedCount,
    running: flow.runningCount,
    oldest_wait: oldestWaitMs === null ? null : oldestWaitMs / 1000,
    oldest_wait_known: isOldestKnown,
    started_at: iso(flow.startedAt),
    executors,
  };
}

function findingView(finding: Finding, namespace: string): HealthView['findings'][0] {
  const { facts, taskId: _taskId, since, ...rest } = finding;
  return {
    ...rest,
    since: iso(since),
    command: commandFor(finding, namespace),
    details: detailsView(facts),
  };
}

function detailsView({ outcomes, pendingCount, free, isOverdue, ...facts }: FindingFacts) {
  return {
    ...detailsOf(facts),
    ...(outcomes && {
      outcomes: outcomes.count,
      failed: outcomes.failedCount,
      alike: outcomes.alikeCount,
    }),
    ...(pendingCount !== undefined && { pending: pendingCount }),
    ...(free && { free_bytes: free.bytes, free_percent: free.percent }),
    ...(isOverdue === true && { overdue: true as const }),
  };
}

/** What to type next: what ends it, or what tells more of it. */
function commandFor(finding: Finding, namespace: string): string {
  const within = namespace === DEFAULT_NAMESPACE ? '' : ` --namespace ${namespace}`;
  const { kind, facts, subject, taskId } = finding;
  const type = subject?.replace('type/', '') ?? '';
  const why = taskId === null ? null : `soda task why ${taskId}${within}`;
  const executors = (terms: string) =>
    `soda executor list --selector type=${type}${terms}${within}`;
  switch (kind) {
    case 'paused':
      return resumeOf(finding, namespace, within);
    case 'no_executor':
      return executors('');
    case 'draining':
      return executors(',state=draining');
    case 'not_ready':
      // None says what disk it has: none is the one to look at.
      if (facts.executorId === undefined) return executors('');
      return `soda executor get ${facts.executorId}${within}`;
    case 'failing':
      return `soda task errors --type ${type}${within}`;
    case 'callbacks':
      return why ?? `soda task list --notification pending${within}`;
    case 'queue_full':
      return `soda task count${within}`;
    case 'store_away':
    case 'starting':
    case 'shutting_down':
    case 'disk_low':
    case 'duty':
      return 'soda doctor';
    case 'labels_unmatched':
    case 'reserved':
    case 'limited':
    case 'all_busy':
    case 'cooling_down':
      return why ?? `soda type get ${type}${within}`;
  }
}

/** Of several pauses the first: it is told of. */
function resumeOf({ facts }: Finding, namespace: string, within: string): string {
  const [pause] = facts.pauses ?? [];
  if (pause === undefined || pause.scope === 'all') return 'soda resume all';
  const { scope, value } = pause;
  if (scope === 'namespace') return `soda resume namespace ${namespace}`;
  if (scope === 'type') return `soda type resume ${value}${within}`;
  return `soda resume ${scope} ${quoted(value)}${within}`;
}
