/**
 * The handler of `ffmpeg.push`: from the warm-up to the end of the class, frame by frame, in one session of one sender. It says
 * how far it is and what it shows. It never goes on without its lease: it ends when it is told to, and by itself when it
 * has stood still for so long that it must have lost it.
 */
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import {
  NonRetryableError,
  RetryableError,
  type Task,
  type TaskContext,
} from '@soda-scheduler/executor-sdk';
import { makeDirectoryOf } from '../media/media-root.ts';
import { type Inputs, type InputOptions, checkpointOf, findInputs } from './inputs.ts';
import { Outlet } from './outlet.ts';
import { Pacer } from './pacer.ts';
import { type PushParams, parseParams } from './params.ts';
import { RawFormat } from './raw-format.ts';
import { CHECKPOINT_EVERY_MS, Report, type PushResult } from './report.ts';
import { type Sink, fileSink, freeName, urlSink } from './sink.ts';
import { Source } from './source.ts';
import { Switcher } from './switcher.ts';
import { Timeline } from './timeline.ts';

/** Before its first frame is due an input is opened, so that it is decoded when it is. */
const OPEN_AHEAD_MS = 15_000;
/** How long the first frame of an input is waited for before the fallback is sent, and how long that is. */
const FIRST_FRAME_MS_MAX = 1_000;
const FIRST_FALLBACK_MS_MAX = 3_000;
/** What is made up for after this process was held up; what was due before is left out. */
const BURST_MS_MAX = 500;
const WATCH_MS = 250;
/** Two readings of two clocks are never made at once. */
const CLOCK_STEP_MS_MIN = 20;
/** Without a frame sent for so long another executor may have more luck. */
const GIVE_UP_MS = 30_000;
/** So much before the end the last word of an attempt may be that has sent all of it, or could send no more. */
const UNSAID_MS_MAX = CHECKPOINT_EVERY_MS + GIVE_UP_MS;
/** Files that say how long they are end that much early at most. */
const END_EARLY_MS_MAX = 2_000;

export interface PushSettings extends Omit<InputOptions, 'limits' | 'lastCheckpoint'> {
  /** `host` or `host:port`, in lower case. */
  readonly allowedHosts: ReadonlySet<string>;
  /** For decoding and encoding each; null leaves it to ffmpeg. */
  readonly threads: number | null;
  /** Who has stood still for so long has no lease any more. */
  readonly standstillMsMax: number;
}

export function pushHandler(settings: PushSettings) {
  return (task: Task, ctx: TaskContext): Promise<PushResult> =>
    new Push(settings, parseParams(task.params), ctx).run();
}

/** One attempt. */
class Push {
  readonly #settings: PushSettings;
  readonly #params: PushParams;
  readonly #ctx: TaskContext;
  readonly #format: RawFormat;
  readonly #report: Report;
  /** From wall time to the monotonic clock that all here goes by. */
  #clockOffset = clockOffset();

  constructor(settings: PushSettings, params: PushParams, ctx: TaskContext) {
    this.#settings = settings;
    this.#params = params;
    this.#ctx = ctx;
    this.#format = new RawFormat(params.resolution, params.frameRate);
    this.#report = new Report(ctx, params.frameRate);
  }

