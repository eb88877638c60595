/** Frame rates as fractions: what is cut to the frame cannot go by rounded ones. Pure. */

export interface FrameRate {
  readonly frames: number;
  readonly perSeconds: number;
}

const usual: readonly FrameRate[] = [
  ...[10, 12, 15, 20].map(whole),
  { frames: 24_000, perSeconds: 1001 },
  ...[24, 25].map(whole),
  { frames: 30_000, perSeconds: 1001 },
  ...[30, 48, 50].map(whole),
  { frames: 60_000, perSeconds: 1001 },
  ...[60, 90, 100, 120].map(whole),
];

/** 29.97 is meant as 30000/1001. */
const ROUNDING = 0.0002;
/** A phone that has missed some frames still takes 30 a second. */
const MISSED = 0.02;
const VARYING_MAX = 61;
/** What a file says may be anything. */
export const RATE_MAX = 240;

/** As somebody writes it: 25, or 23.976. */
export function exactRate(rate: number): FrameRate {
  return closest(rate, ROUNDING) ?? { frames: Math.round(rate * 1000), perSeconds: 1000 };
}

/** The usual one of a source, whose average may be a little off; 1 to 240. */
export function steadyRate(average: number): FrameRate {
  const bounded = Math.min(Math.max(1, Math.round(average)), RATE_MAX);
  return closest(average, MISSED) ?? whole(bounded);
}

/** What of a video says how its frames come. */
interface Rates {
  readonly frameRate: number | null;
  readonly closestRate: number | null;
}

/** Whether they come at equal distances. Twice as often: ffmpeg has counted fields. */
export function isSteady({ frameRate, closestRate }: Rates): boolean {
  if (frameRate === null || closestRate === null) return true;
  const times = closestRate / frameRate;
  return Math.abs(times - 1) <= MISSED || Math.abs(times / 2 - 1) <= ROUNDING;
}

/**
 * The rate at which none of its frames is lost, where all that is made of it shares one. What varies beyond `VARYING_MAX` is the
 * clock of a recorder rather than a rate.
 */
export function rateOf(video: Rates): FrameRate {
  const { frameRate, closestRate } = video;
  const average = frameRate ?? 25;
  if (closestRate === null) return steadyRate(average);
  // Who has missed some frames still takes so many a second.
  if (Math.abs(closestRate / average - 1) <= MISSED) return steadyRate(closestRate);
  if (isSteady(video)) return steadyRate(average);
  return steadyRate(closestRate <= VARYING_MAX ? closestRate : Math.max(average, 30));
}

export function secondsOf(frameCount: number, { frames, perSeconds }: FrameRate): number {
  return (frameCount * perSeconds) / frames;
}

const NANOSECONDS = 1_000_000_000n;

/**
 * The frame that is nearest to an instant, and the later one of two that are equally near; the first is 0. Instants are meant
 * as decimals, to the nanosecond: 4.1 s at 25 frames is 102.5, though their product is a little less.
 */
export function frameAt(seconds: number, { frames, perSeconds }: FrameRate): number {
  const instant = BigInt(Math.round(seconds * Number(NANOSECONDS)));
  const whole = NANOSECONDS * BigInt(perSeconds);
  return Number((2n * instant * BigInt(frames) + whole) / (2n * whole));
}

/** As ffmpeg takes it. */
export function rateText({ frames, perSeconds }: FrameRate): string {
  return perSeconds === 1 ? String(frames) : `${frames}/${perSeconds}`;
}

function whole(frames: number): FrameRate {
  return { frames, perSeconds: 1 };
}

function closest(rate: number, tolerance: number): FrameRate | null {
  const distance = ({ frames, perSeconds }: FrameRate) => Math.abs(frames / perSeconds / rate - 1);
  const nearest = usual.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  return distance(nearest) <= tolerance ? nearest : null;
}
