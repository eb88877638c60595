/** Shared limits: what there is of things that tasks of many types take while they run. */
import {
  API_BASE,
  HTTP_LIMITS,
  LIMIT_NAME_PATTERN,
  type LimitView,
} from '@soda-scheduler/protocol';
import {
  limitCommandResponse,
  limitList,
  limitListQuery,
  limitRequest,
  limitView,
} from '@soda-scheduler/protocol/schemas';
import type { SeenLimit } from '../../domain/views/limits.ts';
import { answers } from '../http/answers.ts';
import { checkShape, validate } from '../body/fields.ts';
import { invalidFields, Problem } from '../http/problem.ts';
import type { ApiRequest, NamespaceRoute } from '../http/route.ts';

const PATH = `${API_BASE}/limit/{name}`;

export function limitRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/limits`,
      summary: 'The shared limits by name, and how far each is used.',
      query: limitListQuery,
      replies: { done: limitList },
      handle: ({ query }, master) => {
        const { limit, cursor = '' } = checkShape(limitListQuery, query);
        const found = master.limitsAfter(cursor, limit + 1);
        const limits = found.slice(0, limit).map(viewOf);
        const next = found.length > limit ? (limits.at(-1)?.name ?? null) : null;
        return { body: { limits, next_cursor: next } };
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'A shared limit, and how far it is used.',
      replies: { done: limitView },
      handle: (request, master) => {
        const found = master.seenLimit(nameOf(request));
        if (found === null) throw new Problem('unknown', 'There is no such limit.');
        return { body: viewOf(found) };
      },
    },
    {
      method: 'PUT',
      path: PATH,
      summary: 'Set a shared limit, or change it. What has more of it already goes on.',
      body: { schema: limitRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: limitView, created: limitView },
      handle: async (request, master) => {
        const name = nameOf(request);
        const { max, per } = validate(limitRequest, request.body);
        const limit = { name, max, per: per ?? master.seenLimit(name)?.limit.per ?? 'cluster' };
        const outcome = await master.changeLimit({ type: 'limitSet', name, limit });
        if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
        const found = master.seenLimit(name) ?? { usedCount: 0, places: [] };
        const kind = outcome.isNew === true ? 'created' : 'done';
        return { body: viewOf({ ...found, limit }), kind };
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Delete a shared limit that no type uses. Tasks that wait for it need not any more.',
      replies: { done: limitCommandResponse },
      handle: async (request, master) => {
        const name = nameOf(request);
        const outcome = await master.changeLimit({ type: 'limitSet', name, limit: null });
        if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
        return { body: { name, code: answers.done.status } };
      },
    },
  ];
}

function nameOf({ params }: ApiRequest): string {
  const { name = '' } = params;
  if (LIMIT_NAME_PATTERN.test(name)) return name;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'name', message }]);
}

function viewOf({ limit, usedCount, places }: SeenLimit): LimitView {
  const { name, max, per } = limit;
  if (per === 'cluster') return { name, max, per, used: usedCount };
  const listed = places.map((place) => ({
    ...(per === 'host' ? { host: place.name } : { label: place.name }),
    used: place.usedCount,
  }));
  return { name, max, per, used: usedCount, places: listed };
}
