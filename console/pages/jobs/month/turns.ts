/** The times of a job of one month, past and to come, by the days on which people look for them. Pure. */
import type { NextFire, OccurrenceView } from '@soda-scheduler/protocol';
import { dayAfter } from '../../../parts/days.ts';
import { becameSaid } from './became-said.ts';
import { dayIn } from './zones.ts';

/** Of a month, and of several times in a row that are looked at. */
const DAYS_MAX = 31;
/** Of a day: of what is to come, and of all. */
export const COMING_MAX = 30;
export const ROWS_MAX = 200;

/** One time, or several in a row of which the same became. */
export interface Turn {
  readonly key: string;
  readonly trigger: string;
  readonly nominal: string;
  /** The last one, of several. */
  readonly to: string;
  /** When it is fired, where that is to come and differs. */
  readonly at: string | null;
  /** `runs` and `shifted` are to come; else as the API has them, `ran` as its task has ended where that is known. */
  readonly state: string;
  /** 0: it is told on the day of the first. */
  readonly count: number;
  /** Why, in a sentence. */
  readonly reason: string | null;
  readonly calendar: string | null;
  readonly taskId: string | null;
  readonly isToCome: boolean;
}

export type TurnsByDay = ReadonlyMap<string, readonly Turn[]>;

/** @param states how tasks have ended, by their ids. */
export function pastTurn(one: OccurrenceView, states: ReadonlyMap<string, string>): Turn {
  const { trigger, nominal, to, rerun, state, calendar, count } = one;
  const reason = becameSaid(one);
  const { task_id: taskId } = one;
  const ended = taskId === null ? undefined : states.get(taskId);
  return {
    key: `${trigger} ${nominal} ${rerun}`,
    ...{ trigger, nominal, to, at: null, count, reason, calendar, taskId, isToCome: false },
    state: state === 'ran' ? (ended ?? state) : state,
  };
}

export function comingTurn(next: NextFire): Turn {
  const { trigger, nominal, to, at, count, outcome, calendar } = next;
  const reason = becameSaid({ ...next, state: outcome, message: next.reason });
  return {
    key: `${trigger} ${nominal} to come`,
    ...{ trigger, nominal, to, at, count, reason, calendar, taskId: null, isToCome: true },
    state: outcome,
  };
}

/** In the order of the clock. One that is moved stands on both days, several on all of theirs. */
export function byDay(turns: readonly Turn[], zone: string): TurnsByDay {
  const days = new Map<string, Turn[]>();
  const put = (day: string, turn: Turn): void => {
    const there = days.get(day);
    if (there === undefined) days.set(day, [turn]);
    else there.push(turn);
  };
  for (const turn of turns.toSorted((a, b) => (a.nominal < b.nominal ? -1 : 1))) {
    const day = dayIn(zone, Date.parse(turn.nominal));
    put(day, turn);
    const last = turn.count > 1 ? dayIn(zone, Date.parse(turn.to)) : day;
    for (let later = 1; later < DAYS_MAX && dayAfter(day, later) <= last; later++) {
      put(dayAfter(day, later), { ...turn, key: `${turn.key} and on`, count: 0 });
    }
    if (turn.state !== 'shifted' || turn.at === null) continue;
    const to = dayIn(zone, Date.parse(turn.at));
    if (to !== day) put(to, { ...turn, key: `${turn.key} moved`, state: 'runs' });
  }
  return days;
}

/** When it is to be looked for on its day. */
export const shownAt = ({ state, at, nominal }: Turn): string =>
  state === 'runs' ? (at ?? nominal) : nominal;

/** How many of each state, those first that are first in the day. */
export function countsOf(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { state, count } of turns) counts.set(state, (counts.get(state) ?? 0) + count);
  return counts;
}

/** From now on, what comes next first, and below it back from now. */
export function nearest(turns: readonly Turn[]): readonly Turn[] {
  const sorted = turns.toSorted((a, b) => (shownAt(a) < shownAt(b) ? -1 : 1));
  const coming = sorted.filter(({ isToCome }) => isToCome).slice(0, COMING_MAX);
  const been = sorted.filter(({ isToCome }) => !isToCome).toReversed();
  return [...coming, ...been].slice(0, ROWS_MAX);
}
