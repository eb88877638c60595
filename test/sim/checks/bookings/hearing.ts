/** What executors that hear of bookings believe about who has them, and what their masters believe of that. */
import type { Booking } from '../../../../master/domain/booking/booking.ts';
import type { State } from '../../../../master/domain/state/state.ts';
import type { Faults } from '../../faults.ts';
import type { World } from '../../world.ts';

/** In which a frame has arrived, and was sent again where it was lost on the way. */
const HEARD_MS_MAX = 10_000;
/** What was delayed, paused or lost in the storm is over by then. */
const CALM_MS = 60_000;

export class HearingChecks {
  readonly #world: World;
  readonly #faults: Faults;
  /** By process: the booking that it believes to have it. */
  readonly #believed = new Map<string, string | null>();
  /** Since when one believes something else than what is so. */
  #wrongSince = new Map<string, number>();
  #calmSince: number | null = null;

  constructor(world: World, faults: Faults) {
    this.#world = world;
    this.#faults = faults;
  }

  /** A process begins that asks to hear of bookings. */
  began(executorId: string, incarnation: string): void {
    this.#believed.set(nameOf(executorId, incarnation), null);
  }

  hears(executorId: string, incarnation: string): boolean {
    return this.#believed.has(nameOf(executorId, incarnation));
  }

  heard(executorId: string, incarnation: string, bookingId: string | null): void {
    this.#believed.set(nameOf(executorId, incarnation), bookingId);
  }

  /** I45: in the calm whoever is there knows soon which booking has it, whatever was lost before. */
  check({ executors }: State, open: readonly Booking[]): void {
    const { now } = this.#world;
    if (this.#faults.isStorm) return;
    this.#calmSince ??= now;
    if (now < this.#calmSince + CALM_MS) return;
    const boundTo = new Map<string, string>();
    for (const { id, isMaintenance, executors: bound } of open) {
      if (isMaintenance) continue;
      for (const { executorId } of bound) boundTo.set(executorId, id);
    }
    const wrongSince = new Map<string, number>();
    for (const { id, incarnation, connected } of executors.values()) {
      const name = nameOf(id, incarnation);
      const believed = this.#believed.get(name);
      const isSo = boundTo.get(id) ?? null;
      if (believed === undefined || !connected || believed === isSo) continue;
      const key = `${name} ${isSo}`;
      const since = this.#wrongSince.get(key) ?? now;
      wrongSince.set(key, since);
      if (now <= since + HEARD_MS_MAX) continue;
      this.#world.violate('I45', `${name} believes that ${believed} has it, and ${isSo} does`);
    }
    this.#wrongSince = wrongSince;
  }
}

const nameOf = (executorId: string, incarnation: string): string => `${executorId} ${incarnation}`;