  async run(): Promise<PushResult> {
    const { signal, spawn, lastCheckpoint } = this.#ctx;
    // What cannot be sent is refused before it is looked at.
    await this.#sink();
    const outlet = this.#outlet();
    let sources: Sources | null = null;
    try {
      // The sender connects with its first frame: until then it only gets ready.
      outlet.watch(performance.now());
      const limits = { signal, spawn, stallMs: 10_000, killGraceMs: 1_000 };
      const options = { ...this.#settings, limits, lastCheckpoint };
      const inputs = await findInputs(this.#params, options);
      this.#report.saves(checkpointOf(inputs));
      // Refused now where it cannot be made: the sender would try again and again.
      await this.#makeFolder();
      const timeline = this.#timeline(inputs);
      if (timeline.isOver(performance.now())) return this.#late(timeline);
      sources = this.#sources(inputs);
      await this.#pushUntilOver(timeline, sources, outlet);
      await outlet.end();
      if (!this.#report.wasOnAir) {
        if (this.#report.sentUntil !== null) return this.#late(timeline);
        throw new RetryableError(`nothing could be sent: ${outlet.lastWords}`);
      }
      return this.#report.result();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      for (const source of Object.values(sources ?? {})) source?.close();
      // Before this attempt says that it is over: then another may begin.
      await outlet.kill();
    }
  }

  #timeline({ main }: Inputs): Timeline {
    const { starts_at: startsAt, ends_at: endsAt, frameRate } = this.#params;
    const { seconds, secondsAreGuessed } = main.media;
    return new Timeline({
      beginAt: performance.now(),
      startsAt: startsAt + this.#clockOffset,
      endsAt: endsAt === undefined ? null : endsAt + this.#clockOffset,
      mainMs: seconds === null || secondsAreGuessed ? null : seconds * 1000,
      rate: frameRate,
    });
  }

  /** An attempt before this one may have sent all but its end. */
  #late({ endAt }: Timeline): PushResult {
    const { sentUntil } = this.#report;
    if (sentUntil === null) {
      throw new NonRetryableError('the class was over before the push could begin');
    }
    if (sentUntil >= endAt - this.#clockOffset - UNSAID_MS_MAX) return this.#report.result();
    throw new NonRetryableError(`off the air since ${new Date(sentUntil).toISOString()}`);
  }

  #outlet(): Outlet {
    const { ctx, report, format } = { ctx: this.#ctx, report: this.#report, format: this.#format };
    const { ffmpeg, threads } = this.#settings;
    const { videoKbps, audioKbps } = this.#params;
    return new Outlet(
      {
        sink: () => this.#sinkToWrite(),
        encode: { format, videoKbps, audioKbps, threads },
        ffmpeg,
        spawn: ctx.spawn,
        log: ctx.log,
        onSession: (count) => report.sessionBegan(count),
        onEnd: (why) => report.sessionEnded(why),
      },
      performance.now(),
    );
  }

  async #sink(): Promise<Sink> {
    const { url, path = '' } = this.#params;
    const { allowedHosts, mediaRoot } = this.#settings;
    const sink =
      url === undefined
        ? fileSink(path, freeName(await mediaRoot.output(path)))
        : urlSink(url, allowedHosts);
    this.#report.sendsTo(sink);
    return sink;
  }

  async #sinkToWrite(): Promise<Sink> {
    await this.#makeFolder();
    return this.#sink();
  }

  async #makeFolder(): Promise<void> {
    const { url, path = '' } = this.#params;
    if (url !== undefined) return;
    await makeDirectoryOf(await this.#settings.mediaRoot.output(path), path);
  }

  #sources({ main, warmup, fallback }: Inputs): Sources {
    const { ffmpeg, threads } = this.#settings;
    const { seconds, secondsAreGuessed } = main.media;
    const isKnown = seconds !== null && !secondsAreGuessed;
    const make = (input: typeof fallback, frameCount: number | null = null): Source | null =>
      input &&
      new Source({
        input,
        isLooped: input !== main,
        format: this.#format,
        frameCount,
        ffmpeg,
        threads,
        spawn: this.#ctx.spawn,
        onFailure: (why) => this.#report.sourceFailed(input.name, why),
      });
    const frameCount = isKnown ? Math.floor(seconds * this.#format.rate) : null;
    return {
      main: make(main, frameCount) as Source,
      warmup: make(warmup),
      fallback: make(fallback),
    };
  }

