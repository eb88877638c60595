/** What of a job is to come, as it is asked for. Changes nothing. */
import type { NextTime } from '../../../application/jobs/jobs-handle.ts';
import type { Job, Trigger } from '../../../domain/model/job.ts';
import type { ScopedMaster } from '../../scoped-master.ts';

interface TimesToCome {
  readonly next: readonly NextTime[];
  /** Of each trigger the first that is fired, which may be behind these. */
  readonly fires: readonly NextTime[];
}

/** Of one that is disabled there are none. */
export async function timesToCome(
  master: ScopedMaster,
  job: Pick<Job, 'spec' | 'isEnabled'>,
  triggers: readonly Trigger[],
  after: number,
  count: number,
): Promise<TimesToCome> {
  if (!job.isEnabled) return { next: [], fires: [] };
  const jobs = master.jobs();
  const next = await jobs.next(job, triggers, after, count);
  return { next, fires: await jobs.fires(job, triggers, after) };
}
