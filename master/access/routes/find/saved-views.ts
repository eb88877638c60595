/** Saved views: lists that people look at again and again, by name. */
import { API_BASE, HTTP_LIMITS, VIEW_NAME_PATTERN } from '@soda-scheduler/protocol';
import {
  viewCommandResponse,
  viewList,
  viewListQuery,
  viewRequest,
  viewView,
} from '@soda-scheduler/protocol/schemas';
import type { SavedView } from '../../../domain/model/saved-view.ts';
import { answers } from '../../http/answers.ts';
import { checkShape, validate } from '../../body/fields.ts';
import { invalidFields, Problem } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute } from '../../http/route.ts';
import { checkSearch } from './find.ts';

const PATH = `${API_BASE}/view/{name}`;

export function savedViewRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/views`,
      summary: 'The saved views by name: queries of lists of tasks.',
      query: viewListQuery,
      replies: { done: viewList },
      handle: ({ query }, master) => {
        const { limit, cursor = '' } = checkShape(viewListQuery, query);
        const rest = master.views().filter(({ name }) => name > cursor);
        const page = rest.slice(0, limit);
        const next = rest.length > limit ? (page.at(-1)?.name ?? null) : null;
        return { body: { views: page.map(viewOf), next_cursor: next } };
      },
    },
    {
      method: 'PUT',
      path: PATH,
      summary: 'Save a view, in place of what had that name.',
      body: { schema: viewRequest, bytesMax: HTTP_LIMITS.bodyBytesMax },
      replies: { done: viewView, created: viewView },
      handle: async (request, master) => {
        const name = nameOf(request);
        const { query } = validate(viewRequest, request.body);
        checkSearch(query, 'query.');
        const view = { name, query: JSON.stringify(query) };
        const outcome = await master.changeView({ type: 'viewSet', ...view });
        if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
        return { body: viewOf(view), kind: outcome.isNew === true ? 'created' : 'done' };
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Delete a saved view.',
      replies: { done: viewCommandResponse },
      handle: async (request, master) => {
        const name = nameOf(request);
        const outcome = await master.changeView({ type: 'viewSet', name, query: null });
        if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
        return { body: { name, code: answers.done.status } };
      },
    },
  ];
}

function nameOf({ params }: ApiRequest): string {
  const { name = '' } = params;
  if (VIEW_NAME_PATTERN.test(name)) return name;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . -, not . or ..';
  throw invalidFields([{ field: 'name', message }]);
}

function viewOf({ name, query }: SavedView) {
  return { name, query: JSON.parse(query) as unknown };
}
