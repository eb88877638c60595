/** For those who run the master: the fleet, its own duties, the probes and the metrics. */
import {
  API_BASE,
  EXECUTOR_ID_PATTERN,
  type ExecutorView,
  type GovernanceView,
  HTTP_LIMITS,
} from '@soda-scheduler/protocol';
import {
  drainRequest,
  executorChange,
  executorCommandResponse,
  executorList,
  executorListQuery,
  executorTasksQuery,
  executorView as executorViewSchema,
  governanceView,
  taskList,
} from '@soda-scheduler/protocol/schemas';
import { z } from 'zod';
import type { Duties, DutyView } from '../../application/process/duties.ts';
import type { NamespacesHandle } from '../../application/process/namespaces-handle.ts';
import type { StoreTrouble } from '../../application/store-watch.ts';
import type { CommandOutcome } from '../../domain/effects.ts';
import { elderKey, stateOf } from '../../domain/model/executor.ts';
import type { Role } from '../../application/ports.ts';
import { answers } from '../http/answers.ts';
import { invalidFields, Problem, wrongCursor } from '../http/problem.ts';
import { checkShape, validate } from '../body/fields.ts';
import { Pieces } from '../body/pieces.ts';
import { type Described, isSelected, selectorOf, type Term } from '../body/selector.ts';
import type { ScopedMaster } from '../scoped-master.ts';
import type { ApiRequest, HttpMetrics, NamespaceRoute, Reply, Route } from '../http/route.ts';
import { listOfExecutor } from './find/find.ts';
import { executorView, goneExecutorView } from './views.ts';

const statusResponse = z.object({ status: z.string() });

export function executorRoutes(): NamespaceRoute[] {
  return [...executorReads(), ...executorChanges()];
}

function executorReads(): NamespaceRoute[] {
  const pieces = new Pieces();
  return [
    {
      method: 'GET',
      path: `${API_BASE}/executors`,
      summary:
        'The executors that the master knows, with what each is doing; and the drained ones.',
      query: executorListQuery,
      replies: { done: executorList },
      handle: async (request, master) => {
        const isPage = request.query['limit'] !== undefined;
        const body = await pieces.run(list(request, master), isPage);
        return { body, contentType: 'application/json' };
      },
    },
    {
      method: 'GET',
      path: `${API_BASE}/executor/{executor_id}`,
      summary: 'An executor: what it is, what it does, and what operators have decided about it.',
      replies: { done: executorViewSchema },
      handle: (request, master) => ({ body: show(executorIdOf(request), master) }),
    },
    {
      method: 'GET',
      path: `${API_BASE}/executor/{executor_id}/tasks`,
      summary:
        'Tasks whose newest attempt it has, or had, newest first; also of one that is long gone. A ' +
        'page looks at so many tasks: it may be short, or empty, and the next one goes on.',
      query: executorTasksQuery,
      replies: { done: taskList },
      handle: (request, master) => listOfExecutor(master, executorIdOf(request), request.query),
    },
  ];
}

function executorChanges(): NamespaceRoute[] {
  return [
    {
      method: 'DELETE',
      path: `${API_BASE}/executor/{executor_id}`,
      summary: 'Forget an executor that is gone, with its drain and what was set for it.',
      replies: { done: executorCommandResponse },
      handle: (request, master) =>
        command(request, (executorId) => master.removeExecutor(executorId)),
    },
    {
      method: 'POST',
      path: `${API_BASE}/executor/{executor_id}/drain`,
      summary: 'Give an executor no new task. With a timeout, take back what it still runs then.',
      body: { schema: drainRequest, bytesMax: HTTP_LIMITS.bodyBytesMax, optional: true },
      replies: { done: executorCommandResponse },
      handle: (request, master) => {
        const { timeout = null, reason = null } = validate(drainRequest, request.body);
        const timeoutMs = timeout === null ? null : Math.round(timeout * 1000);
        const { name: by } = request.actor;
        return command(request, (executorId) =>
          master.drainExecutor(executorId, timeoutMs, reason, by),
        );
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

/** One that may be shown, and what it is by. */
interface Listed {
  readonly key: string;
  readonly of: Described;
  readonly view: () => ExecutorView;
}

/** All of them, or a page: whatever is asked for, in an order that nothing changes. As JSON, of which a fleet has megabytes. */
function* list({ query }: ApiRequest, master: ScopedMaster): Generator<void, string> {
  const {
    selector,
    limit = Number.POSITIVE_INFINITY,
    cursor,
    ...by
  } = checkShape(executorListQuery, query);
  const terms = [
    ...(selector === undefined ? [] : selectorOf(selector)),
    ...Object.entries(by).map(([key, value]) => ({ key, isNot: false, value }) as Term),
  ];
  const after = cursor === undefined ? '' : keyOfCursor(cursor);
  const found = firstOf(listed(master, after), limit + 1, ({ of }) => isSelected(terms, of));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const next = last === undefined || page.length === found.length ? null : cursorOf(last.key);
  const texts: string[] = [];
  for (const { view } of page) {
    texts.push(JSON.stringify(view()));
    yield;
  }
  return `{"executors":[${texts.join(',')}],"next_cursor":${JSON.stringify(next)}}`;
}

/** Those with the least keys, in order. There may be thousands of others: these are not sorted. */
function firstOf(
  all: Iterable<Listed>,
  count: number,
  isWanted: (one: Listed) => boolean,
): readonly Listed[] {
  const byKey = (a: Listed, b: Listed) => (a.key < b.key ? -1 : 1);
  let first: Listed[] = [];
  /** Null: fewer than `count` are known. */
  let last: string | null = null;
  for (const one of all) {
    if (last !== null && one.key > last) continue;
    if (!isWanted(one)) continue;
    first.push(one);
    if (first.length < 2 * count) continue;
    first = first.sort(byKey).slice(0, count);
    last = first.at(-1)?.key ?? null;
  }
  return first.sort(byKey).slice(0, count);
}

const UNKNOWN = { type: null, label: null, host: null, version: null };

function* listed(master: ScopedMaster, after: string): Generator<Listed> {
  for (const seen of master.seenExecutors(after)) {
    const { id, incarnation, connectedAt, types: type, host, version } = seen.executor;
    const { override, own } = seen.executor;
    const label = override.labels ?? own.labels;
    // It has not come back since this master has begun.
    const said = connectedAt === null ? UNKNOWN : { type, label, host, version };
    const of = { id, ...said, state: stateOf(seen.executor) };
    yield { key: elderKey(id, incarnation), of, view: () => executorView(seen) };
  }
  for (const record of master.goneExecutors()) {
    const { executorId: id, labels } = record;
    const key = elderKey(id, '');
    if (key <= after) continue;
    const of = { ...UNKNOWN, id, label: labels, state: 'gone' };
    yield { key, of, view: () => goneExecutorView(record) };
  }
}

/** The newest process of that id. */
function show(executorId: string, master: ScopedMaster): ExecutorView {
  const seen = master.seenExecutor(executorId);
  if (seen !== null) return executorView(seen);
  const gone = master.goneExecutors().find((record) => record.executorId === executorId);
  if (gone === undefined) throw new Problem('unknown', 'no such executor');
  return goneExecutorView(gone);
}

function cursorOf(key: string): string {
  return Buffer.from(`after:${key}`).toString('base64url');
}

function keyOfCursor(cursor: string): string {
  const [, key] = /^after:(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (key !== undefined) return key;
  throw wrongCursor();
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
