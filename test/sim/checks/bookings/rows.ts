/** What holds of bookings, and of offers by them, by the rows as each commit found them and left them. */
import type { Commit } from '../../../../master/application/ports.ts';
import { bindsAt, type Booking, isBookingOver } from '../../../../master/domain/booking/booking.ts';
import { isAtRest, type Task } from '../../../../master/domain/model/task.ts';
import type { Faults } from '../../faults.ts';
import type { World } from '../../world.ts';
import { HearingChecks } from './hearing.ts';
import { Presence } from './promise.ts';

export class BookingChecks {
  readonly #world: World;
  readonly rows = new Map<string, Booking>();
  readonly hearing: HearingChecks;
  readonly presence = new Presence();
  /** Of those that this commit writes: as it found them, and as it put them. What is offered may come in between. */
  #written = new Map<string, readonly Booking[]>();
  /** Those of them that were not there before: what is offered may come before them. */
  #added = new Set<string>();

  constructor(world: World, faults: Faults) {
    this.#world = world;
    this.hearing = new HearingChecks(world, faults);
  }

  get all(): Booking[] {
    return [...this.rows.values()];
  }

  get open(): Booking[] {
    return this.all.filter((row) => !isBookingOver(row));
  }

  /** Before the tasks of the commit. */
  begin({ writes, now }: Commit): void {
    this.#written = new Map();
    this.#added = new Set();
    for (const write of writes) {
      if (write.table !== 'booking') continue;
      const { key } = write;
      const before = this.rows.get(key);
      if (write.op === 'remove') this.rows.delete(key);
      if (write.op !== 'put') continue;
      const { row } = write;
      if (before === undefined) this.#added.add(key);
      const known = this.#written.get(key) ?? (before === undefined ? [] : [before]);
      this.#written.set(key, [...known, row]);
      this.rows.set(key, row);
      this.#checkRow(row, known.at(-1), now);
    }
  }

  /** I40: a booking has no more executors than it asks for, none before its lead, and none once it is over. */
  #checkRow(row: Booking, before: Booking | undefined, now: number): void {
    const { id, state, count } = row;
    const ids = row.executors.map(({ executorId }) => executorId);
    const what = `${id}, ${state}, has ${ids.join(', ')}, and may have ${count}`;
    const isRight = new Set(ids).size === ids.length && ids.length <= count;
    if (!isRight || (state !== 'bound' && ids.length > 0)) this.#world.violate('I40', what);
    // A clock that was set back binds nothing anew.
    if (state === 'bound' && before?.state !== 'bound' && now < bindsAt(row)) {
      this.#world.violate('I40', `${id} is bound at ${now}, and was to be at ${bindsAt(row)}`);
    }
  }

  /** I39: who is bound is offered tasks of its booking alone, and in its window. */
  offered({ id, booking, executorId, offeredAt }: Task): void {
    for (const row of this.open) {
      if (this.#added.has(row.id)) continue;
      // It may have had it before, and again since, and not in between.
      const sinces = new Set(this.#seen(row.id).map((one) => sinceOf(one, executorId)));
      const isBound = sinces.size === 1 && !sinces.has(null);
      if (row.id === booking || !isBound) continue;
      this.#world.violate('I39', `${id} is offered to ${executorId}, which ${row.id} has`);
    }
    if (booking === null) return;
    const at = offeredAt ?? 0;
    const seen = this.#seen(booking);
    // What was due by a clock that was set back is due by the new time.
    const isByClock = this.#world.wallsMs.length === 1;
    if (isByClock && !seen.some(({ from, to }) => from <= at && at < to)) {
      const windows = seen.map(({ from, to }) => `${from} to ${to}`).join(', ');
      this.#world.violate('I39', `${id} of ${booking} is offered at ${at}, not from ${windows}`);
    }
    if (!seen.some(({ executors }) => has(executors, executorId))) {
      this.#world.violate('I39', `${id} is offered to ${executorId}, which ${booking} has not`);
    }
  }

  #seen(id: string): readonly Booking[] {
    const row = this.rows.get(id);
    return this.#written.get(id) ?? (row === undefined ? [] : [row]);
  }

  /** After the tasks of the commit. */
  end(live: readonly Task[]): void {
    this.#checkBoundOnce();
    for (const task of live) this.#checkTold(task);
  }

  /** I40: nobody is bound by two at once. */
  #checkBoundOnce(): void {
    const boundTo = new Map<string, string>();
    for (const { id, executors } of this.open) {
      for (const { executorId } of executors) {
        const other = boundTo.get(executorId);
        if (other !== undefined) {
          this.#world.violate('I40', `${executorId} is bound by ${other} and by ${id}`);
        }
        boundTo.set(executorId, id);
      }
    }
  }

  /** I41: what runs on after its window has been told to end with it, unless that may go on. */
  #checkTold(task: Task): void {
    if (task.booking === null || isAtRest(task) || task.cancelReason !== null) return;
    const row = this.rows.get(task.booking);
    if (row === undefined) return;
    const isByClock = this.#world.wallsMs.length === 1;
    const isPast = isBookingOver(row) || (isByClock && row.from > (task.offeredAt ?? 0));
    const mayGoOn = row.mayOverrun && row.state !== 'canceled' && row.state !== 'no_show';
    if (!isPast || mayGoOn) return;
    this.#world.violate('I41', `${task.id} goes on after the window of ${row.id}, ${row.state}`);
  }
}

function sinceOf({ executors }: Booking, executorId: string | null): number | null {
  return executors.find((one) => one.executorId === executorId)?.since ?? null;
}

function has(executors: Booking['executors'], executorId: string | null): boolean {
  return executors.some((one) => one.executorId === executorId);
}
