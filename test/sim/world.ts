/**
 * Virtual time. Everything that happens in a run is a call in one heap, ordered by time and, at
 * one instant, by the order of scheduling. After each call all promise jobs run to their end, so
 * that a run depends on its seed alone: no timer, no clock and no socket of the platform is used.
 */
import { setImmediate as promiseJobsDone } from 'node:timers/promises';
import type { Clock } from '../../master/application/ports.ts';
import { Random } from './random.ts';

interface Call {
  readonly at: number;
  readonly sequence: number;
  readonly call: () => void;
}

/** Instants of a run begin here: an ordinary date, so that segments by day are exercised too. */
const EPOCH_MS = Date.UTC(2026, 0, 1, 23, 59);

export class World {
  readonly random: Random;
  readonly trace: string[] = [];
  #now = EPOCH_MS;
  /** How far the wall clock, of the database and of all machines, was ever set ahead of `now`. */
  readonly wallsMs = [0];
  #sequence = 0;
  #stepCount = 0;
  #violation: string | null = null;
  readonly #heap: Call[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  get now(): number {
    return this.#now;
  }

  /** What the wall clock shows; `now` never jumps. */
  get wall(): number {
    return this.#now + (this.wallsMs.at(-1) ?? 0);
  }

  setWall(byMs: number): void {
    this.wallsMs.push((this.wallsMs.at(-1) ?? 0) + byMs);
    this.log(`the wall clock is set by ${byMs} ms`);
  }

  get stepCount(): number {
    return this.#stepCount;
  }

  /** The first invariant that did not hold; the run ends there. */
  get violation(): string | null {
    return this.#violation;
  }

  log(line: string): void {
    this.trace.push(`${((this.#now - EPOCH_MS) / 1000).toFixed(3)} ${line}`);
  }

  /** Reported, not thrown: an exception would be caught by the code under test. */
  violate(invariant: string, what: string): void {
    if (this.#violation !== null) return;
    this.#violation = `${invariant}: ${what}`;
    this.log(`VIOLATION ${this.#violation}`);
  }

  after(delayMs: number, call: () => void): void {
    // Instants are whole milliseconds, as on the wire.
    this.#push({
      at: this.#now + Math.ceil(Math.max(0, delayMs)),
      sequence: ++this.#sequence,
      call,
    });
  }

  /** Runs until `done`, a violation, or `limitMs` from now. */
  async run(limitMs: number, done: () => boolean): Promise<void> {
    const limitAt = this.#now + limitMs;
    while (this.#violation === null && !done()) {
      const next = this.#heap[0];
      if (next === undefined || next.at > limitAt) {
        this.#now = limitAt;
        return;
      }
      this.#pop();
      this.#now = next.at;
      this.#stepCount++;
      next.call();
      // No other source of events exists: when this comes, every promise job has run.
      await promiseJobsDone();
    }
  }

  #push(call: Call): void {
    const heap = this.#heap;
    let index = heap.push(call) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!comesBefore(call, heap[parent] as Call)) break;
      heap[index] = heap[parent] as Call;
      index = parent;
    }
    heap[index] = call;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      const right = heap[child + 1];
      if (right !== undefined && comesBefore(right, heap[child] as Call)) child++;
      if (!comesBefore(heap[child] as Call, last)) break;
      heap[index] = heap[child] as Call;
      index = child;
    }
    heap[index] = last;
  }
}

function comesBefore(a: Call, b: Call): boolean {
  return a.at !== b.at ? a.at < b.at : a.sequence < b.sequence;
}

/**
 * A process of the simulated fleet. Nothing reaches it once it was killed, and what comes while
 * it is stopped (as by SIGSTOP) is taken in order when it goes on.
 */
export class Process implements Clock {
  readonly name: string;
  readonly world: World;
  #isAlive = true;
  #isPaused = false;
  /** In order. What comes while some are left waits behind them. */
  readonly #held: (() => void)[] = [];
  #resumedAt = Number.NEGATIVE_INFINITY;
  /** How far the wall clock of this machine is ahead of that of the world, and of the database. */
  wallAheadMs = 0;
  /** How far the clock of this process is ahead of the time of the world. */
  #clockAheadMs: number;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.#clockAheadMs = world.wall - world.now;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** When it last went on after a stop. */
  get resumedAt(): number {
    return this.#resumedAt;
  }

  now(): number {
    return this.world.now + this.#clockAheadMs;
  }

  wakeAt(at: number, call: () => void): () => void {
    return this.after(at - this.now(), call);
  }

  /** As a clock that is never set. */
  get evenClock(): Clock {
    const { world } = this;
    const even = { now: () => world.now, departureMs: () => 0, followWall: () => undefined };
    const wakeAt: Clock['wakeAt'] = (at, call) => this.after(at - world.now, call);
    return { ...even, wakeAt, soon: (call) => this.soon(call) };
  }

  soon(call: () => void): void {
    this.after(0, call);
  }

  departureMs(): number {
    return this.world.wall + this.wallAheadMs - this.now();
  }

  followWall(): void {
    this.#clockAheadMs += this.departureMs();
  }

  /** An instant of its clock, as time of the world. */
  worldTimeOf(at: number): number {
    return at - this.#clockAheadMs;
  }

  /** Returns how to call it off. */
  after(delayMs: number, call: () => void): () => void {
    let isOff = false;
    this.world.after(delayMs, () =>
      this.deliver(() => {
        if (!isOff) call();
      }),
    );
    return () => {
      isOff = true;
    };
  }

  deliver(call: () => void): void {
    if (!this.#isAlive) return;
    if (this.#isPaused || this.#held.length > 0) this.#held.push(call);
    else call();
  }

  pause(): void {
    this.#isPaused = true;
    this.world.log(`${this.name} stopped`);
  }

  resume(): void {
    this.#isPaused = false;
    this.#resumedAt = this.world.now;
    this.world.log(`${this.name} goes on`);
    this.#deliverHeld();
  }

  /** One by one: a call may pause the process again, or end it. */
  #deliverHeld(): void {
    this.world.after(0, () => {
      if (this.#isPaused) return;
      const call = this.#held.shift();
      if (call === undefined) return;
      if (this.#isAlive) call();
      this.#deliverHeld();
    });
  }

  kill(): void {
    this.#isAlive = false;
    this.world.log(`${this.name} ended`);
  }
}
