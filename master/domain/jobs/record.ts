/** Writes what has become of nominal times: one record for each, and one for many that have gone the same way. */
import type { Output } from '../effects.ts';
import type { Coming } from '../schedule/coming.ts';
import type { Occurrence, OccurrenceState, OpenRun, Trigger } from '../model/job.ts';

export function putOccurrence(row: Occurrence, out: Output): void {
  const key = [row.job, row.trigger, row.nominal, row.rerun] as const;
  out.changes.push({ op: 'put', table: 'occurrence', key, row });
}

/** What is said of a time that is not run now. */
export interface Said {
  readonly state: OccurrenceState;
  readonly reason: string | null;
  readonly calendar: string | null;
}

/** A record of that time alone. */
export function recordOne(
  { job, name }: Pick<Trigger, 'job' | 'name'>,
  nominal: number,
  said: Said & { readonly taskId?: string; readonly rerun?: number },
  now: number,
  out: Output,
): void {
  const { state, reason, calendar, taskId = null, rerun = 0 } = said;
  const of = { job, trigger: name, nominal, rerun, until: nominal, count: 1 };
  putOccurrence({ ...of, state, reason, calendar, taskId, noticedAt: now }, out);
}

/** What may go on with that time: no record stands for times on either side of one that has its own already. */
export function openRunBefore(
  { openRun, decidedAhead }: Pick<Trigger, 'openRun' | 'decidedAhead'>,
  nominal: number,
): OpenRun | null {
  if (openRun === null) return null;
  const isCut = decidedAhead.some((one) => openRun.nominal < one && one < nominal);
  return isCut ? null : openRun;
}

/** The record that stands for the time before goes on, where that has gone the same way. */
export function recordNext(
  of: Pick<Trigger, 'job' | 'name' | 'openRun'>,
  time: Pick<Coming, 'nominal' | 'to' | 'count'>,
  said: Said,
  now: number,
  out: Output,
): OpenRun {
  const { openRun, row } = recordWith(of, time, said, now);
  putOccurrence(row, out);
  return openRun;
}

/** That record, and what goes on. */
export function recordWith(
  { job, name, openRun }: Pick<Trigger, 'job' | 'name' | 'openRun'>,
  { nominal, to, count }: Pick<Coming, 'nominal' | 'to' | 'count'>,
  { state, reason, calendar }: Said,
  now: number,
): { readonly openRun: OpenRun; readonly row: Occurrence } {
  const goesOn =
    openRun !== null &&
    openRun.state === state &&
    openRun.reason === reason &&
    openRun.calendar === calendar;
  const begun = goesOn ? openRun : { nominal, state, reason, calendar, count: 0 };
  const after = { ...begun, count: begun.count + count };
  const of = { job, trigger: name, nominal: after.nominal, rerun: 0, until: to };
  const said = { count: after.count, state, reason, calendar, taskId: null };
  return { openRun: after, row: { ...of, ...said, noticedAt: now } };
}
