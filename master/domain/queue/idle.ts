/**
 * Executors of a pool that are idle, in the order in which they became so, to be gone through from either end; all of
 * them, or those with so much free disk. A look for the next one costs the logarithm of how many there are.
 */
import { diskOf, type Executor } from '../model/executor.ts';

/** Less than anybody has. */
const NOBODY = -1;

export class IdleExecutors implements Iterable<Executor> {
  readonly #places = new Map<Executor, number>();
  #executors: (Executor | undefined)[] = [];
  /** A tree: of each node the most free disk below it; the places are its leaves. */
  #most = new Float64Array(2).fill(NOBODY);
  /** A power of two. */
  #placeCount = 1;
  /** The place of whoever comes next. */
  #end = 0;

  get size(): number {
    return this.#places.size;
  }

  has(executor: Executor): boolean {
    return this.#places.has(executor);
  }

  /** Whether one of them has so much free disk. */
  hasDisk(diskBytes: number): boolean {
    return (this.#most[1] ?? NOBODY) >= diskBytes;
  }

  /** Behind all others; does nothing where it is among them. */
  add(executor: Executor): void {
    if (this.#places.has(executor)) return;
    if (this.#end === this.#placeCount) this.#closeRanks();
    this.#put(executor, this.#end++);
  }

  /** It has another free disk now. It keeps its place. */
  update(executor: Executor): void {
    const place = this.#places.get(executor);
    if (place !== undefined) this.#set(place, diskOf(executor));
  }

  /** Whether it was among them. */
  delete(executor: Executor): boolean {
    const place = this.#places.get(executor);
    if (place === undefined) return false;
    this.#executors[place] = undefined;
    this.#set(place, NOBODY);
    return this.#places.delete(executor);
  }

  /** Where it stands, which is so until somebody comes; null: it is not among them. */
  placeOf(executor: Executor): number | null {
    return this.#places.get(executor) ?? null;
  }

  /** The longest idle first. Who leaves meanwhile is left out; nobody may come. */
  [Symbol.iterator](): Iterator<Executor> {
    return this.from(0, 0);
  }

  /** Of those with so much free disk the longest idle first, from this place on. */
  *from(begin: number, diskBytes: number): Generator<Executor> {
    for (let place = this.#after(begin, diskBytes); place >= 0; ) {
      const executor = this.#executors[place];
      if (executor !== undefined) yield executor;
      place = this.#after(place + 1, diskBytes);
    }
  }

  /** Of those with so much free disk the one that was at work last first. */
  *fromLast(diskBytes: number): Generator<Executor> {
    for (let place = this.#before(this.#end - 1, diskBytes); place >= 0; ) {
      const executor = this.#executors[place];
      if (executor !== undefined) yield executor;
      place = this.#before(place - 1, diskBytes);
    }
  }

  #put(executor: Executor, place: number): void {
    this.#executors[place] = executor;
    this.#places.set(executor, place);
    this.#set(place, diskOf(executor));
  }

  #set(place: number, diskBytes: number): void {
    const most = this.#most;
    let node = this.#placeCount + place;
    most[node] = diskBytes;
    for (node >>= 1; node >= 1; node >>= 1) {
      const of = Math.max(this.#at(2 * node), this.#at(2 * node + 1));
      if (most[node] === of) return;
      most[node] = of;
    }
  }

  #at(node: number): number {
    return this.#most[node] ?? NOBODY;
  }

  /** The first place from there on with so much; less than 0: there is none. */
  #after(place: number, diskBytes: number): number {
    if (place >= this.#placeCount) return NOBODY;
    let node = this.#placeCount + place;
    // Up, until what lies to the right has one; then down to the first of these.
    while (this.#at(node) < diskBytes) {
      while (node % 2 === 1) node >>= 1;
      if (node === 0) return NOBODY;
      node++;
    }
    while (node < this.#placeCount) {
      node *= 2;
      if (this.#at(node) < diskBytes) node++;
    }
    return node - this.#placeCount;
  }

  /** The last place up to there with so much; less than 0: there is none. */
  #before(place: number, diskBytes: number): number {
    if (place < 0) return NOBODY;
    let node = this.#placeCount + place;
    while (this.#at(node) < diskBytes) {
      while (node > 1 && node % 2 === 0) node >>= 1;
      if (node === 1) return NOBODY;
      node--;
    }
    while (node < this.#placeCount) {
      node = 2 * node + 1;
      if (this.#at(node) < diskBytes) node--;
    }
    return node - this.#placeCount;
  }

  /** No place is left: those that are empty are taken out, and there are as many again. */
  #closeRanks(): void {
    const executors = this.#executors.filter((one) => one !== undefined);
    this.#placeCount = 1;
    while (this.#placeCount < 2 * executors.length) this.#placeCount *= 2;
    this.#most = new Float64Array(2 * this.#placeCount).fill(NOBODY);
    this.#executors = [];
    this.#end = 0;
    for (const executor of executors) this.#put(executor, this.#end++);
  }
}
