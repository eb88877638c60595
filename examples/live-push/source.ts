/**
 * One input as frames: runs the ffmpeg that decodes it, reads as much as there is room for, and begins anew where it failed
 * or hangs. It never decides what is on air.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { childEnvironment } from '../media/child-process.ts';
import { type Input, SOUND_FD, VIDEO_FD, decodeArguments } from './commands.ts';
import { FrameBuffer } from './frame-buffer.ts';
import type { Frame, RawFormat } from './raw-format.ts';
import type { Frames } from './switcher.ts';

/** One that has room and brings nothing for so long hangs; each time that was in vain it is given twice as long. */
const PATIENCE_MS = { first: 10_000, most: 60_000 };
/** From a failure to the next try, doubled likewise; the first is at once. */
const PAUSE_MS = { first: 1_000, most: 8_000 };
/** Files are a little shorter than they say; what is missing beyond that is damage. */
const SHORT_BY_MS_MAX = 2_000;
const STDERR_TAIL_LENGTH = 2_048;

export interface SourceOptions {
  readonly input: Input;
  readonly isLooped: boolean;
  readonly format: RawFormat;
  /** How many frames it has, where that is known; with fewer it has failed. */
  readonly frameCount: number | null;
  readonly ffmpeg: string;
  readonly threads: number | null;
  readonly spawn: TaskContext['spawn'];
  readonly onFailure: (why: string) => void;
}

interface Run {
  readonly child: ChildProcess;
  readonly buffer: FrameBuffer;
  readonly streams: readonly Readable[];
  /** When it last brought something, had no room for more, or began. */
  movedAt: number;
  /** Its exit code, or what else has ended it; null: it runs. */
  ended: number | string | null;
  stderr: string;
}

export class Source implements Frames {
  readonly #options: SourceOptions;
  #run: Run | null = null;
  #isWanted = false;
  #failureCount = 0;
  #retryAt = 0;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  /** It has brought all its frames, and they have been taken. */
  get isOver(): boolean {
    return this.#run?.ended === 0 && this.#run.buffer.isOver && !this.#isShort(this.#run);
  }

  get nextFrame(): number {
    return this.#run?.buffer.nextFrame ?? 0;
  }

  get readyCount(): number {
    return this.#run?.buffer.readyCount ?? 0;
  }

  /** Begins to decode at that frame. Once. */
  open(frame: number, now: number): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#begin(frame, now);
  }

  skipTo(frame: number): void {
    this.#run?.buffer.skipTo(frame);
    this.#readOn();
  }

  take(): Frame | null {
    const frame = this.#run?.buffer.take() ?? null;
    this.#readOn();
    return frame;
  }

  /** To be called a few times a second. `frame`: where it has to begin if it begins anew. */
  watch(frame: number, now: number): void {
    const run = this.#run;
    if (!this.#isWanted) return;
    if (run === null) {
      if (now >= this.#retryAt) this.#begin(frame, now);
      return;
    }
    if (run.buffer.isVideoFull) run.movedAt = now;
    const failure = this.#failureOf(run, now);
    if (failure !== null) this.#fail(failure, now);
    else if (run.movedAt === now) this.#failureCount = 0;
  }

  close(): void {
    this.#isWanted = false;
    this.#end();
  }

  #begin(frame: number, now: number): void {
    const { input, isLooped, format, ffmpeg, threads, spawn } = this.#options;
    const fromSeconds = isLooped ? 0 : frame / format.rate;
    const args = decodeArguments(input, { format, fromSeconds, isLooped, threads });
    const child = spawn(ffmpeg, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      env: childEnvironment(),
      killGraceMs: 200,
    });
    const buffer = new FrameBuffer(format, frame);
    const [video, sound] = [child.stdio[VIDEO_FD], child.stdio[SOUND_FD]] as [Readable, Readable];
    const streams = [video, sound];
    const run: Run = { child, buffer, streams, movedAt: now, ended: null, stderr: '' };
    this.#run = run;
    if (input.media.audio === null) buffer.endSound();
    video.on('data', (chunk: Buffer) => {
      buffer.pushVideo(chunk);
      run.movedAt = performance.now();
      if (buffer.isVideoFull) video.pause();
    });
    sound.on('data', (chunk: Buffer) => {
      buffer.pushSound(chunk);
      if (buffer.isSoundFull) sound.pause();
    });
    video.once('end', () => buffer.endVideo());
    sound.once('end', () => buffer.endSound());
    for (const stream of streams) stream.on('error', () => undefined);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      run.stderr = (run.stderr + text).slice(-STDERR_TAIL_LENGTH);
    });
    child.once('exit', (code, signal) => (run.ended = code ?? String(signal)));
    child.once('error', ({ message }) => {
      run.ended = 'not started';
      run.stderr = message;
    });
  }

  #readOn(): void {
    if (this.#run === null) return;
    const { buffer, streams } = this.#run;
    const [video, sound] = streams;
    if (video?.isPaused() && !buffer.isVideoFull) video.resume();
    if (sound?.isPaused() && !buffer.isSoundFull) sound.resume();
  }

  /** Why it has to begin anew; null: it need not. */
  #failureOf(run: Run, now: number): string | null {
    const { ended, buffer, movedAt, stderr } = run;
    const said = stderr.trim() === '' ? '' : `: ${stderr.trim()}`;
    if (ended === 0 && buffer.isOver && this.#isShort(run)) {
      return `ended after ${Math.floor(buffer.nextFrame / this.#options.format.rate)} s${said}`;
    }
    if (ended === 0) {
      return this.#options.isLooped && buffer.isOver ? 'has ended, though it is looped' : null;
    }
    // What it has brought before it died is good.
    if (ended !== null) {
      return buffer.readyCount > 0 ? null : `ffmpeg has failed (${ended})${said}`;
    }
    const patience = doubled(PATIENCE_MS, this.#failureCount);
    if (now - movedAt < patience) return null;
    return `has brought nothing for ${Math.round((now - movedAt) / 1000)} s${said}`;
  }

  #isShort({ buffer }: Run): boolean {
    const { frameCount, format } = this.#options;
    if (frameCount === null) return false;
    return buffer.nextFrame < frameCount - format.framesIn(SHORT_BY_MS_MAX);
  }

  #fail(why: string, now: number): void {
    this.#retryAt =
      this.#failureCount === 0 ? now : now + doubled(PAUSE_MS, this.#failureCount - 1);
    this.#failureCount += 1;
    this.#end();
    this.#options.onFailure(why);
  }

  #end(): void {
    const run = this.#run;
    this.#run = null;
    if (run === null) return;
    run.child.kill('SIGKILL');
    for (const stream of run.streams) stream.destroy();
  }
}

function doubled({ first, most }: { first: number; most: number }, times: number): number {
  return Math.min(most, first * 2 ** Math.min(times, 16));
}
