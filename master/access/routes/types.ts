/** What is set for types, and which there are. */
import {
  API_BASE,
  HTTP_LIMITS,
  NEW_TASK_TYPE_PATTERN,
  TASK_TYPE_EXPECTED,
  type TypeView,
} from '@soda-scheduler/protocol';
import {
  typeCommandResponse,
  typeDefinition,
  typeDeleteQuery,
  typeList,
  typeListQuery,
  typeOverrideRequest,
  typePauseRequest,
  typePutQuery,
  typeView,
} from '@soda-scheduler/protocol/schemas';
import type { ScopedMaster } from '../scoped-master.ts';
import { TYPES_PAGE_LENGTH_MAX } from '../../domain/bounds.ts';
import type { TypeChange } from '../../domain/events.ts';
import { unregistered } from '../../domain/model/task-type.ts';
import type { WaitingReason } from '../../domain/views/explain.ts';
import type { SeenType, SeenTypeInDetail } from '../../domain/views/types.ts';
import type { Role } from '../../application/ports.ts';
import { answers } from '../http/answers.ts';
import { checkShape, validate, valueOf } from '../body/fields.ts';
import { untilOf } from '../body/instants.ts';
import { etagOf, ifMatch, ifNoneMatch, versionOf } from '../http/etag.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import type { RefusalOf } from './submission.ts';
import { type Defined, definitionText, overrideText } from './type-definition.ts';
import { pauseView, waitingView } from './views.ts';

/** @param refusalOf Why the receiver of a callback would be refused, if that is known already. */
export function typeRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  return [...definitionRoutes(refusalOf), ...pauseRoutes(), ...overrideRoutes()];
}

const PATH = `${API_BASE}/type/{type}`;

