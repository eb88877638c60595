/**
 * Rows that the state waits for, in the order in which it asked. What one turn reads is bounded, so
 * that whatever has come meanwhile is stepped before the rest. Reads nothing itself.
 */
import type { Load } from '../domain/effects.ts';

type CommandLoad = Extract<Load, { type: 'task' }>;

/** Pages, each a read and a commit. */
const PAGE_COUNT_MAX = 16;
/** Tasks of commands: read together, stepped together, and written in one commit. */
const COMMAND_COUNT_MAX = 32;

/** What is read in one turn. */
export interface LoadsOfTurn {
  /** Each by itself: what a page brings may move the windows in which others end. */
  readonly pages: readonly Exclude<Load, CommandLoad>[];
  /** All at once. No task twice: what one command makes of it the next must see. */
  readonly commands: readonly CommandLoad[];
}

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

  takeTurn(): LoadsOfTurn {
    const pages: Exclude<Load, CommandLoad>[] = [];
    const commands = new Map<string, CommandLoad>();
    const rest: Load[] = [];
    for (const load of this.#waiting) {
      if (load.type !== 'task') {
        if (pages.length < PAGE_COUNT_MAX) pages.push(load);
        else rest.push(load);
      } else if (commands.size === COMMAND_COUNT_MAX || commands.has(load.event.taskId)) {
        rest.push(load);
      } else commands.set(load.event.taskId, load);
    }
    this.#waiting = rest;
    return { pages, commands: [...commands.values()] };
  }
}
