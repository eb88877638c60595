/** How busy the master was, minute by minute, and what has happened in the last hour, by type. */
import {
  API_BASE,
  type LoadPoint,
  type LoadReport,
  type RecentReport,
} from '@soda-scheduler/protocol';
import { loadQuery, loadReport, recentQuery, recentReport } from '@soda-scheduler/protocol/schemas';
import { delayOfMost, type Load } from '../../../domain/load/figures.ts';
import { checkShape } from '../../body/fields.ts';
import { instantOf, iso } from '../../body/instants.ts';
import { invalidFields } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';

const DAY_MS = 86_400_000;
/** Of one report. */
const LOAD_DAYS_MAX = 400;

export function loadRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/reports/load`,
      summary: 'How many tasks came, waited, ran and ended, point by point.',
      query: loadQuery,
      replies: { done: loadReport },
      handle: load,
    },
    {
      method: 'GET',
      path: `${API_BASE}/reports/recent`,
      summary: 'What became of the tasks of each type in the last hour.',
      query: recentQuery,
      replies: { done: recentReport },
      handle: recent,
    },
  ];
}

async function load({ query }: ApiRequest, { reports }: ScopedMaster): Promise<Reply> {
  const { type = null, ...asked } = checkShape(loadQuery, query);
  const to = instantOf(asked.to) ?? reports.now;
  const from = instantOf(asked.from) ?? to - DAY_MS;
  const isTooLong = to - from > LOAD_DAYS_MAX * DAY_MS;
  if (from >= to || isTooLong) {
    const expected = isTooLong ? `at most ${LOAD_DAYS_MAX} days` : 'an instant after `from`';
    throw invalidFields([{ field: 'to', message: `expected ${expected}` }]);
  }
  const { stepMs, points } = await reports.load({ from, to, types: type === null ? null : [type] });
  const body: LoadReport = {
    from: iso(from),
    to: iso(to),
    type,
    resolution_ms: stepMs,
    points: points.map(({ at, sampleCount, load }) => pointOf(at, sampleCount, load)),
  };
  return { body };
}

async function recent({ query }: ApiRequest, { reports }: ScopedMaster): Promise<Reply> {
  const { type, limit, cursor: after = '' } = checkShape(recentQuery, query);
  const among = type === undefined ? null : [type];
  // One more says whether there is another page.
  const { since, types } = await reports.recent({ after, limit: limit + 1, among });
  const page = types.slice(0, limit);
  const body: RecentReport = {
    since: iso(since),
    types: page.map(
      ({ type, load: { accepted = 0, started = 0, succeeded = 0, failed = 0, ...last } }) => ({
        ...{ type, accepted, started, succeeded, failed },
        last_started_at: isoOrNull(last.last_started_at),
        last_ended_at: isoOrNull(last.last_ended_at),
      }),
    ),
    next_cursor: types.length > limit ? (page.at(-1)?.type ?? null) : null,
  };
  return { body };
}

function pointOf(at: number, sampleCount: number, load: Load): LoadPoint {
  const { accepted = 0, started = 0, succeeded = 0, failed = 0, canceled = 0, expired = 0 } = load;
  const average = (sum = 0): number => Math.round((100 * sum) / sampleCount) / 100;
  return {
    at: iso(at),
    samples: sampleCount,
    ...{ accepted, started, succeeded, failed, canceled, expired },
    attempts_failed: load.attempts_failed ?? 0,
    waiting: average(load.waiting),
    held: average(load.held),
    paused: average(load.paused),
    limited: average(load.limited),
    no_executor: average(load.no_executor),
    all_busy: average(load.all_busy),
    running: average(load.running),
    // Counted of all types together only.
    executors_idle: load.samples === undefined ? null : average(load.idle),
    oldest_wait_ms: load.oldest_wait_ms ?? 0,
    start_delay_p95_ms: delayOfMost(load),
    start_delay_max_ms: started === 0 ? null : (load.delay_max_ms ?? 0),
  };
}

/** 0: never. */
const isoOrNull = (at = 0): string | null => (at === 0 ? null : iso(at));
