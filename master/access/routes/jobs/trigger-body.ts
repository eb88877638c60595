/** From a trigger as it is asked for to one as it is kept. */
import type { JobRequest, TriggerRequest } from '@soda-scheduler/protocol';
import type { DefinedTrigger } from '../../../domain/jobs/job-events.ts';
import type {
  DaysOf,
  Overlap,
  Timing,
  TriggerSpec,
} from '../../../domain/schedule/trigger-spec.ts';
import { instantOf } from '../../body/instants.ts';

const GRACE_SECONDS_DEFAULT = 60;
const msOf = (seconds: number): number => Math.round(seconds * 1000);

/** What a trigger has of its job where it says nothing itself. */
export type JobDefaults = Pick<JobRequest, 'misfire' | 'overlap' | 'grace'>;

/** The defaults that hold, as they are shown. */
export function effectiveOf({ misfire, overlap, grace }: JobDefaults) {
  return {
    misfire: misfire ?? ('once' as const),
    overlap: overlap ?? 'queue_one',
    grace: grace ?? GRACE_SECONDS_DEFAULT,
  };
}

export function definedTrigger(body: TriggerRequest, job: JobDefaults): DefinedTrigger {
  const { name = 'default' } = body;
  const spec = { name, ...specOf(body, job) };
  const { timing } = spec;
  return {
    name,
    kind: timing.kind,
    // Black-outs are of all jobs.
    isCalendared: timing.kind !== 'delay' && timing.kind !== 'on',
    source: timing.kind === 'on' ? timing.job : null,
    spec,
  };
}

function specOf(body: TriggerRequest, job: JobDefaults): Omit<TriggerSpec, 'name'> {
  const { misfire, overlap, grace } = effectiveOf(job);
  return {
    timing: timingOf(body),
    zone: body.zone ?? 'UTC',
    startAt: instantOf(body.start_at),
    endAt: instantOf(body.end_at),
    maxRuns: body.max_runs ?? null,
    jitterMs: msOf(body.jitter ?? 0),
    misfire: body.misfire ?? misfire,
    graceMs: msOf(body.grace ?? grace),
    overlap: overlapOf(body.overlap ?? overlap),
    isEnabled: body.enabled ?? true,
    onlyOn: daysOf(body.only_on, 'work'),
    except: daysOf(body.except, 'off'),
    shift: body.shift ?? 'skip',
  };
}

function timingOf({ cron, every, delay, at, rotate, on }: TriggerRequest): Timing {
  if (cron !== undefined) return { kind: 'cron', expression: cron };
  if (every !== undefined) return { kind: 'every', everyMs: msOf(every) };
  if (delay !== undefined) return { kind: 'delay', delayMs: msOf(delay) };
  if (at !== undefined) return { kind: 'at', at: instantOf(at) ?? 0 };
  if (on !== undefined) return { kind: 'on', job: on.job, state: on.state ?? 'succeeded' };
  const { minutes, days = 1, at: time = '00:00' } = rotate ?? {};
  if (minutes !== undefined) return { kind: 'every', everyMs: minutes * 60_000 };
  return { kind: 'rotate', days, time };
}

function overlapOf(text: string): Overlap {
  if (text.startsWith('max:')) return { kind: 'max', max: Number(text.slice(4)) };
  return { kind: text as Exclude<Overlap['kind'], 'max'> };
}

function daysOf(asked: TriggerRequest['only_on'], byName: 'work' | 'off'): DaysOf | null {
  if (asked === undefined) return null;
  if (typeof asked === 'string') return { calendar: asked, days: byName, label: null };
  const { calendar, label = null } = asked;
  // All days with a label, unless it says which.
  const days = asked.days ?? (label === null ? byName : null);
  return { calendar, days, label };
}
