/** What holds of offers by pauses of groups, of labels, and of all namespaces, by the rows as they were before. */
import type { Commit } from '../../../master/application/ports.ts';
import type { PauseRow } from '../../../master/domain/model/pause.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';
import type { Span } from './type-limits.ts';

export class PauseChecks {
  readonly #world: World;
  readonly #rows = new Map<number, PauseRow>();
  /** Rows that this commit writes: what was offered before may be in it. */
  #setNow = new Set<number>();
  /** Since when, as this world has seen it. */
  readonly #since = new Map<number, number>();
  readonly #ended: (Span & { readonly row: PauseRow })[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  begin({ writes, now }: Commit): void {
    this.#setNow = new Set();
    for (const write of writes) {
      if (write.table !== 'pause') continue;
      const { key } = write;
      this.#setNow.add(key);
      const row = this.#rows.get(key);
      if (write.op === 'put') {
        this.#rows.set(key, write.row);
        this.#since.set(key, this.#since.get(key) ?? now);
      } else if (row !== undefined) {
        this.#rows.delete(key);
        this.#ended.push({ row, from: this.#since.get(key) ?? now, until: now });
        this.#since.delete(key);
      }
    }
  }

  offered(task: Task): void {
    for (const [key, row] of this.#rows) {
      if (this.#setNow.has(key) || !isOf(row, task)) continue;
      this.#world.violate('I31', `${task.id} is offered, and ${row.scope} ${row.value} is paused`);
    }
  }

  /** When the task was not to be offered. */
  of(task: Task): readonly Span[] {
    const until = Number.POSITIVE_INFINITY;
    const lasting = [...this.#rows].map(([key, row]) => {
      return { row, from: this.#since.get(key) ?? until, until };
    });
    return [...this.#ended, ...lasting].filter(({ row }) => isOf(row, task));
  }
}

function isOf({ scope, value }: PauseRow, { user, labels, requires }: Task): boolean {
  if (scope === 'all') return true;
  return scope === 'group' ? user.group === value : [...labels, ...requires].includes(value);
}
