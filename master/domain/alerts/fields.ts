/**
 * What the sentences of a finding say, as fields: for programs, and for whoever says it in another language. Lengths are
 * in seconds.
 */
import type { Obstacle, Remedy } from '../why/asked.ts';
import { changeValueOf, detailsOf } from '../why/details.ts';

type Field = string | number | boolean | object | null | undefined;

/** JSON text; what is undefined is left out. */
export function fieldsOf(fields: Readonly<Record<string, Field>>): string {
  return JSON.stringify(fields);
}

export const secondsOf = (ms: number): number => Math.round(ms / 1000);

/** The sentence names one, and whether there are others. */
const PAUSES_SAID = 2;

/** Of tasks that wait: why the first of them does, and what would start it. As `why` has it. */
export function waitFields({ reason, facts }: Obstacle, remedy: Remedy | undefined) {
  const { pauses } = facts;
  const some = pauses && { pauses: pauses.slice(0, PAUSES_SAID) };
  const details = detailsOf({ ...facts, ...some });
  return { reason, details, change: remedy && changeOf(remedy) };
}

function changeOf({ change }: Remedy) {
  return { action: change.action, target: change.target, value: changeValueOf(change) };
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
