/** The calls about jobs, which are submitted again and again, and about the calendars that they go by. */
import {
  type BackfillPreview,
  type BackfillRequest,
  type BlackoutsRequest,
  type BlackoutsView,
  type CalendarRequest,
  type CalendarSummary,
  type CalendarView,
  jsonObject,
  type JobRequest,
  type JobRunRequest,
  type JobRunResponse,
  type JobSummary,
  jsonText,
  type JobVersions,
  type JobView,
  type NextFire,
  type OccurrenceView,
  type OperationBegun,
  type SkipRequest,
} from '@soda-scheduler/protocol';
import { type ApiCaller, type Call, type CallOptions, signalOf } from '../api-call.ts';
import { exactJson, rememberEach } from '../exact-json.ts';
import { allOf } from '../pages.ts';
import { type AtVersion, matching } from './types.ts';

/** Which jobs. */
export interface JobFilter {
  readonly tag?: string | undefined;
  /** What its name or description has somewhere. */
  readonly text?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** Which past times of a job are run again. */
export type Backfill = Omit<BackfillRequest, 'token'>;

/** Which times of a job, by their nominal time. */
export interface OccurrenceFilter {
  readonly trigger?: string | undefined;
  readonly from?: string | number | undefined;
  readonly to?: string | number | undefined;
  readonly state?: OccurrenceView['state'] | undefined;
}

export interface JobCalls {
  readonly jobs: {
    /** By name; read page by page while iterated. */
    list(filter?: JobFilter, options?: CallOptions): AsyncIterableIterator<JobSummary>;
    get(name: string, options?: CallOptions): Promise<JobView>;
    /**
     * Makes it, or changes it, all of it: what is left out is not set any more. The same again changes nothing.
     * `template.task.params` may be what `rawJson` returns. `dryRun`: only says what it would be.
     */
    put(
      name: string,
      job: JobRequest,
      options?: CallOptions & AtVersion & { dryRun?: boolean | undefined },
    ): Promise<JobView>;
    /** Runs that have begun go on. */
    delete(name: string, options?: CallOptions & AtVersion): Promise<void>;
    /** Lets its triggers fire it, those too that were paused. */
    enable(name: string, options?: CallOptions): Promise<JobView>;
    /** Lets no trigger fire it. It can still be run by hand. */
    disable(name: string, options?: CallOptions): Promise<JobView>;
    /** Runs it now. One key never makes two runs; without one each call makes its own, however often it is tried. */
    run(name: string, run?: JobRunRequest, options?: CallOptions): Promise<JobRunResponse>;
    /** The newest thirty, newest first. */
    versions(name: string, options?: CallOptions): Promise<JobVersions['versions']>;
    /** Makes it as it was in that version, as a new one. */
    rollback(name: string, version: number, options?: CallOptions): Promise<JobView>;
    /** Its next times, and what calendars and black-outs make of them. */
    next(
      name: string,
      options?: CallOptions & {
        count?: number | undefined;
        trigger?: string | undefined;
        from?: string | number | undefined;
      },
    ): Promise<NextFire[]>;
    /** What has become of its times, newest first; read page by page while iterated. */
    occurrences(
      name: string,
      filter?: OccurrenceFilter,
      options?: CallOptions,
    ): AsyncIterableIterator<OccurrenceView>;
    /** It is not run at that time, which is to come. */
    skip(name: string, time: SkipRequest, options?: CallOptions): Promise<void>;
    unskip(name: string, time: SkipRequest, options?: CallOptions): Promise<void>;
    /** How many past times of it would be run now. Changes nothing. */
    previewBackfill(name: string, asked: Backfill, options?: CallOptions): Promise<BackfillPreview>;
    /**
     * Begins what was previewed, within ten minutes, and resolves with the id of the operation, for `operations.wait`.
     * `asked` must be that of the preview, but for the reason. A repetition begins it once.
     */
    backfill(name: string, asked: Backfill, token: string, options?: CallOptions): Promise<string>;
  };
  readonly calendars: {
    /** By name, without their days; read page by page while iterated. */
    list(options?: CallOptions): AsyncIterableIterator<CalendarSummary>;
    get(name: string, options?: CallOptions): Promise<CalendarView>;
    /** Makes it, or changes it, all of it. Triggers go by it at once. */
    put(
      name: string,
      calendar: CalendarRequest,
      options?: CallOptions & AtVersion,
    ): Promise<CalendarView>;
    /** The same of a file of iCalendar: its all-day events are the days. */
    putIcs(name: string, text: string, options?: CallOptions & AtVersion): Promise<CalendarView>;
    /** Refused while triggers go by it; `force`: they fire on no day by it then. */
    delete(
      name: string,
      options?: CallOptions & AtVersion & { force?: boolean | undefined },
    ): Promise<void>;
    /** Times at which no job is fired. */
    blackouts(options?: CallOptions): Promise<BlackoutsView>;
    /** All of them. */
    setBlackouts(
      blackouts: BlackoutsRequest['blackouts'],
      options?: CallOptions & AtVersion,
    ): Promise<BlackoutsView>;
  };
}

export function jobCalls(api: ApiCaller): JobCalls {
  return { jobs: callsOnJobs(api), calendars: callsOnCalendars(api) };
}

type Ask = <T>(method: Call['method'], path: string, more?: Partial<Call>) => Promise<T>;

function callsOnJobs(api: ApiCaller): JobCalls['jobs'] {
  const pathOf = (name: string, command = '') =>
    `${api.base}/job/${encodeURIComponent(name)}${command}`;
  const ask: Ask = async <T>(method: Call['method'], path: string, more: Partial<Call> = {}) =>
    (await api.call({ method, path, field: 'name', ...more })) as T;
  return {
    list: ({ tag, text, enabled } = {}, options = {}) =>
      allOf(api, `${api.base}/jobs`, 'jobs', options, { tag, text, enabled }),
    async get(name, options = {}) {
      return ask('GET', pathOf(name), { signal: signalOf(options) });
    },
    async put(name, job, options = {}) {
      const signal = signalOf(options, 'version', 'dryRun');
      const query = options.dryRun ? { dry_run: true } : {};
      const headers = matching(options);
      return ask('PUT', pathOf(name), { body: bodyOf(job), query, headers, signal });
    },
    async delete(name, options = {}) {
      const signal = signalOf(options, 'version');
      await ask('DELETE', pathOf(name), { headers: matching(options), signal });
    },
    async enable(name, options = {}) {
      return ask('POST', pathOf(name, '/enable'), { signal: signalOf(options) });
    },
    async disable(name, options = {}) {
      return ask('POST', pathOf(name, '/disable'), { signal: signalOf(options) });
    },
    async run(name, { params, key = crypto.randomUUID() } = {}, options = {}) {
      const body = jsonObject({ key }, { params: jsonText(params) });
      const signal = signalOf(options);
      return ask('POST', pathOf(name, '/run'), { body, field: 'task_id', signal });
    },
    async versions(name, options = {}) {
      const more = { field: 'versions', signal: signalOf(options) };
      const list = await ask<JobVersions>('GET', pathOf(name, '/versions'), more);
      rememberEach(list.versions, exactJson(list, 'versions'));
      return list.versions;
    },
    async rollback(name, version, options = {}) {
      const signal = signalOf(options);
      return ask('POST', pathOf(name, '/rollback'), { body: { version }, signal });
    },
    async next(name, options = {}) {
      const signal = signalOf(options, 'count', 'trigger', 'from');
      const { count, trigger, from } = options;
      const more = { field: 'next', query: { count, trigger, from }, signal };
      return (await ask<{ next: NextFire[] }>('GET', pathOf(name, '/next'), more)).next;
    },
    occurrences: (name, filter = {}, options = {}) =>
      allOf(api, pathOf(name, '/occurrences'), 'occurrences', options, filter),
    async skip(name, time, options = {}) {
      await ask('POST', pathOf(name, '/skip'), { body: time, signal: signalOf(options) });
    },
    async unskip(name, time, options = {}) {
      await ask('POST', pathOf(name, '/unskip'), { body: time, signal: signalOf(options) });
    },
    async previewBackfill(name, asked, options = {}) {
      const more = { body: asked, field: 'token', signal: signalOf(options) };
      return ask('POST', pathOf(name, '/backfill'), more);
    },
    async backfill(name, asked, token, options = {}) {
      const body = { ...asked, token };
      const more = { body, field: 'operation_id', signal: signalOf(options) };
      return (await ask<OperationBegun>('POST', pathOf(name, '/backfill'), more)).operation_id;
    },
  };
}

/** Its params as they are written. Of what comes from a file the master says what is missing. */
function bodyOf({ template, ...job }: Partial<JobRequest>): string {
  const { task = null, ...others } = (template ?? {}) as Partial<JobRequest['template']>;
  const { params, ...fields } = (task ?? {}) as Partial<JobRequest['template']['task']>;
  const taskText = jsonObject(fields, { params: jsonText(params) });
  return jsonObject(job, { template: jsonObject(others, { task: taskText }) });
}

function callsOnCalendars(api: ApiCaller): JobCalls['calendars'] {
  const pathOf = (name: string) => `${api.base}/calendar/${encodeURIComponent(name)}`;
  const blackoutsPath = `${api.base}/blackouts`;
  const ask: Ask = async <T>(method: Call['method'], path: string, more: Partial<Call> = {}) =>
    (await api.call({ method, path, field: 'name', ...more })) as T;
  return {
    list: (options) => allOf(api, `${api.base}/calendars`, 'calendars', options),
    async get(name, options = {}) {
      return ask('GET', pathOf(name), { signal: signalOf(options) });
    },
    async put(name, calendar, options = {}) {
      const signal = signalOf(options, 'version');
      return ask('PUT', pathOf(name), { body: calendar, headers: matching(options), signal });
    },
    async putIcs(name, text, options = {}) {
      const signal = signalOf(options, 'version');
      const headers = { ...matching(options), 'content-type': 'text/calendar' };
      return ask('PUT', pathOf(name), { body: text, headers, signal });
    },
    async delete(name, options = {}) {
      const signal = signalOf(options, 'version', 'force');
      const query = options.force ? { force: true } : {};
      await ask('DELETE', pathOf(name), { query, headers: matching(options), signal });
    },
    async blackouts(options = {}) {
      return ask('GET', blackoutsPath, { field: 'blackouts', signal: signalOf(options) });
    },
    async setBlackouts(blackouts, options = {}) {
      const signal = signalOf(options, 'version');
      const more = { body: { blackouts }, field: 'blackouts', headers: matching(options), signal };
      return ask('PUT', blackoutsPath, more);
    },
  };
}
