/** Whether a job may wait, by its triggers with `on`, for the ends of others. Reads triggers, and nothing else. */
import { LISTENERS_MAX, SOURCE_JOBS_MAX, SOURCE_STEPS_MAX } from '../../domain/bounds.ts';
import type { DefinedTrigger } from '../../domain/jobs/job-events.ts';
import { seesAll, type Sight } from '../../domain/model/task-filter.ts';
import type { JobReads } from './job-store.ts';

/**
 * Why a job may not have these triggers, for people: each end of it would be followed by another of its runs, for ever.
 * Or nobody can tell, for what it waits for waits for too much in turn. Null: it may.
 */
export async function ringOf(
  name: string,
  triggers: readonly Pick<DefinedTrigger, 'source'>[],
  within: Sight,
  read: JobReads['loadTriggers'],
): Promise<string | null> {
  /** By the job that is waited for: who waits for it. */
  const waiters = new Map<string, string>();
  const note = (source: string | null, job: string) => {
    if (source !== null && !waiters.has(source)) waiters.set(source, job);
  };
  for (const { source } of triggers) note(source, name);
  let lookedCount = 0;
  for (let step = 0; waiters.size > lookedCount; step++) {
    if (step >= SOURCE_STEPS_MAX || waiters.size > SOURCE_JOBS_MAX) {
      const bounds = `${SOURCE_STEPS_MAX} jobs in a row, or ${SOURCE_JOBS_MAX} in all`;
      return `what it waits for waits by \`on\` for more than ${bounds}`;
    }
    const next = [...waiters.keys()].slice(lookedCount);
    lookedCount = waiters.size;
    for (const { source, job } of await read(next)) note(source, job);
    if (!waiters.has(name)) continue;
    // It may lead by jobs that whoever asks is not to know of.
    const way = seesAll(within) ? `: ${wayOf(name, waiters)}` : ', nor by way of others';
    return `a job does not wait for itself${way}`;
  }
  return null;
}

/** Why it may not: each end would begin two runs of it, and each of these two of what waits for it. Null: it may. */
export function twinOf(triggers: readonly Pick<DefinedTrigger, 'name' | 'spec'>[]): string | null {
  const known = new Map<string, string>();
  for (const { name, spec } of triggers) {
    if (spec.timing.kind !== 'on' || !spec.isEnabled) continue;
    const { job, state } = spec.timing;
    const { zone, startAt, endAt, onlyOn, except } = spec;
    const key = JSON.stringify([job, state, zone, startAt, endAt, onlyOn, except]);
    const twin = known.get(key);
    if (twin !== undefined) {
      return `${twin} and ${name} wait for the same: runs of ${job} that have ended as ${state}`;
    }
    known.set(key, name);
  }
  return null;
}

/** Why it may not: so many triggers wait for one already. Null: it may. @param ownCount triggers that it has as it is. */
export async function crowdOf(
  name: string,
  triggers: readonly Pick<DefinedTrigger, 'source'>[],
  ownCount: number,
  read: JobReads['loadListeners'],
): Promise<string | null> {
  for (const source of new Set(triggers.map((trigger) => trigger.source))) {
    if (source === null) continue;
    const own = triggers.filter((trigger) => trigger.source === source).length;
    const found = await read(source, LISTENERS_MAX + ownCount);
    const others = found.filter(({ job }) => job !== name).length;
    if (others + own <= LISTENERS_MAX) continue;
    return `at most ${LISTENERS_MAX} triggers wait for ends of one job: ${others} of others do for ${source}`;
  }
  return null;
}

/** `a waits for b, b for a`. */
function wayOf(name: string, waiters: ReadonlyMap<string, string>): string {
  const way = [name];
  for (let at = waiters.get(name); at !== undefined && at !== name; at = waiters.get(at)) {
    way.unshift(at);
  }
  return way
    .map((source, at) =>
      at === 0 ? `${name} waits for ${source}` : `${way[at - 1]} for ${source}`,
    )
    .join(', ');
}
