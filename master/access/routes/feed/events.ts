/** What has happened, as the feed of a namespace tells it: page by page, with a wait for more, or as a stream. */
import { API_BASE, type EventView, jsonObject } from '@soda-scheduler/protocol';
import { eventPage, eventQuery, taskEventQuery } from '@soda-scheduler/protocol/schemas';
import type { FeedHandle } from '../../../application/feed.ts';
import type { EventPage, EventQuery } from '../../../application/ports.ts';
import type { FeedLevel, StoredEvent } from '../../../domain/feed/feed-event.ts';
import { checkShape } from '../../body/fields.ts';
import { iso } from '../../body/instants.ts';
import { Problem } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { found, taskIdOf } from '../tasks.ts';
import type { Followers } from './followers.ts';
import { eventText, FOLLOWED, type Followed, lastEventIn, replyTo } from './following.ts';

type Asked = Omit<EventQuery, 'lookCount'>;

/** @param level What is told. */
export function eventRoutes(followers: Followers, level: FeedLevel): NamespaceRoute[] {
  const common = { ...FOLLOWED, replies: { done: eventPage } } as const;
  return [
    {
      ...common,
      path: `${API_BASE}/events`,
      summary:
        'What has happened, in the order of commits. A page looks at so many numbers: it may be short, or ' +
        'empty, and `next` moves on. With `Accept: text/event-stream`: all of it as it comes.',
      query: eventQuery,
      handle: async (request, master) => {
        const { task, type = null, group = null, ...rest } = checkShape(eventQuery, request.query);
        const taskSeq = task === undefined ? null : (await found(master, task, 0)).task.seq;
        return answer({ followers, level }, request, master, { ...rest, taskSeq, type, group });
      },
    },
    {
      ...common,
      path: `${API_BASE}/task/{task_id}/events`,
      summary: 'What has happened to a task, as `GET /events` with its id.',
      query: taskEventQuery,
      handle: async (request, master) => {
        const rest = checkShape(taskEventQuery, request.query);
        const { task } = await found(master, taskIdOf(request), 0);
        return answer({ followers, level }, request, master, {
          ...{ ...rest, taskSeq: task.seq, type: null, group: null },
        });
      },
    },
  ];
}

interface Wanted extends Pick<Asked, 'taskSeq' | 'type' | 'group' | 'limit'> {
  readonly after?: number | 'now' | undefined;
  readonly kind?: string | null | undefined;
  readonly wait: number;
}

async function answer(
  { followers, level }: { readonly followers: Followers; readonly level: FeedLevel },
  request: ApiRequest,
  { feed }: ScopedMaster,
  { after: from, kind = null, wait, ...rest }: Wanted,
): Promise<Reply> {
  const last = lastEventIn(request, /^\d{1,15}$/, 'the number of an event');
  const after =
    last === null ? (from === 'now' ? await newestOf(feed) : (from ?? null)) : Number(last);
  const query = { ...rest, kind, after, within: null };
  const first = checked(query, await feed.read(query));
  const followed = followedBy(feed, request, query, level);
  return replyTo(request, followers, followed, first, { wait });
}

function followedBy(
  feed: FeedHandle,
  request: ApiRequest,
  query: Asked,
  level: FeedLevel,
): Followed<EventPage> {
  return {
    now: () => feed.now(),
    isOver: () => feed.isOver || request.isOver(),
    news: (page, withinMs) => feed.news(page?.next ?? Number.POSITIVE_INFINITY, withinMs),
    async readAfter({ next }) {
      const page = await feed.read({ ...query, after: next });
      // Whoever was too slow is told so when he comes again.
      return page.oldest > next + 1 ? null : page;
    },
    isAtEnd: ({ next, newest }) => next >= newest,
    isLast: () => false,
    replyOf: (page) => replyOf(page, level),
    textOf: ({ events }) => events.map((event) => eventText(event.seq, jsonOf(event))).join(''),
    idOf: ({ next }) => next,
  };
}

/** @throws {Problem} some of what was asked for is not kept any more, or was never told. */
function checked({ after }: Pick<Asked, 'after'>, page: EventPage): EventPage {
  const { oldest, newest } = page;
  if (after !== null && after + 1 < oldest) {
    const detail = `Events up to ${oldest - 1} are not kept any more: begin without \`after\`, with number ${oldest}.`;
    throw new Problem('gone', detail);
  }
  if (after !== null && after > newest) {
    const detail = `The newest event has the number ${newest}: the database is not the one that told of ${after}. Begin without \`after\`.`;
    throw new Problem('gone', detail);
  }
  return page;
}

async function newestOf(feed: FeedHandle): Promise<number> {
  const none = { taskSeq: null, type: null, group: null, kind: null, within: null };
  return (await feed.read({ after: null, limit: 1, ...none })).newest;
}

function replyOf({ events, next, oldest, newest }: EventPage, level: FeedLevel): Reply {
  const numbers = `"next":${next},"oldest":${oldest},"newest":${newest},"level":"${level}"`;
  const body = `{"events":[${events.map(jsonOf).join(',')}],${numbers}}\n`;
  return { body, contentType: 'application/json' };
}

/** What an executor has to say is in it as it was written. */
function jsonOf(event: StoredEvent): string {
  const { seq, at, kind, taskId, type, group, attempt, executorId, actor } = event;
  const fields = {
    seq,
    at: iso(at),
    kind,
    ...(taskId !== null && { task_id: taskId }),
    ...(type !== null && { type }),
    ...(group !== null && { group }),
    ...(attempt !== null && { attempt }),
    ...(executorId !== null && { executor_id: executorId }),
    ...(actor !== null && { actor }),
  } satisfies Omit<EventView, 'data'>;
  return jsonObject(fields, { data: dataOf(event) });
}

function dataOf({ data, kind }: StoredEvent): string {
  if (data === null) return '{}';
  if (kind.startsWith('user.')) return data;
  const fields = JSON.parse(data) as Record<string, unknown>;
  const shown = Object.entries(fields).map(([name, value]) => {
    const isInstant = typeof value === 'number' && /(_at|^until)$/.test(name);
    return [name, isInstant ? iso(value) : value] as const;
  });
  return JSON.stringify(Object.fromEntries(shown));
}
