/** English, of pages that are loaded once somebody goes there. `one|many` where a number decides. */
import { enBookings } from './bookings.ts';
import { enCalendars } from './calendars.ts';
import { enJobs } from './jobs.ts';
import { enMissing } from './missing.ts';
import { enSet } from './set.ts';

export const enLater = {
  ...enBookings,
  ...enCalendars,
  ...enJobs,
  ...enMissing,
  ...enSet,
} as const;
