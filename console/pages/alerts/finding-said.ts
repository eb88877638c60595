/**
 * What the master has found, as sentences. Its own are English; another language makes them of the fields beside them,
 * and keeps the master's where it has none, or where a field is missing.
 */
import type { HealthView, WhyView } from '@soda-scheduler/protocol';
import { masterNow } from '../../api/clock.ts';
import { lengthOf } from '../../words/length.ts';
import { instead } from '../../words/words.ts';
import { scopeOf, timeOf, whySaid } from '../task/why-said.ts';

type Finding = HealthView['findings'][number];
type Told = Omit<Finding, 'details'> & { readonly details?: Finding['details'] };

export interface FindingSaid {
  /** What is so, and the likeliest cause. */
  readonly text: string;
  readonly advice: string;
}

/** @param found Without `details` of a master before this one: then as that has said it. */
export function findingSaid(found: Told): FindingSaid {
  const { kind, message, cause, advice, details } = found;
  const english = [message, cause].filter((part) => part !== null).join(' ');
  if (details === undefined) return { text: english, advice };
  const finding: Finding = { ...found, details };
  const form = formOf(finding);
  const known = knownOf(finding);
  const text = finding.subject?.startsWith('type/') === true && kind !== 'failing';
  return {
    text: text ? waitingSaid(finding, english) : instead(`found.say.${form}`, english, known),
    advice: instead(`advice.say.${form}`, advice, known),
  };
}

/** Its cause is that of the first task, as `why` has it. */
function waitingSaid(finding: Finding, english: string): string {
  const { kind, details, since } = finding;
  const waits = instead(`found.say.${since === null ? 'wait' : 'waits'}`, '', knownOf(finding));
  const why = whySaid({ reason: kind as WhyView['reason'], message: '', details });
  return waits === '' || why === '' ? english : `${waits}${why}`;
}

/** Which of its sentences a kind has. */
function formOf({ kind, subject, details }: Finding): string {
  const { limit, booking, overdue, error, failed, alike, pending, pauses = [] } = details;
  const { disk_bytes: disk, executor_id: executor } = details;
  switch (kind) {
    case 'reserved':
      return booking === undefined ? kind : `${kind}.booking`;
    case 'paused':
      if (subject?.startsWith('type/') === true) return kind;
      return pauses[0]?.until ? `${kind}.all.until` : `${kind}.all`;
    case 'not_ready':
      if (disk === undefined) return kind;
      return executor === undefined ? `${kind}.disk.unknown` : `${kind}.disk`;
    case 'failing':
      return failed === alike ? `${kind}.alike` : kind;
    case 'callbacks':
      if (failed === undefined) return `${kind}.pending`;
      return pending === undefined ? `${kind}.failed` : kind;
    case 'queue_full':
      return limit?.name === 'max_waiting' ? `${kind}.own` : kind;
    case 'duty':
      if (overdue === true) return `${kind}.overdue`;
      return (error ?? null) === null ? kind : `${kind}.error`;
    default:
      return kind;
  }
}

function knownOf({ subject, since, count, details }: Finding) {
  const { limit, nearest, pauses, executor_id: executor, free_bytes: free } = details;
  const [pause] = pauses ?? [];
  return {
    type: subject?.replace('type/', ''),
    duty: subject?.replace('duty/', ''),
    n: count ?? undefined,
    waited: since === null ? undefined : lengthOf(Math.max(0, masterNow() - Date.parse(since))),
    ...limit,
    ...{ outcomes: details.outcomes, failed: details.failed, alike: details.alike },
    ...{ pending: details.pending, executor, nearest: nearest?.executor_id },
    error: details.error ?? undefined,
    mib: free && Math.floor(free / 2 ** 20),
    percent: details.free_percent,
    what: pause && scopeOf(pause.scope, pause.value),
    who: pause && (pause.by === null ? '' : `由 ${pause.by} `),
    cause: pause && (pause.reason === null ? '' : `（${pause.reason}）`),
    until: timeOf(pause?.until),
  };
}
