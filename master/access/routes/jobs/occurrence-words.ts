/** What has become of nominal times, in sentences for people. Decides nothing: the record of each says it in one word. */
import type { Occurrence } from '../../../domain/model/job.ts';

type Became = Pick<Occurrence, 'state' | 'reason' | 'calendar'>;

/** By state and reason. What calendars, black-outs and refusals say is in words already. */
const SENTENCES: Readonly<Record<string, string>> = {
  'ran overlap': 'Ran once the run before it had ended.',
  'ran backfill': 'Run by a backfill.',
  'pending overlap': 'Waits for the run before it to end.',
  'skipped misfire': 'Noticed too late, and late ones are skipped (misfire).',
  'skipped overlap': 'The run before it had not ended (overlap).',
  'skipped overflow': 'More were missed, or waited, than are run.',
  'skipped deleted': 'The job was deleted while it waited.',
  'merged misfire': 'Noticed too late: a later one stands for it (misfire).',
  'merged overlap': 'Another one that waited already stands for it (overlap).',
  'replaced overlap': 'A later one has taken its place (overlap).',
};

/** Null: there is nothing to be said of it. */
export function occurrenceInWords({ state, reason, calendar }: Became): string | null {
  if (reason === null) return null;
  const sentence = SENTENCES[`${state} ${reason}`];
  if (sentence !== undefined) return sentence;
  const by = calendar === null ? '' : ` (calendar ${calendar})`;
  const words = state === 'refused' ? `refused: ${reason}` : reason;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${by}.`.replace('..', '.');
}
