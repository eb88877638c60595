/**
 * Rows that the state waits for, in the order in which it asked. What one turn reads is bounded, so
 * that whatever has come meanwhile is stepped before the rest. Reads nothing itself.
 */
import { TURN_COMMAND_COUNT_MAX, TURN_LANE_COUNT_MAX } from '../../domain/bounds.ts';
import type { Load } from '../../domain/effects.ts';

export type LoadOf<T extends Load['type']> = Extract<Load, { readonly type: T }>;

/**
 * What is read together, stepped as one turn and committed once: commands, lanes, or one other page.
 * That goes by itself, since what it brings may end tasks of other pages, or move the windows in which
 * these end.
 */
export type LoadGroup =
  | readonly LoadOf<'task'>[]
  | readonly LoadOf<'lane'>[]
  | readonly [
      LoadOf<
        | 'held'
        | 'booked'
        | 'delayed'
        | 'overdue'
        | 'notifications'
        | 'work'
        | 'job'
        | 'triggers'
        | 'settled'
        | 'replan'
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
    const others: LoadGroup[] = [];
    const rest: Load[] = [];
    for (const load of this.#waiting) {
      if (load.type === 'task') {
        if (commands.length < TURN_COMMAND_COUNT_MAX) commands.push(load);
        else rest.push(load);
      } else if (load.type === 'lane') {
        if (lanes.size < TURN_LANE_COUNT_MAX) lanes.set(load.lane, load);
        else rest.push(load);
      } else others.push([load]);
    }
    this.#waiting = rest;
    return [commands, [...lanes.values()], ...others].filter((group) => group.length > 0);
  }
}
