/**
 * What has become of a time of a job, and why, as a sentence. Those of the master are English; another language makes its
 * own of the words and facts beside them, and keeps the master's where it has none.
 */
import { instead } from '../../../words/words.ts';

interface Became {
  /** As the API has it: of a time that is to come its `outcome`. */
  readonly state: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly calendar: string | null;
}

/** Null: there is nothing to be said of it. */
export function becameSaid({ state, reason, message, calendar }: Became): string | null {
  if (message === null) return null;
  const known = { calendar: calendar ?? undefined, day: reason ?? undefined };
  return instead(`became.say.${state}.${causeOf(reason, calendar)}`, message, known);
}

/** In one word. */
function causeOf(reason: string | null, calendar: string | null): string {
  if (calendar !== null) return 'calendar';
  return reason === 'skipped by hand' ? 'by-hand' : (reason ?? '');
}
