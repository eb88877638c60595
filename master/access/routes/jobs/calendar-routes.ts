/** Calendars by which jobs are fired or not, and black-outs of all jobs. */
import {
  API_BASE,
  CALENDAR_NAME_PATTERN,
  jsonObject,
  type CalendarSummary,
  type CalendarView,
  JOB_LIMITS,
} from '@soda-scheduler/protocol';
import {
  blackoutsRequest,
  blackoutsView,
  calendarCommandResponse,
  calendarDeleteQuery,
  calendarList,
  calendarListQuery,
  calendarRequest,
  calendarView,
} from '@soda-scheduler/protocol/schemas';
import { ALL_JOBS, type Calendar } from '../../../domain/model/job.ts';
import { calendarWarnings } from '../../../domain/schedule/calendar.ts';
import { dayOf } from '../../../domain/schedule/local-time.ts';
import type { Blackout } from '../../../domain/schedule/trigger-spec.ts';
import { answers } from '../../http/answers.ts';
import { daysOfIcs, IcsRefused } from '../../calendars/ics.ts';
import { canonicalJson } from '../../body/canonical-json.ts';
import { checkShape, validate } from '../../body/fields.ts';
import { iso } from '../../body/instants.ts';
import { Pieces } from '../../body/pieces.ts';
import { etagOf, ifMatch, versionOf } from '../../http/etag.ts';
import { invalidFields, Problem } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { jsonReply } from '../tasks.ts';
import { calendarText, readCalendar } from './calendar-body.ts';
import { digestOf, type KeptCalendar } from './calendar-digest.ts';
import { blackoutErrors, blackoutOf } from './job-body.ts';
import { textsOf } from './job-views.ts';

const PATH = `${API_BASE}/calendar/{name}`;
const BLACKOUTS_PATH = `${API_BASE}/blackouts`;
const ICS = 'text/calendar';

export function calendarRoutes(): NamespaceRoute[] {
  const pieces = new Pieces();
  return [
    {
      method: 'GET',
      path: `${API_BASE}/calendars`,
      summary: 'The calendars by name, without their days.',
      query: calendarListQuery,
      replies: { done: calendarList },
      handle: async ({ query }, master) => {
        const { limit, cursor = '' } = checkShape(calendarListQuery, query);
        const rest = master
          .jobs()
          .calendars()
          .filter(({ name }) => name > cursor);
        const page = rest.slice(0, limit);
        const next = rest.length > limit ? (page.at(-1)?.name ?? null) : null;
        const texts = textsOf(page, (row) => JSON.stringify(summaryOf(row)));
        const calendars = await pieces.run(texts);
        return jsonReply(jsonObject({ next_cursor: next }, { calendars }));
      },
    },
    {
      method: 'GET',
      path: PATH,
      summary: 'A calendar, with its days.',
      replies: { done: calendarView },
      handle: (request, master) => shown(master, nameOf(request)),
    },
    {
      method: 'PUT',
      path: PATH,
      summary: 'Make a calendar, or change it: all of it. Triggers go by it at once.',
      headers: ifMatch,
      body: {
        schema: calendarRequest,
        bytesMax: JOB_LIMITS.calendarBytesMax,
        otherType: ICS,
      },
      replies: { done: calendarView, created: calendarView },
      handle: (request, master) => putCalendar(pieces, request, master),
    },
    {
      method: 'DELETE',
      path: PATH,
      summary: 'Delete a calendar that no trigger goes by.',
      headers: ifMatch,
      query: calendarDeleteQuery,
      replies: { done: calendarCommandResponse },
      handle: async (request, master) => {
        const name = nameOf(request);
        const isForced = checkShape(calendarDeleteQuery, request.query).force === 'true';
        await change(master, request, name, null, isForced);
        return { body: { name, code: answers.done.status } };
      },
    },
    ...blackoutRoutes(),
  ];
}

function blackoutRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: BLACKOUTS_PATH,
      summary: 'Times at which no job is fired.',
      replies: { done: blackoutsView },
      handle: (_, master) => blackoutsShown(master),
    },
    {
      method: 'PUT',
      path: BLACKOUTS_PATH,
      summary: 'Say at which times no job is fired: all of them.',
      headers: ifMatch,
      body: { schema: blackoutsRequest, bytesMax: JOB_LIMITS.jobBytesMax },
      replies: { done: blackoutsView },
      handle: async (request, master) => {
        const { blackouts } = validate(blackoutsRequest, request.body);
        const errors = blackoutErrors({ blackouts });
        if (errors.length > 0) throw invalidFields(errors);
        const text = canonicalJson(JSON.stringify({ blackouts: blackouts.map(blackoutOf) }));
        await change(master, request, ALL_JOBS, text);
        return blackoutsShown(master);
      },
    },
  ];
}

async function putCalendar(
  pieces: Pieces,
  request: ApiRequest,
  master: ScopedMaster,
): Promise<Reply> {
  const name = nameOf(request);
  const isIcs = request.headers['content-type']?.toLowerCase().startsWith(ICS) === true;
  const asked = isIcs
    ? await published(pieces, request, master.jobs().calendar(name))
    : { ...(await pieces.run(readCalendar(request.body))), warnings: [] };
  const text = await pieces.run(calendarText(asked));
  const outcome = await change(master, request, name, text);
  const reply = shown(master, name);
  const body = reply.body as CalendarView;
  const warnings = [...asked.warnings, ...body.warnings];
  const kind = outcome.isNew === true ? 'created' : 'done';
  return { ...reply, body: { ...body, warnings }, kind };
}

/** As somebody publishes it. What an ICS file does not say stays as it is. @throws {Problem} 400 */
async function published(pieces: Pieces, { body }: ApiRequest, before: Calendar | null) {
  const kept = before === null ? null : (JSON.parse(before.text) as KeptCalendar);
  const text = body?.toString() ?? '';
  try {
    const reading = daysOfIcs(text, dayOf(Date.now()), JOB_LIMITS.calendarDayCountMax);
    const { days, name, warnings } = await pieces.run(reading);
    const description = kept?.description ?? name ?? undefined;
    return { days, weekend: kept?.weekend, description, warnings };
  } catch (error) {
    if (!(error instanceof IcsRefused)) throw error;
    throw invalidFields([{ field: 'body', message: error.message }]);
  }
}

async function change(
  master: ScopedMaster,
  request: ApiRequest,
  name: string,
  text: string | null,
  isForced = false,
) {
  const asked = { name, text, expect: versionOf(request), isForced, by: request.actor.name };
  const outcome = await master.jobs().changeCalendar(asked);
  if (outcome.kind !== 'done') throw new Problem(outcome.kind, outcome.message);
  return outcome;
}

function shown(master: ScopedMaster, name: string): Reply {
  const row = master.jobs().calendar(name);
  if (row === null) throw new Problem('unknown', 'There is no such calendar.');
  const { days } = JSON.parse(row.text) as { days: CalendarView['days'] };
  const { day_count: _, work_count: __, ...view } = summaryOf(row);
  const body: CalendarView = { ...view, days };
  return { body, headers: { ETag: etagOf(row.version) } };
}

function summaryOf(row: Calendar): CalendarSummary {
  const { name, version, changedAt, by } = row;
  const { weekend, description, from, to, dayCount, workCount, years } = digestOf(row);
  return {
    name,
    version,
    ...(description !== undefined && { description }),
    weekend: [...weekend],
    from,
    to,
    day_count: dayCount,
    work_count: workCount,
    changed_at: iso(changedAt),
    by,
    warnings: calendarWarnings(years, dayOf(Date.now())),
  };
}

function blackoutsShown(master: ScopedMaster): Reply {
  const row = master.jobs().calendar(ALL_JOBS);
  const version = row?.version ?? 0;
  const { blackouts } = JSON.parse(row?.text ?? '{"blackouts":[]}') as { blackouts: Blackout[] };
  const list = blackouts.map(({ from, to, reason }) => ({ from: iso(from), to: iso(to), reason }));
  return { body: { version, blackouts: list }, headers: { ETag: etagOf(version) } };
}

function nameOf({ params }: ApiRequest): string {
  const { name = '' } = params;
  if (CALENDAR_NAME_PATTERN.test(name)) return name;
  const message = 'expected 1 to 64 characters of A-Z a-z 0-9 _ . : -';
  throw invalidFields([{ field: 'name', message }]);
}
