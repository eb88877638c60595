/**
 * The one form in which pictures and sound go through this process: yuv420p of a fixed size and rate, and stereo of 48 kHz
 * in 16 bits. Whatever an input is, its ffmpeg brings it there; so inputs can be changed between any two frames. Pure.
 */

export const SAMPLE_RATE = 48_000;
export const CHANNEL_COUNT = 2;
const SAMPLE_BYTES = 2 * CHANNEL_COUNT;

/** The sample rate is a multiple of each: all frames have the same number of samples. */
export const FRAME_RATES = [10, 12, 15, 20, 24, 25, 30, 50, 60] as const;

export interface Frame {
  /** Together one picture. */
  readonly video: readonly Buffer[];
  /** Together the sound of its time. */
  readonly sound: readonly Buffer[];
}

export class RawFormat {
  readonly width: number;
  readonly height: number;
  /** Frames a second, one of `FRAME_RATES`. */
  readonly rate: number;

  /** @param resolution `WIDTHxHEIGHT`, both even. */
  constructor(resolution: string, rate: number) {
    const [width, height] = resolution.split('x').map(Number) as [number, number];
    this.width = width;
    this.height = height;
    this.rate = rate;
  }

  /** Of one picture. */
  get videoBytes(): number {
    return (this.width * this.height * 3) / 2;
  }

  /** Of the sound of one frame. */
  get soundBytes(): number {
    return (SAMPLE_RATE / this.rate) * SAMPLE_BYTES;
  }

  /** How many frames so many milliseconds have, at least one. */
  framesIn(ms: number): number {
    return Math.max(1, Math.round((ms * this.rate) / 1000));
  }

  black(): Frame {
    const luma = this.width * this.height;
    const video = [Buffer.alloc(luma, 16), Buffer.alloc(luma / 2, 128)];
    return { video, sound: [Buffer.alloc(this.soundBytes)] };
  }
}
