/** Jobs as whoever may see only some groups and types sees them: what he sets must be of these. */
import type { JobsHandle } from '../application/jobs/jobs-handle.ts';
import type { Scope } from '../application/ports.ts';
import type { JobChange } from '../domain/jobs/job-events.ts';
import type { Actor } from './auth.ts';
import { Problem } from './http/problem.ts';
import { outsideInWords } from './rights.ts';
import { includes } from './scope.ts';

/** @param jobs which knows already what may be seen. */
export function scopedJobs(actor: Actor, scope: Scope, jobs: JobsHandle): JobsHandle {
  return {
    list: (...of) => jobs.list(...of),
    show: (...of) => jobs.show(...of),
    versions: (...of) => jobs.versions(...of),
    occurrences: (...of) => jobs.occurrences(...of),
    next: (...of) => jobs.next(...of),
    previewBackfill: (...of) => jobs.previewBackfill(...of),
    backfill: (...of) => jobs.backfill(...of),
    calendars: () => jobs.calendars(),
    calendar: (...of) => jobs.calendar(...of),
    changeCalendar: (...of) => jobs.changeCalendar(...of),
    change(change) {
      checkJob(actor, scope, change);
      return jobs.change(change);
    },
  };
}

/** What its tasks are is what a submit of them would be refused for. @throws {Problem} 403 */
function checkJob(actor: Actor, scope: Scope, change: JobChange): void {
  if (change.type !== 'jobSet') return;
  const { type, group } = change.definition;
  if (!includes(scope, 'types', type)) {
    throw new Problem('forbidden', outsideInWords(actor, 'types', type));
  }
  if (includes(scope, 'groups', group)) return;
  throw new Problem('forbidden', outsideInWords(actor, 'groups', group));
}
