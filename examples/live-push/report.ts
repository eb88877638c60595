/** Tells people how a push goes: progress, events, alerts, and its result. It decides nothing. */
import type { TaskContext } from '@soda-scheduler/executor-sdk';
import { z } from 'zod';
import type { Sink } from './sink.ts';
import type { OnAir, Shown } from './switcher.ts';
import type { Wanted } from './timeline.ts';

/** A checkpoint says that frames are sent; crashes before it count no more then. */
export const CHECKPOINT_EVERY_MS = 10_000;
/** Epoch milliseconds: so long frames are known to have been sent. */
const sent = z.object({ sent_until: z.number() });
/** A last picture that stands for less is nothing to tell of. */
const HELD_MS_MIN = 1_000;
/** A part that is away for so long needs somebody to look after it. */
const AWAY_ALERT_MS = 10_000;

export interface PushResult {
  /** Without its secrets; of files the last one. */
  readonly to: string;
  /** Of this attempt, as all that follows. */
  readonly seconds: number;
  readonly frames: number;
  /** Left out, since the network or this machine was too slow. */
  readonly dropped_frames: number;
  /** 1: the connection was never lost. */
  readonly sessions: number;
  /** How long something else than the warm-up and the class was shown. */
  readonly covered_seconds: number;
}

export interface PushState {
  readonly shows: Shown;
  /** In the part that is shown, or would be. */
  readonly position_seconds: number;
  readonly frames: number;
  readonly dropped_frames: number;
  readonly sessions: number;
}

export class Report {
  readonly #ctx: TaskContext;
  readonly #rate: number;
  readonly #beganAt = performance.now();
  #checkpoint: object = {};
  #to = '';
  #shows: OnAir['shows'] | null = null;
  #told: Shown | null = null;
  #wanted: Wanted = { part: 'warmup', frame: 0 };
  #awaySince: number | null = null;
  #isAlerted = false;
  #frameCount = 0;
  #droppedCount = 0;
  #coveredCount = 0;
  #sessionCount = 0;
  #reportedAt = 0;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: TaskContext, rate: number) {
    this.#ctx = ctx;
    this.#rate = rate;
  }

  /** Until when attempts before this one have sent frames, as they last said; null: none has. */
  get sentUntil(): number | null {
    return sent.safeParse(this.#ctx.lastCheckpoint).data?.sent_until ?? null;
  }

  /** This attempt has sent something. */
  get wasOnAir(): boolean {
    return this.#sessionCount > 0;
  }

  /** What the next attempt is told once this one has sent frames, and until when. */
  saves(checkpoint: object): void {
    this.#checkpoint = checkpoint;
  }

  sendsTo({ shown }: Sink): void {
    this.#to = shown;
  }

  sessionBegan(count: number): void {
    this.#sessionCount = count;
    const afterMs = Math.round(performance.now() - this.#beganAt);
    this.#ctx.event('session_began', { to: this.#to, count, after_ms: afterMs });
    this.#ctx.log.info(`sending to ${this.#to}`, { session: count, after_ms: afterMs });
  }

  sessionEnded(why: string): void {
    this.#ctx.event('session_ended', { to: this.#to, why: why.slice(0, 1_000) });
    this.#ctx.log.warn(`the session has ended: ${why}`);
  }

  sourceFailed(name: string, why: string): void {
    this.#ctx.event('source_failed', { name: name.slice(-200), why: why.slice(0, 1_000) });
    this.#ctx.log.warn(`${name} ${why}`);
  }

  wrote(): void {
    this.#frameCount += 1;
  }

  dropped(count: number): void {
    this.#droppedCount += count;
  }

  /** Of each slot. */
  shows(shows: Shown, wanted: Wanted, at: number): void {
    this.#shows = shows;
    this.#wanted = wanted;
    const isCovered = shows !== wanted.part;
    if (isCovered) this.#coveredCount += 1;
    this.#awaySince = isCovered ? (this.#awaySince ?? at) : null;
    const awayMs = this.#awaySince === null ? 0 : at - this.#awaySince;
    if (awayMs > AWAY_ALERT_MS && wanted.part === 'main') this.#alert(shows);
    if (shows === this.#told || (shows === 'held' && awayMs < HELD_MS_MIN)) return;
    this.#told = shows;
    if (!isCovered) this.#isAlerted = false;
    this.#ctx.event('on_air', { shows, position_seconds: this.#position });
    this.#ctx.log.info(`on air: ${shows}`, { position_seconds: this.#position });
  }

  /** Where nothing was sent since the last time nothing is said: so a stall is noticed. */
  progress(now: number, { movedAt }: { readonly movedAt: number }, percent?: number): void {
    if (movedAt === this.#reportedAt || this.#sessionCount === 0 || this.#shows === null) return;
    this.#reportedAt = movedAt;
    const state: PushState = {
      shows: this.#shows,
      position_seconds: this.#position,
      frames: this.#frameCount,
      dropped_frames: this.#droppedCount,
      sessions: this.#sessionCount,
    };
    this.#ctx.progress({ percent, state });
    if (now - this.#savedAt < CHECKPOINT_EVERY_MS) return;
    this.#savedAt = now;
    const sentUntil = Math.round(Date.now() - (performance.now() - movedAt));
    this.#ctx.checkpoint({ ...this.#checkpoint, sent_until: sentUntil });
  }

  result(): PushResult {
    return {
      to: this.#to,
      seconds: this.#seconds(this.#frameCount),
      frames: this.#frameCount,
      dropped_frames: this.#droppedCount,
      sessions: this.#sessionCount,
      covered_seconds: this.#seconds(this.#coveredCount),
    };
  }

  get #position(): number {
    return this.#seconds(this.#wanted.frame);
  }

  #seconds(frames: number): number {
    return Math.round((1000 * frames) / this.#rate) / 1000;
  }

  #alert(shows: Shown): void {
    if (this.#isAlerted) return;
    this.#isAlerted = true;
    this.#ctx.alert('warning', 'the class is not on air', { shows, to: this.#to });
  }
}
