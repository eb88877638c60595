/** What holds of offers by what is set for their types, by the rows as they were before, and after. */
import type { Commit } from '../../../master/application/ports.ts';
import type { RowWrite } from '../../../master/domain/changes.ts';
import { effectiveOf, type TaskType } from '../../../master/domain/model/task-type.ts';
import { windowsAt } from '../../../master/domain/limits/windows.ts';
import { gateKeyIn } from '../../../master/domain/limits/gate.ts';
import { isAtRest, type Task } from '../../../master/domain/model/task.ts';
import type { World } from '../world.ts';

export interface Span {
  readonly from: number;
  readonly until: number;
}

const TICK_MS = 5_000;

export class TypeChecks {
  readonly #world: World;
  readonly #types = new Map<string, TaskType>();
  /** Of which this commit sets something, perhaps more than once: what was offered in between may have been allowed. */
  #setNow = new Set<string>();
  /** What may still run though it is over, by the names of the attempts. */
  readonly #leftovers = new Map<string, Task>();
  #offered: Task[] = [];
  /** How many offers count in a window of a rate, and which ones. */
  readonly #rated = new Map<string, Set<string>>();
  /** Those of them whose params may not be known any more by what is set now. */
  readonly #ungated = new Set<string>();
  readonly #pausedSince = new Map<string, number>();
  readonly #pauses = new Map<string, Span[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** As the rows have it. */
  typeOf(name: string): TaskType | undefined {
    return this.#types.get(name);
  }

  /** Before the tasks of the commit. `openRowOf`: the task of an attempt that was open before. */
  begin({ writes, now }: Commit, openRowOf: (key: readonly [string, number]) => Task | null): void {
    this.#offered = [];
    this.#setNow = new Set();
    for (const write of writes) {
      if (write.table === 'type') this.#set(write, now);
      if (write.table !== 'leftover') continue;
      const name = write.key.join('/');
      this.#ungated.delete(name);
      if (write.op === 'remove') this.#leftovers.delete(name);
      else {
        // One that comes back after its lease has ended is not known to anybody any more.
        const row = openRowOf(write.key);
        if (row === null) continue;
        this.#leftovers.set(name, row);
        const { type, group } = write.row;
        if (type !== row.type || group !== row.user.group) {
          this.#world.violate('M1', `${name} counts as ${type} of ${group}`);
        }
      }
    }
  }

  #set(write: RowWrite<'type'>, now: number): void {
    const { key } = write;
    this.#setNow.add(key);
    this.#regate(key, write.op === 'put' ? write.row : null);
    for (const name of this.#rated.keys()) if (name.startsWith(`${key} `)) this.#rated.delete(name);
    if (write.op === 'put') this.#types.set(key, write.row);
    else this.#types.delete(key);
    const since = this.#pausedSince.get(key);
    const isPaused = write.op === 'put' && write.row.paused !== null;
    if (isPaused) this.#pausedSince.set(key, since ?? now);
    else if (since !== undefined) {
      this.#pausedSince.delete(key);
      this.#pauses.set(key, [...this.pausesOf(key), { from: since, until: now }]);
    }
  }

