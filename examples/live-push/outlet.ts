/**
 * The one sender: an ffmpeg that encodes the frames that it is given and keeps one session with the receiver. When it has
 * ended, or got stuck and was ended, there is another one, but never a second beside it. What it cannot take it is not given.
 */
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { childEnvironment } from '../media/child-process.ts';
import { ProgressReader } from '../media/progress.ts';
import { type EncodeOptions, SOUND_FD, VIDEO_FD, sendArguments } from './commands.ts';
import type { Frame } from './raw-format.ts';
import type { Sink } from './sink.ts';

/** What waits in this process for the encoder, besides a frame. */
const BACKLOG_MS_MAX = 1_000;
const BACKLOG_BYTES_MAX = 32 * 2 ** 20;
/** One that takes frames and sends none for so long is ended. */
const STUCK_MS = 6_000;
/** From the end of one to the next, after one that has sent nothing; doubled each time. After another it is at once. */
const PAUSE_MS = { first: 500, most: 4_000 };
/** For what is encoded and not sent yet, and to take leave of the receiver. */
const END_MS_MAX = 5_000;
const STDERR_TAIL_LENGTH = 2_048;
const LINE_LENGTH_MAX = 1_000;

export interface OutletOptions {
  /** For each sender anew. */
  readonly sink: () => Promise<Sink>;
  readonly encode: EncodeOptions;
  readonly ffmpeg: string;
  readonly spawn: TaskContext['spawn'];
  readonly log: Pick<TaskContext['log'], 'warn'>;
  readonly onSession: (count: number) => void;
  readonly onEnd: (why: string) => void;
}

interface Run {
  readonly child: ChildProcess;
  readonly video: Writable;
  readonly sound: Writable;
  readonly exited: Promise<void>;
  /** Of the first frame that it was given; null: it only gets ready. */
  givenAt: number | null;
  stderr: string;
}

export class Outlet {
  readonly #options: OutletOptions;
  #run: Run | null = null;
  #isStarting = false;
  #isEnding = false;
  #failureCount = 0;
  #startAt = 0;
  #movedAt: number;
  #lastWords = '';
  #sessionCount = 0;

  constructor(options: OutletOptions, now: number) {
    this.#options = options;
    this.#movedAt = now;
  }

  /** When frames were last sent; from the start, when it was made. */
  get movedAt(): number {
    return this.#movedAt;
  }

  /** How often it has begun to send. */
  get sessionCount(): number {
    return this.#sessionCount;
  }

  /** What the last one said before it ended, without secrets. */
  get lastWords(): string {
    return this.#lastWords;
  }

  /** False: the frame is lost, since there is no sender, or it is behind. */
  write({ video, sound }: Frame): boolean {
    const run = this.#run;
    const { format } = this.#options.encode;
    const usual = format.framesIn(BACKLOG_MS_MAX) * format.videoBytes;
    const backlogMax = Math.min(usual, BACKLOG_BYTES_MAX);
    if (run === null || run.video.writableLength > backlogMax) return false;
    run.givenAt ??= performance.now();
    writeAll(run.video, video);
    writeAll(run.sound, sound);
    return true;
  }

  /** To be called a few times a second: starts a sender where there is none, and ends one that is stuck. */
  watch(now: number): void {
    const run = this.#run;
    if (run === null) {
      if (!this.#isStarting && !this.#isEnding && now >= this.#startAt) void this.#start();
      return;
    }
    if (run.givenAt === null) return;
    if (now - Math.max(this.#movedAt, run.givenAt) > STUCK_MS) run.child.kill('SIGKILL');
  }

  /** Lets the sender send what it has. Resolves once it is gone. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const run = this.#run;
    if (run === null) return;
    run.video.end();
    run.sound.end();
    const timer = setTimeout(() => run.child.kill('SIGKILL'), END_MS_MAX);
    await run.exited;
    clearTimeout(timer);
  }

  /** At once. Resolves once it is gone. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#run?.child.kill('SIGKILL');
    await this.#run?.exited;
  }

  async #start(): Promise<void> {
    this.#isStarting = true;
    try {
      const sink = await this.#options.sink();
      if (!this.#isEnding) this.#spawn(sink);
    } catch (error) {
      this.#ended(error instanceof Error ? error.message : String(error));
    } finally {
      this.#isStarting = false;
    }
  }

  #spawn(sink: Sink): void {
    const { spawn, ffmpeg, encode, log } = this.#options;
    const child = spawn(ffmpeg, sendArguments(sink, encode), {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
      env: childEnvironment(),
      killGraceMs: 1_000,
    });
    const [video, sound] = [child.stdio[VIDEO_FD], child.stdio[SOUND_FD]] as [Writable, Writable];
    // That it is gone is said by its exit.
    for (const stream of [video, sound]) stream.on('error', () => undefined);
    const exited = new Promise<void>((resolve) => {
      const gone = (how: string) => {
        if (this.#run === run) this.#run = null;
        this.#ended(`${how}${run.stderr === '' ? '' : `: ${run.stderr.trim()}`}`);
        resolve();
      };
      child.once('exit', (code, signal) => gone(`the sender ended (${signal ?? code})`));
      child.once('error', ({ message }) => gone(`the sender cannot be started: ${message}`));
    });
    const run: Run = { child, video, sound, exited, givenAt: null, stderr: '' };
    this.#run = run;
    this.#readProgress(child);
    const said = new LineReader((line) => {
      const shown = sink.redact(line);
      run.stderr = `${run.stderr}\n${shown}`.slice(-STDERR_TAIL_LENGTH);
      log.warn(shown);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => said.read(text));
  }

  #readProgress(child: ChildProcess): void {
    const progress = new ProgressReader();
    let isSending = false;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const reports = progress.read(text);
      if (!reports.some(({ moved, seconds }) => moved && seconds !== null && seconds > 0)) return;
      this.#movedAt = performance.now();
      this.#failureCount = 0;
      if (isSending) return;
      isSending = true;
      this.#sessionCount += 1;
      this.#options.onSession(this.#sessionCount);
    });
  }

  #ended(why: string): void {
    this.#lastWords = why;
    const doubled = PAUSE_MS.first * 2 ** Math.min(this.#failureCount - 1, 8);
    const pauseMs = this.#failureCount === 0 ? 0 : Math.min(PAUSE_MS.most, doubled);
    this.#startAt = performance.now() + pauseMs;
    this.#failureCount += 1;
    if (!this.#isEnding) this.#options.onEnd(why);
  }
}

/** Whole lines only: a secret may be cut in two where pieces meet. */
class LineReader {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  read(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    this.#rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
    for (const line of lines) if (line !== '') this.#onLine(line.slice(0, LINE_LENGTH_MAX));
  }
}

/** As one write of many parts. */
function writeAll(stream: Writable, chunks: readonly Buffer[]): void {
  stream.cork();
  for (const chunk of chunks) stream.write(chunk);
  stream.uncork();
}
