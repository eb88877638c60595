/** Jobs as whoever may see only some groups and types sees them: what he sets must be of these. */
import type { JobsHandle } from '../application/jobs/jobs-handle.ts';
import type { Scope } from '../application/ports.ts';
import type { JobChange } from '../domain/jobs/job-events.ts';
import type { Actor } from './auth.ts';
import { type FieldError, invalidFields, Problem } from './http/problem.ts';
import { outsideInWords } from './rights.ts';
import { includes } from './scope.ts';

type JobSet = Extract<JobChange, { type: 'jobSet' }>;

/** @param jobs which knows already what may be seen. */
export function scopedJobs(actor: Actor, scope: Scope, jobs: JobsHandle): JobsHandle {
  return {
    list: (...of) => jobs.list(...of),
    show: (...of) => jobs.show(...of),
    runs: (...of) => jobs.runs(...of),
    versions: (...of) => jobs.versions(...of),
    version: (...of) => jobs.version(...of),
    occurrences: (...of) => jobs.occurrences(...of),
    next: (...of) => jobs.next(...of),
    fires: (...of) => jobs.fires(...of),
    previewBackfill: (...of) => jobs.previewBackfill(...of),
    backfill: (...of) => jobs.backfill(...of),
    calendars: () => jobs.calendars(),
    calendar: (...of) => jobs.calendar(...of),
    changeCalendar: (...of) => jobs.changeCalendar(...of),
    async change(change) {
      if (change.type === 'jobSet') {
        checkJob(actor, scope, change);
        await checkSources(jobs, change);
      }
      return jobs.change(change);
    },
  };
}

/** What its tasks are is what a submit of them would be refused for. @throws {Problem} 403 */
function checkJob(actor: Actor, scope: Scope, { definition: { type, group } }: JobSet): void {
  if (!includes(scope, 'types', type)) {
    throw new Problem('forbidden', outsideInWords(actor, 'types', type));
  }
  if (includes(scope, 'groups', group)) return;
  throw new Problem('forbidden', outsideInWords(actor, 'groups', group));
}

/** Whoever waits for ends of a job learns of them: only for those that may be seen. @throws {Problem} 400 */
async function checkSources(jobs: JobsHandle, { triggers }: JobSet): Promise<void> {
  const errors: FieldError[] = [];
  for (const [at, { source }] of triggers.entries()) {
    if (source === null || (await jobs.show(source)) !== null) continue;
    errors.push({ field: `triggers[${at}].on.job`, message: `there is no job ${source}` });
  }
  if (errors.length > 0) throw invalidFields(errors);
}
