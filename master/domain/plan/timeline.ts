/**
 * How much is taken at each instant, and which claims begin when: a staircase, kept in blocks of steps so that neither
 * a window nor the peak over one costs more than the root of what there is.
 */

/** What a booking takes in one window, which is half-open: it ends just before `to`. */
export interface Claim {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The one executor that it names; null: any will do. */
  readonly pin: string | null;
}

/** Half-open. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

interface Stretch extends Span {
  readonly load: number;
}

/** From `at` on, until the next one. */
interface Step {
  readonly at: number;
  load: number;
  /** `NONE` where none does, as where one ends. */
  begun: Claim[];
}

interface Block {
  /** When its first step begins: beside the steps, since a search looks at it of many blocks. */
  from: number;
  steps: Step[];
  /** Holds for each of its steps, beside its own load. */
  raised: number;
  /** Of its steps, without that. */
  peak: number;
}

const STEP_COUNT_MAX = 128;
const NONE: Claim[] = [];

export class Timeline {
  readonly #blocks: Block[] = [
    {
      from: Number.NEGATIVE_INFINITY,
      steps: [{ at: Number.NEGATIVE_INFINITY, load: 0, begun: NONE }],
      raised: 0,
      peak: 0,
    },
  ];

  add(claim: Claim): void {
    const index = this.#indexAt(claim.from);
    const step = this.#cut(claim.from, index);
    if (step.begun === NONE) step.begun = [claim];
    else step.begun.push(claim);
    // A window is short beside all that is planned: it mostly ends in the block that it begins in.
    this.#cut(claim.to, this.#indexFrom(index, claim.to));
    this.#raise(claim, claim.count, index);
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 1 && this.#blocks[0]?.steps.length === 1;
  }

  /** Of one that was added. */
  remove(claim: Claim): void {
    const index = this.#indexAt(claim.from);
    this.#raise(claim, -claim.count, index);
    const { begun } = this.#cut(claim.from, index);
    begun.splice(begun.indexOf(claim), 1);
    this.#join(claim.from);
    this.#join(claim.to);
  }

  loadAt(at: number): number {
    return this.#loadIn(this.#indexAt(at), at);
  }

  /** The most that is taken at any time of the window. */
  peak(from: number, to: number): number {
    const first = this.#indexAt(from);
    let peak = this.#loadIn(first, from);
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block;
      if (block.from >= to) break;
      if (block.from > from && lastOf(block) < to) {
        peak = Math.max(peak, block.peak + block.raised);
        continue;
      }
      for (let at = placeIn(block, from) + 1; at < block.steps.length; at++) {
        const step = block.steps[at] as Step;
        if (step.at >= to) break;
        peak = Math.max(peak, step.load + block.raised);
      }
    }
    return peak;
  }

  /** Parts of the window in which more than that is taken, in order. It is asked for each: it may rise meanwhile. */
  *stretches({ from, to }: Span, above: () => number): Generator<Stretch> {
    for (let index = this.#indexAt(from); index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block;
      if (block.from >= to) return;
      if (block.peak + block.raised <= above()) continue;
      const next = this.#blocks[index + 1];
      for (let at = Math.max(0, placeIn(block, from)); at < block.steps.length; at++) {
        const step = block.steps[at] as Step;
        if (step.at >= to) return;
        const load = step.load + block.raised;
        if (load <= above()) continue;
        const end = block.steps[at + 1]?.at ?? (next === undefined ? to : next.from);
        yield { from: Math.max(step.at, from), to: Math.min(end, to), load };
      }
    }
  }

  /** Those that begin within the window, in order. */
  *begunWithin(from: number, to: number): Generator<Claim> {
    for (let index = this.#indexAt(from); index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block;
      for (let at = Math.max(0, placeIn(block, from)); at < block.steps.length; at++) {
        const step = block.steps[at] as Step;
        if (step.at >= to) return;
        if (step.at >= from) yield* step.begun;
      }
    }
  }

  /** When it changes, nearest to that instant: up to so many before it, and after it. */
  changesNear(near: number, count: number): number[] {
    const changes: number[] = [];
    let left = count;
    for (let index = this.#indexAt(near); index >= 0 && left > 0; index--) {
      const block = this.#blocks[index] as Block;
      for (let at = placeIn(block, near); at >= 0 && left > 0; at--, left--) {
        changes.push((block.steps[at] as Step).at);
      }
    }
    left = count;
    for (let index = this.#indexAt(near); index < this.#blocks.length && left > 0; index++) {
      const block = this.#blocks[index] as Block;
      for (let at = placeIn(block, near) + 1; at < block.steps.length && left > 0; at++, left--) {
        changes.push((block.steps[at] as Step).at);
      }
    }
    return changes.filter(Number.isFinite);
  }

  #loadIn(index: number, at: number): number {
    const block = this.#blocks[index] as Block;
    return (block.steps[placeIn(block, at)]?.load ?? 0) + block.raised;
  }

  /** @param first The block that it begins in, or one before that. */
  #raise({ from, to }: Claim, by: number, first: number): void {
    for (let index = first; index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as Block;
      if (block.from >= to) break;
      if (block.from >= from && lastOf(block) < to) {
        block.raised += by;
        continue;
      }
      let highest = Number.NEGATIVE_INFINITY;
      for (let at = Math.max(0, placeIn(block, from)); at < block.steps.length; at++) {
        const step = block.steps[at] as Step;
        if (step.at >= to) break;
        if (step.at < from) continue;
        highest = Math.max(highest, step.load, step.load + by);
        step.load += by;
      }
      // What was below the peak, and becomes less, changes nothing of it.
      if (by > 0) block.peak = Math.max(block.peak, highest);
      else if (highest >= block.peak) block.peak = peakOf(block.steps);
    }
  }

  /** The step that begins then. @param index Of the last block that begins by then. */
  #cut(at: number, index: number): Step {
    const block = this.#blocks[index] as Block;
    const place = placeIn(block, at);
    const before = block.steps[place] as Step;
    if (before.at === at) return before;
    const step: Step = { at, load: before.load, begun: NONE };
    block.steps.splice(place + 1, 0, step);
    if (block.steps.length > STEP_COUNT_MAX) this.#split(index, block);
    return step;
  }

  #split(index: number, block: Block): void {
    const steps = block.steps.splice(STEP_COUNT_MAX / 2);
    block.peak = peakOf(block.steps);
    const { raised } = block;
    const { at: from } = steps[0] as Step;
    this.#blocks.splice(index + 1, 0, { from, steps, raised, peak: peakOf(steps) });
  }

  /** A step that changes nothing is forgotten. */
  #join(at: number): void {
    const index = this.#indexAt(at);
    const block = this.#blocks[index] as Block;
    const place = placeIn(block, at);
    const step = block.steps[place] as Step;
    if (step.at !== at || step.begun.length > 0) return;
    if (this.#loadBefore(index, place) !== step.load + block.raised) return;
    block.steps.splice(place, 1);
    const [first] = block.steps;
    if (first === undefined) this.#blocks.splice(index, 1);
    else {
      block.from = first.at;
      block.peak = peakOf(block.steps);
    }
  }

  #loadBefore(index: number, place: number): number {
    const block = this.#blocks[place > 0 ? index : index - 1] as Block;
    const step = place > 0 ? block.steps[place - 1] : block.steps.at(-1);
    return (step?.load ?? 0) + block.raised;
  }

  /** The same of an instant that is not before that block. */
  #indexFrom(index: number, at: number): number {
    const next = this.#blocks[index + 1];
    return next === undefined || next.from > at ? index : this.#indexAt(at);
  }

  /** The last block that begins by then. */
  #indexAt(at: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle] as Block).from <= at) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** The last step that begins by then; -1: all begin later. */
function placeIn({ steps }: Block, at: number): number {
  let low = -1;
  let high = steps.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((steps[middle] as Step).at <= at) low = middle;
    else high = middle;
  }
  return low;
}

const lastOf = ({ steps }: Block): number => (steps.at(-1) as Step).at;

function peakOf(steps: readonly Step[]): number {
  let peak = Number.NEGATIVE_INFINITY;
  for (const { load } of steps) if (load > peak) peak = load;
  return peak;
}
