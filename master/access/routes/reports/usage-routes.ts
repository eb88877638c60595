/** Who has used how much: by group, type and the like, and by day. */
import {
  API_BASE,
  csvLine,
  type DailyReport,
  type ReportField,
  type UsageFigures,
  type UsageReport,
  type UsageRow,
} from '@soda-scheduler/protocol';
import { dailyQuery, dailyReport, usageQuery, usageReport } from '@soda-scheduler/protocol/schemas';
import {
  type DaySum,
  REPORT_ROWS_MAX,
  ReportTooLong,
} from '../../../application/reports/reports-handle.ts';
import { addFigures, FIGURES, type Figures } from '../../../domain/usage/usage.ts';
import { checkShape } from '../../body/fields.ts';
import { Pieces } from '../../body/pieces.ts';
import { invalidFields, wrongCursor } from '../../http/problem.ts';
import { type ApiRequest, asksFor, type NamespaceRoute, type Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { daysOf } from './days.ts';

const CSV = 'text/csv';
/** Rows that are put in order at once. */
const RUN_COUNT = 100;
/** A report may have thousands of rows: all reports together have a share of the event loop. */
const pieces = new Pieces();

interface Placed {
  /** What it is told apart by, as asked for. */
  readonly place: readonly string[];
  readonly sum: DaySum;
}

export function usageRoutes(): NamespaceRoute[] {
  return [
    {
      method: 'GET',
      path: `${API_BASE}/reports/usage`,
      summary: 'What tasks have used, by group, type and the like: counted as it happens.',
      query: usageQuery,
      replies: { done: usageReport },
      streams: [CSV],
      handle: usage,
    },
    {
      method: 'GET',
      path: `${API_BASE}/reports/daily`,
      summary: 'The same by day, with the share of tasks that have succeeded.',
      query: dailyQuery,
      replies: { done: dailyReport },
      handle: daily,
    },
  ];
}

async function usage(request: ApiRequest, { reports }: ScopedMaster): Promise<Reply> {
  const asked = checkShape(usageQuery, request.query);
  const { by, format, limit, cursor, type = null, group = null } = asked;
  const days = daysOf(asked, reports);
  const fields = by.filter((field) => field !== 'day');
  const isByDay = fields.length < by.length;
  const after = cursor === undefined ? null : placeIn(cursor, by);
  const found = await reports
    .usage({ days, isByDay, by: fields, type, group, within: null })
    .catch(refuseTooLong);
  const placed = await pieces.run(inOrder(found, by, fields));
  if (format === 'csv' || asksFor(request, CSV)) {
    const text = await pieces.run(csvOf(by, fields, placed));
    return { body: text, contentType: `${CSV}; charset=utf-8` };
  }
  const next = after === null ? 0 : placed.findIndex(({ place }) => order(place, after) > 0);
  const first = next < 0 ? placed.length : next;
  const page = placed.slice(first, first + limit);
  const last = first + limit < placed.length ? page.at(-1) : undefined;
  const body: UsageReport = {
    ...spanOf(days, reports),
    by,
    total: await pieces.run(totalOf(found)),
    usage: page.map(({ sum }) => rowOf(sum, fields)),
    next_cursor: last === undefined ? null : cursorOf(last.place),
  };
  return { body };
}

async function daily({ query }: ApiRequest, { reports }: ScopedMaster): Promise<Reply> {
  const asked = checkShape(dailyQuery, query);
  const { type = null, group = null } = asked;
  const days = daysOf(asked, reports);
  const found = await reports.usage({ days, isByDay: true, by: [], type, group, within: null });
  const byDay = new Map(found.map(({ day, figures }) => [day, figures]));
  const body: DailyReport = {
    ...spanOf(days, reports),
    total: await pieces.run(totalOf(found)),
    days: days.map((day) => {
      const figures = whole(byDay.get(day) ?? {});
      return { day, ...figures, success_share: successShare(figures) };
    }),
  };
  return { body };
}

function refuseTooLong(error: unknown): never {
  if (!(error instanceof ReportTooLong)) throw error;
  const message = `expected fewer fields, or fewer days: there are more than ${REPORT_ROWS_MAX} rows`;
  throw invalidFields([{ field: 'by', message }]);
}

function spanOf(days: readonly string[], { zone }: { readonly zone: string }) {
  return { from: days[0] ?? '', to: days.at(-1) ?? '', zone };
}

function rowOf({ day, values, figures }: DaySum, fields: readonly ReportField[]): UsageRow {
  const named = Object.fromEntries(fields.map((field, index) => [field, values[index] ?? null]));
  return { ...(day !== null && { day }), ...named, ...whole(figures) };
}

function whole(figures: Figures): UsageFigures {
  const all = FIGURES.map((name) => [name, figures[name] ?? 0] as const);
  return Object.fromEntries(all) as UsageFigures;
}

function* totalOf(found: readonly DaySum[]): Generator<void, UsageFigures> {
  const total: Figures = {};
  for (const { figures } of found) {
    addFigures(total, figures);
    yield;
  }
  return whole(total);
}

function successShare({ succeeded, failed, expired }: UsageFigures): number | null {
  const count = succeeded + failed + expired;
  return count === 0 ? null : succeeded / count;
}

function* csvOf(
  by: readonly ReportField[],
  fields: readonly ReportField[],
  placed: readonly Placed[],
): Generator<void, string> {
  const names = [...by, ...FIGURES];
  let text = csvLine(names);
  for (const { sum } of placed) {
    const row = rowOf(sum, fields);
    text += csvLine(names.map((name) => row[name] ?? null));
    yield;
  }
  return text;
}

/** By their places; where one has nothing of a field it comes first. */
export function* inOrder(
  found: readonly DaySum[],
  by: readonly ReportField[],
  fields: readonly ReportField[],
): Generator<void, readonly Placed[]> {
  let runs: Placed[][] = [];
  for (let at = 0; at < found.length; at += RUN_COUNT) {
    const run = found
      .slice(at, at + RUN_COUNT)
      .map((sum) => ({ place: placeOf(sum, by, fields), sum }));
    runs.push(run.sort((a, b) => order(a.place, b.place)));
    yield;
  }
  while (runs.length > 1) {
    const longer: Placed[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(yield* merged(runs[at] ?? [], runs[at + 1] ?? []));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merged(one: readonly Placed[], other: readonly Placed[]): Generator<void, Placed[]> {
  const both: Placed[] = [];
  for (let at = 0, otherAt = 0; at < one.length || otherAt < other.length; ) {
    const [a, b] = [one[at], other[otherAt]];
    const isFirst = b === undefined || (a !== undefined && order(a.place, b.place) <= 0);
    if (isFirst) at += 1;
    else otherAt += 1;
    const next = isFirst ? a : b;
    if (next !== undefined) both.push(next);
    if (both.length % RUN_COUNT === 0) yield;
  }
  return both;
}

function placeOf(
  { day, values }: DaySum,
  by: readonly ReportField[],
  fields: readonly ReportField[],
): string[] {
  return by.map((field) => (field === 'day' ? day : values[fields.indexOf(field)]) ?? '');
}

function order(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < one.length; at++) {
    const [a = '', b = ''] = [one[at], other[at]];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

/** Opaque to clients, so that what it holds may change. */
function cursorOf(place: readonly string[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** @throws {Problem} */
function placeIn(cursor: string, by: readonly ReportField[]): readonly string[] {
  const place = textsIn(cursor);
  if (place.length === by.length) return place;
  throw wrongCursor();
}

function textsIn(cursor: string): readonly string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(place) && place.every((one) => typeof one === 'string') ? place : [];
  } catch {
    return [];
  }
}
