/** What of a job may not be meant. */
import { noSourceWarning } from '@soda-scheduler/protocol';
import type { JobsHandle } from '../../../application/jobs/jobs-handle.ts';
import type { Trigger } from '../../../domain/model/job.ts';
import { calendarWarnings } from '../../../domain/schedule/calendar.ts';
import { dayOf, wallOf } from '../../../domain/schedule/local-time.ts';
import type { TriggerSpec } from '../../../domain/schedule/trigger-spec.ts';
import { digestOf } from './calendar-digest.ts';

type Jobs = Pick<JobsHandle, 'calendar' | 'show'>;

/** Of these triggers: each once. */
export async function warningsOf(triggers: readonly Trigger[], jobs: Jobs): Promise<string[]> {
  const warnings = new Set<string>();
  for (const trigger of triggers) {
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
  }
  return [...warnings];
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
