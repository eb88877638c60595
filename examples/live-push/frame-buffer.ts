/**
 * Frames of one input that are decoded and not on air yet, by their numbers. Sound that is missing is silence, and sound that
 * comes too late is left out, so that picture and sound never drift apart. Pure; it is full at a bound, and its owner
 * stops reading then.
 */
import { ByteQueue } from './byte-queue.ts';
import type { Frame, RawFormat } from './raw-format.ts';

/** How much waits at most, besides what one read brings. */
const AHEAD_MS = 1_000;
const VIDEO_BYTES_MAX = 48 * 2 ** 20;

export class FrameBuffer {
  readonly #format: RawFormat;
  readonly #firstFrame: number;
  readonly #framesMax: number;
  readonly #video = new ByteQueue();
  readonly #sound = new ByteQueue();
  #nextFrame: number;
  #videoEnded = false;
  #soundEnded = false;

  /** @param firstFrame the number of the frame that comes first. */
  constructor(format: RawFormat, firstFrame: number) {
    this.#format = format;
    this.#firstFrame = firstFrame;
    this.#nextFrame = firstFrame;
    const fitting = Math.floor(VIDEO_BYTES_MAX / format.videoBytes);
    this.#framesMax = Math.max(2, Math.min(format.framesIn(AHEAD_MS), fitting));
  }

  /** The frame that comes next. */
  get nextFrame(): number {
    return this.#nextFrame;
  }

  get isVideoFull(): boolean {
    return this.#video.byteCount >= this.#framesMax * this.#format.videoBytes;
  }

  /** Of sound twice as much is kept: it is small, and files bring it early or late. */
  get isSoundFull(): boolean {
    return this.#sound.byteCount >= 2 * this.#framesMax * this.#format.soundBytes;
  }

  /** No frame will come any more. */
  get isOver(): boolean {
    return this.#videoEnded && this.#video.byteCount < this.#format.videoBytes;
  }

  pushVideo(chunk: Buffer): void {
    this.#video.push(chunk);
  }

  pushSound(chunk: Buffer): void {
    this.#sound.push(chunk);
  }

  endVideo(): void {
    this.#videoEnded = true;
  }

  /** Or there is none. */
  endSound(): void {
    this.#soundEnded = true;
  }

  /** Forgets what is before the frame, also where it is yet to come. */
  skipTo(frame: number): void {
    if (frame <= this.#nextFrame) return;
    this.#nextFrame = frame;
    this.#video.skipTo((frame - this.#firstFrame) * this.#format.videoBytes);
    this.#sound.skipTo((frame - this.#firstFrame) * this.#format.soundBytes);
  }

  /** How many frames from the next one on could be taken now. */
  get readyCount(): number {
    const { videoBytes, soundBytes } = this.#format;
    const pictures = Math.floor(this.#video.byteCount / videoBytes);
    // Files that are badly interleaved bring the sound so late that waiting for it would stop both.
    if (this.#soundEnded || this.#videoEnded || this.isVideoFull) return pictures;
    return Math.min(pictures, Math.floor(this.#sound.byteCount / soundBytes));
  }

  /** The next frame, or null where it is not here. */
  take(): Frame | null {
    if (this.readyCount === 0) return null;
    const { videoBytes, soundBytes } = this.#format;
    const video = this.#video.take(videoBytes);
    const sound = this.#sound.take(soundBytes);
    const missing = soundBytes - sound.reduce((sum, { length }) => sum + length, 0);
    this.skipTo(this.#nextFrame + 1);
    return { video, sound: missing === 0 ? sound : [...sound, Buffer.alloc(missing)] };
  }
}
