/** Reports of what somebody may see: what others have used is not in them. */
import type { ReportsHandle } from '../application/reports/reports-handle.ts';
import type { Sight } from '../domain/model/task-filter.ts';

export function scopedReports({ types, groups }: Sight, reports: ReportsHandle): ReportsHandle {
  const within = { types, groups };
  return {
    get zone() {
      return reports.zone;
    },
    get today() {
      return reports.today;
    },
    usage: (asked) => reports.usage({ ...asked, within }),
  };
}
