/** For those who run the master: the fleet, its own duties, the probes and the metrics. */
import {
  API_BASE,
  EXECUTOR_ID_PATTERN,
  type GovernanceView,
  HTTP_LIMITS,
} from '@soda-scheduler/protocol';
import {
  drainRequest,
  executorChange,
  executorCommandResponse,
  executorList,
  governanceView,
} from '@soda-scheduler/protocol/schemas';
import { z } from 'zod';
import type { Duties, DutyView } from '../../application/process/duties.ts';
import type { NamespacesHandle } from '../../application/process/namespaces-handle.ts';
import type { StoreTrouble } from '../../application/store-watch.ts';
import type { CommandOutcome } from '../../domain/effects.ts';
import type { Role } from '../../application/ports.ts';
import { answers } from '../http/answers.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import { validate } from '../body/fields.ts';
import type { ApiRequest, HttpMetrics, NamespaceRoute, Reply, Route } from '../http/route.ts';
import { executorView, goneExecutorView } from './views.ts';

const statusResponse = z.object({ status: z.string() });

export function executorRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/executors`,
      summary:
        'The executors that the master knows, with what each is doing; and the drained ones.',
      replies: { done: executorList },
      handle: (_request, master) => {
        const present = master
          .executors()
          .map((executor) => executorView(executor, master.recordOf(executor.id)));
        const gone = master.goneExecutors().map(goneExecutorView);
        return { body: { executors: [...present, ...gone] } };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/executor/{executor_id}/drain`,
      summary: 'Give an executor no new task. With a timeout, take back what it still runs then.',
      body: { schema: drainRequest, bytesMax: HTTP_LIMITS.bodyBytesMax, optional: true },
      replies: { done: executorCommandResponse },
      handle: (request, master) => {
        const { timeout } = validate(drainRequest, request.body);
        const timeoutMs = timeout === undefined ? null : Math.round(timeout * 1000);
        const { name: by } = request.actor;
        return command(request, (executorId) => master.drainExecutor(executorId, timeoutMs, by));
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/executor/{executor_id}/resume`,
      summary: 'Give a drained executor tasks again.',
      replies: { done: executorCommandResponse },
      handle: (request, master) =>
        command(request, (executorId) => master.resumeExecutor(executorId)),
    },
    {
      method: 'PATCH',
      path: `${API_BASE}/executor/{executor_id}`,
      summary: 'Set the labels and reservations of an executor in place of its own.',
      body: { schema: executorChange, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: executorCommandResponse },
      handle: (request, master) => {
        const { labels, reserve } = validate(executorChange, request.body);
        const override = {
          ...(labels !== undefined && { labels }),
          ...(reserve !== undefined && { reserve }),
        };
        const { name: by } = request.actor;
        return command(request, (executorId) => master.relabelExecutor(executorId, override, by));
      },
    },
  ];
}

export function governanceRoute(duties: Pick<Duties, 'views'>): Route {
  return {
    method: 'GET',
    path: `${API_BASE}/governance`,
    summary: 'What the master does by itself, and how each of it went the last time.',
    replies: { done: governanceView },
    handle: ({ actor: { role } }) => ({
      body: { duties: duties.views().map((duty) => dutyView(duty, role)) },
    }),
  };
}

/** For others than admins: the text of an error may have addresses and names in it. */
const ERROR_HIDDEN = 'it failed: the log says why, and so does this with the admin token';

function dutyView(
  { name, everyMs, runCount, last, isOverdue }: DutyView,
  role: Role,
): GovernanceView['duties'][0] {
  return {
    name,
    interval: everyMs === null ? null : everyMs / 1000,
    overdue: isOverdue,
    runs: runCount,
    last: last && {
      at: new Date(last.at).toISOString(),
      took: last.tookMs === null ? null : last.tookMs / 1000,
      found: last.foundCount,
      done: last.doneCount,
      error: role === 'admin' ? last.error : last.error && ERROR_HIDDEN,
    },
  };
}

export function probeRoutes(
  namespaces: Pick<NamespacesHandle, 'status' | 'storeTrouble'>,
  metrics: HttpMetrics,
): Route[] {
  return [
    {
      method: 'GET',
      path: '/livez',
      summary: 'The process answers. Says nothing about the store, which it never touches.',
      replies: { done: statusResponse },
      handle: () => ({ body: { status: 'alive' } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'The master takes work; 503 while it starts, recovers or drains.',
      replies: { done: statusResponse },
      handle: () => {
        const { status, storeTrouble } = namespaces;
        if (status !== 'ready') {
          const why = storeTrouble === null ? '' : `: ${inWords(storeTrouble)}`;
          throw new Problem('unavailable', `The master is ${status}${why}.`);
        }
        return { body: { status: 'ready' } };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text format of Prometheus.',
      replies: { done: 'text/plain' },
      handle: async () => {
        const { contentType, text } = await metrics.render();
        return { body: text, contentType };
      },
    },
  ];
}

function inWords({ reason, since }: StoreTrouble): string {
  const at = new Date(since).toISOString();
  return `the store has not answered since ${at} (${reason})`;
}

function executorIdOf({ params }: ApiRequest): string {
  const executorId = params['executor_id'] ?? '';
  if (EXECUTOR_ID_PATTERN.test(executorId)) return executorId;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'executor_id', message }]);
}

async function command(
  request: ApiRequest,
  run: (executorId: string) => Promise<CommandOutcome>,
): Promise<Reply> {
  const executorId = executorIdOf(request);
  const outcome = await run(executorId);
  if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  const { lasting } = outcome;
  const code = answers.done.status;
  return {
    body: { executor_id: executorId, code, ...(lasting !== undefined && { lasting }) },
  };
}