function definitionRoutes(refusalOf: RefusalOf): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/types`,
      summary: 'The types by name, registered or only seen, with what waits and runs of each.',
      query: typeListQuery,
      replies: { done: typeList },
      handle: async (request, master) => ({ body: await pageOf(master, request) }),
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'A type: what is set for it, and what waits and runs of it.',
      headers: ifNoneMatch,
      replies: { done: typeView, unchanged: null },
      handle: async (request, master) => {
        const seen = await master.seenType(nameOf(request));
        if (seen === null) throw new Problem('unknown', 'Nobody knows of such a type.');
        const { body } = shown(seen, request.actor.role);
        // Its counts and pauses change without a version.
        const etag = etagOf(seen.taskType.version, JSON.stringify(body));
        return { body, headers: { ETag: etag } };
      },
    },
    {
      method: 'PUT',
      path: PATH,
      summary: 'Define a type, all of it: what is left out is not set any more.',
      headers: ifMatch,
      query: typePutQuery,
      body: { schema: typeDefinition, bytesMax: HTTP_LIMITS.typeBytesMax },
      replies: { done: typeView, created: typeView },
      handle: (request, master) => {
        const name = nameOf(request);
        const text = definitionText(name, valueOf(request.body), master, refusalOf);
        const isTrial = checkShape(typePutQuery, request.query).dry_run === 'true';
        const expect = versionOf(request);
        return changed(master, { type: 'typeSet', name, text, expect, isTrial }, request);
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary:
        'Forget the definition of a type of which no task waits or runs; what operators have set stays.',
      headers: ifMatch,
      query: typeDeleteQuery,
      replies: { done: typeCommandResponse },
      handle: async (request, master) => {
        const name = nameOf(request);
        const isForced = checkShape(typeDeleteQuery, request.query).force === 'true';
        const change = { type: 'typeRemoved', name, expect: versionOf(request), isForced } as const;
        const outcome = await master.changeType(change);
        if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
        return { body: { type: name, code: answers.done.status } };
      },
    },
  ];
}

function pauseRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'POST',
      path: `${PATH}/pause`,
      summary: 'Begin no task of a type, registered or not, until then or until it is resumed.',
      body: { schema: typePauseRequest, bytesMax: HTTP_LIMITS.typeBytesMax, optional: true },
      replies: { done: typeView },
      handle: (request, master) => {
        const { reason = null, until } = validate(typePauseRequest, request.body);
        const pause = { reason, until: untilOf(until), by: request.actor.name };
        return changed(master, { type: 'typePaused', name: nameOf(request), ...pause }, request);
      },
    },
    {
      method: 'POST',
      path: `${PATH}/resume`,
      summary: 'End the pause of a type.',
      replies: { done: typeView },
      handle: (request, master) =>
        changed(master, { type: 'typeResumed', name: nameOf(request) }, request),
    },
  ];
}

function overrideRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'PUT',
      path: `${PATH}/override`,
      summary: 'Set limits or a route that hold in place of the defined ones, until taken back.',
      body: { schema: typeOverrideRequest, bytesMax: HTTP_LIMITS.typeBytesMax },
      replies: { done: typeView },
      handle: (request, master) => {
        const body = validate(typeOverrideRequest, request.body);
        const text = overrideText(body, master);
        const { reason } = body;
        const layer = { text, by: request.actor.name, reason, until: untilOf(body.until) };
        return changed(master, { type: 'typeOverridden', name: nameOf(request), layer }, request);
      },
    },
    {
      method: 'DELETE',
      path: `${PATH}/override`,
      summary: 'What is defined holds again.',
      replies: { done: typeView },
      handle: (request, master) =>
        changed(master, { type: 'typeOverridden', name: nameOf(request), layer: null }, request),
    },
  ];
}

const UNSEEN = {
  waitingCount: 0,
  runningCount: 0,
  heldCount: 0,
  executorCount: 0,
  constraint: null,
};

function nameOf({ params }: ApiRequest): string {
  const { type = '' } = params;
  if (NEW_TASK_TYPE_PATTERN.test(type)) return type;
  throw invalidFields([{ field: 'type', message: TASK_TYPE_EXPECTED }]);
}

/** The type as the change has left it, with the ETag of that: others may have changed it since. */
async function changed(
  master: ScopedMaster,
  change: TypeChange,
  { actor: { role } }: ApiRequest,
): Promise<Reply> {
  const outcome = await master.changeType(change);
  if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  const { taskType = unregistered(change.name), isNew = false } = outcome;
  const seen = (await master.seenType(change.name)) ?? UNSEEN;
  const isTrial = change.type === 'typeSet' && change.isTrial === true;
  const reply = {
    ...shown({ ...seen, taskType }, role),
    kind: isNew ? 'created' : 'done',
  } as const;
  return isTrial ? { ...reply, logged: null } : reply;
}

function shown(seen: SeenTypeInDetail, role: Role): Reply {
  const { constraint } = seen;
  const view = { ...viewOf(seen, role), constraint: constraint && constraintView(constraint) };
  return { body: view, headers: { ETag: etagOf(seen.taskType.version) } };
}

async function pageOf(master: ScopedMaster, { query, actor: { role } }: ApiRequest) {
  const { limit, cursor = '' } = checkShape(typeListQuery, query);
  const found = await master.typesAfter(cursor, limit + 1);
  const page = found.slice(0, Math.min(limit, countWithin(found)));
  const next = found.length > page.length ? (page.at(-1)?.taskType.type ?? null) : null;
  const types = page.map((seen) => viewOf(seen, role)).map(({ params_schema: _, ...view }) => view);
  return { types, next_cursor: next };
}

/** How many of them are read in one go. */
function countWithin(found: readonly SeenType[]): number {
  let length = 0;
  const beyond = found.findIndex(
    ({ taskType }) => (length += taskType.text.length) > TYPES_PAGE_LENGTH_MAX,
  );
  return beyond < 0 ? found.length : beyond;
}

function viewOf(seen: SeenType, role: Role): TypeView {
  const { taskType, waitingCount, runningCount, heldCount, executorCount } = seen;
  const { type, version, text, paused, override } = taskType;
  return {
    type,
    registered: version > 0,
    version,
    ...definedFor(role, text),
    paused: paused && pauseView(paused),
    overrides:
      override === null
        ? []
        : [
            {
              ...(JSON.parse(override.text) as Defined),
              ...pauseView(override),
              reason: override.reason,
            },
          ],
    counts: { waiting: waitingCount, running: runningCount, held: heldCount },
    executors: executorCount,
  };
}

/** How many come before it says nothing of a type. */
function constraintView(constraint: WaitingReason): TypeView['constraint'] {
  const { ahead: _, ...view } = waitingView(constraint);
  return view;
}

/** A URL of callbacks may have a secret in it: who only submits has no use for it. */
function definedFor(role: Role, text: string): Defined {
  const defined = JSON.parse(text) as Defined;
  const { defaults } = defined;
  if (role === 'admin' || defaults?.notify_url === undefined) return defined;
  const { notify_url: _, ...shown } = defaults;
  return { ...defined, defaults: shown };
}