  /** Whoever has not got their params any more cannot tell by which value they count now. */
  #regate(type: string, row: TaskType | null): void {
    const pointerOf = (of: TaskType | null | undefined) =>
      of ? effectiveOf(of).limits.concurrency?.pointer : undefined;
    if (pointerOf(row) === pointerOf(this.#types.get(type))) return;
    for (const [name, task] of this.#leftovers) if (task.type === type) this.#ungated.add(name);
  }

  /** When nothing of the type was to be offered. */
  pausesOf(type: string): readonly Span[] {
    const since = this.#pausedSince.get(type);
    const last = since === undefined ? [] : [{ from: since, until: Number.POSITIVE_INFINITY }];
    return [...(this.#pauses.get(type) ?? []), ...last];
  }

  offered(task: Task): void {
    this.#offered.push(task);
    if (!this.#setNow.has(task.type) && this.#types.get(task.type)?.paused) {
      this.#world.violate('I18', `${task.id} is offered, and its type is paused`);
    }
    this.#rate(task, null);
    this.#rate(task, task.user.group);
  }

  /** I25. By a clock that was set nobody can say in which window it was. */
  #rate({ id, type, attempt, offeredAt, booking }: Task, group: string | null): void {
    // What is booked counts in none.
    if (booking !== null) return;
    const row = this.#types.get(type);
    if (row === undefined || this.#world.wallsMs.length > 1) return;
    // It may have been offered before that was set.
    if (this.#setNow.has(type)) return;
    const { rate: ofType, perGroup } = effectiveOf(row).limits;
    const rate = group === null ? ofType : (perGroup?.rate ?? null);
    if (rate === null) return;
    const window = Math.floor((offeredAt ?? 0) / rate.seconds / 1000);
    const name = `${type} ${group ?? 'in all'} ${window}`;
    const counted = this.#rated.get(name) ?? new Set();
    this.#rated.set(name, counted.add(`${id}/${attempt}`));
    if (counted.size <= rate.count) return;
    this.#world.violate('I25', `${id} is offered: ${counted.size} in ${name}, not ${rate.count}`);
  }

  /** As if it had not been offered. */
  rejected(taskId: string, attempt: number): void {
    for (const counted of this.#rated.values()) counted.delete(`${taskId}/${attempt}`);
  }

  /** Of attempts that executors have, or may have. */
  heldNames(live: Iterable<Task>): ReadonlySet<string> {
    const names = new Set(this.#leftovers.keys());
    for (const task of live) if (!isAtRest(task)) names.add(`${task.id}/${task.attempt}`);
    return names;
  }

  /** I23, after the tasks of the commit. */
  end(live: Iterable<Task>): void {
    if (this.#offered.length === 0) return;
    const held = [...this.#leftovers.values()];
    for (const task of live) if (!isAtRest(task)) held.push(task);
    this.#checkGates(live);
    for (const { id, type, user, offeredAt } of this.#offered) {
      const row = this.#types.get(type);
      if (row === undefined || this.#setNow.has(type)) continue;
      const { maxRunning: always, perGroup, windows } = effectiveOf(row).limits;
      // It takes a tick to know that another is open.
      const at = offeredAt ?? 0;
      const now = [at, at - TICK_MS].map((time) => windowsAt(windows, time).maxRunning ?? Infinity);
      const max = Math.min(always ?? Infinity, Math.max(...now));
      const maxRunning = Number.isFinite(max) ? max : null;
      const ofType = held.filter((task) => task.type === type);
      const ofGroup = ofType.filter(({ user: { group } }) => group === user.group);
      this.#checkMax(id, `type ${type}`, ofType.length, maxRunning);
      const ofEach = perGroup?.maxRunning ?? null;
      this.#checkMax(id, `group ${user.group} of ${type}`, ofGroup.length, ofEach);
    }
  }

  /** I28: what a type, by its value in params, has with executors. */
  #checkGates(live: Iterable<Task>): void {
    const known = [...this.#leftovers].filter(([name]) => !this.#ungated.has(name));
    const all = [...known.map(([, task]) => task), ...[...live].filter((task) => !isAtRest(task))];
    for (const { id, type, params } of this.#offered) {
      const row = this.#types.get(type);
      const key = row && gateOf(row, params);
      if (row === undefined || key === null || this.#setNow.has(type)) continue;
      const { max = 0 } = effectiveOf(row).limits.concurrency ?? {};
      const count = all.filter(
        (task) => task.type === type && gateOf(row, task.params) === key,
      ).length;
      if (count <= max) continue;
      this.#world.violate(
        'I28',
        `${id} is offered: ${count} of gate ${key} are with executors, not ${max}`,
      );
    }
  }

  /** Whether what holds the task has a place, by the rows. */
  hasPlace(task: Task, live: Iterable<Task>, now: number): boolean {
    const row = this.#types.get(task.type);
    const key = row === undefined ? null : gateOf(row, task.params);
    if (row === undefined || key === null) return true;
    const has = ({ type, state, dueAt, params }: Task) =>
      type === task.type &&
      state !== 'held' &&
      (state !== 'waiting' || dueAt <= now) &&
      gateOf(row, params) === key;
    let count = 0;
    for (const one of [...live, ...this.#leftovers.values()]) if (has(one)) count++;
    return count < (effectiveOf(row).limits.concurrency?.max ?? 0);
  }

  #checkMax(id: string, of: string, count: number, max: number | null): void {
    if (max === null || count <= max) return;
    this.#world.violate(
      'I23',
      `${id} is offered: ${count} of ${of} are with executors, not ${max}`,
    );
  }
}

function gateOf(row: TaskType, params: string): number | null {
  const { concurrency } = effectiveOf(row).limits;
  return concurrency === null ? null : gateKeyIn(row.type, concurrency.pointer, params);
}
