/**
 * Rows that the state waits for, in the order in which it asked. What one turn reads is bounded, so
 * that whatever has come meanwhile is stepped before the rest. Reads nothing itself.
 */
import {
  TURN_BOOKING_COUNT_MAX,
  TURN_COMMAND_COUNT_MAX,
  TURN_LANE_COUNT_MAX,
} from '../../domain/bounds.ts';
import type { Load } from '../../domain/effects.ts';

export type LoadOf<T extends Load['type']> = Extract<Load, { readonly type: T }>;

/**
 * What is read together, stepped as one turn and committed once: commands, lanes, bookings whose
 * tasks are to end, or one other page. That goes by itself, since what it brings may end tasks of other pages, or move the windows in which
 * these end.
 */
export type LoadGroup =
  | readonly LoadOf<'task'>[]
  | readonly LoadOf<'lane'>[]
  | readonly LoadOf<'booked'>[]
  | readonly [
      LoadOf<
        | 'held'
        | 'delayed'
        | 'overdue'
        | 'notifications'
        | 'work'
        | 'job'
        | 'triggers'
        | 'settled'
        | 'replan'
        | 'runs'
      >,
    ];

export class Loads {
  #waiting: Load[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  add(loads: readonly Load[]): void {
    for (const load of loads) this.#waiting.push(load);
  }

  clear(): void {
    this.#waiting = [];
  }

  takeTurn(): readonly LoadGroup[] {
    const commands: LoadOf<'task'>[] = [];
    /** No lane twice: its pages follow one another. */
    const lanes = new Map<number, LoadOf<'lane'>>();
    const booked = new Map<string, LoadOf<'booked'>>();
    const others: LoadGroup[] = [];
    const rest: Load[] = [];
    for (const load of this.#waiting) {
      if (load.type === 'task') {
        if (commands.length < TURN_COMMAND_COUNT_MAX) commands.push(load);
        else rest.push(load);
      } else if (load.type === 'lane') {
        if (lanes.size < TURN_LANE_COUNT_MAX) lanes.set(load.lane, load);
        else rest.push(load);
      } else if (load.type === 'booked') {
        if (booked.size < TURN_BOOKING_COUNT_MAX) booked.set(load.booking, load);
        else rest.push(load);
      } else others.push([load]);
    }
    this.#waiting = rest;
    return [commands, [...lanes.values()], [...booked.values()], ...others].filter(
      (group) => group.length > 0,
    );
  }
}
