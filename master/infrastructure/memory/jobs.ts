/** What the store in memory tells of jobs: the same as the SQL store. */
import type {
  DueQuestion,
  DueTriggers,
  JobCount,
  JobPage,
  JobQuery,
  JobReads,
  LoadedJobs,
  OccurrencePage,
  OccurrenceQuery,
} from '../../application/ports.ts';
import { copyOf } from '../../domain/changes.ts';
import type { Job, JobVersion, Occurrence, Trigger } from '../../domain/model/job.ts';
import { isAsked, isTimeAsked, jobsOfPage, newestFirst } from '../../domain/model/job-query.ts';
import type { Rows } from './rows.ts';

/** Text as it is compared byte by byte: all names are ASCII. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byPlace = (a: Trigger, b: Trigger) => compare(a.job, b.job) || compare(a.name, b.name);

export class MemoryJobs implements JobReads {
  readonly #rows: Rows;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Some are to be fired, or to be looked at. */
  get hasWork(): boolean {
    const isBusy = this.#rows.of('jobActivity').size > 0;
    return isBusy || this.#triggers(({ nextAt }) => nextAt !== null).length > 0;
  }

  get hasJobs(): boolean {
    return this.#rows.of('job').size > 0;
  }

  async firstTriggerAt(after: number): Promise<number | null> {
    const waiting = this.#triggers(({ nextAt }) => nextAt !== null && nextAt > after);
    const times = waiting.map(({ nextAt }) => nextAt ?? 0);
    return times.length === 0 ? null : Math.min(...times);
  }

  async loadDueTriggers({ now, since, dueCount, missedCount }: DueQuestion): Promise<DueTriggers> {
    return {
      due: this.#dueIn(since, now).slice(0, dueCount),
      missed: this.#dueIn(Number.NEGATIVE_INFINITY, since).slice(0, missedCount),
      nextAt: await this.firstTriggerAt(now),
    };
  }

  #dueIn(from: number, to: number): readonly Trigger[] {
    return this.#triggers(({ nextAt }) => nextAt !== null && nextAt > from && nextAt <= to).sort(
      (a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || byPlace(a, b),
    );
  }

  async loadJobs(names: readonly string[], bytesMax: number): Promise<LoadedJobs> {
    const jobs: Job[] = [];
    let bytes = 0;
    for (const [at, name] of names.entries()) {
      const job = this.#rows.of('job').get(name);
      if (job === undefined) continue;
      bytes += job.spec.length + job.template.length;
      if (bytes > bytesMax && jobs.length > 0) return { jobs, rest: names.slice(at) };
      jobs.push(copyOf(job));
    }
    return { jobs, rest: [] };
  }

  async countJobs(after: string, limit: number): Promise<JobCount> {
    const all = [...this.#rows.of('job').values()].map(({ name }) => name);
    const names = all.filter((name) => name > after).sort(compare);
    const page = names.slice(0, limit);
    return { count: page.length, last: page.at(-1) ?? null };
  }

  async loadTriggers(jobs: readonly string[]): Promise<readonly Trigger[]> {
    return this.#triggers(({ job }) => jobs.includes(job)).sort(byPlace);
  }

  async loadListeners(job: string, limit: number): Promise<readonly Trigger[]> {
    return this.#triggers(({ source }) => source === job)
      .sort(byPlace)
      .slice(0, limit);
  }

  async loadCalendared(after: string, limit: number): Promise<readonly Trigger[]> {
    const [job = '', name = ''] = after.split('/');
    const isBehind = (one: Trigger) => (compare(one.job, job) || compare(one.name, name)) > 0;
    return this.#triggers((one) => one.isCalendared && isBehind(one))
      .sort(byPlace)
      .slice(0, limit);
  }

  async loadRecords(
    { job, trigger }: { readonly job: string; readonly trigger: string },
    from: number,
    to: number,
    limit: number,
  ): Promise<readonly Occurrence[]> {
    const own = [...this.#rows.of('occurrence').values()]
      .filter((one) => one.job === job && one.trigger === trigger)
      .sort((a, b) => a.nominal - b.nominal || a.rerun - b.rerun);
    const before = own.findLast(({ nominal, rerun }) => nominal < from && rerun === 0);
    const within = own.filter(({ nominal }) => nominal >= from && nominal <= to);
    return [...(before === undefined ? [] : [before]), ...within.slice(0, limit)];
  }

  listRecords(...of: Parameters<JobReads['loadRecords']>): Promise<readonly Occurrence[]> {
    return this.loadRecords(...of);
  }

  async listJobs(query: JobQuery): Promise<JobPage> {
    const { after, limit } = query;
    const found = [...this.#rows.of('job').values()]
      .filter((job) => job.name > after && isAsked(job, query))
      .sort((a, b) => compare(a.name, b.name));
    const page = jobsOfPage(found, limit, ({ spec }) => spec.length);
    const jobs = page.map(({ template: _, ...job }) => job);
    const triggers = await this.loadTriggers(jobs.map(({ name }) => name));
    const next = found.length > jobs.length ? (jobs.at(-1)?.name ?? null) : null;
    return { jobs, triggers, after: next };
  }

  async showJob(name: string): Promise<{ job: Job; triggers: readonly Trigger[] } | null> {
    const job = this.#rows.of('job').get(name);
    return job === undefined ? null : { job, triggers: await this.loadTriggers([name]) };
  }

  async listVersions(job: string): Promise<readonly JobVersion[]> {
    const all = [...this.#rows.of('jobVersion').values()];
    return all.filter((one) => one.job === job).sort((a, b) => b.version - a.version);
  }

  async readVersion(job: string, version: number): Promise<JobVersion | null> {
    const all = [...this.#rows.of('jobVersion').values()];
    return all.find((one) => one.job === job && one.version === version) ?? null;
  }

  async listOccurrences(query: OccurrenceQuery): Promise<OccurrencePage> {
    const { job, trigger, from, limit } = query;
    const own = [...this.#rows.of('occurrence').values()]
      .filter((one) => one.job === job && (trigger === null || one.trigger === trigger))
      .sort(newestFirst);
    const ofTriggers = trigger === null ? await this.loadTriggers([job]) : [{ name: trigger }];
    const reaching = ofTriggers.map(({ name }) =>
      own.find((one) => one.trigger === name && one.rerun === 0 && one.nominal < (from ?? 0)),
    );
    const occurrences = own
      .filter((one) => from === null || one.nominal >= from || reaching.includes(one))
      .filter((one) => isTimeAsked(one, query))
      .slice(0, limit);
    return { occurrences, lookedTo: null };
  }

  drop(before: number): number {
    let count = 0;
    const rows = this.#rows.of('occurrence');
    for (const [key, { state, noticedAt }] of rows) {
      if (state === 'pending' || noticedAt >= before) continue;
      rows.delete(key);
      count += 1;
    }
    return count;
  }

  #triggers(matches: (trigger: Trigger) => boolean): Trigger[] {
    return [...this.#rows.of('trigger').values()].filter(matches).map(copyOf);
  }
}
