/** A master without jobs: it keeps what was asked of them. */
import type { JobsHandle } from '../../../master/application/jobs/jobs-handle.ts';
import type { CommandOutcome } from '../../../master/domain/effects.ts';

export function standInJobs(
  command: (kind: string, text: string) => Promise<CommandOutcome>,
): JobsHandle {
  return {
    list: async () => ({ jobs: [], after: null }),
    show: async () => null,
    runs: async () => [],
    versions: async () => null,
    version: async () => null,
    occurrences: async () => null,
    next: async () => [],
    fires: async () => [],
    previewBackfill: async (_job, _trigger, { until }) => ({
      ...{ until, count: 0, isExact: true, first: null, last: null },
      ...{ coveredCount: 0, leftOutCount: 0, cutAt: null },
    }),
    backfill: (workId) => command('workRequested', workId),
    change: async (change) => {
      const outcome = await command(change.type, JSON.stringify(change));
      const run = { taskId: 'job.manual.1', nominal: 0 };
      return outcome.kind === 'done' && change.type === 'jobRun' ? { ...outcome, run } : outcome;
    },
    calendars: () => [],
    calendar: () => null,
    changeCalendar: (change) => command('calendarSet', JSON.stringify(change)),
  };
}
