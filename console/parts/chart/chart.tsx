/**
 * Values over time: drawn, and the same as a table for whoever cannot see a drawing, or wants the numbers. What is
 * pointed at, by the mouse or by the arrows of the keyboard, is told beside the names of the series.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { language, t, type TextName } from '../../words/words.ts';
import { type Column, Table } from '../table.tsx';
import { lengthOf } from '../time.tsx';
import type { Picture, Plot, Unit } from './plot.ts';

export interface Series {
  readonly title: TextName;
  /** Of `style/charts.css`: its colour. */
  readonly ink: string;
  /** One for each point; null: nothing is known. */
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: TextName;
  /** Bars stand on one another: the last series is at the bottom. */
  readonly kind: Picture['kind'];
  readonly unit?: Unit;
  /** When each point begins, in even steps. */
  readonly times: readonly number[];
  readonly stepMs: number;
  readonly series: readonly Series[];
  /** Where nobody points it tells all of what has happened; else the newest of what there is. Default: of bars. */
  readonly isSum?: boolean;
  /** Each value is how many there were on average. */
  readonly isMean?: boolean;
  /** Each point is a day, by its name: as the start of that day in UTC. */
  readonly isOfDays?: boolean;
}

export function Chart(props: Props) {
  const { title, kind, times, series } = props;
  const { unit = 'count', isSum = kind === 'bars', isMean = false } = props;
  const [point, setPoint] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const pointed = point !== null && point < times.length ? point : null;
  // What stands now is not known here: the newest point is over, or an average of what is not.
  const told = pointed ?? (isSum ? null : newestOf(series));
  const when = told === null ? t('chart.sum') : timeOf(times[told] ?? 0, props);
  return (
    <figure class="chart">
      <figcaption>
        <h2>{t(title)}</h2>
        <span class="soft">{isMean ? t('chart.mean', { when }) : when}</span>
        <button
          type="button"
          class="quiet"
          aria-label={`${t(title)}: ${t(isTable ? 'chart.draw' : 'chart.table')}`}
          onClick={() => setTable(!isTable)}
        >
          {t(isTable ? 'chart.draw' : 'chart.table')}
        </button>
        <p class="keys">
          {series.map((each) => (
            <span key={each.title}>
              <i class={`key key-${each.ink}`} aria-hidden="true" />
              {t(each.title)} <b>{textOf(valueAt(told, each), unit)}</b>
            </span>
          ))}
        </p>
      </figcaption>
      {isTable ? (
        <Numbers of={props} />
      ) : (
        <Canvas
          key={series.map((each) => each.title).join(' ')}
          of={props}
          point={pointed}
          setPoint={setPoint}
          fail={() => setTable(true)}
        />
      )}
    </figure>
  );
}

