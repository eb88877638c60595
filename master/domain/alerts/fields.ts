/**
 * What the sentences of a finding say, as fields: for programs, and for whoever says it in another language. Lengths are
 * in seconds, instants in words.
 */
import { instantInWords } from '../schedule/local-time.ts';
import type { Facts, Refusal, Remedy } from '../why/asked.ts';

type Field = string | number | boolean | object | null | undefined;

/** JSON text; what is undefined is left out. */
export function fieldsOf(fields: Readonly<Record<string, Field>>): string {
  return JSON.stringify(fields);
}

export const secondsOf = (ms: number): number => Math.round(ms / 1000);

/** Of tasks that wait: why the first of them does, and what would start it. */
export function waitFields({ reason, facts }: Refusal, remedy: Remedy | undefined) {
  return { reason, details: detailsOf(facts), change: remedy && changeOf(remedy) };
}

/** As `why` has them. */
function detailsOf({ until, pauses, nearest, limit, executors, ...facts }: Facts) {
  const { executorId, error, diskBytes, booking } = facts;
  return {
    until: inWords(until),
    pauses: pauses?.slice(0, 2).map(({ scope, value, reason, by, at, until: end }) => ({
      ...{ scope, value: value === '' ? null : value, reason, by },
      ...{ at: inWords(at), until: inWords(end) },
    })),
    ...{ limit, executors },
    nearest: nearest && {
      executor_id: nearest.executorId,
      lacks_labels: nearest.lacksLabels,
      reserved_for: nearest.reservedFor,
    },
    executor_id: executorId,
    ...{ error, disk_bytes: diskBytes, booking },
  };
}

function changeOf({ change: { action, target, value } }: Remedy) {
  if (action === 'wait_until') return { action, target, value: inWords(value as number | null) };
  if (value === null || typeof value === 'number' || 'length' in value) {
    return { action, target, value };
  }
  const { count, type, labels, executorId } = value;
  return { action, target, value: { count, type, labels, executor_id: executorId } };
}

function inWords(at: number | null | undefined): string | null | undefined {
  return at === null || at === undefined ? at : instantInWords(at);
}

type Waits = Partial<ReturnType<typeof waitFields>>;

/** With what would start them, as those fields before have it; null: tasks waited for another cause then. */
export function withChangeOf(before: string | null, fields: string | null): string | null {
  const [was, is] = [before, fields].map((text) => JSON.parse(text ?? '{}') as Waits);
  if (was?.change === undefined || causeOf(was) !== causeOf(is)) return null;
  return JSON.stringify({ ...is, change: was.change });
}

/** Without numbers, which change from look to look. */
function causeOf({ reason, details = {} as NonNullable<Waits['details']> }: Waits = {}): string {
  const { nearest, executor_id: executorId, limit, booking, pauses } = details;
  const paused = pauses?.map(({ scope, value }) => [scope, value]);
  return JSON.stringify([reason, nearest, executorId, limit?.name, booking, paused]);
}
