/** What holds of offers by shared limits, by the rows as they were before, and after. */
import type { Commit } from '../../../master/application/ports.ts';
import type { SharedLimit, Taken, Use } from '../../../master/domain/model/shared-limit.ts';
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
  #offered: { readonly task: Task; readonly labels: readonly string[] | null }[] = [];

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

  /** `labels`: of its executor; null: nobody knows. */
  offered(task: Task, labels: readonly string[] | null): void {
    this.#offered.push({ task, labels });
  }

  /** I29, after the tasks of the commit. `held`: names of attempts that executors may have. */
  end(held: ReadonlySet<string>): void {
    for (const name of this.#taken.keys()) if (!held.has(name)) this.#taken.delete(name);
    for (const { task, labels } of this.#offered) {
      for (const use of task.uses) this.#check(task, use, labels);
    }
  }

  #check({ id, attempt, executorId }: Task, use: Use, labels: readonly string[] | null): void {
    const { limit, n } = use;
    const row = this.#limits.get(limit);
    if (row === undefined || this.#setNow.has(limit)) return;
    const own = (this.#taken.get(`${id}/${attempt}`) ?? []).filter((one) => one.limit === limit);
    const places = own.map(({ place }) => place);
    const wanted = placesOf(row, executorId ?? '', labels, places);
    if (places.join() !== wanted.join() || own.some((one) => one.n !== n) || own.length === 0) {
      const what = `has taken ${JSON.stringify(own)} of ${limit}, not ${n} at ${wanted.join()}`;
      this.#world.violate('I29', `${id} is offered, and ${what}`);
    }
    for (const place of places) this.#checkRoom(id, row, place);
  }

  #checkRoom(id: string, { name: limit, max }: SharedLimit, place: string): void {
    let used = 0;
    for (const all of this.#taken.values()) {
      for (const taken of all) if (taken.limit === limit && taken.place === place) used += taken.n;
    }
    if (used <= max) return;
    const what = `${used} of ${limit} are taken at "${place}", not ${max}`;
    this.#world.violate('I29', `${id} is offered: ${what}`);
  }
}

/** Where it is to be counted. Of one as 2.0.0 nobody knows on which host it is but by its name, which all have in common. */
function placesOf(
  { per }: SharedLimit,
  executorId: string,
  labels: readonly string[] | null,
  places: readonly string[],
): readonly string[] {
  if (per === 'cluster') return [''];
  if (per !== 'host') {
    if (labels === null) return places;
    return labels.filter((one) => one.startsWith(`${per.label}:`)).map((one) => `label ${one}`);
  }
  const isByName = places.every((one) => one.startsWith('host ') && !one.startsWith('host host'));
  return isByName ? places : [`host ${bootOf(executorId)}`];
}
