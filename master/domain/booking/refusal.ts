/**
 * What is told of a booking that has no room. Its step says so; what else would fit is looked for behind it, in pieces: to
 * look at all pools again and again takes long.
 */
import type { CommandOutcome } from '../effects.ts';
import type { Pieces } from '../pieces.ts';
import type { Wish } from '../plan/divide.ts';
import { instantInWords, wallOf } from '../schedule/local-time.ts';
import type { State } from '../state/state.ts';
import type { Refusal } from './booking.ts';
import { freeInstead, othersThatMisfit } from './planning.ts';

/** Beginnings of windows that do not fit, of one that recurs. */
const OTHERS_SAID = 3;

export function refusalOf(refusal: Refusal): CommandOutcome {
  const { limit, reason } = refusal;
  const message = missingInWords(refusal) + because(reason);
  return { kind: 'conflict', message, refusal, ...(limit !== null && { limit }) };
}

/** With the windows that are free, and with those of one that recurs that are not; any other outcome is as it was. */
export function* withInstead(
  state: State,
  outcome: CommandOutcome,
  now: number,
): Pieces<CommandOutcome> {
  if (!('refusal' in outcome) || outcome.refusal === undefined) return outcome;
  const { refusal, ...told } = outcome;
  const { others, areAll } = yield* othersThatMisfit(state, refusal);
  const more = othersInWords(refusal, others, areAll);
  const message = missingInWords(refusal) + more + because(refusal.reason);
  return { ...told, message, free: yield* freeInstead(state, refusal, now) };
}

function missingInWords({ spec: { type, count, zone }, refused }: Refusal): string {
  const missing = count === 1 ? 'no executor' : `no ${count} executors`;
  const free = `of type ${type} ${count === 1 ? 'is' : 'are'} free`;
  return `${missing} ${free} from ${windowInWords(refused.from, refused.to, zone)}`;
}

function othersInWords(
  { spec: { zone }, windowCount }: Refusal,
  others: readonly Wish[],
  areAll: boolean,
): string {
  if (others.length === 0) return '';
  const begins = others.slice(0, OTHERS_SAID).map(({ from }) => beginInWords(from, zone));
  const rest = others.length > begins.length ? ', …' : '';
  const count = `${areAll ? '' : 'at least '}${others.length}`;
  return `, nor in ${count} more of its next ${windowCount} windows: ${begins.join(', ')}${rest}`;
}

const because = (reason: string | null): string => (reason === null ? '' : `: ${reason}`);

/** From when to when by the clock of a zone, which is named: a booking that recurs says one; UTC for one that does not. */
function windowInWords(from: number, to: number, zone: string | null): string {
  if (zone === null) return `${instantInWords(from)} to ${instantInWords(to)}`;
  const at = (instant: number) => instantInWords(wallOf(zone, instant)).slice(0, -1);
  return `${at(from)} to ${at(to)} (${zone})`;
}

/** By the same clock, which is not named again. */
function beginInWords(at: number, zone: string | null): string {
  return zone === null ? instantInWords(at) : instantInWords(wallOf(zone, at)).slice(0, -1);
}
