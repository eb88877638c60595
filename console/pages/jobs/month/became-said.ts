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

const BLACKOUT = /^black-out(?:: ([^]*))?$/;

/** Null: there is nothing to be said of it. */
export function becameSaid({ state, reason, message, calendar }: Became): string | null {
  if (message === null) return null;
  const words = reason?.match(BLACKOUT)?.[1] ?? reason;
  const known = { calendar: calendar ?? undefined, reason: words ?? undefined };
  return instead(`became.say.${state}.${causeOf(state, reason, calendar)}`, message, known);
}

/** In one word. */
function causeOf(state: string, reason: string | null, calendar: string | null): string {
  // It may be anything that has kept a task from being accepted.
  if (state === 'refused') return 'why';
  if (calendar !== null) return 'calendar';
  const blackout = reason?.match(BLACKOUT);
  if (blackout) return blackout[1] === undefined ? 'black-out' : 'black-out-for';
  return reason === 'skipped by hand' ? 'by-hand' : (reason ?? '');
}
