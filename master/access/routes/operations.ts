/** One command on many tasks: shown first, then begun, and followed to its end. */
import {
  API_BASE,
  HTTP_LIMITS,
  OPERATION_ID_PATTERN,
  type OperationSummary,
  type OperationView,
} from '@soda-scheduler/protocol';
import {
  bulkPreview,
  bulkRequest,
  operationBegun,
  operationList,
  operationListQuery,
  operationView,
} from '@soda-scheduler/protocol/schemas';
import type { z } from 'zod';
import type { AskedBulk, BegunBulk } from '../../application/operations/operations-handle.ts';
import type { StoredTask } from '../../application/ports.ts';
import type { TaskChange } from '../../domain/events.ts';
import { filterFields, type TaskFilter } from '../../domain/model/task-filter.ts';
import { type Bulk, statesFor, type Work } from '../../domain/long-work/work.ts';
import { excessErrors } from '../body/excess-uses.ts';
import { checkShape, valueWithParams } from '../body/fields.ts';
import { iso } from '../body/instants.ts';
import { type FieldError, invalidFields, Problem } from '../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import { openPreview, operationIdOf, PREVIEW_MS, sealPreview } from '../previews.ts';
import type { ScopedMaster } from '../scoped-master.ts';
import { filterOf } from './find/find.ts';
import type { RefusalOf } from './submission.ts';
import { changeForAny } from './task-change.ts';

const PATH = `${API_BASE}/operation/{operation_id}`;
type Asked = AskedBulk & Pick<Bulk, 'change'>;

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function operationRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  return [
    {
      method: 'POST',
      path: `${API_BASE}/tasks/bulk`,
      summary:
        'Tell to how many tasks something would be done, and to which; with the token of that answer, do it.',
      body: { schema: bulkRequest, bytesMax: HTTP_LIMITS.bulkBytesMax },
      replies: { done: bulkPreview, accepted: operationBegun },
      handle: (request, master) => bulk(request, master, refusalOf),
    },
    {
      method: 'GET',
      path: `${API_BASE}/operations`,
      summary: 'Operations on many tasks, newest first; those that are over are kept for a week.',
      query: operationListQuery,
      replies: { done: operationList },
      handle: list,
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'An operation on many tasks: how far it is, and what was not done.',
      replies: { done: operationView },
      handle: async (request, master) => {
        const work = await master.operations().of(idOf(request));
        if (work === null) throw new Problem('unknown', 'There is no such operation.');
        return { body: viewOf(work) };
      },
    },
    steerRoute('cancel', 'canceled', 'End an operation. What it has done stays done.'),
    steerRoute('pause', 'paused', 'Let an operation do no more for now.'),
    steerRoute('resume', 'running', 'Let an operation that was paused go on.'),
  ];
}

function steerRoute(
  name: string,
  to: 'running' | 'paused' | 'canceled',
  summary: string,
): NamespaceRoute {
  return {
    method: 'POST',
    path: `${PATH}/${name}`,
    summary,
    replies: { done: operationView },
    handle: async (request, master) => {
      const operations = master.operations();
      const outcome = await operations.steer(idOf(request), to);
      if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
      const work = await operations.of(idOf(request));
      if (work === null) throw new Problem('unknown', 'There is no such operation.');
      return { body: viewOf(work) };
    },
  };
}

async function bulk(
  { body, actor }: ApiRequest,
  master: ScopedMaster,
  refusalOf: RefusalOf,
): Promise<Reply> {
  const { value } = valueWithParams(body, 'ids');
  const request = checkShape(bulkRequest, value);
  const asked = askedBy(request, refusalOf);
  const errors = impossibleIn(asked.change ?? {}, master);
  if (errors.length > 0) throw invalidFields(errors);
  const operations = master.operations();
  const secrets = await operations.secrets();
  const asker = { namespace: master.namespace, actor, asked };
  const { token, reason = null } = request;
  if (token === undefined) {
    const { sample, ...frozen } = await operations.preview(asked);
    const expiresAt = Date.now() + PREVIEW_MS;
    const preview = {
      count: frozen.count,
      exact: frozen.isExact,
      sample: sample.map(sampleOf),
      token: sealPreview({ ...frozen, expiresAt }, asker, secrets),
      expires_at: iso(expiresAt),
    };
    return { body: preview, logged: null };
  }
  const shown = openPreview(token, asker, secrets);
  if (shown === null) throw refusedToken('it is of no preview of this very request by this caller');
  if (shown.expiresAt <= Date.now()) throw refusedToken('its preview is older than ten minutes');
  const workId = operationIdOf(token);
  const begun: BegunBulk = { ...shown, change: asked.change, reason, by: actor.name };
  const outcome = await operations.begin(workId, { ...asked, ...begun });
  if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  const logged = { operation_id: workId, action: asked.action, count: shown.count, reason };
  return { kind: 'accepted', body: { operation_id: workId }, logged };
}

function refusedToken(why: string): Problem {
  return invalidFields([{ field: 'token', message: `${why}: ask for another preview` }]);
}

