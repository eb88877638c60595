/**
 * Draws values over time on a canvas. All that knows uPlot is here: it is loaded by pages with a chart, once there is
 * something to draw.
 */
import uPlot from 'uplot';

/** Of what values are: so their axis is divided. */
export type Unit = 'count' | 'time' | 'share';

export interface Picture {
  /** Bars stand on one another: the last series is at the bottom. */
  readonly kind: 'bars' | 'lines';
  readonly unit: Unit;
  /** When each point begins, in even steps. */
  readonly times: readonly number[];
  readonly stepMs: number;
  /** Of each series one for each point; null: nothing is known. */
  readonly values: readonly (readonly (number | null)[])[];
  /** Points are days of a calendar that is not the one of the browser. */
  readonly isOfDays: boolean;
  /** @param gapMs to the next one that is written. */
  readonly timeText: (at: number, gapMs: number) => string;
  readonly valueText: (value: number) => string;
}

export interface Plot {
  /** As many series as before. */
  show(picture: Picture): void;
  /** Null: to none. */
  moveTo(index: number | null): void;
  end(): void;
}

/** @param pointAt is told at which point somebody looks; null: at none. */
export function plotIn(
  host: HTMLElement,
  first: Picture,
  pointAt: (index: number | null) => void,
): Plot {
  let picture = first;
  let inks = inksOf(host);
  const plot = new uPlot(
    {
      ...sizeOf(host),
      ms: 1,
      tzDate: (at) => (picture.isOfDays ? uPlot.tzDate(new Date(at), 'Etc/UTC') : new Date(at)),
      padding: [10, 12, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: false, y: false, setScale: false },
        points: { show: first.kind === 'lines', size: 6 },
        // Whoever points at a time in one chart sees it in all.
        sync: { key: 'times' },
      },
      scales: {
        x: { range: () => spanOf(picture) },
        y: { range: (_, __, most) => rangeOf(most, picture.unit) },
      },
      axes: axesOf(
        () => picture,
        () => inks,
      ),
      series: [{}, ...first.values.map((_, index) => seriesOf(index, first, () => inks))],
      hooks: { setCursor: [({ cursor: { idx } }) => pointAt(idx ?? null)] },
    },
    dataOf(first),
    host,
  );
  const repaint = (): void => {
    inks = inksOf(host);
    plot.redraw();
  };
  const darkness = window.matchMedia('(prefers-color-scheme: dark)');
  const theme = new MutationObserver(repaint);
  const size = new ResizeObserver(() => plot.setSize(sizeOf(host)));
  darkness.addEventListener('change', repaint);
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  size.observe(host);
  return {
    show(next) {
      picture = next;
      plot.setData(dataOf(next));
    },
    moveTo(index) {
      const at = index === null ? undefined : picture.times[index];
      if (at === undefined) plot.setCursor({ left: -10, top: -10 });
      else plot.setCursor({ left: plot.valToPos(at + middleOf(picture), 'x'), top: 0 });
    },
    end() {
      darkness.removeEventListener('change', repaint);
      theme.disconnect();
      size.disconnect();
      plot.destroy();
    },
  };
}

/** What the style says, in colours that a canvas takes. */
interface Inks {
  readonly text: string;
  readonly line: string;
  readonly font: string;
  /** Those of the keys, in their order. */
  readonly series: readonly string[];
}

function inksOf(host: HTMLElement): Inks {
  const { color: text, stroke: line, fontFamily } = getComputedStyle(host);
  const keys = host.closest('figure')?.querySelectorAll('.key') ?? [];
  const series = [...keys].map((key) => getComputedStyle(key).backgroundColor);
  return { text, line, font: `11px ${fontFamily}`, series };
}

function sizeOf({ clientWidth: width, clientHeight: height }: HTMLElement) {
  return { width, height };
}

/** Each point is drawn in the middle of the time that it stands for; the name of a day stands below its middle. */
const middleOf = ({ stepMs, isOfDays }: Picture): number => (isOfDays ? 0 : stepMs / 2);

function dataOf(picture: Picture): uPlot.AlignedData {
  const { kind, times, values } = picture;
  const middles = times.map((at) => at + middleOf(picture));
  if (kind === 'lines') return [middles, ...values.map((each) => [...each])];
  const heights = values.map((_, index) =>
    times.map((__, point) => sumOf(values.slice(index).map((each) => each[point] ?? null))),
  );
  return [middles, ...heights];
}

function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function spanOf(picture: Picture): uPlot.Range.MinMax {
  const { times, stepMs } = picture;
  const begin = middleOf(picture) - stepMs / 2;
  return [(times[0] ?? 0) + begin, (times.at(-1) ?? 0) + begin + stepMs];
}

/** From nothing to a bit above the highest; where all is nothing, there is a scale still. A share is one of all. */
export function rangeOf(most: number | null, unit: Unit): uPlot.Range.MinMax {
  if (unit === 'share') return [0, 1];
  return [0, Math.max((most ?? 0) * 1.06, unit === 'time' ? 1_000 : 4)];
}

function seriesOf(index: number, { kind, unit }: Picture, inks: () => Inks): uPlot.Series {
  const ink = (): string => inks().series[index] ?? inks().text;
  if (kind === 'bars') {
    const paths = uPlot.paths.bars?.({ size: [0.76, 42] });
    return { fill: ink, width: 0, points: { show: false }, ...(paths && { paths }) };
  }
  return {
    stroke: ink,
    width: 1.5,
    // What is looked at first has the ground below it.
    ...(index === 0 && unit !== 'share' && { fill: () => faint(ink()) }),
    points: { show: false, filter: lonely, size: 4, width: 0, fill: ink },
  };
}

/** Between two gaps there is no line to be seen. */
function lonely({ data }: uPlot, series: number): number[] {
  const values = data[series] ?? [];
  const isKnown = (index: number): boolean => (values[index] ?? null) !== null;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}

/** `rgb(…)` as browsers say it. */
function faint(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.13)');
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Between two lines of the grid. */
const INCREMENTS: Readonly<Record<Unit, number[]>> = {
  count: Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat(),
  time: [
    ...[500, SECOND_MS, 2 * SECOND_MS, 5 * SECOND_MS, 15 * SECOND_MS, 30 * SECOND_MS],
    ...[1, 2, 5, 15, 30].map((n) => n * MINUTE_MS),
    ...[1, 2, 6, 12].map((n) => n * HOUR_MS),
    ...[1, 2, 5, 10, 30, 100].map((n) => n * DAY_MS),
  ],
  share: [0.25, 0.5, 1],
};

function axesOf(picture: () => Picture, inks: () => Inks): uPlot.Axis[] {
  const { font } = inks();
  const stroke = (): string => inks().text;
  const line = (): string => inks().line;
  return [
    {
      font,
      stroke,
      size: 22,
      gap: 3,
      space: 68,
      grid: { show: false },
      border: { show: true, stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 4 },
      values: (_, at, __, ___, gapMs) => at.map((each) => picture().timeText(each, gapMs)),
    },
    {
      font,
      stroke,
      gap: 6,
      space: 30,
      // Charts below each other begin at the same place.
      size: (_, texts) => Math.max(46, ...(texts ?? []).map(({ length }) => 10 + 6.2 * length)),
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
      incrs: INCREMENTS[picture().unit],
      values: (_, values) => values.map((value) => picture().valueText(value)),
    },
  ];
}
