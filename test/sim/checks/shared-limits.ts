/** What holds of offers by shared limits, by the rows as they were before, and after. */
import type { Commit } from '../../../master/application/ports.ts';
import { type SharedLimit, type Taken } from '../../../master/domain/model/shared-limit.ts';
import type { Task } from '../../../master/domain/model/task.ts';
import { bootOf } from '../hosts.ts';
import type { World } from '../world.ts';

export class SharedLimitChecks {
  readonly #world: World;
  readonly #limits = new Map<string, SharedLimit>();
  /** Those that this commit sets, perhaps more than once: what was offered in between may have been allowed. */
  #setNow = new Set<string>();
  /** What attempts have taken, by their names, for as long as they may run. */
  readonly #taken = new Map<string, readonly Taken[]>();
  /** Names of attempts that have a row of what they have taken. */
  readonly rows = new Set<string>();
  #offered: Task[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** As the rows have it. */
  limitOf(name: string): SharedLimit | undefined {
    return this.#limits.get(name);
  }

  /** Before the tasks of the commit. */
  begin({ writes }: Commit): void {
    this.#offered = [];
    this.#setNow = new Set();
    for (const write of writes) {
      if (write.table === 'limit') {
        this.#setNow.add(write.key);
        if (write.op === 'put') this.#limits.set(write.key, write.row);
        else this.#limits.delete(write.key);
      }
      if (write.table !== 'holding') continue;
      const name = write.key.join('/');
      if (write.op !== 'put') this.rows.delete(name);
      else {
        this.rows.add(name);
        this.#taken.set(name, write.row.taken);
      }
    }
  }

  offered(task: Task): void {
    this.#offered.push(task);
  }

  /** I29, after the tasks of the commit. `held`: names of attempts that executors may have. */
  end(held: ReadonlySet<string>): void {
    for (const name of this.#taken.keys()) if (!held.has(name)) this.#taken.delete(name);
    for (const task of this.#offered) {
      for (const { limit, n } of task.uses) this.#check(task, limit, n);
    }
  }

  #check({ id, attempt, executorId }: Task, limit: string, n: number): void {
    const row = this.#limits.get(limit);
    if (row === undefined || this.#setNow.has(limit)) return;
    const own = this.#taken.get(`${id}/${attempt}`)?.find((taken) => taken.limit === limit);
    const isRight = own?.n === n && own.place === placeOf(row, executorId ?? '', own.place);
    if (!isRight) {
      const what = `has taken ${JSON.stringify(own)} of ${limit}, not ${n}`;
      this.#world.violate('I29', `${id} is offered, and ${what}`);
    }
    const place = own?.place;
    let used = 0;
    for (const all of this.#taken.values()) {
      for (const taken of all) if (taken.limit === limit && taken.place === place) used += taken.n;
    }
    if (used <= row.max) return;
    const what = `${used} of ${limit} are taken at "${place}", not ${row.max}`;
    this.#world.violate('I29', `${id} is offered: ${what}`);
  }
}

/** Of one as 2.0.0 nobody knows on which host it is but by its name, which all have in common. */
function placeOf({ per }: SharedLimit, executorId: string, place: string): string {
  if (per === 'cluster') return '';
  const boot = `host ${bootOf(executorId)}`;
  const isByName = place.startsWith('host ') && !place.startsWith('host host');
  return isByName ? place : boot;
}
