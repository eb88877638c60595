/** Makes of the points of a report of load as many as a chart can show, in even steps and with its gaps. */
import type { LoadPoint, LoadReport } from '@soda-scheduler/protocol';

/** How several points become one. */
const HOW = {
  succeeded: 'sum',
  failed: 'sum',
  canceled: 'sum',
  expired: 'sum',
  attempts_failed: 'sum',
  waiting: 'mean',
  held: 'mean',
  running: 'mean',
  oldest_wait_ms: 'most',
  // The worst of them: nobody can say it of all together.
  start_delay_p95_ms: 'most',
} as const satisfies { readonly [F in keyof LoadPoint]?: 'sum' | 'mean' | 'most' };

export type LoadFigure = keyof typeof HOW;

export interface Steps {
  /** When each begins. */
  readonly times: readonly number[];
  readonly stepMs: number;
  /** One for each; null: nothing is known. */
  readonly valuesOf: (figure: LoadFigure) => readonly (number | null)[];
}

/** @param zoneMs what the clocks of whoever looks are ahead of UTC: long steps begin as they do. */
export function stepsOf(
  { from, to, points, resolution_ms: pointMs }: Omit<LoadReport, 'type'>,
  wantedMs: number,
  zoneMs: number,
): Steps {
  const stepMs = Math.max(wantedMs, pointMs);
  const stepAt = (at: number): number => Math.floor((at + zoneMs) / stepMs) * stepMs - zoneMs;
  const within = new Map<number, LoadPoint[]>();
  for (const point of points) {
    const at = stepAt(Date.parse(point.at));
    within.set(at, [...(within.get(at) ?? []), point]);
  }
  const first = stepAt(Date.parse(from));
  const count = Math.ceil((Date.parse(to) - first) / stepMs);
  const times = Array.from({ length: count }, (_, index) => first + index * stepMs);
  return {
    times,
    stepMs,
    valuesOf: (figure) => times.map((at) => together(within.get(at) ?? [], figure)),
  };
}

function together(points: readonly LoadPoint[], figure: LoadFigure): number | null {
  const known = points.flatMap(({ [figure]: value, samples }) =>
    value === null ? [] : [{ value, samples }],
  );
  if (known.length === 0) return null;
  if (HOW[figure] === 'most') return Math.max(...known.map(({ value }) => value));
  const isMean = HOW[figure] === 'mean';
  const sum = known.reduce((all, { value, samples }) => all + value * (isMean ? samples : 1), 0);
  return isMean ? sum / known.reduce((all, { samples }) => all + samples, 0) : sum;
}
