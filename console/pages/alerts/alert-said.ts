/**
 * What is alerted of, as sentences. Those of the master are English; another language makes them of the fields beside
 * them, and keeps the master's where it has none, or where a field is missing. What people and programs say stays as it is.
 */
import type { AlertView, WhyView } from '@soda-scheduler/protocol';
import { lengthOf } from '../../words/length.ts';
import { type Known, instead } from '../../words/words.ts';
import { changeSaid, timeOf, whySaid } from '../task/why-said.ts';

type Told = Pick<
  AlertView,
  'kind' | 'type' | 'namespace' | 'subject' | 'message' | 'change' | 'fields'
>;

export interface AlertSaid {
  readonly message: string;
  /** Null: nobody knows. */
  readonly change: string | null;
}

/** What the master's own alerts have in `fields`, those of each kind. */
interface Fields {
  readonly reason?: WhyView['reason'];
  readonly details?: Partial<WhyView['details']>;
  readonly change?: Omit<NonNullable<WhyView['change']>, 'message'>;
  readonly usual?: boolean;
  readonly host?: string;
  readonly cause?: string;
  readonly later?: number;
  readonly unwritten?: number;
  readonly error?: string | null;
  readonly [name: string]: unknown;
}

export function alertSaid(alert: Told): AlertSaid {
  const { kind, message, change } = alert;
  if (kind === 'message' || alert.fields === null) return { message, change };
  const fields = alert.fields as Fields;
  if (kind === 'no_executor' || kind === 'oldest_wait') return waitSaid(alert, fields);
  const known = knownOf(alert, fields);
  const form = formOf(kind, fields);
  const risk = kind === 'booking_at_risk' ? `.${fields.cause}` : '';
  return {
    message: instead(`alert.say.${form}${risk}`, message, known),
    change: change && instead(`mend.say.${form}${risk}`, change, known),
  };
}

/** Why the first of the tasks waits, and what would start it, is said as on its page. */
function waitSaid(alert: Told, fields: Fields): AlertSaid {
  const { kind, message, change } = alert;
  const { waited, reason, details = {}, change: remedy } = fields;
  const form = `${kind}${waited === undefined ? '' : '.since'}`;
  const waits = instead(`alert.say.${form}`, '', knownOf(alert, fields));
  const why = reason === undefined ? '' : whySaid({ reason, message: '', details });
  const asked = { behind: [], ...details };
  return {
    message: waits === '' || why === '' ? message : `${waits}${why}`,
    change:
      change && remedy
        ? changeSaid({ change: { ...remedy, message: change }, details: asked })
        : change,
  };
}

/** Which of its sentences a kind has. */
function formOf(kind: string, { usual, host, unwritten, cause }: Fields): string {
  if (kind === 'booking_short' && cause === 'refused') return `${kind}.refused`;
  if (kind === 'running_long' && usual === true) return `${kind}.usual`;
  if (kind === 'executor_flapping' && host !== undefined) return `${kind}.host`;
  return kind === 'disk' && unwritten !== undefined ? `${kind}.unwritten` : kind;
}

const LENGTHS = ['waited', 'ran', 'lasts', 'window', 'short', 'unwritten'];
/** Of these the limit is a length too. */
const TIMED: ReadonlySet<string> = new Set([
  'no_executor',
  'oldest_wait',
  'running_long',
  'executor_not_ready',
]);

function knownOf({ kind, type, namespace }: Told, fields: Fields): Known {
  const known: Record<string, string | number | undefined> = { type: type ?? undefined };
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const isLength = LENGTHS.includes(name) || (name === 'limit' && TIMED.has(kind));
    known[name] = isLength && typeof value === 'number' ? lengthOf(1_000 * value) : value;
  }
  const { error = null, later = 0, from, free_bytes: free } = fields;
  return {
    ...known,
    because: error === null ? '' : `：${error}`,
    others: later === 0 ? '' : instead('alert.say.later', '', { n: later }),
    from: typeof from === 'string' ? timeOf(from) : undefined,
    gb: typeof free === 'number' ? (free / 1e9).toFixed(1) : undefined,
    // As the sentence of the master has it, for a shell.
    within: namespace === null || namespace === 'default' ? '' : ` --namespace ${namespace}`,
  };
}