/** @param point null: what it was in all. */
function valueAt(point: number | null, { values }: Series): number | null {
  if (point !== null) return values[point] ?? null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** The newest point of which something is known. */
function newestOf(series: readonly Series[]): number {
  const newest = series.map(({ values }) => values.findLastIndex((value) => value !== null));
  return Math.max(0, ...newest);
}

interface CanvasProps {
  readonly of: Props;
  readonly point: number | null;
  readonly setPoint: (point: number | null) => void;
  /** What draws could not be had: a newer master has another one. */
  readonly fail: () => void;
}

function Canvas({ of: props, point, setPoint, fail }: CanvasProps) {
  const { title, times, series, unit = 'count' } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const picture = pictureOf(props);
  const newest = useRef(picture);
  newest.current = picture;
  useEffect(() => {
    let isGone = false;
    void import('./plot.ts').then(({ plotIn }) => {
      if (isGone || host.current === null) return;
      plot.current = plotIn(host.current, newest.current, setPoint);
    }, fail);
    return () => {
      isGone = true;
      plot.current?.end();
      setPoint(null);
    };
  }, []);
  const drawn = JSON.stringify([times, picture.values]);
  useEffect(() => plot.current?.show(newest.current), [drawn]);

  const last = times.length - 1;
  const press = (event: KeyboardEvent): void => {
    const to = pointAfter(event.key, point ?? last, last);
    if (to === undefined) return;
    event.preventDefault();
    plot.current?.moveTo(to);
  };
  const told = point ?? last;
  const text = series.map((each) => `${t(each.title)} ${textOf(each.values[told] ?? null, unit)}`);
  return (
    <div
      ref={host}
      class="plot"
      role="slider"
      tabIndex={0}
      aria-label={t(title)}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={told}
      aria-valuetext={[timeOf(times[told] ?? 0, props), ...text].join(', ')}
      onKeyDown={press}
      onBlur={() => plot.current?.moveTo(null)}
    />
  );
}

/** Undefined: the key is of no use here. */
function pointAfter(key: string, point: number, last: number): number | null | undefined {
  if (key === 'ArrowLeft') return Math.max(0, point - 1);
  if (key === 'ArrowRight') return Math.min(last, point + 1);
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return key === 'Escape' ? null : undefined;
}

function pictureOf(props: Props): Picture {
  const { kind, unit = 'count', times, stepMs, series, isOfDays = false } = props;
  return {
    ...{ kind, unit, times, stepMs, isOfDays },
    values: series.map(({ values }) => values),
    timeText: (at, gapMs) => tickOf(at, gapMs, isOfDays),
    valueText: (value) => (value === 0 ? '0' : textOf(value, unit, 'compact')),
  };
}

/** The newest first. */
function Numbers({ of: props }: { readonly of: Props }) {
  const { title, times, series, unit = 'count' } = props;
  const columns: Column<number>[] = series.map((each) => ({
    title: each.title,
    class: 'num',
    show: (point) => textOf(each.values[point] ?? null, unit),
  }));
  const when: Column<number> = {
    title: 'when',
    class: 'fill',
    show: (point) => timeOf(times[point] ?? 0, props),
  };
  return (
    <div class="numbers" role="region" aria-label={t(title)} tabIndex={0}>
      <Table
        of={{ keyOf: String, columns: [when, ...columns] }}
        rows={[...times.keys()].reverse()}
      />
    </div>
  );
}

function textOf(
  value: number | null,
  unit: Unit,
  notation: 'standard' | 'compact' = 'standard',
): string {
  if (value === null) return '–';
  if (unit === 'time') return value < 1_000 ? `${Math.round(value)} ms` : lengthOf(value);
  // There is no part of a task; an average of less than one is more than none.
  if (unit === 'count' && notation === 'standard' && value > 0 && value < 1) return '< 1';
  const digits = notation === 'compact' || unit === 'share' ? 1 : 0;
  return value.toLocaleString(language(), {
    ...{ notation, maximumFractionDigits: digits },
    ...(unit === 'share' && { style: 'percent' }),
  });
}

const DAY_MS = 86_400_000;
const DATE = { day: 'numeric', month: 'short' } as const;
const TIME = { hour: '2-digit', minute: '2-digit', hour12: false } as const;

function timeOf(at: number, { stepMs, isOfDays = false }: Props): string {
  const date = new Date(at);
  if (isOfDays) {
    return date.toLocaleDateString(language(), { ...DATE, weekday: 'short', timeZone: 'UTC' });
  }
  const end = new Date(at + stepMs).toLocaleTimeString(language(), TIME);
  const day = date.toDateString() === new Date().toDateString();
  const begin = date.toLocaleString(language(), day ? TIME : { ...DATE, ...TIME });
  return `${begin} – ${end}`;
}

/** Of a line of the grid: where a day begins, its name. */
function tickOf(at: number, gapMs: number, isOfDays: boolean): string {
  const date = new Date(at);
  if (isOfDays) return date.toLocaleDateString(language(), { ...DATE, timeZone: 'UTC' });
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return gapMs >= DAY_MS || isMidnight
    ? date.toLocaleDateString(language(), DATE)
    : date.toLocaleTimeString(language(), TIME);
}
