/** Jobs, their triggers and times, as answers show them. */
import {
  jsonObject,
  type JobSummary,
  type JobView,
  type NextFire,
  type OccurrenceView,
  type RunView,
  type TriggerRequest,
  type TriggerView,
} from '@soda-scheduler/protocol';
import type {
  NextTime,
  SeenJob,
  SeenJobInDetail,
  SeenRun,
} from '../../../application/jobs/jobs-handle.ts';
import {
  BY_HAND,
  type Job,
  type JobVersion,
  type Occurrence,
  RECENT_LETTERS,
  type Trigger,
} from '../../../domain/model/job.ts';
import type { TerminalState } from '../../../domain/model/task.ts';
import { dateOf, dayOf, offsetOf, timeOf, wallOf } from '../../../domain/schedule/local-time.ts';
import type { Overlap, TriggerSpec } from '../../../domain/schedule/trigger-spec.ts';
import { iso } from '../../body/instants.ts';
import { askedOf } from './job-body.ts';
import { occurrenceInWords } from './occurrence-words.ts';
import { BY_HAND_NAME } from './templates.ts';
import { effectiveOf, type JobDefaults } from './trigger-body.ts';

/** What is kept of a job, in the words of its `PUT`. */
interface KeptSpec extends JobDefaults {
  readonly triggers?: readonly TriggerRequest[];
  readonly blackouts?: readonly { from: number; to: number; reason: string | null }[];
  readonly pause_after?: number;
}

const ended = new Map(
  Object.entries(RECENT_LETTERS).map(([state, letter]) => [letter, state as TerminalState]),
);

export function summaryOf({ job, triggers, activity }: SeenJob): JobSummary {
  const { triggers: asked = [] } = JSON.parse(job.spec) as KeptSpec;
  const recent = [...job.recent].flatMap((letter) => ended.get(letter) ?? []);
  const times = triggers.flatMap((trigger) => firesAt(trigger) ?? []);
  const begun = [job.lastStartedAt, ...triggers.map(({ lastFiredAt }) => lastFiredAt)];
  const newest = Math.max(...begun.map((at) => at ?? 0));
  return {
    name: job.name,
    version: job.version,
    enabled: job.isEnabled,
    tags: [...job.tags],
    description: job.description,
    type: job.type,
    group: job.group,
    triggers: triggers.map((trigger) => triggerView(trigger, asked)),
    next_at: times.length === 0 ? null : iso(Math.min(...times)),
    last_started_at: newest === 0 ? null : iso(newest),
    last_ended_at: iso(job.lastEndedAt),
    running: activity.liveCount,
    pending: activity.pending.length,
    succeeded: recent.filter((state) => state === 'succeeded').length,
    failed: recent.filter((state) => state !== 'succeeded').length,
    recent,
    changed_at: iso(job.changedAt),
    created_at: iso(job.createdAt),
  };
}

/** As JSON text: the template is in it as it was written. */
export function detailText(
  seen: SeenJobInDetail,
  runs: readonly SeenRun[],
  next: readonly NextTime[],
  fires: readonly NextTime[],
  warnings: string[],
): string {
  const { job } = seen;
  const kept = JSON.parse(job.spec) as KeptSpec;
  const fields = {
    ...summaryOf(seen),
    ...effectiveOf(kept),
    blackouts: (kept.blackouts ?? []).map(({ from, to, reason }) => ({
      from: iso(from),
      to: iso(to),
      reason,
    })),
    pause_after: kept.pause_after ?? null,
    by: job.by,
    next: next.map(nextView),
    fires: fires.map(nextView),
    runs: runs.map(runView),
    warnings,
  } satisfies Omit<JobView, 'template' | 'request'>;
  const { template, isEnabled } = job;
  return jsonObject(fields, { template, request: requestText(job, { enabled: isEnabled }) });
}

