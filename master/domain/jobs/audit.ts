/** What a command on a job or a calendar has changed, for the audit: not its params, which may hold anything. */
import type { Audit } from '../changes.ts';
import type { Output } from '../effects.ts';
import type { Fields } from '../model/audit.ts';
import { ALL_JOBS, type Job } from '../model/job.ts';
import type { State } from '../state/state.ts';
import type { AskedOfJobs } from './on-jobs.ts';

interface JobSubject extends Pick<Audit, 'table'> {
  readonly target: string;
  readonly now: () => Fields | null;
}

/** @param from which of the changes are those of this command. */
export function jobSubject(
  { jobs }: State,
  event: AskedOfJobs,
  { changes }: Output,
  from: number,
): JobSubject {
  const { name: target } = event;
  if (event.type === 'calendarSet') {
    const now = () => {
      const text = jobs.calendars.get(target)?.text;
      return text === undefined ? null : (JSON.parse(text) as Fields);
    };
    return { table: 'calendar', target: target === ALL_JOBS ? 'blackouts' : target, now };
  }
  const now = () => {
    for (const change of changes.slice(from)) {
      if (!('table' in change) || change.table !== 'job' || !('key' in change)) continue;
      if (change.op === 'remove') return null;
      if (change.op === 'put') return jobFields(change.row);
    }
    return jobFields(event.found?.job ?? null);
  };
  return { table: 'job', target, now };
}

function jobFields(job: Job | null): Fields | null {
  if (job === null) return null;
  const { version, isEnabled, spec, template } = job;
  const template_length = template.length;
  return { ...(JSON.parse(spec) as Fields), version, enabled: isEnabled, template_length };
}
