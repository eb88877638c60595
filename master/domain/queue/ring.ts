/**
 * Executors on a ring of 2^32 places, each at a few that follow from its id. A value looks from several places of
 * the ring and takes whoever comes next behind one of them: so it goes to the same one whoever else comes and
 * goes, and each has about as many values (multi-probe consistent hashing; Appleton and O'Reilly, 2015). A look
 * costs the logarithm of how many there are.
 */
import { ROUTE_MISS_COUNT } from '../bounds.ts';
import type { Executor } from '../model/executor.ts';
import { mixed } from './hash.ts';

/** So many that the shares differ by a tenth or so. */
const PROBE_COUNT = 21;
const PLACE_COUNT = 4;

export interface Nearest {
  readonly executor: Executor;
  readonly distance: number;
}

export class Ring {
  /** In order; who stands at each of them. */
  #places: number[];
  #executors: Executor[];

  constructor(executors: readonly Executor[]) {
    const owners = executors.flatMap((executor) => Array<Executor>(PLACE_COUNT).fill(executor));
    // Numbers are sorted many times faster than what has them.
    const keys = Float64Array.from(owners, ({ idHash }, index) => {
      return placeOf(idHash, index % PLACE_COUNT) * 2 ** 20 + index;
    }).sort();
    this.#places = Array.from(keys, (key) => Math.floor(key / 2 ** 20));
    this.#executors = Array.from(keys, (key) => owners[key % 2 ** 20] as Executor);
  }

  add(executor: Executor): void {
    for (let n = 0; n < PLACE_COUNT; n++) {
      const place = placeOf(executor.idHash, n);
      const index = this.#firstFrom(place);
      this.#places.splice(index, 0, place);
      this.#executors.splice(index, 0, executor);
    }
  }

  remove(executor: Executor): void {
    for (let n = 0; n < PLACE_COUNT; n++) {
      const index = this.#executors.indexOf(executor, this.#firstFrom(placeOf(executor.idHash, n)));
      if (index < 0) return;
      this.#places.splice(index, 1);
      this.#executors.splice(index, 1);
    }
  }

  /**
   * The nearest that may be, or `before`, of another ring, if that is nearer. Null: there is none, or so many
   * may not be that it is not looked for further.
   */
  nearest(
    value: number,
    mayBe: (executor: Executor) => boolean,
    before: Nearest | null = null,
  ): Nearest | null {
    let nearest = before;
    let missCount = 0;
    for (let probe = 0; probe < PROBE_COUNT; probe++) {
      const from = mixed(value, probe);
      const begin = this.#firstFrom(from);
      for (let passed = 0; passed < this.#places.length; passed++) {
        const index = (begin + passed) % this.#places.length;
        const executor = this.#executors[index] as Executor;
        const distance = ((this.#places[index] as number) - from) >>> 0;
        if (nearest !== null && distance > nearest.distance) break;
        if (nearest !== null && !isNearer(executor, distance, nearest)) continue;
        if (mayBe(executor)) nearest = { executor, distance };
        else if (++missCount === ROUTE_MISS_COUNT) return null;
      }
    }
    return nearest;
  }

  #firstFrom(place: number): number {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#places[middle] as number) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function placeOf(idHash: number, n: number): number {
  return mixed(idHash, ~n);
}

function isNearer({ id }: Executor, distance: number, than: Nearest): boolean {
  return distance !== than.distance ? distance < than.distance : id < than.executor.id;
}
