/**
 * How fast running attempts get on, by what they report: some points of each, time that nobody saw left out. In memory
 * only: after a restart they are gathered anew.
 */
import { PACE_POINT_COUNT_MAX } from '../bounds.ts';
import type { Task } from '../model/task.ts';

/** When an attempt ends if it goes on as it has. */
export interface EndEstimate {
  readonly endAt: number;
  /** As fast as in its faster quarter, and as slow as in its slower one. */
  readonly lowAt: number;
  readonly highAt: number;
}

interface Point {
  readonly ranMs: number;
  readonly percent: number;
}

/** Less says nothing. */
const POINT_COUNT_MIN = 3;
const PERCENT_MIN = 1;
const RAN_MS_MIN = 2_000;
/** Less between two points is no step, but the noise of a division. */
const STEP_PERCENT_MIN = 0.01;
/** An end that is further away than that is none that anybody plans with. */
const LEFT_MS_MAX = 365 * 86_400_000;

export class Paces {
  readonly #known = new WeakMap<Task, { readonly attempt: number; points: readonly Point[] }>();

  /** It has reported that it is so far. */
  note(task: Task, percent: number, now: number): void {
    const point = { ranMs: ranOf(task, now), percent };
    const known = this.#known.get(task);
    const last = known?.points.at(-1);
    const isNew = known?.attempt !== task.attempt || (last !== undefined && percent < last.percent);
    // Back to less: what it does now is another thing.
    if (isNew || known === undefined) {
      this.#known.set(task, { attempt: task.attempt, points: [point] });
    } else if (percent - (last?.percent ?? 0) >= STEP_PERCENT_MIN) {
      known.points = thinned([...known.points, point]);
    }
  }

  /** Null: too little is known, or it has nothing more to do. */
  endOf(task: Task, now: number): EndEstimate | null {
    const known = this.#known.get(task);
    if (task.state !== 'running' || known?.attempt !== task.attempt) return null;
    const { points } = known;
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined || points.length < POINT_COUNT_MIN) return null;
    const spanMs = last.ranMs - first.ranMs;
    const percent = last.percent - first.percent;
    if (percent < PERCENT_MIN || spanMs < RAN_MS_MIN || last.percent >= 100) return null;
    const silentMs = ranOf(task, now) - last.ranMs;
    // Silent for longer than it is between two points: it has become slower, and nothing is known of how much.
    const lateMs = silentMs > (2 * spanMs) / (points.length - 1) ? silentMs : 0;
    const paces = pacesTo({ ...last, ranMs: last.ranMs + lateMs }, points.slice(0, -1));
    const endAt = (part: number): number => {
      const pace = paces[Math.floor(part * (paces.length - 1))] ?? 0;
      const leftMs = pace * (100 - last.percent) - (silentMs - lateMs);
      return now + Math.max(0, Math.round(leftMs));
    };
    const highAt = endAt(0.75);
    return highAt - now > LEFT_MS_MAX ? null : { endAt: endAt(0.5), lowAt: endAt(0.25), highAt };
  }
}

/** Milliseconds for a percent, from each point to the last one, the fastest first: one that is far off moves none of the middle. */
function pacesTo(last: Point, points: readonly Point[]): number[] {
  return points
    .map(({ ranMs, percent }) => (last.ranMs - ranMs) / (last.percent - percent))
    .sort((a, b) => a - b);
}

/** Every second one, and the last, where there are too many: they span all of it. */
function thinned(points: readonly Point[]): readonly Point[] {
  if (points.length <= PACE_POINT_COUNT_MAX) return points;
  return points.filter((_, index) => index % 2 === 0 || index === points.length - 1);
}

function ranOf({ startedAt, hiddenMs }: Task, now: number): number {
  return startedAt === null ? 0 : now - startedAt - hiddenMs;
}
