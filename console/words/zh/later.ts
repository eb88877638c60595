/** Chinese, of pages that are loaded once somebody goes there. The compiler asks for all that there is in English. */
import type { enLater } from '../en/later.ts';
import { zhBookings } from './bookings.ts';
import { zhCalendars } from './calendars.ts';
import { zhFaults } from './faults.ts';
import { zhFound } from './found.ts';
import { zhJobs } from './jobs.ts';
import { zhMissing } from './missing.ts';
import { zhPlain } from './plain.ts';
import { zhSet } from './set.ts';
import { zhWhy } from './why.ts';

export const zhLater: Readonly<Record<keyof typeof enLater, string>> = {
  ...zhBookings,
  ...zhCalendars,
  ...zhFaults,
  ...zhFound,
  ...zhJobs,
  ...zhMissing,
  ...zhPlain,
  ...zhSet,
  ...zhWhy,
};
