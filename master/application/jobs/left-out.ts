/**
 * Times that have passed and were left out, before a calendar or a black-out is changed: what becomes of them is up to
 * what held when they came. Else a black-out that is taken away would fire all that fell into it.
 */
import { DUE_COUNT_MAX, TURN_READ_BYTES_MAX } from '../../domain/bounds.ts';
import type { DueTrigger } from '../../domain/jobs/job-events.ts';
import type { Era } from '../../domain/jobs/jobs-state.ts';
import type { Trigger } from '../../domain/model/job.ts';
import { dueOf } from '../../domain/schedule/due.ts';
import { timesOf } from '../../domain/schedule/times.ts';
import type { TriggerSpec } from '../../domain/schedule/trigger-spec.ts';
import type { JobReads } from './job-store.ts';
import { aroundOf, isOpen, PIECE_COUNT, planOf } from './planning.ts';

/** Of those triggers, up to the first time that is to run; some, where there are many: none once all are decided. */
export async function leftOutOf(
  store: Pick<JobReads, 'loadJobs'>,
  triggers: readonly Trigger[],
  { until, calendars }: Era,
  breathe: () => Promise<void>,
): Promise<readonly DueTrigger[]> {
  const open = triggers.filter((trigger) => hasPassed(trigger, until));
  const names = [...new Set(open.map(({ job }) => job))];
  const jobs = await store.loadJobs(names, TURN_READ_BYTES_MAX);
  const byName = new Map(jobs.map((job) => [job.name, job]));
  const leftOut: DueTrigger[] = [];
  for (const [at, trigger] of open.entries()) {
    if (at % PIECE_COUNT === PIECE_COUNT - 1) await breathe();
    const job = byName.get(trigger.job);
    if (job === undefined) continue;
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    const around = aroundOf(calendars, trigger, spec, job);
    const limits = { countMax: DUE_COUNT_MAX, lateCountMax: 0, isOfLeftOut: true };
    const { due: found } = dueOf(spec, around, trigger.decidedUntil, until, limits);
    const last = found.at(-1);
    if (last === undefined) continue;
    const due = found.map((time) => ({ ...time, taskId: '', isTaken: false }));
    const next = { ...planOf(spec, around, last.to), isMore: false };
    leftOut.push({ trigger, spec, version: job.version, base: '', due, ...next });
  }
  return leftOut;
}

/** A time of it has come that is not decided. */
function hasPassed(trigger: Trigger, until: number): boolean {
  if (!isOpen(trigger, until)) return false;
  const times = timesOf(JSON.parse(trigger.spec) as TriggerSpec, trigger);
  return (times.next(trigger.decidedUntil) ?? Number.POSITIVE_INFINITY) <= until;
}
