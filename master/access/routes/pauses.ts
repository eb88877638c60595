/** Pauses of groups, labels, namespaces and all of them. Those of types are set with the types. */
import { API_BASE, HTTP_LIMITS, type PauseRequest } from '@soda-scheduler/protocol';
import {
  pauseCommandResponse,
  pauseList,
  pauseListQuery,
  pauseRequest,
  resumeRequest,
} from '@soda-scheduler/protocol/schemas';
import type { NamespacesHandle } from '../../application/process/namespaces-handle.ts';
import type { Pause } from '../../domain/model/pause.ts';
import { isPlace, placeOf } from '../../domain/views/pauses.ts';
import { pauseFields } from '../../domain/why/details.ts';
import { checkShape, validate } from '../body/fields.ts';
import { untilOf } from '../body/instants.ts';
import { invalidFields, Problem, wrongCursor } from '../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../http/route.ts';
import { checkPause } from '../rights.ts';
import type { ScopedMaster } from '../scoped-master.ts';

type Handle = Pick<NamespacesHandle, 'put' | 'pauseAll'>;

export function pauseRoutes(namespaces: Handle): NamespaceRoute[] {
  const bytesMax = HTTP_LIMITS.bodyBytesMax;
  return [
    {
      method: 'GET',
      path: `${API_BASE}/pauses`,
      summary: 'What is paused, by whom, why and until when; types too.',
      query: pauseListQuery,
      replies: { done: pauseList },
      handle: ({ query }, master) => {
        const { limit, cursor = '' } = checkShape(pauseListQuery, query);
        if (cursor !== '' && !isPlace(cursor)) throw wrongCursor();
        const found = master.pausesAfter(cursor, limit + 1);
        const page = found.slice(0, limit);
        const last = page.at(-1);
        const next = found.length > limit && last !== undefined ? placeOf(last) : null;
        return { body: { pauses: page.map(pauseFields), next_cursor: next } };
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/pause`,
      summary: 'Begin no task of a group, with a label, of the namespace, or at all.',
      body: { schema: pauseRequest, bytesMax },
      replies: { done: pauseCommandResponse },
      handle: (request, master) => {
        const { reason = null, until, ...what } = validate(pauseRequest, request.body);
        const pause = { by: request.actor.name, reason, until: untilOf(until) };
        return set(namespaces, master, request, what, pause);
      },
    },
    {
      method: 'POST',
      path: `${API_BASE}/resume`,
      summary: 'End such a pause. Where there is none nothing changes.',
      body: { schema: resumeRequest, bytesMax },
      replies: { done: pauseCommandResponse },
      handle: (request, master) =>
        set(namespaces, master, request, validate(resumeRequest, request.body), null),
    },
  ];
}

/** @param pause null: there is to be none. */
async function set(
  namespaces: Handle,
  master: ScopedMaster,
  { actor, author }: ApiRequest,
  { scope, value: given }: Pick<PauseRequest, 'scope' | 'value'>,
  pause: Omit<Pause, 'at'> | null,
): Promise<Reply> {
  const value = given ?? '';
  checkPause(actor, scope, value);
  if (scope === 'all') await namespaces.pauseAll(pause, author && { ...author, namespace: null });
  else if (scope === 'namespace') {
    const { namespace } = master;
    if (value !== '' && value !== namespace) {
      const message = `expected ${namespace}, which the path names, or nothing`;
      throw invalidFields([{ field: 'value', message }]);
    }
    await namespaces.put(namespace, { paused: pause }, author);
  } else {
    const outcome = await master.changePause({ type: 'pauseSet', scope, value, pause });
    if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  }
  const isOfSome = scope === 'group' || scope === 'label';
  const held = master.pauseOf(scope, isOfSome ? value : '');
  return {
    body: { pauses: held === null ? [] : [pauseFields(held)] },
    logged: { scope, value: isOfSome ? value : null },
  };
}
