/** When a job is fired next, as programs show it for people. Pure. */
import type { JobView } from './jobs.ts';

/** `fires`, which a master before this one does not tell: then of each trigger the first that is fired of `next`. */
export function firesOf({
  fires,
  next,
}: Pick<JobView, 'next'> & { readonly fires?: JobView['fires'] }): JobView['fires'] {
  if (fires !== undefined) return fires;
  const fired = next.filter(({ at }) => at !== null);
  return fired.filter((time) => time === fired.find(({ trigger }) => trigger === time.trigger));
}
