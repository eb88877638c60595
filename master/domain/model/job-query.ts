/** Which jobs, and which records of their times, a list asks for. */
import { JOBS_PAGE_BYTES_MAX } from '../bounds.ts';
import type { Job, Occurrence } from './job.ts';
import { sees, type Sight } from './task-filter.ts';

interface Asked {
  readonly tag: string | null;
  /** Somewhere in its name or description, whatever the case. */
  readonly text: string | null;
  readonly isEnabled: boolean | null;
  readonly within: Sight | null;
}

export const ANY_JOB: Asked = { tag: null, text: null, isEnabled: null, within: null };

export function isAsked(
  job: Pick<Job, 'name' | 'description' | 'tags' | 'type' | 'group' | 'isEnabled'>,
  { tag, text, isEnabled, within }: Asked,
): boolean {
  const { name, description, tags, type, group } = job;
  const words = `${name}\n${description ?? ''}`.toLowerCase();
  return (
    (tag === null || tags.includes(tag)) &&
    (text === null || words.includes(text.toLowerCase())) &&
    (isEnabled === null || job.isEnabled === isEnabled) &&
    (within === null || sees(within, type, group))
  );
}

/** As many of the first as one page of the list has. */
export function jobsOfPage<T>(
  found: readonly T[],
  limit: number,
  bytesOf: (one: T) => number,
): T[] {
  let bytes = 0;
  const end = found.findIndex((one, at) => {
    bytes += bytesOf(one);
    return at >= limit || (at > 0 && bytes > JOBS_PAGE_BYTES_MAX);
  });
  return found.slice(0, end < 0 ? found.length : end);
}

interface AskedTimes {
  readonly state: Occurrence['state'] | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly noticedFrom: number | null;
  readonly after: OccurrencePlace | null;
}

/** The place of a time among those of its job: the newest come first. */
export type OccurrencePlace = readonly [nominal: number, trigger: string, rerun: number];

/** Whether a time that it stands for is among those. */
export function isTimeAsked(one: Occurrence, asked: AskedTimes): boolean {
  const { state, from, to, noticedFrom, after } = asked;
  return (
    (state === null || one.state === state) &&
    (from === null || one.until >= from) &&
    (to === null || one.nominal < to) &&
    (noticedFrom === null || one.noticedAt >= noticedFrom) &&
    (after === null || comparePlaces(placeOf(one), after) < 0)
  );
}

/** As a list has them: the newest first. */
export const newestFirst = (a: Occurrence, b: Occurrence): number =>
  comparePlaces(placeOf(b), placeOf(a));

export const placeOf = ({ nominal, trigger, rerun }: Occurrence): OccurrencePlace => [
  nominal,
  trigger,
  rerun,
];

/** Names are ASCII: byte by byte, as a database does. */
export function comparePlaces(a: OccurrencePlace, b: OccurrencePlace): number {
  return a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) || a[2] - b[2];
}
