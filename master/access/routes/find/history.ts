/** Ended tasks whole, the oldest days first, for whoever takes them elsewhere. */
import { API_BASE, endedStates } from '@soda-scheduler/protocol';
import { historyPage, historyQuery } from '@soda-scheduler/protocol/schemas';
import { HISTORY_PAGE_BYTES_MAX } from '../../../domain/bounds.ts';
import { ANY_TASK } from '../../../domain/model/task-filter.ts';
import { checkShape } from '../../body/fields.ts';
import { timesOf } from '../../body/instants.ts';
import { wrongCursor } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { endedTaskText } from '../views.ts';

/** That a date can be. */
const LAST_INSTANT = 8.64e15;

export const historyRoute: NamespaceRoute = {
  method: 'GET',
  path: `${API_BASE}/history`,
  summary:
    'Ended tasks, whole, the oldest days first. A page looks at so many tasks: it may be short, or empty, and the ' +
    'next one goes on where it ended.',
  query: historyQuery,
  replies: { done: historyPage },
  handle: read,
};

async function read({ query }: ApiRequest, master: ScopedMaster): Promise<Reply> {
  const asked = checkShape(historyQuery, query);
  const { state, type = null, group = null, limit, cursor = null, ...times } = asked;
  const { from, to } = timesOf(times);
  const search = {
    filter: { ...ANY_TASK, type, group, from, to },
    states: state === undefined ? endedStates : [state],
    seqMax: Number.MAX_SAFE_INTEGER,
    endedBefore: to ?? LAST_INSTANT,
    isBackwards: false,
  };
  const place = cursor && placeIn(cursor);
  const page = await master.lists.history(search, place, limit, HISTORY_PAGE_BYTES_MAX);
  const texts = page.tasks.map((task) => endedTaskText(task, master.namespace));
  const next = page.cursor && Buffer.from(page.cursor).toString('base64url');
  const body = `{"tasks":[${texts.join(',')}],"next_cursor":${JSON.stringify(next)}}\n`;
  return { body, contentType: 'application/json' };
}

/** @throws {Problem} it is of no page. */
function placeIn(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (/^(?:[a-z0-9_]{1,40}:)?\d{1,16}$/.test(place)) return place;
  throw wrongCursor();
}
