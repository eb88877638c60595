/**
 * Decides for each frame that goes on air where it comes from. An input that has nothing is covered up: its last picture stays
 * for a moment, then the fallback is shown until the input is back with something in hand. Pure; it counts frames, and knows
 * neither clocks nor processes.
 */
import type { Frame, RawFormat } from './raw-format.ts';
import type { Part, Wanted } from './timeline.ts';

/** How long a last picture stands: less is flicker, more is seen as a standstill. */
const HOLD_MS = 400;
/** What an input must have in hand to come back: one that limps would make the picture flap. */
const CUSHION_MS = 200;

/** An input, as far as it matters here; see `FrameBuffer`. */
export interface Frames {
  skipTo(frame: number): void;
  readonly nextFrame: number;
  readonly readyCount: number;
  take(): Frame | null;
}

/** `held`: the last picture, without sound. `black`: there was none. */
export type Shown = Part | 'held' | 'fallback' | 'black';

export interface OnAir {
  readonly shows: Shown;
  readonly frame: Frame;
}

interface SwitcherOptions {
  readonly format: RawFormat;
  readonly parts: Readonly<Record<Part, Frames | null>>;
  readonly fallback: Frames | null;
}

export class Switcher {
  readonly #options: SwitcherOptions;
  readonly #black: Frame;
  #lastPicture: Frame['video'] | null = null;
  /** Slots since a part was on air; from the start there was none. */
  #missedCount = Number.POSITIVE_INFINITY;

  constructor(options: SwitcherOptions) {
    this.#options = options;
    this.#black = options.format.black();
  }

  /** To be called once for each slot, in order. */
  next({ part, frame }: Wanted): OnAir {
    const { parts, fallback, format } = this.#options;
    const taken = this.#takeOf(parts[part], frame);
    if (taken !== null) {
      this.#missedCount = 0;
      this.#lastPicture = taken.video;
      return { shows: part, frame: taken };
    }
    this.#missedCount += 1;
    const isHolding = this.#missedCount <= format.framesIn(HOLD_MS);
    const instead = isHolding ? null : (fallback?.take() ?? null);
    if (instead !== null) {
      this.#lastPicture = instead.video;
      return { shows: 'fallback', frame: instead };
    }
    if (this.#lastPicture === null) return { shows: 'black', frame: this.#black };
    return { shows: 'held', frame: { ...this.#black, video: this.#lastPicture } };
  }

  #takeOf(frames: Frames | null, frame: number): Frame | null {
    if (frames === null) return null;
    frames.skipTo(frame);
    if (frames.nextFrame !== frame) return null;
    const { format } = this.#options;
    // One that was away comes back with a cushion; one that is new need not.
    const isAway = this.#missedCount > 0 && this.#lastPicture !== null;
    const needed = isAway ? format.framesIn(CUSHION_MS) : 1;
    return frames.readyCount >= needed ? frames.take() : null;
  }
}
