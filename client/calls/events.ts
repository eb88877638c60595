/** What has happened in a namespace, as it comes. */
import type { EventPage, EventQuery, EventView } from '@soda-scheduler/protocol';
import { type AbsenceOptions, type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';
import { exactJson, rememberEach } from '../exact-json.ts';
import { pagesAfter } from '../pages.ts';

export interface EventOptions extends CallOptions, AbsenceOptions {
  /** False: it ends with the newest that there is now. Default: it waits for more, whatever becomes of the master. */
  readonly follow?: boolean | undefined;
  /** Called with the first answer: what the master tells at all (`SODA_EVENTS`). */
  readonly onLevel?: ((level: Level) => void) | undefined;
}

type Level = EventPage['level'];

export interface EventCalls {
  /**
   * By number, from the oldest that is kept, or what comes after `after`; `now`: from now on. A `seq` that was kept
   * goes on where another iteration, or another process, has ended: each event comes at least once. Rejects with
   * status 410 where what follows is not kept any more. `limit` is the size of a page. `exactJson(event, 'data')` has what an
   * executor has told as it was written.
   */
  events(
    query?: Omit<EventQuery, 'wait'>,
    options?: EventOptions,
  ): AsyncIterableIterator<EventView>;
}

export function eventCalls(api: ApiCaller): EventCalls {
  return { events: (query = {}, options = {}) => eventsOf(api, query, options) };
}

async function* eventsOf(
  api: ApiCaller,
  { task, after, ...filters }: Omit<EventQuery, 'wait'>,
  options: EventOptions,
): AsyncIterableIterator<EventView> {
  const signal = signalOf(options, 'follow', 'onAway', 'onBack', 'onLevel');
  const { follow = true, onLevel, onAway, onBack } = options;
  let isFirst = true;
  /** What comes meanwhile is not asked for: where the master does not say, it ends once nothing came. */
  let end = Number.POSITIVE_INFINITY;
  const of = task === undefined ? '' : `/task/${encodeURIComponent(task)}`;
  const asked = { path: `${api.base}${of}/events`, field: 'events', filters, after };
  for await (const page of pagesAfter<EventPage>(api, {
    ...asked,
    follow,
    signal,
    onAway,
    onBack,
  })) {
    if (isFirst) onLevel?.(page.level);
    if (isFirst && !follow) end = page.newest ?? end;
    isFirst = false;
    rememberEach(page.events, exactJson(page, 'events'));
    yield* page.events.filter(({ seq }) => seq <= end);
    if (page.next >= end) return;
  }
}
