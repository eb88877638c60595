/** What tasks have used, as the master has counted it. */
import {
  type DailyQuery,
  type DailyReport,
  HTTP_LIMITS,
  type LoadQuery,
  type LoadReport,
  type RecentQuery,
  type RecentReport,
  type UsageQuery,
  type UsageReport,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type CallOptions, signalOf } from '../api-call.ts';

export interface ReportCalls {
  readonly reports: {
    /** All rows, read page by page; of today, by group and type, unless the query says otherwise. */
    usage(
      query?: Omit<UsageQuery, 'format' | 'limit' | 'cursor'>,
      options?: CallOptions,
    ): Promise<Omit<UsageReport, 'next_cursor'>>;
    /** Each day, of today unless the query says otherwise. */
    daily(query?: DailyQuery, options?: CallOptions): Promise<DailyReport>;
    /** How busy it was, of the last 24 hours unless the query says otherwise: minutes, hours or days, as the span is long. */
    load(query?: LoadQuery, options?: CallOptions): Promise<LoadReport>;
    /** What became of each type in the last hour, read page by page. */
    recent(
      query?: Omit<RecentQuery, 'limit' | 'cursor'>,
      options?: CallOptions,
    ): Promise<Omit<RecentReport, 'next_cursor'>>;
  };
}

export function reportCalls(api: ApiCaller): ReportCalls {
  const path = `${api.base}/reports`;
  return {
    reports: {
      async usage({ by, ...query } = {}, options = {}) {
        const signal = signalOf(options);
        const asked = {
          ...query,
          ...(by !== undefined && { by: typeof by === 'string' ? by : by.join(',') }),
          limit: HTTP_LIMITS.reportRowsMax,
        };
        const rows: UsageReport['usage'] = [];
        for (let cursor: string | undefined; ; ) {
          const question = { path: `${path}/usage`, field: 'usage', query: { ...asked, cursor } };
          const page = (await api.call({ method: 'GET', ...question, signal })) as UsageReport;
          const { usage, next_cursor, ...report } = page;
          rows.push(...usage);
          if (next_cursor === null) return { ...report, usage: rows };
          cursor = next_cursor;
        }
      },
      async daily(query = {}, options = {}) {
        const question = { path: `${path}/daily`, field: 'days', query, signal: signalOf(options) };
        return (await api.call({ method: 'GET', ...question })) as DailyReport;
      },
      async load(query = {}, options = {}) {
        const question = {
          path: `${path}/load`,
          field: 'points',
          query,
          signal: signalOf(options),
        };
        return (await api.call({ method: 'GET', ...question })) as LoadReport;
      },
      async recent(query = {}, options = {}) {
        const signal = signalOf(options);
        const types: RecentReport['types'] = [];
        for (let cursor: string | undefined; ; ) {
          const question = { path: `${path}/recent`, field: 'types', query: { ...query, cursor } };
          const page = (await api.call({ method: 'GET', ...question, signal })) as RecentReport;
          types.push(...page.types);
          if (page.next_cursor === null) return { since: page.since, types };
          cursor = page.next_cursor;
        }
      },
    },
  };
}
