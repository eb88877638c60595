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
    get now() {
      return reports.now;
    },
    // Of all groups together: whoever may see some only is not let in (`rights.ts`).
    load: (asked) => reports.load({ ...asked, types: seen(types, asked.types) }),
    recent: (asked) => reports.recent({ ...asked, among: seen(types, asked.among) }),
    usage: (asked) => reports.usage({ ...asked, within }),
  };
}

/** Of those asked for; null: all. */
function seen(types: Sight['types'], asked: Sight['types']): Sight['types'] {
  return types === null || asked === null
    ? (types ?? asked)
    : asked.filter((one) => types.includes(one));
}
