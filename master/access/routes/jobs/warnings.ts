/** What of a job may not be meant. */
import { noSourceWarning } from '@soda-scheduler/protocol';
import type { JobsHandle } from '../../../application/jobs/jobs-handle.ts';
import { isUsedUp, type Trigger } from '../../../domain/model/job.ts';
import { calendarWarnings } from '../../../domain/schedule/calendar.ts';
import { dayOf, wallOf } from '../../../domain/schedule/local-time.ts';
import type { TriggerSpec } from '../../../domain/schedule/trigger-spec.ts';
import { digestOf } from './calendar-digest.ts';

type Jobs = Pick<JobsHandle, 'calendar' | 'show'>;

/** Of these triggers: each once. @param fired Names of those that have a time to come; null: the job is disabled. */
export async function warningsOf(
  triggers: readonly Trigger[],
  jobs: Jobs,
  fired: ReadonlySet<string> | null,
): Promise<string[]> {
  const warnings = new Set<string>();
  for (const trigger of triggers) {
    const { size } = warnings;
    const spec = JSON.parse(trigger.spec) as TriggerSpec;
    for (const text of calendarWarningsOf(trigger, spec, jobs)) warnings.add(text);
    const { timing } = spec;
    const { name, source, anchorAt } = trigger;
    if (source !== null && (await jobs.show(source)) === null) {
      warnings.add(noSourceWarning(source, name));
    }
    if (spec.endAt !== null && spec.endAt <= Date.now()) {
      warnings.add(`trigger ${name} has no times any more: its \`end_at\` has passed`);
    }
    if (timing.kind === 'at' && timing.at <= anchorAt) {
      const remedy = 'it never runs by itself, a backfill can run it';
      warnings.add(`the time of trigger ${name} had passed when it was set: ${remedy}`);
    }
    if (warnings.size === size && fired?.has(name) === false && isToFire(trigger, spec)) {
      warnings.add(`trigger ${name} is not fired for years: none of its times is left to it`);
    }
  }
  return [...warnings];
}

/** By itself, and not for the end of a run. */
function isToFire(trigger: Trigger, { timing, isEnabled, maxRuns }: TriggerSpec): boolean {
  if (!isEnabled || trigger.paused !== null || isUsedUp(trigger, maxRuns)) return false;
  if (timing.kind === 'at') return timing.at > Date.now();
  return timing.kind !== 'on' && timing.kind !== 'delay';
}

function calendarWarningsOf(
  { name: trigger }: Trigger,
  { onlyOn, except, zone }: TriggerSpec,
  jobs: Jobs,
): string[] {
  return [onlyOn, except].flatMap((days) => {
    if (days === null) return [];
    const { calendar: name } = days;
    const row = jobs.calendar(name);
    if (row === null) return [`there is no calendar ${name}: trigger ${trigger} never runs`];
    const found = calendarWarnings(digestOf(row).years, dayOf(wallOf(zone, Date.now())));
    return found.map((text) => `calendar ${name}: ${text}`);
  });
}
