/** What an event of a task tells beside its kind, in a line. */
import { headOf, t, wordOf } from '../../words/words.ts';

/** By their names, what they say where it is one of a few words. */
const KINDS: Readonly<Record<string, string>> = {
  state: 'state',
  outcome: 'outcome',
  reason: 'failure',
  to: 'place',
};

/** `state failed, reason non_retryable`. */
export function dataInLine(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const text = textOf(name, value);
      const kind = KINDS[name];
      const inWords = kind === undefined ? '' : headOf(kind, text);
      return `${wordOf('data', name)} ${inWords || text}`;
    })
    .join(t('events.and'));
}

function textOf(name: string, value: unknown): string {
  // As the bar beside it: what is not done is not told as done.
  if (name === 'percent' && typeof value === 'number') return `${Math.floor(value)} %`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
