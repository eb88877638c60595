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
import { invalidFields } from '../../http/problem.ts';
import type { ApiRequest, NamespaceRoute, Reply } from '../../http/route.ts';
import type { ScopedMaster } from '../../scoped-master.ts';
import { daysOf } from './days.ts';

const CSV = 'text/csv';

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

async function usage({ query }: ApiRequest, { reports }: ScopedMaster): Promise<Reply> {
  const asked = checkShape(usageQuery, query);
  const { by, format, limit, cursor, type = null, group = null } = asked;
  const days = daysOf(asked, reports);
  const fields = by.filter((field) => field !== 'day');
  const isByDay = fields.length < by.length;
  const found = await reports
    .usage({ days, isByDay, by: fields, type, group, within: null })
    .catch(refuseTooLong);
  const rows = found.map((sum) => rowOf(sum, fields));
  rows.sort((a, b) => order(placeOf(a, by), placeOf(b, by)));
  if (format === 'csv') return { body: csvOf(by, rows), contentType: `${CSV}; charset=utf-8` };
  const first = cursor === undefined ? 0 : firstAfter(rows, by, cursor);
  const page = rows.slice(first, first + limit);
  const last = first + limit < rows.length ? page.at(-1) : undefined;
  const body: UsageReport = {
    ...spanOf(days, reports),
    by,
    total: totalOf(found),
    usage: page,
    next_cursor: last === undefined ? null : cursorOf(placeOf(last, by)),
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
    total: totalOf(found),
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

function totalOf(found: readonly DaySum[]): UsageFigures {
  const total: Figures = {};
  for (const { figures } of found) addFigures(total, figures);
  return whole(total);
}

function successShare({ succeeded, failed, expired }: UsageFigures): number | null {
  const count = succeeded + failed + expired;
  return count === 0 ? null : succeeded / count;
}

function csvOf(by: readonly ReportField[], rows: readonly UsageRow[]): string {
  const names = [...by, ...FIGURES];
  const lines = rows.map((row) => csvLine(names.map((name) => row[name] ?? null)));
  return [csvLine(names), ...lines].map((line) => `${line}\r\n`).join('');
}

/** What it has nothing of comes first. */
const placeOf = (row: UsageRow, by: readonly ReportField[]): string[] =>
  by.map((field) => row[field] ?? '');

function order(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1;
}

/** Opaque to clients, so that what it holds may change. */
function cursorOf(place: readonly string[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function firstAfter(rows: readonly UsageRow[], by: readonly ReportField[], cursor: string): number {
  const place = placeIn(cursor);
  if (place.length !== by.length) {
    throw invalidFields([{ field: 'cursor', message: 'expected the `next_cursor` of a page' }]);
  }
  const first = rows.findIndex((row) => order(placeOf(row, by), place) > 0);
  return first < 0 ? rows.length : first;
}

function placeIn(cursor: string): readonly string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(place) && place.every((one) => typeof one === 'string') ? place : [];
  } catch {
    return [];
  }
}
