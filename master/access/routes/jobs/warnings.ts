/** What of a job may not be meant. */
import type { JobsHandle } from '../../../application/jobs/jobs-handle.ts';
import type { Trigger } from '../../../domain/model/job.ts';
import { type CalendarSpec, calendarWarnings } from '../../../domain/schedule/calendar.ts';
import { dayOf, wallOf } from '../../../domain/schedule/local-time.ts';
import type { TriggerSpec } from '../../../domain/schedule/trigger-spec.ts';

/** Of the calendars that these triggers name. */
export function calendarWarningsOf(
  triggers: readonly Trigger[],
  jobs: Pick<JobsHandle, 'calendar'>,
): string[] {
  const warnings = new Set<string>();
  for (const trigger of triggers) {
    const { onlyOn, except, zone } = JSON.parse(trigger.spec) as TriggerSpec;
    for (const days of [onlyOn, except]) {
      if (days === null) continue;
      const { calendar: name } = days;
      const row = jobs.calendar(name);
      const spec = row && (JSON.parse(row.text) as CalendarSpec);
      const found =
        spec === null
          ? [`there is no calendar ${name}: trigger ${trigger.name} never runs`]
          : calendarWarnings(spec, dayOf(wallOf(zone, Date.now()))).map(
              (text) => `calendar ${name}: ${text}`,
            );
      for (const text of found) warnings.add(text);
    }
  }
  return [...warnings];
}