/** @throws {Problem} it does not say which tasks, or the action cannot be done to any such task. */
function askedBy(request: z.output<typeof bulkRequest>, refusalOf: RefusalOf): Asked {
  const { action, filter, ids, all, change } = request;
  const errors = changeErrorsOf(change);
  const refuse = (field: string, message: string) => errors.push({ field, message });
  if ([filter, ids, all].filter((one) => one !== undefined).length !== 1) {
    refuse('filter', 'expected one of `filter`, `ids` and `all`');
  } else if (filter !== undefined && Object.keys(filter).length === 0) {
    refuse('filter', 'it is empty: say `all: true` where all tasks are meant');
  } else if (action === 'redeliver' && ids === undefined && filter?.notification === undefined) {
    refuse('filter.notification', 'expected it: which callbacks are to be sent again');
  }
  if (action === 'change' && change === undefined) refuse('change', 'expected what is to change');
  if (action !== 'change' && change !== undefined) refuse('change', 'only of the action `change`');
  const asked: Asked = {
    action,
    filter: ids === undefined ? filterOf(filter ?? {}, 'filter.') : null,
    ids: ids === undefined ? null : [...new Set(ids)],
    change: change && errors.length === 0 ? changeForAny(change, refusalOf) : null,
  };
  if (errors.length === 0 && statesFor(asked).length === 0) {
    refuse('filter', `no task that it finds is in a state in which it takes \`${action}\``);
  }
  if (errors.length > 0) throw invalidFields(errors);
  return asked;
}

/** What a type has as default, or a schema for, differs from task to task. */
function changeErrorsOf(change: object = {}): FieldError[] {
  return Object.entries(change).flatMap(([name, value]) =>
    value === null || name === 'params'
      ? [{ field: `change.${name}`, message: 'for one task only: it depends on the type' }]
      : [],
  );
}

/** What none of the tasks can become: whoever asks would hear of it from each. */
function impossibleIn(change: TaskChange, master: ScopedMaster): FieldError[] {
  const { deadlineAt = null, runAt = null, uses = [] } = change;
  const errors: FieldError[] = [];
  const refuse = (field: string, message: string) =>
    errors.push({ field: `change.${field}`, message });
  if (deadlineAt !== null && deadlineAt <= Date.now())
    refuse('deadline', 'expected later than now');
  else if (deadlineAt !== null && runAt !== null && deadlineAt <= runAt) {
    refuse('deadline', 'expected later than `change.run_at`');
  }
  const missing = uses.find(({ limit }) => master.seenLimit(limit) === null);
  if (missing !== undefined) refuse('uses', `there is no limit ${missing.limit}`);
  return [...errors, ...excessErrors(uses, master, 'change.uses')];
}

async function list({ query }: ApiRequest, master: ScopedMaster): Promise<Reply> {
  const { state, limit, cursor } = checkShape(operationListQuery, query);
  const all = await master.operations().all();
  const at = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
  // What the last page ended with has been forgotten, and all that is older.
  const rest = cursor !== undefined && at === 0 ? [] : all.slice(at);
  const found = rest.filter((work) => state === undefined || work.state === state);
  const page = found.slice(0, limit);
  const next = found.length > limit ? (page.at(-1)?.id ?? null) : null;
  return { body: { operations: page.map(summaryOf), next_cursor: next } };
}

function idOf({ params }: ApiRequest): string {
  const { operation_id: id = '' } = params;
  if (OPERATION_ID_PATTERN.test(id)) return id;
  const message = 'expected op- and 24 digits of 0-9 a-f';
  throw invalidFields([{ field: 'operation_id', message }]);
}

function sampleOf({ task }: StoredTask) {
  const { id, type, state, user, submittedAt } = task;
  return { task_id: id, type, state, group: user.group, submitted_at: iso(submittedAt) };
}

function summaryOf(work: Work): OperationSummary {
  const { id, request, state, counts, isExact, by, createdAt, endedAt } = work;
  return {
    operation_id: id,
    action: request.action,
    state,
    ...counts,
    exact: isExact,
    reason: request.reason,
    by,
    created_at: iso(createdAt),
    ended_at: iso(endedAt),
  };
}

function viewOf(work: Work): OperationView {
  const problems = work.problems.map(({ taskId, kind, message }) => {
    return { task_id: taskId, kind, message };
  });
  return { ...summaryOf(work), filter: chosenBy(work), problems };
}

/** Null: by their ids. */
function chosenBy(work: Work): OperationView['filter'] {
  if (work.kind === 'bulk') return work.request.filter && filterView(work.request.filter);
  const { job, trigger, from, until, which, maxRunning: max_running } = work.request;
  return { job, trigger, from: iso(from), to: iso(until), which, max_running };
}

/** As it was asked for. */
function filterView(filter: TaskFilter): OperationView['filter'] {
  const { from, to } = filter;
  const times = { ...(from !== null && { from: iso(from) }), ...(to !== null && { to: iso(to) }) };
  return { ...filterFields(filter), ...times };
}