  async #pushUntilOver(timeline: Timeline, sources: Sources, outlet: Outlet): Promise<void> {
    const watch = new Watch(timeline, sources, outlet);
    await this.#firstFrame(timeline, sources, watch);
    const { rate } = this.#format;
    const pacer = new Pacer(performance.now(), rate, this.#format.framesIn(BURST_MS_MAX));
    const switcher = new Switcher({
      format: this.#format,
      parts: sources,
      fallback: sources.fallback,
    });
    for (let [before, upBefore] = [performance.now(), upMs()]; ; ) {
      const delayMs = Math.max(0, pacer.nextAt - performance.now());
      await wait(delayMs, undefined, { signal: this.#ctx.signal });
      const [now, up] = [performance.now(), upMs()];
      // While a machine is suspended its monotonic clock stands still as well.
      this.#assertAwake(Math.max(now - before, up - upBefore) - delayMs);
      [before, upBefore] = [now, up];
      this.#followClock(timeline, now);
      watch.look(now);
      this.#assertSending(now, outlet);
      const { from, count, skippedCount } = pacer.take(now);
      this.#report.dropped(skippedCount);
      for (let slot = from; slot < from + count; slot += 1) {
        const at = pacer.timeOf(slot);
        if (timeline.isOver(at) || isPlayedOut(sources.main, timeline, at)) return;
        const wanted = timeline.wanted(at);
        const { shows, frame } = switcher.next(wanted);
        if (outlet.write(frame)) this.#report.wrote();
        else this.#report.dropped(1);
        this.#report.shows(shows, wanted, at);
      }
      this.#report.progress(now, outlet, timeline.percent(now));
    }
  }

  /** So that what is seen first is what it is about, and not the fallback. */
  async #firstFrame(timeline: Timeline, sources: Sources, watch: Watch): Promise<void> {
    const { fallback } = sources;
    const beganAt = performance.now();
    for (;;) {
      const now = performance.now();
      watch.look(now);
      const { part, frame } = timeline.wanted(now);
      const source = sources[part];
      source?.skipTo(frame);
      if (source !== null && source.readyCount > 0) return;
      const isLate = source === null || now - beganAt >= FIRST_FRAME_MS_MAX;
      if (isLate && fallback !== null && fallback.readyCount > 0) return;
      // Then it is black, as it is where neither will come.
      const isNone = source === null && fallback === null;
      if (isNone || now - beganAt >= FIRST_FALLBACK_MS_MAX) return;
      await wait(10, undefined, { signal: this.#ctx.signal });
    }
  }

  /**
   * The clock may be set right while the warm-up runs, which may take hours: the class begins by what it says then. Once it has
   * begun it goes on as it does, wherever the clock is set.
   */
  #followClock(timeline: Timeline, now: number): void {
    const stepMs = clockOffset() - this.#clockOffset;
    if (Math.abs(stepMs) < CLOCK_STEP_MS_MIN || timeline.wanted(now).part === 'main') return;
    this.#clockOffset += stepMs;
    timeline.moveBy(stepMs);
  }

  /** This process may have been stopped, or its machine: another executor may send by now. */
  #assertAwake(lateMs: number): void {
    if (lateMs < this.#settings.standstillMsMax) return;
    throw new RetryableError(`this process stood still for ${Math.round(lateMs / 1000)} s`);
  }

  #assertSending(now: number, outlet: Outlet): void {
    const silentMs = now - outlet.movedAt;
    if (silentMs < GIVE_UP_MS) return;
    throw new RetryableError(
      `nothing could be sent for ${Math.round(silentMs / 1000)} s: ${outlet.lastWords}`,
      { retryAfterMs: 0 },
    );
  }
}

function clockOffset(): number {
  return performance.now() - Date.now();
}

/** How long this machine has been up. On Linux it goes on while the machine is suspended, and no step of its clock moves it. */
function upMs(): number {
  return os.uptime() * 1000;
}

interface Sources {
  readonly main: Source;
  readonly warmup: Source | null;
  readonly fallback: Source | null;
}

/** Looks after inputs and sender a few times a second. */
class Watch {
  readonly #timeline: Timeline;
  readonly #sources: Sources;
  readonly #outlet: Outlet;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(timeline: Timeline, sources: Sources, outlet: Outlet) {
    this.#timeline = timeline;
    this.#sources = sources;
    this.#outlet = outlet;
  }

  look(now: number): void {
    if (now - this.#lookedAt < WATCH_MS) return;
    const isFirst = this.#lookedAt === Number.NEGATIVE_INFINITY;
    this.#lookedAt = now;
    this.#outlet.watch(now);
    const { main, warmup, fallback } = this.#sources;
    const { part, frame } = this.#timeline.wanted(now);
    if (part === 'main') warmup?.close();
    else lookAfter(warmup, frame, now);
    const soon = this.#timeline.wanted(now + OPEN_AHEAD_MS);
    if (soon.part === 'main') lookAfter(main, part === 'main' ? frame : 0, now);
    // What is to be seen first has the machine for itself while it starts.
    if (!isFirst) lookAfter(fallback, fallback?.nextFrame ?? 0, now);
  }
}

/** `frame`: where it begins, if it does now. */
function lookAfter(source: Source | null, frame: number, now: number): void {
  source?.open(frame, now);
  source?.watch(frame, now);
}

/** All of it was shown, and what is missing to its end is no more than files are short by. */
function isPlayedOut(main: Source, timeline: Timeline, at: number): boolean {
  return (
    main.isOver &&
    (timeline.endAt === Number.POSITIVE_INFINITY || timeline.endAt - at < END_EARLY_MS_MAX)
  );
}