/** As JSON text, of many of them: each takes up to some milliseconds, and it yields after each. */
export function* textsOf<T>(
  all: readonly T[],
  textOf: (one: T) => string,
): Generator<void, string> {
  const texts: string[] = [];
  for (const one of all) {
    texts.push(textOf(one));
    yield;
  }
  return `[${texts.join(',')}]`;
}

/** As JSON text. */
export function versionText({ version, at, by, ...kept }: JobVersion): string {
  return jsonObject({ version, at: iso(at), by }, { request: requestText(kept) });
}

/** As whoever would `PUT` it again has to say it. @param more what is not kept with these. */
function requestText({ spec, template }: Pick<Job, 'spec' | 'template'>, more = {}): string {
  const others = JSON.stringify({ ...askedOf(spec), ...more }).slice(1, -1);
  return `{"template":${template}${others === '' ? '' : ','}${others}}`;
}

function triggerView(trigger: Trigger, asked: readonly TriggerRequest[]): TriggerView {
  const spec = JSON.parse(trigger.spec) as TriggerSpec;
  const own = asked.find(({ name = 'default' }) => name === trigger.name);
  const { paused } = trigger;
  return {
    ...(own as Partial<TriggerView>),
    name: trigger.name,
    kind: own?.rotate === undefined ? trigger.kind : 'rotate',
    zone: spec.zone,
    misfire: spec.misfire,
    grace: spec.graceMs / 1000,
    overlap: overlapText(spec.overlap),
    enabled: spec.isEnabled,
    next_at: iso(firesAt(trigger)),
    next_nominal: iso(trigger.nextNominal),
    last_at: iso(trigger.lastFiredAt),
    runs: trigger.firedCount,
    failures_in_row: trigger.failureCount,
    paused: paused && { at: iso(paused.at), reason: paused.reason },
    skipped: trigger.skips.map((nominal) => iso(nominal)),
  };
}

/** When it is only looked at, it does not fire. */
const firesAt = ({ nextAt, nextNominal }: Trigger): number | null =>
  nextNominal === null ? null : nextAt;

function overlapText(overlap: Overlap): string {
  return overlap.kind === 'max' ? `max:${overlap.max}` : overlap.kind;
}

export function nextView({ trigger, spec, coming }: NextTime): NextFire {
  const { nominal, to, count, at, outcome, reason, calendar } = coming;
  const { zone } = spec;
  return {
    trigger,
    nominal: iso(nominal),
    to: iso(to),
    count,
    at: iso(at),
    local: localOf(at ?? nominal, zone),
    zone,
    outcome,
    reason,
    calendar,
  };
}

/** As the clocks of that zone show it: `2026-10-01T08:30:00+08:00`. */
function localOf(at: number, zone: string): string {
  const wall = wallOf(zone, at);
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const seconds = timeOf(wall) / 1000;
  const time = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(two).join(':');
  const offset = offsetOf(zone, at) / 60_000;
  const sign = offset < 0 ? '-' : '+';
  return `${dateOf(dayOf(wall))}T${time}${sign}${two(offset / 60)}:${two(Math.abs(offset) % 60)}`;
}

function runView({ occurrence, task }: SeenRun): RunView {
  const { trigger, nominal, taskId } = occurrence;
  return {
    task_id: taskId ?? '',
    state: task?.state ?? null,
    trigger: trigger === BY_HAND ? null : trigger,
    nominal: iso(nominal),
    started_at: iso(task?.startedAt ?? null),
    finished_at: iso(task?.finishedAt ?? null),
  };
}

export function occurrenceView(one: Occurrence): OccurrenceView {
  return {
    trigger: one.trigger === BY_HAND ? BY_HAND_NAME : one.trigger,
    nominal: iso(one.nominal),
    rerun: one.rerun,
    state: one.state,
    reason: one.reason,
    message: occurrenceInWords(one),
    calendar: one.calendar,
    to: iso(one.until),
    count: one.count,
    task_id: one.taskId,
    noticed_at: iso(one.noticedAt),
  };
}
